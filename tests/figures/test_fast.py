"""Errors of features and costs of shortcuts, as they are stored."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lowpass.figures.fast import NAMES, fast_attention, feature_errors
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment


@pytest.fixture(scope="module")
def features(shared_laboratory):
    return experiment(shared_laboratory, "random-features")


@pytest.fixture(scope="module")
def race(shared_laboratory):
    return experiment(shared_laboratory, "fast-attention")


def dots(ax):
    """Give the points of every series of dots."""
    return [drawn(line) for line in ax.lines if line.get_marker() == "o"]


def middle(stored):
    """Give the replicate in the middle, (replicate, point)."""
    return np.sort(stored, axis=0)[len(stored) // 2]


def test_errors_of_features_are_those_stored_beside_their_law(features):
    ax, _ = feature_errors({"random-features": features}, PAPER).axes
    own = features.sel(random_feature="independent")
    dashed = [drawn(line) for line in ax.lines if line.get_linestyle() == "--"]
    for norm, points, law in zip(own["squared_norm"].values, dots(ax), dashed, strict=True):
        run = own.sel(squared_norm=norm)
        assert_array_equal(points[:, 0], run["n_terms"].values)
        assert_array_equal(points[:, 1], middle(run["feature_error"].values))
        assert_array_equal(law[:, 1], run["feature_error_predicted"].isel(replicate=0))


def test_negative_estimatess_are_those_stored(features):
    _, ax = feature_errors({"random-features": features}, PAPER).axes
    own = features.sel(random_feature="trigonometric")
    for m, points in zip(own["n_terms"].values, dots(ax), strict=True):
        assert_array_equal(points[:, 1], middle(own["negative_estimates"].sel(n_terms=m).values))


def test_every_panel_is_a_number_of_features_with_a_line_for_every_kind(race):
    panels = fast_attention({"fast-attention": race}, PAPER).axes
    assert len(panels) == race.sizes["n_features"]
    most = race.isel(n_keys=-1).sel(value_noise=0)
    for ax, d in zip(panels, race["n_features"].values, strict=True):
        words = {text.get_text() for text in ax.texts}
        assert {f"d = {d}", "all pairs", *NAMES.values()} <= words
        found = dots(ax)
        assert len(found) == len(NAMES) + (d <= 2)
        if d <= 2:
            grid = most["log10_series_error"].sel(n_features=d).values
            assert found[-1][0, 1] == np.sort(grid)[len(grid) // 2]
        for kind, points in zip(NAMES, found[: len(NAMES)], strict=True):
            run = most.sel(n_features=d, approximation=kind)
            assert_array_equal(points[:, 0], run["log10_operations"].isel(replicate=0))
            assert_array_equal(points[:, 1], middle(run["log10_relative_error"].values))


def test_the_cost_of_all_pairs_is_upright(race):
    most = race.isel(n_keys=-1, replicate=0)
    for ax, d in zip(
        fast_attention({"fast-attention": race}, PAPER).axes, race["n_features"].values, strict=True
    ):
        cost = float(most["log10_exact_operations"].sel(n_features=d))
        assert any((drawn(line)[:, 0] == cost).all() for line in ax.lines)


def test_axis_text_comes_from_the_cards(features, race):
    spoilt = features.copy()
    spoilt["feature_error"] = spoilt["feature_error"].assign_attrs(long_name="echo")
    ax, _ = feature_errors({"random-features": spoilt}, PAPER).axes
    assert ax.get_ylabel().startswith("echo")
    spoilt = race.copy()
    spoilt["log10_operations"] = spoilt["log10_operations"].assign_attrs(long_name="echo")
    assert fast_attention({"fast-attention": spoilt}, PAPER).axes[0].get_xlabel().startswith("echo")
