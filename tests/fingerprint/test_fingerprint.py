"""What the fingerprint covers, what it refuses, and what it says then.

Packages are a few lines of text: a file starts at its name, and ``s.py`` holds the root.
"""

from __future__ import annotations

import ast
import gc
import importlib.metadata
import re
import shutil
import time
from pathlib import Path

import pytest

import lowpass.registry
from lowpass.fingerprint import Closure, Code, check_asked, names_in
from lowpass.fingerprint.index import tree_of
from lowpass.registry import Refusal

from .harness import write_package

SOURCE = Path(lowpass.registry.__file__).parents[1]
ROOT = ["lowpass.s:main"]


@pytest.fixture
def code(tmp_path):
    """Write a small package and read it."""
    return lambda text: Code.read(write_package(tmp_path, text).root)


ENTRIES = """
    @REG
    @KERNELS.add('a')
    def a():
        return helper()
    @KERNELS.add('b')
    def b():
        return 2
    KERNELS.enter('c', 3)
    def helper():
        return 1
    def main(n):
        return KERNELS[n]
    def fixed():
        return KERNELS['c']
    """


def test_a_recipe_pulls_the_entries_it_names(code):
    read = code(ENTRIES)
    names = {"": set(), "a": {"a"}, "b": {"b"}, "ab": {"a", "b"}}
    for chosen, wanted in names.items():
        assert read.closure(ROOT, set(chosen)).entries == {("k", name) for name in wanted}
    always = {"lowpass.s:main", "lowpass.s:KERNELS", "lowpass.registry:Registry"}
    assert always | {"lowpass.s:a", "lowpass.s:helper"} <= read.closure(ROOT, {"a"}).units
    assert "lowpass.s:helper" not in read.closure(ROOT, {"b", "c"}).units


def test_a_literal_key_pulls_its_entry_and_ignores_the_recipe(code):
    closure = code(ENTRIES).closure(["lowpass.s:fixed"], {"a", "b"})
    assert closure.entries == {("k", "c")}
    assert "lowpass.s:KERNELS.enter('c')" in closure.units


def test_words_in_code_name_entries_only_of_registries_that_are_looked_into(code):
    read = code(
        """
        @REG
        OTHERS = Registry('o')
        KERNELS.enter('x', 1)
        OTHERS.enter('x', 2)
        def main(n):
            return KERNELS[n], 'x'
        """
    )
    assert read.closure(ROOT, {"x"}).entries == {("k", "x")}
    assert read.closure(ROOT, set()).entries == {("k", "x")}


def test_more_roots_reach_more(code):
    read = code("def main():\n    return 1\ndef write():\n    return 2")
    both = read.closure([*ROOT, "lowpass.s:write"], [])
    assert read.closure(ROOT, []).units < both.units == {"lowpass.s:main", "lowpass.s:write"}


def test_names_that_no_registry_knows_are_ignored(code):
    read = code(ENTRIES)
    assert read.closure(ROOT, {"a", "ring", "3"}) is read.closure(ROOT, ["a"])


def test_a_fingerprint_is_sixteen_hexadecimal_digits_and_does_not_depend_on_the_place(
    code, tmp_path
):
    first = code(ENTRIES).fingerprint(ROOT, {"a"})
    shutil.copytree(tmp_path / "src", tmp_path / "elsewhere")
    assert Code.read(tmp_path / "elsewhere").fingerprint(ROOT, {"a"}) == first
    assert re.fullmatch("[0-9a-f]{16}", first)


def test_what_was_read_stays_even_if_the_file_changes(code, tmp_path):
    read = code("def main():\n    return 1")
    (tmp_path / "src" / "lowpass" / "s.py").write_text("def main():\n    return 2\n")
    now = Code.read(tmp_path / "src")
    assert read.fingerprint(ROOT, []) != now.fingerprint(ROOT, [])


def test_files_that_did_not_change_are_analysed_once(code, tmp_path, monkeypatch):
    text = "def main():\n    return 1"
    first = code(text).fingerprint(ROOT, [])
    monkeypatch.setattr("lowpass.fingerprint.Index", None)
    assert Code.read(tmp_path / "src").fingerprint(ROOT, []) == first
    with pytest.raises(TypeError):
        code(text.replace("1", "2"))


def test_a_tree_is_what_python_walks_but_for_what_says_load_or_store():
    for path in sorted((SOURCE / "lowpass").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        walked = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
        assert tree_of(tree) == walked


def test_a_file_that_did_not_change_is_parsed_once_and_left_as_it_is(code):
    text = "def main(x: int) -> int:\n    'Say so.'\n    return x"
    first = code(f"{text}\nt.py\nX = 1")
    first.fingerprint(ROOT, [])
    parsed = first._search.index.modules["lowpass.s"]
    fresh = ast.parse(parsed.source).body
    assert [ast.dump(node) for node in parsed.body] == [ast.dump(node) for node in fresh]
    again = code(f"{text}\nt.py\nX = 2")._search.index.modules["lowpass.s"]
    assert again.body is parsed.body


@pytest.mark.parametrize("runs", [True, False])
def test_reading_code_leaves_the_collector_as_it_was(runs, code):
    was = gc.isenabled()
    (gc.enable if runs else gc.disable)()
    try:
        code(ENTRIES).fingerprint(ROOT, [])
        with pytest.raises(Refusal):
            code("def main(:").fingerprint(ROOT, [])
        assert gc.isenabled() == runs
    finally:
        (gc.enable if was else gc.disable)()


def test_versions_of_distributions_count(code, monkeypatch):
    versions = {"numpy": "1.0", "scipy": "2.0"}
    monkeypatch.setattr(importlib.metadata, "version", lambda name: versions[name])
    text = "def main():\n    return 1"
    plain, both = (code(text).fingerprint(ROOT, [], d) for d in ((), ("numpy", "scipy")))
    versions["scipy"] = "2.1"
    newer = code(text).fingerprint(ROOT, [], ("numpy", "scipy"))
    assert len({plain, both, newer}) == 3
    assert code(text).fingerprint(ROOT, [], ("scipy", "numpy")) == newer


def test_versions_of_another_place_may_be_counted_in_place_of_those_here(code):
    read = code(ENTRIES)
    here = read.fingerprint(ROOT, [], ("numpy", "scipy"))
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "scipy")}
    assert read.fingerprint(ROOT, [], ("numpy", "scipy"), installed=versions) == here
    others = {**versions, "scipy": "0.1"}
    assert read.fingerprint(ROOT, [], ("numpy", "scipy"), installed=others) != here


def test_the_minor_version_of_python_counts(code, monkeypatch):
    before = code(ENTRIES).fingerprint(ROOT, [])
    monkeypatch.setattr("sys.version_info", (3, 99, 0, "final", 0))
    assert code(ENTRIES).fingerprint(ROOT, []) != before


def test_every_text_of_a_recipe_is_a_name():
    recipe = {"params": {"kernel": "softmax", "sizes": [1, ("x", None)], "deep": [{"y": 2.5}]}}
    assert names_in(recipe) == {"params", "kernel", "softmax", "sizes", "x", "deep", "y"}


# Our own package.


def test_importing_any_module_of_the_package_only_binds_names():
    assert Code.read(SOURCE).complaints() == []


def test_adding_an_entry_is_seen_by_no_recipe_that_lacks_it(tmp_path):
    shutil.copytree(SOURCE / "lowpass", tmp_path / "lowpass")
    roots = ["lowpass.kernels:attend"]
    before = Code.read(tmp_path).fingerprint(roots, {"softmax"})
    with open(tmp_path / "lowpass" / "kernels.py", "a") as file:
        file.write("\n\n@KERNELS.add('newest')\ndef newest(scores):\n    return scores\n")
    assert Code.read(tmp_path).fingerprint(roots, {"softmax"}) == before
    assert Code.read(tmp_path).fingerprint(roots, {"softmax", "newest"}) != before


def test_ten_thousand_recipes_share_few_closures(code):
    """Seconds here are ten times what is measured, so that a busy machine does not matter."""
    recipes = [{"kernel": "abc"[i % 3], "seed": f"s{i}"} for i in range(10_000)]
    read, start = code(ENTRIES), time.perf_counter()
    assert len({read.fingerprint(ROOT, names_in(recipe)) for recipe in recipes}) == 3
    assert time.perf_counter() - start < 2


# Refusals.

REACHED = {
    "computed": (
        "@REG\ndef main(n):\n    return KERNELS[n + '-fast']",
        r"src/lowpass/s\.py:4: the entry name 'n \+ '-fast'' is computed; .*whole name in",
    ),
    "computed by format": (
        "@REG\ndef main(n):\n    return KERNELS[f'{n}2']",
        r"s\.py:4: the entry name .* is computed",
    ),
    "computed in a variable": (
        "@REG\ndef main(n):\n    m = n + '-fast'\n    return KERNELS[m]",
        r"s\.py:5: the entry name 'm' is computed",
    ),
    "computed for facts": (
        "@REG\ndef main(n):\n    return KERNELS.facts(n.lower())",
        r"s\.py:4: the entry name 'n\.lower\(\)' is computed",
    ),
    "iteration": (
        "@REG\ndef main(n):\n    return [KERNELS[k] for k in KERNELS]",
        r"s\.py:4: 'KERNELS' is used other than by looking up one entry; .*look the entry up",
    ),
    "items": (
        "@REG\ndef main(n):\n    return list(KERNELS.items())",
        r"s\.py:4: 'KERNELS\.items' is used other than",
    ),
    "length": ("@REG\ndef main(n):\n    return len(KERNELS)", "'KERNELS' is used other than"),
    "membership": ("@REG\ndef main(n):\n    return n in KERNELS", "'KERNELS' is used other than"),
    "inner things": (
        "@REG\ndef main(n):\n    return KERNELS._things[n]",
        r"'KERNELS\._things' is used other than",
    ),
    "a registry passed on": (
        "@REG\ndef g(r):\n    return r['b']\ndef main(n):\n    return g(KERNELS)",
        r"s\.py:6: 'KERNELS' is used other than",
    ),
    "a registry in an annotation": (
        "from typing import Annotated\n@REG\nclass T:\n    x: Annotated[str, KERNELS]\n"
        "def main(n):\n    return T",
        r"s\.py:5: 'KERNELS' is used other than",
    ),
    "eval": (
        "def main(n):\n    return eval('y' + '()')",
        r"s\.py:2: 'eval' is used; what it reaches cannot be read; name the code",
    ),
    "globals": ("def main(n):\n    return globals()['y']", "'globals' is used"),
    "the import function": (
        "def main(n):\n    return __import__('lowpass.a')",
        "'__import__' is used",
    ),
    "a data file beside the code": (
        "from pathlib import Path\ndef main(n):\n    return Path(__file__).parent",
        "'__file__' is used",
    ),
    "importlib": (
        "import importlib\ndef main(n):\n    return importlib.import_module('lowpass.' + 'a')",
        r"s\.py:3: 'importlib\.import_module' is used; it can reach code that no name leads to",
    ),
    "sys.modules": (
        "import sys\ndef main(n):\n    return sys.modules['lowpass.a']",
        r"'sys\.modules' is used; .*call it by its name",
    ),
    "the environment": (
        "import os\ndef main(n):\n    return os.environ['HOME']",
        r"'os\.environ' is used; a result may not depend on where or when .*from the recipe",
    ),
    "the clock": (
        "from datetime import datetime\ndef main(n):\n    return datetime.now()",
        r"'datetime\.datetime\.now' is used; a result may not depend on where or when",
    ),
    "a module as a value": (
        "a.py\nx = 1\ns.py\nfrom lowpass import a\ndef main(n):\n    return getattr(a, n)",
        r"s\.py:3: module 'a' is used as a value .*import the name that you need",
    ),
    "code named by text": (
        "a.py\nx = 1\ns.py\nimport numpy\ndef main(n):\n    return numpy.find('lowpass.a.x')",
        r"s\.py:3: 'lowpass\.a\.x' names code by text; .*import the code by its name",
    ),
    "subclasses": (
        "class B:\n    pass\ndef main(n):\n    return B.__subclasses__()",
        r"s\.py:4: '__subclasses__' is read",
    ),
    "a docstring by text": (
        "def f():\n    'doc'\ndef main(n):\n    return getattr(f, '__doc__')",
        r"s\.py:4: '__doc__' is read",
    ),
    "an import that leads nowhere": (
        "a.py\nx = 1\ns.py\nfrom lowpass.a import y\ndef main(n):\n    return y",
        r"s\.py:3: 'y' leads nowhere; .*correct the import",
    ),
    "a module that is not there": (
        "from lowpass.a import y\ndef main(n):\n    return y",
        r"s\.py:3: 'lowpass\.a\.y' leads nowhere",
    ),
    "docstrings, outside the spec": (
        "def f():\n    'doc'\ndef main(n):\n    return f.__doc__",
        r"s\.py:4: '__doc__' is read; it makes docstrings part .*read them in lowpass\.spec",
    ),
    "signatures, outside the spec": (
        "import inspect\ndef f(x: int):\n    pass\ndef main(n):\n    return inspect.signature(f)",
        r"s\.py:5: 'inspect\.signature' is read; it makes annotations part",
    ),
}


@pytest.mark.parametrize(("text", "match"), REACHED.values(), ids=REACHED)
def test_what_cannot_be_followed_is_refused_where_it_is_reached(code, text, match):
    with pytest.raises(Refusal, match=match):
        code(text).closure(ROOT, {"a"})


@pytest.mark.parametrize(("text", "match"), REACHED.values(), ids=REACHED)
def test_what_cannot_be_followed_does_not_matter_where_nothing_reaches_it(code, text, match):
    unused = text.replace("def main(", "def unused(") + "\ndef main(n):\n    return n"
    assert code(unused).closure(ROOT, {"a"}).units == {"lowpass.s:main"}


BARE = r"is a bare call in the body of a module; importing may only bind .*move it into a function"
LOADED = {
    "a bare call": ("import numpy as np\nnp.seterr(all='ignore')", rf"a\.py:2: '.*' {BARE}"),
    "an accessor": (
        "import xarray as xr\n@xr.register_dataset_accessor('lp')\nclass A:\n    pass",
        r"a\.py:2: 'xr\.register_dataset_accessor\(\.\.\.\)' is called",
    ),
    "an effect with a value": (
        "import numpy as np\nOLD = np.seterr(all='ignore')",
        r"a\.py:2: 'np\.seterr\(\.\.\.\)' is called; importing may only bind",
    ),
    "an effect in a function": (
        "import numpy as np\ndef go():\n    np.seterr(all='ignore')\nDONE = go()",
        r"a\.py:3: 'np\.seterr\(\.\.\.\)' changes an outside package; .*np\.errstate",
    ),
    "a generator that all share": (
        "import numpy as np\nRNG = np.random.default_rng(0)",
        r"a\.py:2: 'np\.random\.default_rng\(\.\.\.\)' is called",
    ),
    "an unknown outside call": (
        "import os\nHOME = os.getenv('HOME')",
        r"a\.py:2: 'os\.getenv\(\.\.\.\)' is called",
    ),
    "a builtin with an effect": ("TEXT = open('x')", r"a\.py:1: 'open\(\.\.\.\)' is called"),
    "a data file": (
        "from pathlib import Path\nTEXT = Path('x').read_text()",
        r"a\.py:2: 'Path\('x'\)\.read_text\(\.\.\.\)' is called",
    ),
    "an iterator that moves on": (
        "MANY = iter((1, 2))\nONE = next(MANY)",
        r"a\.py:2: 'next\(\.\.\.\)' is called",
    ),
    "a patched module": ("import math\nmath.pi = 3", r"a\.py:2: 'math\.pi' is assigned to"),
    "a patched class": (
        "class T:\n    v = 1\nT.v = 5",
        r"a\.py:3: 'T\.v' is assigned to; .*bind a new name",
    ),
    "setattr": ("class T:\n    v = 1\nsetattr(T, 'v', 5)", BARE),
    "a loop": (
        "for n in (1, 2):\n    pass",
        r"a\.py:1: 'for n in \(1, 2\):' runs \(for\) in the body of a module",
    ),
    "a with statement": ("with open('x'):\n    V = 5", r"runs \(with\)"),
    "a try statement": ("try:\n    import json\nexcept ImportError:\n    json = None", "(try)"),
    "a condition": ("import sys\nif sys.version_info > (3,):\n    V = 5", r"a\.py:2: .*\(if\)"),
    "an else of types": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    V = 5\nelse:\n    V = 6",
        r"\(if\)",
    ),
    "an augmented assignment": ("V = 5\nV += 1", r"a\.py:2: 'V \+= 1' runs \(augassign\)"),
    "a hidden name": ("V = (W := 5)", "':=' binds a hidden name"),
    "an effect in a class body": (
        "S = {}\nclass P:\n    S['x'] = 5",
        r"a\.py:3: 'S\['x'\]' is assigned to",
    ),
    "a call in a class body": ("class P:\n    print(1)", "bare call in the body of a class"),
    "a hook for subclasses": (
        "class B:\n    def __init_subclass__(cls):\n        pass",
        r"a\.py:2: '__init_subclass__' is defined; .*@X\.add",
    ),
    "a metaclass": (
        "class M(type):\n    pass\nclass B(metaclass=M):\n    pass",
        r"a\.py:3: a metaclass of our own",
    ),
    "a star": ("from math import *", r"a\.py:1: 'import \*' is used; .*list the names"),
    "a name bound twice": ("V = 5\nV = 6", r"a\.py:2: 'V' is bound twice; .*name of its own"),
    "an import bound twice": (
        "from math import sin as f\nfrom math import cos as f",
        r"a\.py:2: 'f' is bound twice",
    ),
    "a registered type": (
        "from functools import singledispatch\n@singledispatch\ndef f(x):\n    return 0\n"
        "@f.register\ndef g(x: int):\n    return 5",
        r"a\.py:5: 'f\.register\(\.\.\.\)' is called on a module-level value",
    ),
    "a hook for names": (
        "def __getattr__(name):\n    return 1",
        r"a\.py:1: the module defines '__getattr__'",
    ),
    "a name that is also a module": (
        "p/__init__.py\nfrom lowpass.p.b import b\np/b.py\ndef b():\n    return 1\na.py\n"
        "import lowpass.p",
        r"p/__init__\.py:1: 'b' is also a module of this folder; .*rename one",
    ),
    "two statements on a line": ("V = 5; W = 6", r"a\.py:1: two statements share a line"),
    "global": (
        "N = 1\ndef bump():\n    global N\n    N = 5",
        r"a\.py:3: 'global N' is used; .*return",
    ),
    "an item of a module-level value": (
        "S = {}\ndef w():\n    S['x'] = 5",
        r"a\.py:3: 'S\['x'\]' is changed; .*make a new value and return it",
    ),
    "an attribute of an outside module": (
        "import math\ndef w():\n    math.pi = 3",
        r"a\.py:3: 'math\.pi' is changed",
    ),
    "a list that grows": (
        "S = []\ndef w():\n    S.append(5)",
        r"a\.py:3: 'S\.append\(\.\.\.\)' changes a module-level value",
    ),
    "a list of another module that grows": (
        "b.py\nS = []\na.py\ndef w():\n    from lowpass import b\n    b.S.append(5)",
        r"a\.py:3: 'b\.S\.append\(\.\.\.\)' changes a module-level value",
    ),
    "a class attribute that grows": (
        "class T:\n    seen = []\n    def w(self):\n        T.seen.append(5)",
        r"a\.py:4: 'T\.seen\.append\(\.\.\.\)' changes",
    ),
    "setattr in a function": (
        "class T:\n    v = 1\ndef w():\n    setattr(T, 'v', 5)",
        r"a\.py:4: 'setattr\(T, 'v', 5\)' changes",
    ),
    "a shared value handed to our own code": (
        "S = {}\ndef w(d):\n    d['x'] = 5\nDONE = w(S)",
        r"a\.py:4: 'S' is handed to our own code; .*make it a tuple",
    ),
    "an alias of a registry": (
        "@REG\nALIAS = KERNELS",
        r"a\.py:3: registry 'KERNELS' is used while importing; .*at top level",
    ),
    "a lookup while importing": (
        "@REG\ndef f(kernel=KERNELS['a']):\n    return kernel",
        r"a\.py:3: registry 'KERNELS' is used while importing",
    ),
    "a registry in a table": (
        "from lowpass.registry import Registry\nTABLE = {'k': Registry('k')}",
        r"a\.py:2: a registry is made here; .*X = Registry\('kind'\) at top level",
    ),
    "a computed entry name": (
        "@REG\nNAME = 'a'\n@KERNELS.add(NAME)\ndef a():\n    return 1",
        r"a\.py:4: registry 'KERNELS' is used while importing; .*X\.add\('literal'\)",
    ),
    "the call form": (
        "@REG\ndef a():\n    return 1\nKERNELS.add('a')(a)",
        rf"a\.py:5: '.*' {BARE}",
    ),
    "the call form, assigned": (
        "@REG\ndef f():\n    return 1\na = KERNELS.add('a')(f)",
        r"a\.py:5: registry 'KERNELS' is used while importing",
    ),
    "registering in a loop": ("@REG\nfor n in 'ab':\n    KERNELS.enter(n, 1)", r"\(for\)"),
    "registering in a function": (
        "@REG\ndef setup():\n    KERNELS.enter('a', 1)",
        r"a\.py:4: 'KERNELS\.enter\(\.\.\.\)' changes a module-level value; .*only at top level",
    ),
    "a decorator that registers": (
        "@REG\ndef kernel(name):\n    def keep(f):\n        KERNELS.add(name)(f)\n"
        "        return f\n    return keep\n@kernel('a')\ndef a():\n    return 1",
        r"a\.py:5: 'KERNELS\.add\(\.\.\.\)' changes a module-level value",
    ),
}


@pytest.mark.parametrize(("text", "match"), LOADED.values(), ids=LOADED)
@pytest.mark.parametrize("how", ["import lowpass.a", "from lowpass import a", "from .a import V"])
def test_a_module_that_does_more_than_bind_is_refused_where_it_is_loaded(code, text, match, how):
    read = code(f"a.py\n{text}\ns.py\n{how}\ndef main(n):\n    return n")
    with pytest.raises(Refusal, match=match):
        read.closure(ROOT, ())


@pytest.mark.parametrize("name", ["a bare call", "a list that grows", "a star"])
def test_a_module_that_nothing_loads_may_do_what_it_likes(code, name):
    read = code(f"a.py\n{LOADED[name][0]}\ns.py\ndef main(n):\n    return n")
    assert read.closure(ROOT, ()).units == {"lowpass.s:main"}
    assert len(read.complaints()) >= 1


def test_an_import_inside_a_function_loads_a_module_where_the_function_is_reached(code):
    lazy = "def main(n):\n    return n\ndef other():\n    import lowpass.a\ns.py\n"
    read = code(f"a.py\nprint(1)\ns.py\n{lazy}")
    assert read.closure(ROOT, ()).units == {"lowpass.s:main"}
    with pytest.raises(Refusal, match=r"a\.py:1: 'print\(1\)' is a bare call"):
        read.closure(["lowpass.s:other"], ())


def test_loading_a_module_loads_the_packages_around_it(code):
    read = code(
        "p/__init__.py\nprint(1)\np/a.py\ndef y():\n    return 1\ns.py\n"
        "from lowpass.p.a import y\ndef main(n):\n    return y()"
    )
    with pytest.raises(Refusal, match=r"p/__init__\.py:1"):
        read.closure(ROOT, ())


def test_plain_values_may_be_computed_while_importing(code):
    read = code(
        """
        import functools
        import re
        from collections.abc import Callable
        from dataclasses import dataclass, field
        from typing import Annotated, NamedTuple, TypeVar
        import numpy as np
        from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator
        @REG
        T = TypeVar('T')
        Pair = Annotated[tuple[int, int], 'a pair']
        Rule = Callable[[int], float]
        GRID: np.ndarray = np.linspace(0, 1, 5).reshape(5, 1)
        WORDS = frozenset('a b'.split())
        PATTERN = re.compile('a+')
        TABLE = {word: len(word) for word in sorted(WORDS)}
        KERNELS.enter('a', functools.partial(np.add, 1), cost=2 * 3)
        @dataclass(frozen=True)
        class D:
            x: list = field(default_factory=list)
        class P(NamedTuple):
            x: int = 1
        class M(BaseModel):
            model_config = ConfigDict(frozen=True)
            x: int = Field(1, description='a number')
            @field_validator('x')
            @classmethod
            def positive(cls, x):
                return abs(x)
            @computed_field
            @property
            def y(self) -> int:
                return self.x
            @functools.cached_property
            def z(self):
                return 1
        @functools.lru_cache(maxsize=None)
        def main(n):
            kept = []
            kept.append(n)
            kept[0] = np.add(GRID, 1)
            return kept
        CARD = P(x=3)
        """
    )
    assert read.complaints() == []


def test_an_outside_state_may_be_set_for_a_while(code):
    read = code(
        "import xarray as xr\ndef main(n):\n"
        "    with xr.set_options(keep_attrs=True):\n        return n"
    )
    assert read.complaints() == []


# Refusals of the door itself.


def test_two_registries_of_one_kind_are_refused(code):
    with pytest.raises(
        Refusal, match=r"lowpass\.s:KERNELS and lowpass\.s:X both hold a 'k'; .*kind"
    ):
        code("@REG\nX = Registry('k')")


def test_a_root_that_is_not_there_is_refused(code):
    read = code("def main():\n    return 1")
    with pytest.raises(Refusal, match=r"lowpass\.s defines no 'mian'; did you mean 'main'"):
        read.closure(["lowpass.s:mian"], ())
    with pytest.raises(Refusal, match=r"no module is called 'lowpass\.t'; did you mean"):
        read.closure(["lowpass.t:main"], ())


def test_a_folder_without_the_package_is_refused(tmp_path):
    with pytest.raises(Refusal, match="holds no package 'lowpass'; hand in the folder around it"):
        Code.read(tmp_path)


def test_invalid_python_is_refused(code):
    with pytest.raises(Refusal, match=r"src/lowpass/s\.py:2: .*; correct the syntax"):
        code("def main():\nreturn 1")


def test_a_missing_distribution_is_refused(code):
    read = code("def main():\n    return 1")
    with pytest.raises(Refusal, match=r"'no-such-thing' is not installed; .* install it"):
        read.fingerprint(ROOT, (), ["no-such-thing"])


def test_an_entry_that_was_used_without_being_covered_is_refused():
    closure = Closure({}, frozenset({("attention kernel", "softmax")}))
    check_asked(closure, {("attention kernel", "softmax")})
    with pytest.raises(Refusal, match=r"attention kernel 'linear' was used, .*in the recipe"):
        check_asked(closure, {("attention kernel", "linear"), ("attention kernel", "softmax")})
