"""What importing a module may do: bind names and register entries.

It owns the rules for everything that runs while a module is loaded, since such an
effect would reach every result without belonging to any. It refuses; it never
follows. The registry module itself is the one place that may keep state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lowpass.fingerprint.index import Definition, Fault, Index, Module, chain
from lowpass.fingerprint.state import changes, is_effect, rebindings

PURE = frozenset(
    "abc annotated_types collections contextlib dataclasses decimal enum fractions functools "
    "itertools math numpy operator pathlib pydantic re scipy string types typing "
    "typing_extensions xarray".split()
)
"""Outside packages whose functions may be called while importing, effects excepted."""

BUILTINS = frozenset(
    "__import__ compile delattr eval exec globals input locals next open print setattr vars".split()
)
"""Builtins that do more than give a value."""

READS = frozenset(
    "fromfile genfromtxt load load_dataset loadtxt open open_dataset read_bytes read_text".split()
)
"""Names of functions that read a file, which must be declared as an input instead."""

HOOKS = frozenset(("__init_subclass__", "__set_name__", "__pydantic_init_subclass__"))
WHY = "importing may only bind names and register entries, or every result would change unseen"
INSIDE = "move it into a function, or register a value with X.enter('name', value)"
CONTAINERS = frozenset("bytearray defaultdict deque dict list set Counter".split())


class Judge:
    """Judge what loading one module does, and collect the faults in ``faults``."""

    def __init__(self, index: Index, module: Module) -> None:
        self.index, self.module = index, module
        self.faults: list[Fault] = []
        if module.name == f"{index.package}.registry":
            return
        for node in module.body:
            self.statement(node)
            for expression in at_import(node):
                self.expression(expression)
            for decorator in decorators(node):
                self.callee(decorator)
        self.faults += [*changes(index, module), *rebindings(index, module)]

    def fault(self, node: ast.AST, what: str, why: str, advice: str) -> None:
        """Note something that importing may not do."""
        place = f"{self.module.path}:{getattr(node, 'lineno', 1)}"
        self.faults.append(Fault(place, what, why, advice))

    # Statements

    def statement(self, node: ast.stmt, owner: str = "module") -> None:
        """Allow what binds or registers; refuse every other kind of statement."""
        if isinstance(node, ast.ClassDef):
            self.class_body(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if not isinstance(target, ast.Name | ast.Tuple | ast.List):
                    self.fault(target, f"'{ast.unparse(target)}' is assigned to", WHY,
                               "bind a new name instead")  # fmt: skip
        elif isinstance(node, ast.If) and _is_skipped(node):
            pass
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            self.fault(node, "'import *' is used", "its names cannot be read", "list the names")
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Pass | ast.Import
                            | ast.ImportFrom) and not self.is_quiet(node, owner):  # fmt: skip
            kind = type(node).__name__.lower()
            shown = ast.unparse(node).splitlines()[0]
            what = f"'{shown}' is a bare call" if kind == "expr" else f"'{shown}' runs ({kind})"
            self.fault(node, f"{what} in the body of a {owner}", WHY, INSIDE)

    def is_quiet(self, node: ast.stmt, owner: str) -> bool:
        """Tell whether an expression statement is a text or registers a value."""
        if not isinstance(node, ast.Expr):
            return False
        registers = owner == "module" and self.index.registration(self.module.name, node.value)
        return isinstance(node.value, ast.Constant) or bool(registers)

    def class_body(self, node: ast.ClassDef) -> None:
        """Judge the statements of a class, which run while importing, too."""
        for inner in node.body:
            self.statement(inner, "class")
            if isinstance(inner, Definition) and inner.name in HOOKS:
                self.fault(inner, f"'{inner.name}' is defined", WHY,
                           "register subclasses with @X.add('name')")  # fmt: skip
        for keyword in node.keywords:
            if keyword.arg == "metaclass" and self.place(keyword.value)[0] in self.index.units:
                self.fault(node, "a metaclass of our own is used", WHY, "write a plain function")

    # Expressions that run while importing

    def place(self, node: ast.AST) -> tuple[str | None, list[str]]:
        """Give the place that a module-level expression leads to and what is taken from it."""
        if not (steps := chain(node)):
            return None, []
        return self.index.follow(self.index.resolve(self.module.name, steps[0]), steps[1])

    def expression(self, node: ast.expr) -> None:
        """Judge one expression with everything inside it that runs now."""
        if self.index.registration(self.module.name, node):
            parts: list[ast.AST] = [*node.args[1:], *node.keywords]  # type: ignore[attr-defined]
        elif isinstance(node, ast.Call) and self.is_registry(node):
            parts = []
        else:
            parts = [node]
        while parts:
            part = parts.pop()
            self.part(part)
            inner = part.args if isinstance(part, ast.Lambda) else part
            parts += ast.iter_child_nodes(inner)

    def is_registry(self, node: ast.Call) -> bool:
        """Tell whether a call makes a registry that the index knows."""
        kinds = (u for u in self.module.units.values() if u.name in self.index.registries)
        return any(u.node.value is node for u in kinds)  # type: ignore[attr-defined]

    def part(self, node: ast.AST) -> None:
        """Judge one node of an expression that runs while importing."""
        if isinstance(node, ast.NamedExpr):
            self.fault(node, "':=' binds a hidden name", WHY, "write an assignment of its own")
        elif isinstance(node, ast.Call):
            self.callee(node.func, node)
        elif isinstance(node, ast.Name | ast.Attribute):
            place, rest = self.place(node)
            if place in self.index.registries and not rest:
                self.fault(node, f"registry '{ast.unparse(node)}' is used while importing",
                           "entries may not be complete yet and aliases cannot be followed",
                           "use X.add('literal') or X.enter('literal', value) at top level, "
                           "and look entries up inside functions")  # fmt: skip

    def callee(self, func: ast.expr, call: ast.Call | None = None) -> None:
        """Judge what an import-time call, or a decorator without one, runs."""
        place, rest = self.place(func)
        unit = self.index.units.get(place or "")
        shown = f"'{ast.unparse(func)}(...)' is called"
        if place in self.index.registries:
            return  # Its name is judged as part of the expression.
        if place == f"{self.index.package}.registry:Registry":
            self.fault(func, "a registry is made here", "its entries could not be followed",
                       "write X = Registry('kind') at top level")  # fmt: skip
        elif unit and rest and not (call and isinstance(unit.node, ast.ClassDef)):
            self.fault(func, f"{shown} on a module-level value", WHY, INSIDE)
        elif unit and call:
            self.arguments(call)
        elif not unit and not self.is_pure(func, ".".join([place, *rest]) if place else None):
            self.fault(func, shown, WHY, INSIDE)

    def is_pure(self, func: ast.expr, place: str | None) -> bool:
        """Tell whether a function that is not ours only gives a value, which use cannot change."""
        last = getattr(func, "attr", getattr(func, "id", ""))
        if isinstance(func, ast.Lambda) or last in READS:
            return False
        if place is None:
            return not (isinstance(func, ast.Name) and last in BUILTINS)
        draws = ".random." in f"{place}."
        return place.split(".")[0] in PURE and not draws and not is_effect(self.index, place)

    def arguments(self, call: ast.Call) -> None:
        """Refuse to hand a changeable module-level value to our own code while importing."""
        for argument in [*call.args, *(k.value for k in call.keywords)]:
            value = argument.value if isinstance(argument, ast.Starred) else argument
            unit = self.index.units.get(self.place(value)[0] or "")
            if unit and _is_container(getattr(unit.node, "value", None)):
                self.fault(value, f"'{ast.unparse(value)}' is handed to our own code", WHY,
                           "make it a tuple, or call inside a function")  # fmt: skip


def at_import(node: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement that run while importing."""
    if isinstance(node, Definition):
        yield from node.decorator_list
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from (d for d in [*node.args.defaults, *node.args.kw_defaults] if d)
    elif isinstance(node, ast.ClassDef):
        yield from [*node.bases, *(k.value for k in node.keywords)]
        for inner in node.body:
            yield from at_import(inner)
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) and node.value:
        yield node.value


def decorators(node: ast.stmt) -> Iterator[ast.expr]:
    """Yield the decorators of a statement that are names, and so are called while importing."""
    if isinstance(node, Definition):
        yield from (d for d in node.decorator_list if not isinstance(d, ast.Call))
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            yield from decorators(inner)


def _is_skipped(node: ast.If) -> bool:
    """Tell whether a condition is false while importing, whatever else holds."""
    test = ast.unparse(node.test)
    return not node.orelse and (
        test.rpartition(".")[2] == "TYPE_CHECKING" or test == "__name__ == '__main__'"
    )


def _is_container(node: ast.expr | None) -> bool:
    """Tell whether an expression makes a value that can be changed in place."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", getattr(node.func, "attr", "")) in CONTAINERS
    return isinstance(
        node, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    )
