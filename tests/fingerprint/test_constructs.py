"""Pairs of a construct before and after an edit: what matters to a result, and what does not."""

from __future__ import annotations

import re

import pytest

from lowpass.fingerprint import Code, check_asked
from lowpass.registry import Refusal

from .harness import Result, Subject, fingerprints, missed, run, strays, write_package
from .sabotage import forget_constants, forget_decorators, forget_defaults

# ‹before|after› marks the edit; a file starts at its name, and s.py holds the root.
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
    begins = pairs[name][0][0].begins({"kernel": "a"})
    assert old.fingerprint(*begins) == new.fingerprint(*begins)


@pytest.mark.parametrize("name", SEEN | UNSEEN)
def test_only_what_the_closure_holds_is_executed_and_asked_for(pairs, name):
    for subject, results in pairs[name]:
        assert strays(subject, results) == set()
        begins = subject.begins(subject.recipes[0])
        check_asked(Code.read(subject.root).closure(*begins), results[0].asked)


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
    covered = Code.read(subject.root).closure(*subject.begins(subject.recipes[0]))
    with pytest.raises(Refusal, match="k 'bb' was used, but the fingerprint does not cover it"):
        check_asked(covered, result.asked)
