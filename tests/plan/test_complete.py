"""All parameters from those that were given."""

from __future__ import annotations

import pytest

from lowpass.plan.complete import complete
from lowpass.plan.sweep import STAGES
from lowpass.registry import Refusal

from ..configurations import TEXT, adding, edited, planned

INSIDE = edited(adding("    inside: [beta]\n"))


@pytest.fixture(params=[TEXT, INSIDE], ids=["plain", "inside"])
def plan(request, tmp_path):
    """Plan every stage, with and without axes inside."""
    return planned(request.param, tmp_path)


def test_what_was_asked_stays_as_it_was_asked(plan):
    for point in plan:
        whole = complete(point.recipe)
        assert {name: whole[name] for name in point.recipe["params"]} == point.recipe["params"]


def test_completing_adds_defaults_and_completing_again_adds_nothing(plan):
    for point in plan:
        whole = complete(point.recipe)
        assert complete({**point.recipe, "params": whole}) == whole


def test_every_parameter_of_the_specification_is_there(plan):
    for cell, _, point in plan.cells["tokens"]:
        chain = {each.stage: each for each in (point, point.parents[0])}
        for stage, each in chain.items():
            whole = complete(each.recipe)
            axes = whole.pop("inside", {})
            assert {*whole, *axes} == set(cell.specs[stage].model_dump())
            assert axes == cell.inside.get(stage, {})


def test_the_digest_of_a_data_file_stays_beside_its_parameters(plan):
    (data,) = (point for point in plan if point.resource)
    assert complete(data.recipe)["sha256"] == data.recipe["params"]["sha256"]


def test_gathering_has_no_defaults(plan):
    experiment = plan.experiments["tokens"]
    assert experiment.stage not in STAGES
    assert complete(experiment.recipe) == experiment.recipe["params"]


def test_a_recipe_of_another_version_is_refused():
    recipe = {"stage": "attention", "params": {"beta": 1.0, "depth": 4, "twist": 3}}
    with pytest.raises(Refusal, match=r"^recipe: twist: no parameter is called 'twist'"):
        complete(recipe)
