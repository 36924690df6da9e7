"""The envelope of mixing and the gains of two kernels, as they are stored."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lowpass.figures.attention import rank_middle
from lowpass.figures.mixing import mixing
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment, is_stored


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return experiment(shared_laboratory, "mixing")


@pytest.fixture
def panels(runs):
    return mixing({"mixing": runs}, PAPER).axes


def test_dots_of_the_envelope_are_the_replicate_in_the_middle(panels, runs):
    softmax = runs.sel(kernel="softmax")
    assert len(panels[0].lines) == runs.sizes["beta"]
    for line, beta in zip(panels[0].lines, runs["beta"].values, strict=True):
        run = softmax.sel(beta=beta)
        run = run.isel(replicate=rank_middle(run["slem"].values))
        assert is_stored(line, run["log10_mixing_distance"].values)


def test_a_fill_reaches_from_one_stored_bound_to_the_other(panels, runs):
    softmax = runs.sel(kernel="softmax")
    for fill, beta in zip(panels[0].collections, runs["beta"].values, strict=True):
        run = softmax.sel(beta=beta)
        run = run.isel(replicate=rank_middle(run["slem"].values))
        heights = set(fill.get_paths()[0].vertices[:, 1])
        for bound in ("log10_mixing_lower", "log10_mixing_upper"):
            assert set(run[bound].values) <= heights


def test_every_gain_is_stored(panels, runs):
    one, *ticks = panels[1].lines
    assert set(one.get_ydata()) == {1}
    stored = {(k, b): runs["hc_gain"].sel(kernel=k, beta=b).values for k, b in places(runs)}
    for line in ticks:
        for x, y in drawn(line):
            assert y in stored[places(runs)[int(x)]]
    every = np.concatenate([line.get_ydata() for line in ticks if line.get_marker() == "_"])
    assert_array_equal(np.sort(every), np.sort(np.concatenate(list(stored.values()))))


def places(runs):
    return [(kernel, beta) for kernel in ("softmax", "sinkhorn") for beta in runs["beta"].values]


def test_axis_text_comes_from_the_cards(runs):
    other = runs.copy()
    other["hc_gain"] = runs["hc_gain"].assign_attrs(long_name="growth", symbol="g")
    other["layer"] = runs["layer"].assign_attrs(long_name="storey")
    envelope, gains = mixing({"mixing": other}, PAPER).axes
    assert envelope.get_xlabel() == "storey  $t$"
    assert envelope.get_ylabel() == "largest total-variation distance  $d(t)$"
    assert gains.get_ylabel() == "growth  $g$"
    named = [label.get_text() for label in gains.get_xticklabels()]
    assert named == [f"{kernel.capitalize()}\nβ = {beta:g}" for kernel, beta in places(runs)]
