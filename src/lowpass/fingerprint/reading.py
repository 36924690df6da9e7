"""What one unit says: the places it takes, the entries it looks up, the words it holds.

A reading owns the meaning of one statement. It lists what cannot be followed; it never
follows anything itself.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Iterator

from lowpass.fingerprint.cleaning import Cleaner, globals_of, segment
from lowpass.fingerprint.index import (
    Fault,
    Index,
    Unit,
    Visitor,
    chain,
    first_line,
    imports,
    tree_of,
)
from lowpass.fingerprint.unreadable import (
    ATTRIBUTES,
    NAMES,
    NOWHERE,
    READERS,
    UNREADABLE,
    verdict,
)

BUILDERS = frozenset("format join lower replace strip upper removesuffix".split())
"""Methods that make a text out of another."""


class Reading(Visitor):
    """Read one unit.

    Attributes
    ----------
    units, modules : set of str
        First-party units it takes, and modules it imports inside functions.
    opened : set of str
        Registries in which it looks up a name that was handed in.
    named : set of (registry, entry name)
        Entries it looks up under a literal name.
    words : set of str
        String constants that could name an entry; defaults of class fields are left out.
    reads : set of str
        ``"annotations"`` or ``"docstrings"`` where it reads those of other code.
    faults : list of Fault
        What cannot be followed.
    digest : str
        Hash of the cleaned statement and of the places behind its names.
    """

    def __init__(self, index: Index, unit: Unit, keep: Collection[str]) -> None:
        self.index, self.unit, self.module = index, unit, index.modules[unit.module]
        self.units: set[str] = set()
        self.opened: set[str] = set()
        self.named: set[tuple[str, str]] = set()
        self.words: set[str] = set()
        self.reads: set[str] = set()
        self.faults: list[Fault] = []
        self.places: dict[str, str] = {}
        self.silent = self.annotating = False
        self.line = 1
        text = segment(unit.node, self.module.lines)
        self.globals = globals_of(text)
        tree = ast.parse(text)
        self._gather(tree)
        Cleaner(keep, self.plain).visit(tree)
        self.visit(tree)
        said = ast.dump(tree) + repr(sorted(self.places.items()))
        self.digest = hashlib.sha256(said.encode()).hexdigest()

    def _gather(self, tree: ast.AST) -> None:
        """Note local imports, local names built from text, and decorators that only register."""
        nodes = tree_of(tree)
        local = imports(nodes)
        self.local = {n: b for node in local for n, b in self.module.bindings(node)}
        self.modules = set(self.index.loads(self.unit.module, local))
        self.built = {
            t.id
            for n in nodes
            if isinstance(n, ast.Assign | ast.NamedExpr | ast.AnnAssign) and _builds_text(n.value)
            for t in tree_of(n)
            if isinstance(t, ast.Name) and isinstance(t.ctx, ast.Store)
        }
        calls = [n for n in nodes if isinstance(n, ast.Call)]
        self.plain = {id(c) for c in calls if self.index.registration(self.unit.module, c)}

    # Names

    def candidates(self, root: str) -> Iterator[str]:
        """Yield the places that a name may lead to in one of the unit's scopes."""
        if root in self.local and (place := self.index.land(self.local[root])):
            yield place
        if self.annotating or root in self.globals:
            if place := self.index.resolve(self.unit.module, root):
                yield place
            elif root in self.module.imports:
                self.fault(self.line, f"'{root}' leads nowhere", *NOWHERE)
            elif root in NAMES and root in self.globals:
                self.fault(self.line, f"'{root}' is used", *UNREADABLE)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.take(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        inner: ast.expr = node
        if chain(node):
            self.take(node)
        while isinstance(inner, ast.Attribute):
            self.attribute(inner, inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name):
            self.visit(inner)

    def attribute(self, node: ast.expr, name: str) -> None:
        """Refuse attributes behind which any code can hide, and note those that read code."""
        if name in READERS:
            self.reader(node, name, READERS[name])
        if name in ATTRIBUTES:
            self.fault(node.lineno, f"'{name}' is read", *UNREADABLE)

    def take(self, node: ast.expr) -> None:
        """Follow ``a`` or ``a.b.c`` to the places it leads to."""
        root, attributes = chain(node)  # type: ignore[misc]
        self.line = node.lineno
        for start in self.candidates(root):
            place, rest = self.index.follow(start, attributes)
            self.arrive(node, place, rest)

    def arrive(self, node: ast.expr, place: str | None, rest: list[str]) -> None:
        """Note one place, or the reason why it cannot be taken."""
        if place is None:
            return
        shown = ast.unparse(node)
        self.places[shown.removesuffix("".join(f".{a}" for a in rest))] = place
        if place in self.index.registries:
            self.fault(node.lineno, f"'{shown}' is used other than by looking up one entry",
                       "only X[name] and X.facts(name) can be followed",
                       "look the entry up where its name is handed in")  # fmt: skip
        elif place in self.index.units:
            self.units.add(place)
        elif place in self.index.modules:
            self.fault(node.lineno, f"module '{shown}' is used as a value or lacks that name",
                       "what is taken from it cannot be read",
                       "import the name that you need")  # fmt: skip
        else:
            self.outside(node, ".".join([place, *rest]))

    def outside(self, node: ast.expr, place: str) -> None:
        """Refuse outside places that hide what they reach."""
        reads, reason = verdict(place)
        self.reader(node, place, reads)
        if reason:
            self.fault(node.lineno, f"'{place}' is used", *reason)
        if place.split(".")[0] == self.index.package:
            self.fault(node.lineno, f"'{place}' leads nowhere", *NOWHERE)

    def reader(self, node: ast.expr, name: str, reads: Collection[str]) -> None:
        """Note what reads annotations or docstrings; only the spec may."""
        self.reads.update(reads)
        spec = f"{self.index.package}.spec"
        if reads and not f"{self.unit.module}.".startswith(f"{spec}."):
            self.fault(node.lineno, f"'{name}' is read",
                       f"it makes {' and '.join(reads)} part of the result",
                       f"read them in {spec} or write the value down")  # fmt: skip

    def fault(self, line: int, what: str, why: str, advice: str) -> None:
        """Note something that cannot be followed."""
        place = f"{self.module.path}:{first_line(self.unit.node) + line - 1}"
        self.faults.append(Fault(place, what, why, advice))

    # Registries

    def registry(self, node: ast.AST) -> str | None:
        """Give the registry that an expression names exactly."""
        if not (steps := chain(node)):
            return None
        self.line = getattr(node, "lineno", 1)
        for start in self.candidates(steps[0]):
            place, rest = self.index.follow(start, steps[1])
            if not rest and place in self.index.registries:
                self.units.add(place)
                self.places[ast.unparse(node)] = place
                return place
        return None

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load) and (registry := self.registry(node.value)):
            self.lookup(registry, node.slice)
        else:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            # ds.assign(gain=...) names a variable as much as ds["gain"] does.
            self.say(keyword.arg)
        facts = isinstance(node.func, ast.Attribute) and node.func.attr == "facts" and node.args
        registering = id(node) in self.plain
        if (facts or registering) and (registry := self.registry(node.func.value)):  # type: ignore[attr-defined]
            if facts:
                self.lookup(registry, node.args[0])
            for part in [*node.args[1:], *node.keywords]:
                self.visit(part)
        else:
            self.generic_visit(node)

    def lookup(self, registry: str, key: ast.expr) -> None:
        """Note which entries a key can pull from a registry."""
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            self.named.add((registry, key.value))
            return
        handed = isinstance(key, ast.Name | ast.Attribute | ast.Subscript | ast.IfExp)
        if not handed or (isinstance(key, ast.Name) and key.id in self.built):
            self.fault(key.lineno, f"the entry name '{ast.unparse(key)}' is computed",
                       "the recipe would not show which entry made the result",
                       "hand the whole name in")  # fmt: skip
        self.opened.add(registry)
        self.visit(key)

    # Words, fields, annotations

    def say(self, word: object) -> None:
        """Note a text that could name an entry."""
        if isinstance(word, str) and not self.silent:
            self.words.add(word)

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, str):
            return
        if self.annotating:
            self._text_annotation(node)
            return
        self.say(node.value)
        self.attribute(node, node.value)
        steps = node.value.split(".")
        if steps[0] == self.index.package and len(steps) > 1 and all(map(str.isidentifier, steps)):
            if self.index.follow(steps[0], steps[1:])[0] != steps[0]:
                self.fault(node.lineno, f"'{node.value}' names code by text",
                           "what takes it from there cannot be read",
                           "import the code by its name")  # fmt: skip

    def _text_annotation(self, node: ast.Constant) -> None:
        try:
            inner = ast.parse(str(node.value), mode="eval").body
        except SyntaxError:
            return
        if not isinstance(inner, ast.Constant):
            ast.increment_lineno(inner, node.lineno - 1)
            self.visit(inner)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(part)
        for part in node.body:
            before = self.silent
            self.silent = before or isinstance(part, ast.Assign | ast.AnnAssign)
            self.visit(part)
            self.silent = before

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.annotate(node.annotation)
        self.visit(node.target)
        if node.value:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        self.annotate(node.annotation)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in [*node.decorator_list, node.args, *node.body]:
            self.visit(part)
        self.annotate(node.returns)

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def annotate(self, node: ast.expr | None) -> None:
        """Visit an annotation: its names count, its texts name no entry."""
        if node is not None:
            before, self.annotating = self.annotating, True
            self.visit(node)
            self.annotating = before


def _builds_text(node: ast.AST | None) -> bool:
    """Tell whether an expression builds a text out of others."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in BUILDERS
    return isinstance(node, ast.JoinedStr | ast.BinOp)
