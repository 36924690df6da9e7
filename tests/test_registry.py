"""Names lead to things, once each, and a name that leads nowhere is answered with the nearest."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module

import pytest

import lowpass.whole  # noqa: F401  (registers everything there is)
from lowpass.registry import Refusal, Registry, did_you_mean

# Every registry of the package, where it stands.
PLACES = [
    ("lowpass.labels", "DIMENSIONS"),
    ("lowpass.labels", "VARIABLES"),
    ("lowpass.data", "GENERATORS"),
    ("lowpass.smoothing.symbols", "SYMBOLS"),
    ("lowpass.kernels", "KERNELS"),
    ("lowpass.smoothing.criteria", "CRITERIA"),
    ("lowpass.smoothing.profiles", "PROFILES"),
    ("lowpass.smoothing.methods", "METHODS"),
    ("lowpass.masks", "MASKS"),
    ("lowpass.graphs", "GRAPHS"),
    ("lowpass.laplacians", "LAPLACIANS"),
    ("lowpass.diffusion", "HEATS"),
    ("lowpass.flows", "FLOWS"),
    ("lowpass.scores", "SCORES"),
    ("lowpass.starts", "STARTS"),
    ("lowpass.weights", "WEIGHTS"),
    ("lowpass.weights", "VALUES"),
    ("lowpass.remedies", "REMEDIES"),
    ("lowpass.integrators", "INTEGRATORS"),
    ("lowpass.consensus", "KEY_SCORES"),
    ("lowpass.measures", "MEASURES"),
    ("lowpass.studies", "STUDIES"),
    ("lowpass.rounding", "ROUNDING"),
    ("lowpass.claims.names", "CLAIMS"),
    ("lowpass.claims.register", "REGISTER"),
    ("lowpass.figures.names", "FIGURES"),
]
REGISTRIES = [getattr(import_module(module), name) for module, name in PLACES]


@pytest.fixture
def shapes() -> Registry:
    """Know two shapes."""
    registry = Registry("shape")
    registry.enter("square", 4, corners=4)
    registry.enter("triangle", 3, corners=3)
    return registry


@pytest.fixture
def asked(monkeypatch) -> set:
    """Watch what is looked up, from nothing on."""
    watched: set = set()
    monkeypatch.setattr(Registry, "asked", watched)
    return watched


# Laws.


def test_every_registry_of_the_package_is_listed_here():
    modules = [module for name, module in sys.modules.items() if name.startswith("lowpass.")]
    things = [thing for module in modules for thing in vars(module).values()]
    found = {id(thing) for thing in things if isinstance(thing, Registry)}
    assert found == {id(registry) for registry in REGISTRIES}


def test_every_registry_has_a_kind_of_its_own():
    assert len({registry.kind for registry in REGISTRIES}) == len(REGISTRIES)


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda each: each.kind)
def test_every_name_of_the_package_leads_to_its_thing(registry):
    for name in registry:
        assert registry[name] is not None, name
        assert isinstance(registry.facts(name), dict), name
        assert name == name.strip() != "", name


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda each: each.kind)
def test_every_function_that_is_registered_says_what_it_does(registry):
    functions = {name: registry[name] for name in registry if callable(registry[name])}
    assert [name for name, function in functions.items() if not inspect.getdoc(function)] == []


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda each: each.kind)
def test_an_unknown_name_is_refused_with_all_that_are_known(registry):
    with pytest.raises(Refusal, match=rf"^no {registry.kind} is called 'nonesuch'.* Known: ") as no:
        registry["nonesuch"]
    assert all(name in str(no.value) for name in registry)


# What is particular.


def test_a_registry_is_a_mapping_in_the_order_of_entry(shapes):
    assert dict(shapes) == {"square": 4, "triangle": 3}
    assert len(shapes) == 2
    assert "square" in shapes
    assert "circle" not in shapes


def test_a_decorated_thing_stays_what_it_was(shapes):
    def circle() -> float:
        return 0.0

    assert shapes.add("circle", corners=0)(circle) is circle
    assert shapes["circle"] is circle
    assert shapes.facts("circle") == {"corners": 0}


def test_looking_up_is_noted_with_the_kind(shapes, asked):
    shapes["square"]
    shapes.facts("triangle")
    assert asked == {("shape", "square"), ("shape", "triangle")}


def test_looking_whether_a_name_exists_is_not_noted(shapes, asked):
    assert "square" in shapes
    assert list(shapes) == ["square", "triangle"]
    assert asked == set()


def test_what_is_not_found_is_not_noted(shapes, asked):
    with pytest.raises(Refusal, match="no shape is called 'circle'"):
        shapes["circle"]
    assert asked == set()


# Refusals.


@pytest.mark.parametrize("name", [3, None, True, ["square"], {"square": 4}])
def test_what_is_no_text_names_nothing(name, shapes):
    with pytest.raises(Refusal, match=r"^no shape is called"):
        shapes[name]


def test_a_name_is_given_once(shapes):
    with pytest.raises(
        Refusal,
        match=r"^two shapes are called 'square'; names are unique, so rename the second\.$",
    ):
        shapes.enter("square", 5)
    assert shapes["square"] == 4


def test_facts_of_nothing_are_refused_like_nothing(shapes):
    with pytest.raises(Refusal, match=r"'sqare'; did you mean 'square'\? Known: square, triangle"):
        shapes.facts("sqare")


@pytest.mark.parametrize(
    ("word", "said"),
    [("softmx", "; did you mean 'softmax'?"), ("zzz", "."), (3, "."), ("", ".")],
)
def test_only_a_near_name_is_suggested(word, said):
    assert did_you_mean(word, ["softmax", "sinkhorn"]) == said


def test_where_nothing_is_known_nothing_is_suggested():
    assert did_you_mean("softmax", []) == "."
