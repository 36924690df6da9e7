"""Run edited code and compare: whatever changes a result changes its fingerprint.

A subject is any package with its recipes and the text of a function ``run`` that turns a
recipe into an output. All subjects run in one process that forks a child for each.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import lowpass.registry
from lowpass.fingerprint import Code, names_in
from lowpass.registry import Refusal

SERVER = """
import importlib, json, os, signal, sys

for name in sys.argv[1:]:
    importlib.import_module(name)

def calls_of(root, seen):
    def note(frame, event, argument):
        code, imports = frame.f_code, False
        if event == "call" and code.co_filename.startswith(root):
            while frame and not imports:
                caller, frame = frame.f_code, frame.f_back
                imports = caller.co_name == "<module>" and caller.co_filename.startswith(root)
            if not imports:
                seen.add((code.co_filename[len(root) + 1:], code.co_firstlineno))
    return note

def give_up(number, frame):
    raise TimeoutError("an edit may make a loop endless")

def results(job):
    signal.signal(signal.SIGALRM, give_up)
    sys.path.insert(0, job["root"])
    namespace, results = {}, []
    for recipe in job["recipes"]:
        seen, asked = set(), set()
        try:
            signal.alarm(job["seconds"])
            exec(job["run"], namespace)
            from lowpass.registry import Registry
            Registry.asked.clear()
            if job["watched"]:
                sys.setprofile(calls_of(job["root"], seen))
            output, error = repr(namespace["run"](recipe)), None
            asked = Registry.asked
        except Exception as fault:
            output, error = None, repr(fault)
        finally:
            signal.alarm(0)
            sys.setprofile(None)
        results.append([output, error, sorted(asked), sorted(seen)])
    return results

for line in sys.stdin:
    receive, send = os.pipe()
    if os.fork() == 0:
        with open(send, "w") as out:
            json.dump(results(json.loads(line)), out)
        os._exit(0)
    os.close(send)
    with open(receive) as come:
        print(come.read(), flush=True)
    os.wait()
"""


# Where the code of a recipe begins, and by which names it goes on.
Begins = Callable[[dict], tuple[Sequence[str], Collection[str]]]


@dataclass(frozen=True)
class Subject:
    """What is put to the test: a package, how it is run, and where the code of a run begins."""

    root: Path
    recipes: tuple[dict, ...]
    run: str
    begins: Begins


def begins_at(*roots: str) -> Begins:
    """Begin at the same definitions whatever the recipe, and go on by all its texts."""
    return lambda recipe: (roots, names_in(recipe))


@dataclass(frozen=True)
class Result:
    """What one recipe gave: output or error, entries asked for, functions executed."""

    output: str | None
    error: str | None
    asked: set[tuple[str, str]]
    executed: set[tuple[str, int]]


def run(
    subjects: Sequence[Subject],
    *,
    watched: bool = True,
    preload: Sequence[str] = ("numpy", "pydantic.main"),
    seconds: int = 10,
) -> list[list[Result]]:
    """Run every recipe of every subject, each subject in a child of its own.

    Outside modules in ``preload`` are imported once, before the first child. A recipe that
    takes longer than some ``seconds`` has failed.
    """
    asked = {"watched": watched, "seconds": seconds}
    jobs = [{"root": str(s.root), "recipes": s.recipes, "run": s.run, **asked} for s in subjects]
    done = subprocess.run(
        [sys.executable, "-c", SERVER, *preload],
        input="".join(json.dumps(job) + "\n" for job in jobs),
        capture_output=True,
        text=True,
        check=True,
    )
    return [
        [
            Result(output, error, *({tuple(pair) for pair in each} for each in pairs))
            for output, error, *pairs in json.loads(line)
        ]
        for line in done.stdout.splitlines()
    ]


def fingerprints(subject: Subject) -> list[str | None]:
    """Fingerprint every recipe; None where the code is refused."""
    try:
        code = Code.read(subject.root)
        return [code.fingerprint(*subject.begins(recipe)) for recipe in subject.recipes]
    except Refusal:
        return [None for _ in subject.recipes]


Outcome = tuple[list[Result], list[str | None]]


def changed(before: Outcome, after: Outcome) -> list[tuple[int, bool]]:
    """List the recipes whose output changed, and whether their fingerprints changed too.

    What fails, or is refused, gives no output that could be mistaken for another one.
    """
    return [
        (number, seen != now)
        for number, (old, seen, new, now) in enumerate(zip(*before, *after, strict=True))
        if None not in (old.output, new.output, seen, now) and old.output != new.output
    ]


def missed(before: Outcome, after: Outcome) -> list[int]:
    """List the recipes whose output changed under an unchanged fingerprint."""
    return [number for number, noticed in changed(before, after) if not noticed]


def caught(before: Outcome, after: Outcome) -> list[int]:
    """List the recipes whose output changed, and whose fingerprint said so."""
    return [number for number, noticed in changed(before, after) if noticed]


def units_by_line(root: Path) -> dict[tuple[str, int], str]:
    """Map every line of a package to the unit that stands there, from its syntax alone."""
    units = {}
    for path in root.glob("lowpass/**/*.py"):
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(path.read_text()).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else node
            name = getattr(target, "name", getattr(target, "id", None))
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            for line in range(first, node.end_lineno + 1):
                units[path.relative_to(root).as_posix(), line] = f"{module}:{name}"
    return units


def strays(subject: Subject, results: list[Result]) -> set[str]:
    """List the functions that ran although the closure of their recipe lacks them."""
    code, units = Code.read(subject.root), units_by_line(subject.root)
    return {
        units[place]
        for recipe, result in zip(subject.recipes, results, strict=True)
        for place in result.executed
        if units[place] not in code.closure(*subject.begins(recipe)).units
    }


REG = "from lowpass.registry import Registry\nKERNELS = Registry('k')"
CALL = "def run(recipe):\n    from lowpass.s import main\n    return main(recipe['kernel'])\n"


def write_package(root: Path, text: str) -> Subject:
    """Write the files of a small package, the real registry among them."""
    folder, path = root / "src" / "lowpass", "s.py"
    files: dict[str, list[str]] = {"__init__.py": []}
    for line in textwrap.dedent(text).strip().replace("@REG", REG).splitlines():
        path = line if re.fullmatch(r"[\w/]+\.py", line) else path
        files.setdefault(path, []).extend([line] if line != path else [])
    for path, lines in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("\n".join(lines) + "\n")
    shutil.copy(lowpass.registry.__file__, folder)
    return Subject(folder.parent, ({"kernel": "a"},), CALL, begins_at("lowpass.s:main"))
