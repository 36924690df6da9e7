"""Edit code, run it, and compare: whatever changes a result changes its fingerprint.

Packages are written to temporary folders and run in one process that forks a child for
each. ``missed`` and ``strays`` take any package: a folder, its roots, its recipes, and
the text of a function ``run`` that turns a recipe into an output.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import lowpass.registry
from lowpass.fingerprint import Code, check_asked, cleaning, closure, names_in, reading
from lowpass.registry import Refusal

SERVER = """
import importlib, json, os, sys

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

def results(job):
    sys.path.insert(0, job["root"])
    namespace, results = {}, []
    for recipe in job["recipes"]:
        seen, asked = set(), set()
        try:
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


@dataclass(frozen=True)
class Subject:
    """What is put to the test: a package, where its code starts, and how it is run."""

    root: Path
    roots: tuple[str, ...]
    recipes: tuple[dict, ...]
    run: str


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
) -> list[list[Result]]:
    """Run every recipe of every subject, each subject in a child of its own.

    Outside modules in ``preload`` are imported once, before the first child.
    """
    jobs = [
        {"root": str(s.root), "recipes": s.recipes, "run": s.run, "watched": watched}
        for s in subjects
    ]
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
        return [code.fingerprint(subject.roots, names_in(recipe)) for recipe in subject.recipes]
    except Refusal:
        return [None for _ in subject.recipes]


def missed(
    before: tuple[list[Result], list[str | None]], after: tuple[list[Result], list[str | None]]
) -> list[int]:
    """List the recipes whose output changed under an unchanged fingerprint."""
    return [
        number
        for number, (old, seen, new, now) in enumerate(zip(*before, *after, strict=True))
        if None not in (old.output, new.output, seen, now)
        and old.output != new.output
        and seen == now
    ]


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
        if units[place] not in code.closure(subject.roots, names_in(recipe)).units
    }


# Construct pairs: ‹before|after› marks the edit; a file starts at its name, s.py is the root.

REG = "from lowpass.registry import Registry\nKERNELS = Registry('k')"
SEEN = {
    "a call": """
        def main(n):
            return f(1)
        def f(x):
            return x + ‹1|2›
        """,
    "a constant of a constant": """
        A = ‹3|4›
        B = A * 2
        def main(n):
            return B
        """,
    "one name of two": """
        A, B = 1, ‹3|4›
        def main(n):
            return B
        """,
    "a default": """
        A = ‹3|4›
        def main(n, x=A):
            return x
        """,
    "a keyword default": """
        A = ‹3|4›
        def main(n, *, x=A):
            return x
        """,
    "a default of an inner lambda": """
        A = ‹1|2›
        def main(n):
            return (lambda x=A: [x for _ in (1,) if A])()
        """,
    "a default value": """
        def main(n, x=‹3|4›):
            return x
        """,
    "a decorator": """
        def dec(f):
            return lambda n: f(n) + ‹1|2›
        @dec
        def main(n):
            return 1
        """,
    "a choice of decorator": """
        def one(f):
            return lambda n: f(n) + 1
        def two(f):
            return lambda n: f(n) + 2
        @‹one|two›
        def main(n):
            return 1
        """,
    "a decorator's argument over many lines": """
        def dec(n,
                m):
            return lambda f: lambda _: f(_) + n + m
        M = ‹2|3›
        @dec(
            1,
            M,
        )
        def main(n):
            return 1
        """,
    "a cached function": """
        from functools import lru_cache
        @lru_cache(maxsize=None)
        def f():
            return ‹1|2›
        def main(n):
            return f()
        """,
    "an import under another name": """
        a.py
        def y():
            return ‹1|2›
        s.py
        from lowpass.a import y as z
        def main(n):
            return z()
        """,
    "a module under another name": """
        a.py
        def y():
            return ‹1|2›
        s.py
        import lowpass.a as x
        def main(n):
            return x.y()
        """,
    "a dotted import": """
        a.py
        def y():
            return ‹1|2›
        s.py
        import lowpass.a
        def main(n):
            return lowpass.a.y()
        """,
    "relative imports": """
        p/__init__.py
        p/a.py
        def y():
            return ‹1|2›
        p/b.py
        from .a import y
        from . import a
        def g():
            return y() + a.y()
        s.py
        from .p.b import g
        def main(n):
            return g()
        """,
    "a re-export": """
        p/__init__.py
        from .a import y as q
        p/a.py
        def y():
            return ‹1|2›
        s.py
        from lowpass.p import q
        def main(n):
            return q()
        """,
    "a re-export, taken as an attribute": """
        p/__init__.py
        from lowpass.p.a import y as q
        p/a.py
        def y():
            return ‹1|2›
        s.py
        from lowpass import p
        def main(n):
            return p.q()
        """,
    "a choice of import": """
        a.py
        def y():
            return 1
        b.py
        def y():
            return 2
        s.py
        from lowpass.‹a|b› import y
        def main(n):
            return y()
        """,
    "an outside import": """
        from math import ‹sin|cos› as f
        def main(n):
            return f(1)
        """,
    "an import inside a function": """
        a.py
        def y():
            return ‹1|2›
        s.py
        def main(n):
            from lowpass.a import y
            return y()
        """,
    "a module imported inside a function": """
        a.py
        def y():
            return ‹1|2›
        s.py
        def main(n):
            import lowpass.a as q
            return q.y()
        """,
    "a relative import inside a package": """
        p/__init__.py
        def g():
            from .a import y
            return y()
        p/a.py
        def y():
            return ‹1|2›
        s.py
        from lowpass.p import g
        def main(n):
            return g()
        """,
    "an inner function": """
        def h():
            return ‹1|2›
        def main(n):
            def g():
                return h()
            return g()
        """,
    "a comprehension": """
        A = ‹1|2›
        def main(n):
            return [A + i for i in range(3)]
        """,
    "lambdas in a list": """
        FS = [lambda: i for i in range(‹3|4›)]
        def main(n):
            return [f() for f in FS]
        """,
    "functions in a dict": """
        def a():
            return ‹1|2›
        T = {'a': a}
        def main(n):
            return T[n]()
        """,
    "a builtin that is shadowed": """
        def main(n):
            return sum([1, 2])
        ‹A|sum› = len
        """,
    "a member of a folder without __init__": """
        q/a.py
        def y():
            return ‹1|2›
        s.py
        from lowpass.q import a
        def main(n):
            return a.y()
        """,
    "a registry imported inside a function": """
        k.py
        @REG
        KERNELS.enter('a', ‹1|2›)
        s.py
        def main(n):
            from lowpass.k import KERNELS
            return KERNELS[n]
        """,
    "the type of a field": """
        from dataclasses import dataclass, fields
        A = ‹int|float›
        @dataclass
        class D:
            x: A = 1
        def main(n):
            return str(fields(D)[0].type)
        """,
    "the type of a field, as text": """
        from __future__ import annotations
        from pydantic import BaseModel
        A = ‹int|float›
        class D(BaseModel):
            x: A = 1
        def main(n):
            return D(x=2)
        """,
    "a validator in an annotation": """
        from typing import Annotated
        from pydantic import AfterValidator, BaseModel
        def scale(v):
            return v * ‹5|6›
        Scaled = Annotated[int, AfterValidator(scale)]
        class D(BaseModel):
            x: Scaled
        def main(n):
            return D(x=2)
        """,
    "a method that validates": """
        from pydantic import BaseModel, ConfigDict, field_validator
        class D(BaseModel):
            model_config = ConfigDict(frozen=True)
            x: int
            @field_validator('x')
            @classmethod
            def scale(cls, v):
                return v * ‹5|6›
        def main(n):
            return D(x=2)
        """,
    "a field of a named tuple": """
        from typing import NamedTuple
        class D(NamedTuple):
            x: int = ‹1|2›
        def main(n):
            return D()
        """,
    "an inherited method": """
        class B:
            def m(self):
                return ‹5|6›
        class D(B):
            pass
        def main(n):
            return D().m()
        """,
    "a function that a method calls": """
        class B:
            def m(self):
                return h()
        def h():
            return ‹5|6›
        def main(n):
            return B().m()
        """,
    "a call in a constant": """
        def go():
            return ‹5|6›
        D = go()
        def main(n):
            return D
        """,
    "an array": """
        import numpy as np
        GRID = np.array([1.0, ‹2.0|3.0›])
        def main(n):
            return GRID.tolist()
        """,
    "annotations that the spec reads": """
        k.py
        @REG
        @KERNELS.add('a')
        def a(x: ‹int|float›):
            pass
        spec.py
        import inspect
        from lowpass.k import KERNELS
        def parse(n):
            return str(inspect.signature(KERNELS[n]))
        s.py
        from lowpass.spec import parse
        def main(n):
            return parse(n)
        """,
    "a domain that the spec reads": """
        k.py
        from __future__ import annotations
        from typing import Annotated
        @REG
        Positive = Annotated[float, ‹0|1›]
        @KERNELS.add('a')
        def a(x: Positive):
            pass
        spec.py
        import inspect
        from lowpass.k import KERNELS
        def parse(n):
            return str(inspect.signature(KERNELS[n], eval_str=True))
        s.py
        from lowpass.spec import parse
        def main(n):
            return parse(n)
        """,
    "a docstring that the spec reads": """
        spec.py
        def f():
            '‹one|two›'
        def parse():
            return f.__doc__
        s.py
        from lowpass.spec import parse
        def main(n):
            return parse()
        """,
    "an entry": """
        @REG
        @KERNELS.add('a')
        def a():
            return ‹1|2›
        def main(n):
            return KERNELS[n]()
        """,
    "an entry in another module": """
        k.py
        @REG
        e.py
        from lowpass import k
        @k.KERNELS.add('a')
        def a():
            return ‹1|2›
        s.py
        import lowpass.e
        from lowpass.k import KERNELS
        def main(n):
            return KERNELS[n]()
        """,
    "an entry of a registry under another name": """
        k.py
        @REG
        e.py
        from lowpass.k import KERNELS as Q
        @Q.add('a')
        def a():
            return ‹1|2›
        s.py
        import lowpass.e
        from lowpass.k import KERNELS
        def main(n):
            return KERNELS[n]()
        """,
    "an entry with a second decorator": """
        @REG
        def dec(f):
            return lambda: f() + ‹1|2›
        @KERNELS.add(
            'a'
        )
        @dec
        def a():
            return 1
        def main(n):
            return KERNELS[n]()
        """,
    "a fact": """
        @REG
        @KERNELS.add('a', order=‹1|2›)
        def a():
            return 1
        def main(n):
            return KERNELS.facts(n)
        """,
    "a registered value": """
        @REG
        class Card:
            def __init__(self, text):
                self.text = text
        KERNELS.enter('a', Card(‹1|2›), order=1)
        def main(n):
            return KERNELS[n].text
        """,
    "a registered class": """
        @REG
        @KERNELS.add('a')
        class A:
            def __call__(self):
                return ‹1|2›
        def main(n):
            return KERNELS[n]()()
        """,
    "an entry that an entry names": """
        @REG
        @KERNELS.add('a')
        def a():
            return KERNELS['b']()
        @KERNELS.add('b')
        def b():
            return ‹1|2›
        def main(n):
            return KERNELS[n]()
        """,
    "entries named in a tuple": """
        @REG
        @KERNELS.add('a')
        def a():
            return 1
        @KERNELS.add('b')
        def b():
            return ‹1|2›
        def main(n):
            return [KERNELS[k]() for k in ('a', 'b')]
        """,
    "an entry named by a keyword": """
        @REG
        KERNELS.enter('b', ‹1|2›)
        def main(n):
            return [KERNELS[k] for k in dict(b=0)]
        """,
}
UNSEEN = {
    "a definition that nothing uses": """
        def main(n):
            return 1
        def f(x):
            return x + ‹1|2›
        """,
    "another member of a module": """
        a.py
        def y():
            return 1
        def z():
            return ‹7|8›
        s.py
        import lowpass.a as x
        def main(n):
            return x.y()
        """,
    "a name that a local one hides": """
        A = ‹1|2›
        def main(n):
            A = 5
            return A
        """,
    "a name that a comprehension hides": """
        A = ‹1|2›
        def main(n):
            return [A for A in range(3)]
        """,
    "annotations, docstrings, comments": """
        class T:
            '‹one|two›'
        def main(n, x: ‹int|T› = 1) -> ‹int|T›:
            '‹one|two›'
            y: ‹int|T› = 1  # ‹one|two›
            def inner(z: ‹int|T›):
                '‹one|two›'
                return z
            return inner(y)
        """,
    "imports for types alone": """
        a.py
        class Z:
            pass
        s.py
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from lowpass.a import Z‹| as Z›
        def main(n, x: 'Z' = None):
            return 1
        """,
    "another entry": """
        @REG
        @KERNELS.add('a')
        def a():
            return 1
        @KERNELS.add('b')
        def b():
            return ‹7|8›
        def main(n):
            return KERNELS[n]()
        """,
    "a new entry": """
        @REG
        @KERNELS.add('a')
        def a():
            return 1
        ‹|KERNELS.enter('b', 7)›
        def main(n):
            return KERNELS[n]()
        """,
    "the entry that a field's default names": """
        from typing import Literal
        from pydantic import BaseModel, Field
        @REG
        class R(BaseModel):
            k: str = Field('b', description='which')
            m: Literal['a', 'b'] = 'b'
        KERNELS.enter('a', 1)
        KERNELS.enter('b', ‹7|8›)
        def main(n):
            return KERNELS[R(k=n).k]
        """,
    "a docstring, where the spec reads annotations": """
        @REG
        @KERNELS.add('a')
        def a(x: int):
            '‹one|two›'
        def main(n):
            from lowpass.spec import parse
            return parse(KERNELS[n])
        spec.py
        import inspect
        def parse(f):
            return str(inspect.signature(f))
        """,
}
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
    return Subject(folder.parent, ("lowpass.s:main",), ({"kernel": "a"},), CALL)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> dict[str, list[tuple[Subject, list[Result]]]]:
    """Write and run every pair, before and after its edit."""
    root = tmp_path_factory.mktemp("pairs")
    subjects = [
        write_package(root / str(number) / str(side), re.sub(r"‹(.*?)\|(.*?)›", rf"\{side}", text))
        for number, text in enumerate((SEEN | UNSEEN).values())
        for side in (1, 2)
    ]
    results = iter(zip(subjects, run(subjects), strict=True))
    return {name: [next(results), next(results)] for name in SEEN | UNSEEN}


@pytest.mark.parametrize("name", SEEN)
def test_an_edit_that_changes_the_output_changes_the_fingerprint(pairs, name):
    (_, before), (_, after) = pairs[name]
    assert before[0].error is after[0].error is None
    assert before[0].output != after[0].output
    old, new = (fingerprints(subject)[0] for subject, _ in pairs[name])
    assert None not in (old, new)
    assert old != new


@pytest.mark.parametrize("name", UNSEEN)
def test_an_edit_that_cannot_matter_keeps_the_fingerprint(pairs, name):
    (_, before), (_, after) = pairs[name]
    assert before[0].output == after[0].output is not None
    old, new = (Code.read(subject.root) for subject, _ in pairs[name])
    roots, names = ("lowpass.s:main",), {"a", "kernel"}
    assert old.fingerprint(roots, names) == new.fingerprint(roots, names)


@pytest.mark.parametrize("name", SEEN | UNSEEN)
def test_only_what_the_closure_holds_is_executed_and_asked_for(pairs, name):
    for subject, results in pairs[name]:
        assert strays(subject, results) == set()
        check_asked(Code.read(subject.root).closure(subject.roots, {"a"}), results[0].asked)


def forget_defaults(monkeypatch):
    class Forgetful(cleaning.Cleaner):
        def visit(self, node):
            if isinstance(node, ast.arguments):
                node.defaults, node.kw_defaults = [], []
            super().visit(node)

    monkeypatch.setattr(reading, "Cleaner", Forgetful)


def forget_decorators(monkeypatch):
    class Forgetful(cleaning.Cleaner):
        def visit(self, node):
            if isinstance(node, ast.FunctionDef):
                node.decorator_list = []
            super().visit(node)

    monkeypatch.setattr(reading, "Cleaner", Forgetful)


def forget_constants(monkeypatch):
    reach = closure.Sweep.reach

    def forgetful(self, name):
        constant = isinstance(self.index.units[name].node, ast.Assign)
        return set() if constant and "KERNELS" not in name else reach(self, name)

    monkeypatch.setattr(closure.Sweep, "reach", forgetful)


@pytest.mark.parametrize("sabotage", [forget_defaults, forget_decorators, forget_constants])
def test_pairs_catch_an_analyser_that_forgets(pairs, monkeypatch, sabotage):
    sabotage(monkeypatch)
    found = {
        name
        for name, ((old, before), (new, after)) in pairs.items()
        if missed((before, fingerprints(old)), (after, fingerprints(new)))
    }
    assert any(sabotage.__name__[7:-1] in name for name in found)


def test_the_guard_notices_a_name_that_only_running_shows(tmp_path):
    """Static reading sees the word 'b'; the name 'bb' comes into being when it runs."""
    subject = write_package(
        tmp_path,
        """
        @REG
        KERNELS.enter('bb', 7)
        def go(name):
            return KERNELS[name]
        def main(n):
            return [go(2 * c) for c in 'b']
        """,
    )
    [[result]] = run([subject])
    assert result.output == "[7]"
    covered = Code.read(subject.root).closure(subject.roots, names_in(subject.recipes))
    with pytest.raises(Refusal, match="k 'bb' was used, but the fingerprint does not cover it"):
        check_asked(covered, result.asked)


# A package in the shape of ours, and one mutant for each of its definitions.

MODEL = """
kernels.py
import numpy as np
from lowpass.registry import Refusal
@REG
FLOOR = 0.25
def shifted(scores):
    return scores - scores.max(axis=-1, keepdims=True)
@KERNELS.add('softmax', positive=True)
def softmax(scores):
    weight = np.exp(shifted(scores))
    return weight / weight.sum(axis=-1, keepdims=True)
@KERNELS.add('linear', positive=False)
def linear(scores):
    return scores / (scores.sum(axis=-1, keepdims=True) + FLOOR)
@KERNELS.add('power', positive=True)
def power(scores, exponent=2):
    weight = np.abs(scores) ** exponent + FLOOR
    return weight / weight.sum(axis=-1, keepdims=True)
data.py
import numpy as np
from lowpass.registry import Registry
GENERATORS = Registry('token generator')
RADIUS = 1.5
def angles(n):
    return 2 * np.pi * np.arange(n) / n
@GENERATORS.add('ring', kind='tokens')
def ring(n: int, phase: float = 0.125):
    return RADIUS * np.stack([np.cos(angles(n) + phase), np.sin(angles(n) + phase)], axis=-1)
@GENERATORS.add('line', kind='tokens')
def line(n: int, slope: float = 2.0):
    x = np.arange(n) / n
    return np.stack([x, slope * x], axis=-1)
labels.py
from dataclasses import dataclass
from lowpass.registry import Registry
CARDS = Registry('card')
@dataclass(frozen=True)
class Card:
    symbol: str
    units: str = '1'
CARDS.enter('gain', Card('g'))
CARDS.enter('norm', Card('n', units='m'))
CARDS.enter('unused', Card('u'))
measures.py
import numpy as np
from lowpass.registry import Registry
MEASURES = Registry('measure')
SCALE = 3
@MEASURES.add('gain')
def gain(before, after):
    return SCALE * after.std() / (before.std() + 1e-3)
@MEASURES.add('norm')
def norm(before, after):
    return np.sqrt((after**2).sum())
spec.py
from __future__ import annotations
import inspect
from typing import Annotated
from pydantic import AfterValidator, BaseModel, ConfigDict, field_validator
from lowpass.data import GENERATORS
from lowpass.kernels import KERNELS
def known(name):
    KERNELS[name]
    return name
Kernel = Annotated[str, AfterValidator(known)]
class Spec(BaseModel):
    model_config = ConfigDict(frozen=True)
    generator: str
    kernel: Kernel = 'softmax'
    beta: float = 1.0
    depth: int = 3
    measures: list[str] = ['gain']
    @field_validator('depth')
    @classmethod
    def deep(cls, depth):
        return depth + 1
def defaults(spec):
    found = inspect.signature(GENERATORS[spec.generator]).parameters.values()
    return {p.name: p.default for p in found if p.default is not p.empty}
layers.py
import numpy as np
from functools import lru_cache
class Layer:
    gain = 0.5
    def __init__(self, mixing):
        self.mixing = mixing
    def __call__(self, x):
        return self.blend(self.mixing @ x, x)
    def blend(self, new, old):
        return self.gain * new + (1 - self.gain) * old
@lru_cache
def root(width):
    return width ** 0.5
def unused(x):
    return x + 1
s.py
from lowpass.data import GENERATORS
from lowpass.kernels import KERNELS
from lowpass.labels import CARDS
from lowpass.layers import Layer, root
from lowpass.measures import MEASURES
from lowpass.spec import Spec, defaults
def stage(recipe):
    spec = Spec(**recipe)
    x = GENERATORS[spec.generator](5, **defaults(spec))
    layer, y = Layer(KERNELS[spec.kernel](scores(x, spec.beta))), x
    for _ in range(spec.depth):
        y = layer(y)
    return {name: float(MEASURES[name](x, y)) for name in spec.measures}
def scores(x, beta):
    return beta * x @ x.T / root(x.shape[-1])
def written(values):
    return [(name, CARDS[name], value) for name, value in values.items()]
"""
RUN = """
def run(recipe):
    from lowpass.s import stage, written
    return written(stage(recipe))
"""
RECIPES = tuple(
    {"generator": generator, "kernel": kernel, "beta": 0.5, "depth": 2, "measures": measures}
    for generator in ("ring", "line")
    for kernel in ("softmax", "linear", "power")
    for measures in (["gain"], ["gain", "norm"])
)
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


def mutants(root: Path, rng: np.random.Generator, each: int = 1) -> Iterator[tuple[str, Path, str]]:
    """Yield (what, file, text) with ``each`` random edits of every definition and value."""
    for path in sorted(root.glob("lowpass/**/*.py")):
        text = path.read_text()
        for number, statement in enumerate(ast.parse(text).body):
            names = [n for n in ast.walk(statement) if not isinstance(n, ast.alias)]
            count = sum(1 for node in names for _ in edits(node))
            for chosen in rng.permutation(count)[:each]:
                tree = ast.parse(text)
                nodes = [n for n in ast.walk(tree.body[number]) if not isinstance(n, ast.alias)]
                [edit for node in nodes for edit in edits(node)][chosen]()
                yield f"{path.stem}, statement {number}", path, ast.unparse(tree)


def write_mutants(subject: Subject, folder: Path, found: list) -> Iterator[Subject]:
    """Copy a subject once for each mutant, with that one file changed."""
    for number, (_, path, text) in enumerate(found):
        root = folder / str(number) / "src"
        shutil.copytree(subject.root, root, ignore=shutil.ignore_patterns("__pycache__"))
        (root / path.relative_to(subject.root)).write_text(text)
        yield Subject(root, subject.roots, subject.recipes, subject.run)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Subject:
    small = write_package(tmp_path_factory.mktemp("model"), MODEL)
    return Subject(small.root, ("lowpass.s:stage", "lowpass.s:written"), RECIPES, RUN)


@pytest.fixture(scope="module")
def mutated(model, tmp_path_factory):
    """Run the model and its mutants; give (what, results, fingerprints), the model first."""
    found = list(mutants(model.root, np.random.default_rng(20261129), each=2))
    found = [each for each in found if each[1].stem != "registry"]
    subjects = list(write_mutants(model, tmp_path_factory.mktemp("mutants"), found))
    names = ["the model", *(what for what, _, _ in found)]
    results = [*run([model]), *run(subjects, watched=False)]
    prints = [fingerprints(subject) for subject in [model, *subjects]]
    return list(zip(names, results, prints, strict=True))


def test_no_mutant_changes_a_result_unseen(mutated):
    (_, *model), *others = mutated
    assert {what: found for what, *mutant in others if (found := missed(model, mutant))} == {}


def test_mutants_reach_the_results(mutated, capsys):
    """A mutation test that changed nothing would prove nothing."""
    (_, results, prints), *others = mutated
    pairs = [
        (old.output != new.output, seen != now)
        for _, mutant, its in others
        for old, new, seen, now in zip(results, mutant, prints, its, strict=True)
        if new.output is not None and now is not None
    ]
    changed = sum(output for output, _ in pairs)
    spared = sum(not output and not print_ for output, print_ in pairs)
    false = sum(print_ and not output for output, print_ in pairs)
    with capsys.disabled():
        print(f"\n{len(others)} mutants x {len(results)} recipes: {changed} outputs changed, "
              f"{spared} spared, {false} of {len(pairs)} rerun in vain")  # fmt: skip
    assert changed > len(pairs) / 4
    assert spared > len(pairs) / 4


def test_mutants_catch_an_analyser_that_forgets_constants(model, mutated, monkeypatch, tmp_path):
    forget_constants(monkeypatch)
    found = list(mutants(model.root, np.random.default_rng(20261129), each=2))
    found = [each for each in found if each[1].stem == "data"]
    prints = [fingerprints(s) for s in [model, *write_mutants(model, tmp_path, found)]]
    ran = [results for what, results, _ in mutated[1:] if what.startswith("data")]
    before = (mutated[0][1], prints[0])
    assert any(missed(before, pair) for pair in zip(ran, prints[1:], strict=True))


def test_only_what_the_closure_of_a_recipe_holds_is_executed(model, mutated):
    results = mutated[0][1]
    assert all(result.output and len(result.executed) > 8 for result in results)
    assert strays(model, results) == set()


def test_every_entry_asked_for_is_covered_and_no_other(model, mutated):
    code = Code.read(model.root)
    for recipe, result in zip(model.recipes, mutated[0][1], strict=True):
        covered = code.closure(model.roots, names_in(recipe))
        check_asked(covered, result.asked)
        assert ("attention kernel", "softmax") not in covered.entries
        assert ("card", "unused") not in covered.entries
