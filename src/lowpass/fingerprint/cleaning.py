"""One statement on its own: its text, the names it takes, and what is left when cleaned.

It owns the line between what can change a result and what cannot: comments, docstrings
and annotations that nothing reads. Scopes are CPython's own, from ``symtable``.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Collection
from functools import lru_cache

from lowpass.fingerprint.index import Visitor, first_line, tree_of


def segment(node: ast.stmt, lines: list[str]) -> str:
    """Cut one statement out of the lines of its module."""
    return "\n".join(lines[first_line(node) - 1 : node.end_lineno])


@lru_cache(maxsize=4096)
def globals_of(text: str) -> frozenset[str]:
    """Collect the names that a statement takes from its module, annotations left out."""
    # Under this import CPython keeps annotations out of its table of names.
    lazily = "from __future__ import annotations\n" + text
    tables, names = [symtable.symtable(lazily, "unit", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            # A class body may read a global before it binds the same name.
            if symbol.is_referenced() and (symbol.is_global() or table.get_type() != "function"):
                names.add(symbol.get_name())
    return frozenset(names)


class Cleaner(Visitor):
    """Take out, in place, what cannot change a result.

    Parameters
    ----------
    keep : collection of str
        ``"annotations"`` and ``"docstrings"`` where something reads them.
    plain : set of int
        Identities of decorators that only register.
    """

    def __init__(self, keep: Collection[str], plain: Collection[int]) -> None:
        self.keep, self.plain, self.fields = keep, plain, False

    def visit(self, node: ast.AST) -> None:
        body = getattr(node, "body", None)
        if isinstance(body, list) and "docstrings" not in self.keep:
            node.body = [s for s in body if not _is_text(s)] or [ast.Pass()]  # type: ignore[attr-defined]
        fields, self.fields = self.fields, isinstance(node, ast.ClassDef)
        decorated = any(id(d) not in self.plain for d in getattr(node, "decorator_list", ()))
        if "annotations" not in self.keep and not decorated:
            self.strip(node, fields)
        self.generic_visit(node)
        self.fields = fields

    def strip(self, node: ast.AST, is_field: bool) -> None:
        """Drop the annotations of a plain function and of a variable that is no class field."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
            for n in tree_of(node.args):
                if isinstance(n, ast.arg):
                    n.annotation = None
        elif isinstance(node, ast.AnnAssign) and not is_field:
            node.annotation = ast.Constant(None)


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
