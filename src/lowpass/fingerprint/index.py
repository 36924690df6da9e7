"""Which names a package binds, and where each of them leads.

The index owns the map from names to units; a unit is one top-level statement.
It reads syntax trees alone and imports nothing. It never judges what it finds.

A place is written as text: ``lowpass.kernels:softmax`` is a unit, ``lowpass.kernels``
a first-party module, and any other dotted name, such as ``numpy.sin``, lies outside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from lowpass.registry import Refusal

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Binding = tuple[str, str | None]


@dataclass(frozen=True)
class Fault:
    """Hold one thing that cannot be followed: where, what, why, and what to write instead."""

    place: str
    what: str
    why: str
    advice: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}; {self.why}; {self.advice}."


@dataclass(frozen=True, eq=False)
class Unit:
    """Hold one top-level statement and the name it goes by."""

    name: str
    module: str
    node: ast.stmt


@dataclass(eq=False)
class Module:
    """Hold one source file: its statements, the units it binds and the names it imports."""

    name: str
    path: str
    source: str
    package: bool
    body: list[ast.stmt] = field(default_factory=list)
    units: dict[str, Unit] = field(default_factory=dict)
    imports: dict[str, Binding] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            self.body = statements(self.source)
        except SyntaxError as error:
            raise Refusal(f"{self.path}:{error.lineno}: {error.msg}; correct the syntax.") from None
        self.lines = self.source.split("\n")
        for node in self.body:
            self.imports |= dict(self.bindings(node))
            names = bound(node)
            unit = Unit(f"{self.name}:{names[0]}", self.name, node) if names else None
            self.units |= {name: unit for name in names if unit}

    def bindings(self, node: ast.AST) -> Iterator[tuple[str, Binding]]:
        """Yield the names an import statement binds, with (module, member or None)."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                yield alias.asname or whole, (whole, None)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, (self.origin(node), alias.name)

    def origin(self, node: ast.ImportFrom) -> str:
        """Give the absolute name of the module that a ``from`` import reads."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        parts = parts[: len(parts) - node.level + self.package]
        return ".".join([*parts, node.module] if node.module else parts)


@lru_cache(maxsize=1024)
def statements(source: str) -> list[ast.stmt]:
    """Parse a module, or find it parsed: of two states of a package most files are the same."""
    return ast.parse(source).body


def tree_of(top: ast.AST) -> list[ast.AST]:
    """List the nodes of a tree as ``ast.walk`` does, but for those that say load or store."""
    nodes = [top]
    for node in nodes:  # What is found lower down joins the end.
        nodes += children(node)
    return nodes


def children(node: ast.AST) -> list[ast.AST]:
    """List the nodes right below one, but for what says load or store."""
    found: list[ast.AST] = []
    for name in node._fields:
        part = getattr(node, name, None)
        # Half of the parts are texts, numbers or nothing.
        if isinstance(part, ast.AST):
            if not isinstance(part, ast.expr_context):
                found.append(part)
        elif isinstance(part, list):
            found += [each for each in part if isinstance(each, ast.AST)]
    return found


def imports(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """Choose the import statements among nodes."""
    return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


class Visitor(ast.NodeVisitor):
    """Visit a tree but for what says load or store, of which every name has one."""

    def generic_visit(self, node: ast.AST) -> None:
        for child in children(node):
            self.visit(child)


def bound(node: ast.stmt) -> list[str]:
    """List the names that a definition, an assignment or a registered value goes by."""
    if isinstance(node, Definition):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [name for target in node.targets for name in stored(target)]
    if isinstance(node, ast.AnnAssign):
        return stored(node.target) if node.value else []
    if isinstance(node, ast.Expr) and (name := literal(node.value)) is not None:
        return [f"{ast.unparse(node.value.func)}({name!r})"]  # type: ignore[attr-defined]
    return []


def first_line(node: ast.stmt) -> int:
    """Give the line where a statement starts, its decorators included."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def stored(target: ast.AST) -> list[str]:
    """List the plain names that a target binds."""
    names = [n for n in tree_of(target) if isinstance(n, ast.Name)]
    return [n.id for n in names if isinstance(n.ctx, ast.Store)]


def literal(node: ast.AST) -> str | None:
    """Give the entry name in ``X.add("name")`` or ``X.enter("name", value)``, if it is literal."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
        return None
    name = node.args[0]
    registers = node.func.attr in ("add", "enter")
    return text(name) if registers else None


def text(node: ast.AST | None) -> str | None:
    """Give the text of a string constant."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else None


def chain(node: ast.AST) -> tuple[str, list[str]] | None:
    """Split ``a.b.c`` into its first name and the attributes taken from it."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.insert(0, node.attr)
        node = node.value
    return (node.id, attributes) if isinstance(node, ast.Name) else None


def outer(module: str) -> list[str]:
    """List the packages around a module."""
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


Sources = tuple[tuple[Path, str], ...]


def sources_of(root: Path, package: str) -> Sources:
    """Read the text of every file of a package."""
    paths = sorted((root / package).rglob("*.py"))
    return tuple((path, path.read_text(encoding="utf-8")) for path in paths)


class Index:
    """Map every name of one package to the unit behind it.

    Parameters
    ----------
    root : Path
        The folder that contains the package.
    package : str
        The name of the package.
    sources : tuple of (Path, str)
        Its files, and what stands in them.
    """

    def __init__(self, root: Path, package: str, sources: Sources) -> None:
        self.package = package
        self.modules: dict[str, Module] = {}
        for path, source in sources:
            parts = path.relative_to(root).with_suffix("").parts
            inside = parts[:-1] if parts[-1] == "__init__" else parts
            label = path.relative_to(root.parent).as_posix()
            name = ".".join(inside)
            self.modules[name] = Module(name, label, source, inside != parts)
        if package not in self.modules:
            raise Refusal(f"{root} holds no package '{package}'; hand in the folder around it.")
        for name in [n for module in self.modules for n in outer(module)]:
            # A folder without __init__.py is a package all the same.
            self.modules.setdefault(name, Module(name, name, "", package=True))
        self.units = {u.name: u for m in self.modules.values() for u in m.units.values()}
        self.registries = {u.name: k for u in self.units.values() if (k := self._kind(u))}
        self._refuse_twins()
        self.entries: dict[str, dict[str, list[Unit]]] = {r: {} for r in self.registries}
        for unit in self.units.values():
            for registry, name in self.registrations(unit):
                self.entries[registry].setdefault(name, []).append(unit)

    def _refuse_twins(self) -> None:
        first: dict[str, str] = {}
        for registry, kind in self.registries.items():
            if first.setdefault(kind, registry) != registry:
                raise Refusal(
                    f"{first[kind]} and {registry} both hold a '{kind}'; what is looked up in one "
                    f"could not be told from the other; give the second another kind."
                )

    def _kind(self, unit: Unit) -> str | None:
        """Give the kind of thing a registry holds, if the unit is ``X = Registry("kind")``."""
        value = getattr(unit.node, "value", None)
        if not (isinstance(unit.node, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Call)):
            return None
        made = self.target(unit.module, value.func) == f"{self.package}.registry:Registry"
        return text(value.args[0]) if made and len(value.args) == 1 else None

    def registrations(self, unit: Unit) -> list[tuple[str, str]]:
        """List the (registry, entry name) pairs under which a unit is registered."""
        if isinstance(unit.node, ast.Expr):
            calls = [unit.node.value]
        else:
            calls = getattr(unit.node, "decorator_list", [])
        return [e for call in calls if (e := self.registration(unit.module, call))]

    def registration(self, module: str, call: ast.AST) -> tuple[str, str] | None:
        """Give (registry, entry name) if a call registers under a literal name."""
        name = literal(call)
        registry = name is not None and self.target(module, call.func.value)  # type: ignore[attr-defined]
        return (registry, name) if registry in self.registries else None  # type: ignore[return-value]

    def target(self, module: str, node: ast.AST) -> str | None:
        """Give the place that an expression such as ``a.b`` names exactly, or None."""
        steps = chain(node)
        place, rest = self.follow(self.resolve(module, steps[0]), steps[1]) if steps else (None, [])
        return None if rest else place

    def follow(self, place: str | None, attributes: list[str]) -> tuple[str | None, list[str]]:
        """Walk attributes through first-party modules; return the place and what is left."""
        rest = list(attributes)
        while rest and place in self.modules and (inner := self.resolve(place, rest[0])):
            place = inner
            rest.pop(0)
        return place, rest

    def resolve(self, module: str, name: str) -> str | None:
        """Give the place that a name leads to inside a first-party module."""
        here = self.modules[module]
        inner = f"{module}.{name}"
        if name in here.imports and here.imports[name] != (module, name):
            return self.land(here.imports[name])
        if name in here.units:
            return here.units[name].name
        return inner if inner in self.modules else None

    def land(self, binding: Binding) -> str | None:
        """Give the place that an import binds its name to."""
        origin, member = binding
        if member is None:
            return origin
        return self.resolve(origin, member) if origin in self.modules else f"{origin}.{member}"

    def loads(self, module: str, nodes: Iterable[ast.AST]) -> Iterator[str]:
        """Yield the first-party modules that import statements execute."""
        for node in nodes:
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                origin = self.modules[module].origin(node)
                names = [origin, *(f"{origin}.{alias.name}" for alias in node.names)]
            yield from (name for name in names if name in self.modules)
