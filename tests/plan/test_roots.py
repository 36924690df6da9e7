"""Where fingerprints begin: at definitions that exist, with distributions that are installed."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version

import pytest

from lowpass.plan.complete import complete
from lowpass.plan.roots import names_of, roots_of

from ..configurations import ROOT, TEXT, planned

PAPER = (ROOT / "config/paper.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    """Plan the paper, which has every stage."""
    return list(planned(PAPER, tmp_path_factory.mktemp("roots")))


def test_every_root_is_a_definition(points):
    for definition in {root for point in points for root in roots_of(point.recipe).definitions}:
        module, _, name = definition.partition(":")
        assert callable(getattr(import_module(module), name))


def test_the_first_root_of_a_stage_is_what_computes_it(points):
    for point in points:
        module, _, name = roots_of(point.recipe).definitions[0].partition(":")
        wanted = {"figures": "render", "claims": "judge", "paper": "typeset"}
        assert name == wanted.get(point.stage, point.stage)
        assert module.startswith("lowpass.")


def test_every_distribution_is_installed(points):
    for name in {name for point in points for name in roots_of(point.recipe).distributions}:
        assert version(name)


def test_an_experiment_stands_on_the_stage_whose_variables_it_holds(points, tmp_path):
    plan = planned(TEXT, tmp_path)
    last = {
        name: set(roots_of(plan.experiments[name].recipe).definitions)
        for name in ("tokens", "table")
    }
    assert "lowpass.stages.spectra:spectra" in last["tokens"] - last["table"]
    assert "lowpass.stages.smoothing:smoothing" in last["table"] - last["tokens"]


def test_names_of_a_recipe_choose_code_and_those_it_only_carries_do_not(points):
    attention = next(point for point in points if point.stage == "attention")
    assert "softmax" in names_of("attention", complete(attention.recipe))
    figure = next(point for point in points if point.slug == "decay")
    assert [*figure.recipe["params"]["experiments"]] == ["dc-limit"]
    assert names_of("figures", complete(figure.recipe)) == {"figures", "figure", "decay"}
