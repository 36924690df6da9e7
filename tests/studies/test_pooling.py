"""The textbook's comparison, against sums that are written out."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from lowpass.domains import Bandwidths
from lowpass.registry import Refusal
from lowpass.stages.data import labelled
from lowpass.studies.pooling import pooling
from lowpass.textbook import sine_and_power

GRID = Bandwidths(low=0.02, high=10, count=31)


@pytest.fixture(scope="module")
def observed() -> xr.Dataset:
    return labelled(sine_and_power())


@pytest.fixture(scope="module")
def made(observed) -> xr.Dataset:
    return pooling(observed, iter, bandwidths=GRID)


def by_hand(observed: xr.Dataset, h: float) -> float:
    """Write the expected error of one bandwidth out, query by query."""
    total = 0.0
    for q, aim in zip(
        observed["query_position"].values[:, 0], observed["truth_at_query"].values, strict=True
    ):
        w = np.exp(-((q - observed["key_position"].values[:, 0]) ** 2) / (2 * h * h))
        w /= w.sum()
        total += (w @ observed["truth"].values - aim) ** 2 + 0.25 * (w @ w)
    return total / observed.sizes["query"]


def test_errors_are_sums_over_queries(made, observed):
    expected = [by_hand(observed, h) for h in made["bandwidth"].values]
    assert_allclose(made["expected_error"], expected, rtol=1e-10)
    assert_allclose(made["expected_error"], made["squared_bias"] + made["fit_variance"])


def test_averaging_has_the_variance_of_a_mean(made, observed):
    mean = observed["truth"].values.mean()
    average = made.sel(pooling_rule="average")
    assert_allclose(average["rule_bias"], np.mean((mean - observed["truth_at_query"].values) ** 2))
    assert_allclose(average["rule_error"] - average["rule_bias"], 0.25 / 50, rtol=1e-9)


def test_no_bandwidth_of_the_grid_is_better_than_the_best(made):
    error = made["rule_error"]
    assert float(error.sel(pooling_rule="best")) <= float(made["expected_error"].min())
    assert float(made["learned_score"]) <= float(made["expected_loo"].min())
    assert_allclose(
        made["learned_excess"],
        error.sel(pooling_rule="learned") / error.sel(pooling_rule="best") - 1,
    )


def test_rules_are_in_the_textbooks_order(made):
    error = made["rule_error"].sel(pooling_rule=["average", "fixed", "learned"]).values
    assert (np.diff(error) < 0).all()


def test_the_learned_bandwidth_is_within_a_hundredth_of_the_best(made):
    assert 0 <= float(made["learned_excess"]) < 0.01


def test_errors_that_are_alike_ask_for_more_and_teach_less(observed, made):
    alike = pooling(observed, iter, bandwidths=GRID, correlation=0.3)["rule_bandwidth"]
    free = made["rule_bandwidth"]
    assert float(alike.sel(pooling_rule="best")) > float(free.sel(pooling_rule="best"))
    assert float(alike.sel(pooling_rule="learned")) < 0.6 * float(free.sel(pooling_rule="learned"))


def test_gradient_descent_starts_evenly_and_its_errors_are_those_of_its_ends(observed, made):
    assert_allclose(made["start_scale"], np.arange(0.05, 1, 0.1))
    expected = [by_hand(observed, h) for h in made["trained_bandwidth"].values]
    assert_allclose(made["trained_error"], expected, rtol=1e-10)


def test_every_bandwidth_is_counted(observed):
    seen = []
    pooling(observed, lambda items: (seen.append(h) or h for h in items), bandwidths=GRID)
    assert_allclose(seen, GRID.grid())


def test_a_bracket_without_the_minimum_is_refused(observed):
    narrow = Bandwidths(low=1, high=10, count=5)
    with pytest.raises(Refusal, match=r"^the least leave-one-out error lies at the low end of "):
        pooling(observed, iter, bandwidths=narrow)
