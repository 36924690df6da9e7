"""Pictures and their spectra, pixel for pixel and number for number."""

import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal

from lowpass.figures.palette import PAPER, depth_colours
from lowpass.figures.pictures import MEANS, NYQUIST, SHOWN_LAYERS, of_means, photograph

from .exhibits import drawn, experiment


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return {name: experiment(shared_laboratory, name) for name in ("photograph", "photograph-heat")}


@pytest.fixture
def panels(shown):
    return photograph(shown, PAPER).axes


@pytest.fixture(scope="module")
def layers(shown):
    return [layer for layer in SHOWN_LAYERS if layer in shown["photograph"]["recorded_layer"]]


def test_every_picture_is_stored_and_none_is_rescaled(panels, shown, layers):
    images = iter(panels[0].images)
    for name in MEANS:
        for layer in layers:
            image = next(images)
            stored = of_means(shown)[name]["picture"].isel(replicate=0).sel(recorded_layer=layer)
            assert_array_equal(image.get_array(), stored)
            assert image.get_clim() == (0, 1)
    assert next(images, None) is None


def test_both_rows_begin_with_the_same_photograph(panels, layers):
    first, other = panels[0].images[0], panels[0].images[len(layers)]
    assert_allclose(first.get_array(), other.get_array(), rtol=0, atol=1e-15)


def test_pictures_stand_in_a_grid_of_depth_and_means(panels, layers):
    corners = [(image.get_extent()[0], image.get_extent()[3]) for image in panels[0].images]
    columns = [corner[0] for corner in corners[: len(layers)]]
    assert columns == sorted(set(columns))
    assert [corner[0] for corner in corners[len(layers) :]] == columns
    assert {corner[1] for corner in corners[: len(layers)]} == {0.0}


def test_each_row_bears_the_colour_of_its_idea(panels):
    colours = {text.get_text(): text.get_color() for text in panels[0].texts}
    assert colours["attention"] == PAPER.attention
    assert colours["heat"] == PAPER.diffusion


def test_depths_are_named_below_their_columns_and_coloured_alike(panels, layers):
    words = [text.get_text() for text in panels[0].texts]
    assert f"layer {layers[0]}" in words
    assert {str(layer) for layer in layers[1:]} <= set(words)
    dots = [to_hex(line.get_color()) for line in panels[0].lines]
    assert dots == [colour.lower() for colour in depth_colours(layers, PAPER)]


@pytest.mark.parametrize(("panel", "name"), [(1, "attention"), (2, "heat")])
def test_a_spectrum_is_stored_from_the_first_frequency_to_the_highest(panel, name, panels, shown):
    power = of_means(shown)[name]["log10_radial_power"].isel(replicate=0)
    resolved = power.sel(radial_frequency=slice(1e-9, NYQUIST))
    for line in panels[panel].lines:
        x, y = drawn(line).T
        assert_array_equal(x, resolved["radial_frequency"])
        assert (resolved.values == y).all(axis=-1).any()


def test_spectra_side_by_side_have_one_scale(panels):
    assert panels[1].get_ylim() == panels[2].get_ylim()


def fall(run, low: float, high: float) -> float:
    """Give the decades by which the power of a band falls after the first layer."""
    band = run["log10_radial_power"].isel(replicate=0).sel(radial_frequency=slice(low, high))
    return float((band.isel(recorded_layer=1) - band.isel(recorded_layer=-1)).mean())


def test_the_words_over_the_spectra_are_true(shared_laboratory):
    """Attention takes a low and a high band by like factors; heat takes the high one."""
    data = {"generator": "image", "path": "workflow/resources/camera.png", "patch": 8}
    attention = {"score": "l2", "weights": "identity", "beta": 0.5, "depth": 24}
    heat = {"graph": "grid", "diffusion_time": 0.25, "depth": 24}
    falls = {}
    for name, stage in {"attention": attention, "diffusion": heat}.items():
        run = shared_laboratory.run({"data": data, name: stage, "spectra": ["log10_radial_power"]})
        falls[name] = [fall(run, 0.02, 0.1), fall(run, 0.4, 0.5)]
    assert falls["attention"][0] > 0.5
    assert falls["attention"][1] == pytest.approx(falls["attention"][0], rel=0.3)
    assert falls["diffusion"][1] > 3 * falls["diffusion"][0] > 0
