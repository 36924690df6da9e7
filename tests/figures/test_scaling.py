"""Second moduli over their limits, as they are stored."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lowpass.figures.palette import PAPER
from lowpass.figures.scaling import long_sequences

from .exhibits import drawn, experiment

NAMES = ("scaling", "independent-logits")


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return {name: experiment(shared_laboratory, name) for name in NAMES}


@pytest.fixture
def panels(runs):
    return long_sequences(runs, PAPER).axes


def ratios(runs):
    """Give what each panel shows: (beta, n_tokens, replicate)."""
    order = ("beta", "n_tokens", "replicate")
    gaussian = runs["scaling"]["slem_over_gaussian"]
    every = [gaussian.sel(d_model=d) for d in gaussian["d_model"].values]
    every.append(runs["independent-logits"]["slem_over_independent"])
    return [each.transpose(*order) for each in every]


def test_there_is_a_panel_for_every_width_and_one_for_independent_logits(panels, runs):
    assert len(panels) == runs["scaling"].sizes["d_model"] + 1


def test_ticks_are_draws_and_dots_are_the_middle_ones(panels, runs):
    for ax, ratio in zip(panels, ratios(runs), strict=True):
        n_tokens = ratio["n_tokens"].values
        dots = [drawn(line) for line in ax.lines if line.get_marker() == "o"]
        ticks = [drawn(line) for line in ax.lines if line.get_marker() == "_"]
        for dot, stored in zip(dots, ratio.values, strict=True):
            assert_array_equal(dot[:, 0], n_tokens)
            assert_array_equal(dot[:, 1], np.sort(stored, axis=1)[:, stored.shape[1] // 2])
        each = ratio.transpose("beta", "replicate", "n_tokens").values.reshape(-1, len(n_tokens))
        assert_array_equal(np.array(ticks)[:, :, 1], each)


def test_the_limit_is_one(panels):
    for ax in panels:
        assert any((drawn(line)[:, 1] == 1).all() for line in ax.lines)


def test_each_curve_is_named_by_its_temperature(panels, runs):
    for ax, ratio in zip(panels, ratios(runs), strict=True):
        words = {text.get_text() for text in ax.texts}
        assert {f"β = {beta:g}" for beta in ratio["beta"].values} <= words


def test_axis_text_comes_from_the_cards(runs):
    name = "slem_over_independent"
    spoilt = runs["independent-logits"].copy()
    spoilt[name] = spoilt[name].assign_attrs(long_name="echo")
    *_, last = long_sequences({**runs, "independent-logits": spoilt}, PAPER).axes
    assert last.get_ylabel().startswith("echo")
