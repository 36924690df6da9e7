"""Errors of features over draws, beside their closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from lowpass.smoothing.feature_errors import positive_error, trigonometric_error
from lowpass.studies.random_features import random_features, rescaled


@pytest.fixture(scope="module")
def observed() -> xr.Dataset:
    """Give 12 queries and 9 keys with a value, of four features."""
    rng = np.random.default_rng(5)
    return xr.Dataset(
        {
            "query_position": (("query", "feature"), rng.standard_normal((12, 4))),
            "key_position": (("key", "feature"), rng.standard_normal((9, 4))),
            "value": ("key", rng.standard_normal(9)),
        }
    )


@pytest.fixture(scope="module")
def drawn(observed) -> xr.Dataset:
    return random_features(
        observed, iter, np.random.default_rng(6), rounds=2, most_terms=20, largest_norm=1.1
    )


# Laws.


def test_norms_are_powers_of_two_and_terms_of_four(drawn):
    assert drawn["squared_norm"].values.tolist() == [0.25, 0.5, 1.0]
    assert drawn["n_terms"].values.tolist() == [1, 4, 16]


def test_positive_features_are_never_negative(drawn):
    positive = drawn["negative_estimates"].sel(random_feature=["independent", "orthogonal"])
    assert (positive == 0).all()


def test_independent_features_err_as_foretold(drawn):
    """65,536 directions: within five expected standard deviations, which is 0.2 at most."""
    ratio = drawn["feature_error"] / drawn["feature_error_predicted"]
    off = abs(ratio.sel(random_feature="independent") - 1)
    assert (off < 5 * drawn["feature_error_scatter"]).all()
    assert (abs(ratio.sel(random_feature="trigonometric") - 1) < 0.1).all()


def test_orthogonal_features_err_less(drawn):
    """Where more than one direction of a block is used."""
    error = drawn["feature_error"].isel(n_terms=slice(1, None))
    law = drawn["feature_error_predicted"].isel(n_terms=slice(1, None))
    assert ((error / law).sel(random_feature="orthogonal") < 1).all()


# Closed forms.


def test_the_laws_are_those_of_the_formulas(drawn):
    norms = drawn["squared_norm"].values
    law = drawn["feature_error_predicted"].sel(n_terms=4)
    assert_allclose(law.sel(random_feature="independent"), positive_error(norms, 4))
    assert_allclose(law.sel(random_feature="orthogonal"), positive_error(norms, 4))
    assert_allclose(law.sel(random_feature="trigonometric"), trigonometric_error(norms, 4))


def test_pairs_have_the_lengths_that_were_asked_for(observed):
    q, k = rescaled(observed, np.array([0.5, 3.0]))
    assert_allclose(np.square(q + k).sum(axis=1), [0.5, 3.0])
    assert_allclose(np.square(q - k).sum(axis=1), [0.5, 3.0])


def test_one_cosine_is_negative_as_often_as_a_normal_angle_is(drawn):
    """P(cos(s g) < 0) for s² = 1, over 32,768 draws: within 5 standard errors."""
    from scipy.special import ndtr

    turns = np.pi / 2 + np.pi * np.arange(6)
    share = 2 * sum((-1) ** i * ndtr(-turn) for i, turn in enumerate(turns))
    found = drawn["negative_estimates"].sel(
        random_feature="trigonometric", squared_norm=1.0, n_terms=1
    )
    assert_allclose(found, share, atol=5 * np.sqrt(0.25 / 2**15))


def test_linear_attention_is_its_matrix_of_rank_d(drawn):
    assert drawn["linear_defect"] < 1e-15
    assert drawn["rank_defect"] < 1e-15
