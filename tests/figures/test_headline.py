"""The first figure borrows panels that are tested where they belong."""

import pytest

from lowpass.figures.circle import response
from lowpass.figures.headline import headline
from lowpass.figures.palette import PAPER
from lowpass.figures.pictures import FEW_LAYERS

from .exhibits import drawn, experiment

EXPERIMENTS = ("photograph", "photograph-heat", "circle", "dc-limit")


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return {name: experiment(shared_laboratory, name) for name in EXPERIMENTS}


def test_three_panels_are_lettered_from_left_to_right(shown):
    axes = headline(shown, PAPER).axes
    letters = [
        text.get_text() for ax in axes for text in ax.texts if text.get_text() in ("a", "b", "c")
    ]
    assert letters == ["a", "b", "c"]
    assert [ax.get_position().x0 for ax in axes] == sorted(ax.get_position().x0 for ax in axes)


def test_the_pictures_are_those_of_the_few_depths_that_are_stored(shown):
    stored = [layer for layer in FEW_LAYERS if layer in shown["photograph"]["recorded_layer"]]
    assert len(headline(shown, PAPER).axes[0].images) == 2 * len(stored)


def test_the_response_is_that_of_its_own_figure(shown):
    (alone,) = response(shown, PAPER).axes
    lines = headline(shown, PAPER).axes[1].lines
    for line, other in zip(lines, alone.lines, strict=True):
        assert (drawn(line) == drawn(other)).all()
