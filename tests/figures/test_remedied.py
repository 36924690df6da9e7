"""Pictures with remedies, as they are stored."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from lowpass.figures.palette import PAPER
from lowpass.figures.remedied import PLAIN, remedied

from .exhibits import experiment


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return experiment(shared_laboratory, "photograph-remedies")


@pytest.fixture
def panel(runs):
    (ax,) = remedied({"photograph-remedies": runs}, PAPER).axes
    return ax


def test_the_start_comes_first_and_attention_alone_second(panel, runs):
    shown = [np.asarray(image.get_array()) for image in panel.images]
    stored = runs["picture"].isel(replicate=0)
    assert len(shown) == runs.sizes["case"] + 1
    assert np.array_equal(shown[0], stored.isel(case=0, recorded_layer=0))
    assert np.array_equal(shown[1], stored.sel(case=PLAIN).isel(recorded_layer=-1))


def test_every_case_is_named_below_its_picture(panel, runs):
    names = {text.get_text(): to_hex(text.get_color()).upper() for text in panel.texts}
    for case in runs["case"].values:
        assert names[case] == (PAPER.attention if case == PLAIN else PAPER.remedy)


def test_nothing_is_rescaled(panel):
    assert {image.get_clim() for image in panel.images} == {(0, 1)}
