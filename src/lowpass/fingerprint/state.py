"""Where a module changes what it has bound.

It owns two rules: a module-level value never changes, and a name is bound once.
Both hold in function bodies too, whether or not anything reaches them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from lowpass.fingerprint.cleaning import globals_of, segment
from lowpass.fingerprint.index import Fault, Index, Module, bound, chain, imports, tree_of

MUTATORS = frozenset(
    "append extend insert remove pop popitem clear update setdefault add enter discard sort "
    "reverse register fill resize setflags __setitem__ __delitem__ __setattr__ __delattr__ "
    "__ior__ __iadd__".split()
)
EFFECTS = ("register", "seed", "set_", "setbuf", "seterr", "setlocale", "use_")
"""How the names of functions begin that change the state of an outside package."""

WHY = "a module-level value that changes makes a result depend on what ran before"
WITH = "use a context that ends, as 'with np.errstate(...)'"
NEW = "make a new value and return it"
REGISTER = f"{NEW}; register only at top level, @X.add('literal') or X.enter('literal', value)"


class Statement:
    """Know which expressions of one top-level statement start at a module-level name."""

    def __init__(self, index: Index, module: Module, node: ast.stmt) -> None:
        self.index, self.module, self.node = index, module, node
        self.nodes = tree_of(node)

    @cached_property
    def local(self) -> dict[str, tuple[str, str | None]]:
        """Map names imported inside the statement to what they bind."""
        return {n: b for inner in imports(self.nodes) for n, b in self.module.bindings(inner)}

    @cached_property
    def globals(self) -> frozenset[str]:
        """Collect the names that the statement takes from its module."""
        return globals_of(segment(self.node, self.module.lines))

    def origin(self, node: ast.expr) -> str | None:
        """Give the place at which ``a.b[c].d`` starts, if it is not a local value."""
        root, place = self.leads(node)
        taken = place and (root in self.local or root in self.globals)
        return place if taken else None

    def leads(self, node: ast.expr) -> tuple[str, str | None]:
        """Give the first name of ``a.b[c].d``, and where it would lead if it were no local value.

        Most lead nowhere, or to what never matters, and need no table of names.
        """
        while isinstance(node, (ast.Attribute, ast.Subscript)) and not chain(node):
            node = node.value
        if not (steps := chain(node)):
            return "", None
        root, attributes = steps
        if root in self.local:
            start = self.index.land(self.local[root])
        else:
            start = self.index.resolve(self.module.name, root)
        if start is None:
            return root, None
        place, rest = self.index.follow(start, attributes)
        if place not in self.index.units and place not in self.index.modules:
            place = ".".join([str(place), *rest])
        # Only the registry may keep notes, and a job may clear them.
        return root, None if place == f"{self.index.package}.registry:Registry" else place


def changes(index: Index, module: Module) -> Iterator[Fault]:
    """Yield every place where a module changes a module-level value."""
    for node in module.body:
        statement = Statement(index, module, node)
        plain = [*getattr(node, "decorator_list", ()), getattr(node, "value", None)]
        registers = {id(call) for call in plain if index.registration(module.name, call)}
        undone = {id(i.context_expr) for i in statement.nodes if isinstance(i, ast.withitem)}
        for inner in filter(may_change, statement.nodes):
            if id(inner) not in registers | undone and (what := changed(statement, inner)):
                place = f"{module.path}:{inner.lineno}"  # type: ignore[attr-defined]
                yield Fault(place, *what)


def may_change(node: ast.AST) -> bool:
    """Tell nodes that may change something from the many that never do."""
    return isinstance(node, (ast.Global, ast.Attribute, ast.Subscript, ast.Call))


def changed(statement: Statement, node: ast.AST) -> tuple[str, str, str] | None:
    """Say what a node changes, why that matters and what to do, or None."""
    if isinstance(node, ast.Global):
        return f"'global {', '.join(node.names)}' is used", WHY, NEW
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        if statement.origin(node.value):
            return f"'{ast.unparse(node)}' is changed", WHY, NEW
    if not isinstance(node, ast.Call):
        return None
    func = node.func
    if isinstance(func, ast.Attribute) and func.attr in MUTATORS:
        units = statement.index.units
        if statement.leads(func.value)[1] in units and statement.origin(func.value):
            return f"'{ast.unparse(func)}(...)' changes a module-level value", WHY, REGISTER
    if isinstance(func, ast.Name) and func.id in ("setattr", "delattr") and node.args:
        if statement.origin(node.args[0]):
            return f"'{ast.unparse(node)}' changes a module-level value", WHY, NEW
    if is_effect(statement.index, statement.leads(func)[1]) and statement.origin(func):
        return f"'{ast.unparse(func)}(...)' changes an outside package", WHY, WITH
    return None


def is_effect(index: Index, place: str | None) -> bool:
    """Tell whether a place is an outside function that changes the state of its package."""
    outside = place is not None and place not in index.units and place not in index.modules
    return outside and str(place).rpartition(".")[2].startswith(EFFECTS)


def rebindings(index: Index, module: Module) -> Iterator[Fault]:
    """Yield names that are bound twice, hooks of the module, and lines that hold two statements."""
    seen: dict[str, object] = {}
    end = 0
    for node in module.body:
        place = f"{module.path}:{node.lineno}"
        imported = dict(module.bindings(node))
        for name, what in [*imported.items(), *((name, node) for name in bound(node))]:
            inner = f"{module.name}.{name}"
            if seen.setdefault(name, what) != what:
                yield Fault(place, f"'{name}' is bound twice", "which one counts depends on order",
                            "give the second a name of its own")  # fmt: skip
            if name in ("__getattr__", "__dir__"):
                yield Fault(place, f"the module defines '{name}'", "names could come from nowhere",
                            "bind the names")  # fmt: skip
            if inner in index.modules and index.resolve(module.name, name) != inner:
                yield Fault(place, f"'{name}' is also a module of this folder",
                            "which one counts depends on order", "rename one of them")  # fmt: skip
        if node.lineno <= end:
            yield Fault(place, "two statements share a line", "each is a unit of its own",
                        "write one statement a line")  # fmt: skip
        end = node.end_lineno or node.lineno
