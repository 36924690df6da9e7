"""A point's key, name and files."""

from __future__ import annotations

import json

import pytest

from lowpass.plan.point import SLUG_LENGTH, SUFFIXES, Point, slug_of
from lowpass.records import KEY_LENGTH, key_of

RECIPE = {"stage": "data", "params": {"n_tokens": 8, "generator": "gaussian"}, "seed": 7}


def test_the_key_is_that_of_recipe_and_parents():
    parent = Point("data", "x", RECIPE)
    child = Point("attention", "y", {"stage": "attention", "params": {}}, (parent,))
    assert parent.key == key_of(RECIPE, [])
    assert child.key == key_of(child.recipe, [parent.key])
    assert child.key != key_of(child.recipe, [])
    assert len(child.key) == KEY_LENGTH


def test_the_slug_is_no_part_of_the_key():
    assert Point("data", "x", RECIPE).key == Point("data", "y", RECIPE).key


def test_the_text_is_the_recipe():
    assert json.loads(Point("data", "x", RECIPE).text) == RECIPE


@pytest.mark.parametrize("stage", ["data", "experiment", *SUFFIXES])
def test_every_file_lies_in_the_folder_of_its_stage_and_bears_the_key(stage):
    point = Point(stage, "slug", {**RECIPE, "stage": stage})
    stem = f"results/{stage}/slug~{point.key}"
    assert point.paths == tuple(f"{stem}{each}" for each in SUFFIXES.get(stage, (".nc",)))
    assert point.path == point.paths[0]


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (3.0, "beta-3"),
        (0.1, "beta-0.1"),
        (1e-300, "beta-1e-300"),
        (12, "beta-12"),
        ("second_mode", "beta-second-mode"),
        ("a/b c", "beta-a-b-c"),
    ],
)
def test_a_parameter_is_readable_in_a_slug(value, word):
    assert slug_of("softmax", {"beta": value}) == f"softmax_{word}"


def test_what_is_no_scalar_or_says_nothing_new_is_left_out():
    params = {"kernel": "softmax", "record": [1, 2], "inside": {"beta": [1]}, "sha256": "0" * 64}
    assert slug_of("softmax", params) == "softmax"


def test_a_parameter_that_does_not_fit_is_left_out_and_shorter_ones_follow():
    slug = slug_of("softmax", {"first": "x" * 70, "beta": 3.0})
    assert slug == "softmax_beta-3"
    full = slug_of("softmax", {f"p{i}": 1.5 for i in range(30)})
    assert len(full) <= SLUG_LENGTH
