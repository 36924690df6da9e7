"""A package in the shape of ours, and mutants of each of its definitions."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.fingerprint import Code, check_asked

from .harness import Subject, begins_at, fingerprints, missed, run, strays, write_package
from .mutation import mutants, write_mutants
from .sabotage import forget_constants

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


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Subject:
    root = write_package(tmp_path_factory.mktemp("model"), MODEL).root
    return Subject(root, RECIPES, RUN, begins_at("lowpass.s:stage", "lowpass.s:written"))


@pytest.fixture(scope="module")
def mutated(model, tmp_path_factory):
    """Run the model and its mutants; give (what, results, fingerprints), the model first."""
    paths = sorted(set(model.root.glob("lowpass/*.py")) - {model.root / "lowpass/registry.py"})
    found = list(mutants(paths, np.random.default_rng(20261129), each=3))
    subjects = list(write_mutants(model, tmp_path_factory.mktemp("mutants"), found))
    names = ["the model", *(mutant.what for mutant in found)]
    results = [*run([model]), *run(subjects, watched=False)]
    prints = [fingerprints(subject) for subject in [model, *subjects]]
    return list(zip([model, *subjects], names, results, prints, strict=True))


def test_no_mutant_changes_a_result_unseen(mutated):
    (_, _, *model), *others = mutated
    assert {what: found for _, what, *mutant in others if (found := missed(model, mutant))} == {}


def test_mutants_reach_the_results(mutated, capsys):
    """A mutation test that changed nothing would prove nothing."""
    (_, _, results, prints), *others = mutated
    pairs = [
        (old.output != new.output, seen != now)
        for _, _, mutant, its in others
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


def test_mutants_catch_an_analyser_that_forgets_constants(mutated, monkeypatch):
    forget_constants(monkeypatch)
    (model, _, *results), *others = mutated
    before = (results[0], fingerprints(model))
    data = [(subject, ran) for subject, what, ran, _ in others if what.startswith("data")]
    assert any(missed(before, (ran, fingerprints(subject))) for subject, ran in data)


def test_only_what_the_closure_of_a_recipe_holds_is_executed(model, mutated):
    results = mutated[0][2]
    assert all(result.output and len(result.executed) > 8 for result in results)
    assert strays(model, results) == set()


def test_every_entry_asked_for_is_covered_and_no_other(model, mutated):
    code = Code.read(model.root)
    for recipe, result in zip(model.recipes, mutated[0][2], strict=True):
        covered = code.closure(*model.begins(recipe))
        check_asked(covered, result.asked)
        assert ("attention kernel", "softmax") not in covered.entries
        assert ("card", "unused") not in covered.entries
