"""Small random edits of definitions, and packages that hold one each."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib.util import cache_from_source
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .harness import Subject

SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult}
SWAPS |= {ast.Pow: ast.Mult, ast.Eq: ast.NotEq, ast.IsNot: ast.Is, ast.Lt: ast.GtE}


def edits(node: ast.AST) -> Iterator[Callable[[], None]]:
    """Yield ways to change one node: another number, text or truth, another operator."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str):
        changed = not node.value if isinstance(node.value, bool) else node.value * 2 or 1
        yield lambda: setattr(node, "value", changed)
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        yield lambda: setattr(node, "op", SWAPS[type(node.op)]())
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield lambda: setattr(node, "ops", [SWAPS[type(node.ops[0])]()])


def nodes_of(statement: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes whose edit can show in a result: no docstrings, nor what is raised."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef
    for child in ast.iter_child_nodes(statement):
        first = isinstance(statement, documented) and child is statement.body[0]
        says = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        if not (isinstance(child, ast.alias | ast.Raise) or (first and says)):
            yield child
            yield from nodes_of(child)


def edits_in(module: ast.Module, number: int) -> list[tuple[bool, Callable[[], None]]]:
    """List the ways to change the top-level statement of that number, and which edit words."""
    statement = module.body[number]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return []
    return [
        (isinstance(getattr(node, "value", None), str), edit)
        for node in nodes_of(statement)
        for edit in edits(node)
    ]


class Mutant(NamedTuple):
    """One edit: where it is, and the text of the file with it."""

    what: str
    path: Path
    text: str


def sites(paths: Iterable[Path], rng: np.random.Generator) -> Iterator[tuple[Path, int]]:
    """Yield every definition or value once, at random, from each module in its turn.

    Taking turns keeps one long table from filling the beginning.
    """
    decks = []
    for path in paths:
        module = ast.parse(path.read_text())
        numbers = [n for n in range(len(module.body)) if edits_in(module, n)]
        decks.append([(path, int(number)) for number in rng.permutation(numbers)])
    turns = zip_longest(*(decks[deck] for deck in rng.permutation(len(decks))))
    yield from (site for turn in turns for site in turn if site)


def mutants_at(path: Path, number: int, rng: np.random.Generator, each: int) -> Iterator[Mutant]:
    """Yield random edits of one top-level statement, ``each`` at most.

    Numbers and operators come before words, many of which only describe.
    """
    text = path.read_text()
    found = edits_in(ast.parse(text), number)
    for chosen in sorted(rng.permutation(len(found)), key=lambda i: found[i][0])[:each]:
        module = ast.parse(text)
        name = getattr(module.body[number], "name", f"statement {number}")
        before = ast.unparse(module.body[number]).splitlines()
        edits_in(module, number)[chosen][1]()
        after = ast.unparse(module.body[number]).splitlines()
        old, new = next(pair for pair in zip(before, after, strict=True) if pair[0] != pair[1])
        what = f"{path.stem}, {name}: {old.strip()} -> {new.strip()}"
        yield Mutant(what, path, ast.unparse(module))


def mutants(paths: Iterable[Path], rng: np.random.Generator, each: int = 1) -> Iterator[Mutant]:
    """Yield random edits of every definition and value, ``each`` at most."""
    for path, number in sites(paths, rng):
        yield from mutants_at(path, number, rng, each)


def write_mutants(subject: Subject, folder: Path, found: Iterable[Mutant]) -> Iterator[Subject]:
    """Copy a subject once for each mutant, with that one file changed.

    What was compiled of the others is copied as well.
    """
    for number, mutant in enumerate(found):
        root = folder / str(number) / "src"
        shutil.copytree(subject.root, root)
        path = root / mutant.path.relative_to(subject.root)
        path.write_text(mutant.text)
        Path(cache_from_source(str(path))).unlink(missing_ok=True)
        yield replace(subject, root=root)
