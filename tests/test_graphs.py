"""Affinities by their own definitions, one pair at a time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.graphs import GRAPHS
from lowpass.laplacians import LAPLACIANS
from lowpass.registry import Refusal

PLACE = np.array([[row, column] for row in range(3) for column in range(4)])
WEIGHTS = np.array([[0.5, 1.0, -2.0], [0.0, 1.5, 0.3], [1.0, 0.0, 0.0]]), np.eye(3)[::-1]


@pytest.mark.parametrize("name", GRAPHS)
def test_affinities_are_finite_symmetric_and_negative_only_where_they_say_so(name, rng):
    w = GRAPHS[name](rng.standard_normal((12, 3)), PLACE, 0.7, WEIGHTS)
    assert w.shape == (12, 12)
    assert w.dtype == np.float64
    assert np.array_equal(w, w.T)
    assert np.isfinite(w).all()
    assert (w >= 0).all() is not np.bool_(GRAPHS.facts(name)["signed"])


@pytest.mark.parametrize("name", GRAPHS)
def test_the_graph_of_a_batch_is_that_of_its_members(name, rng):
    x = rng.standard_normal((2, 5, 12, 3))
    w = GRAPHS[name](x, PLACE, 0.7, WEIGHTS)
    assert w.shape == (2, 5, 12, 12)
    for index in np.ndindex(2, 5):
        assert np.array_equal(w[index], GRAPHS[name](x[index], PLACE, 0.7, WEIGHTS))


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_reads_what_its_facts_say(name, rng):
    x = rng.standard_normal((12, 3))
    facts = GRAPHS.facts(name)
    w = GRAPHS[name](x, PLACE, 0.7, WEIGHTS)
    place = PLACE if facts["needs_place"] else None
    weights = WEIGHTS if facts["needs_weights"] else None
    assert np.array_equal(w, GRAPHS[name](x, place, 0.7, weights))
    assert np.array_equal(w, GRAPHS[name](x, PLACE, 1.7, WEIGHTS)) is not facts["needs_beta"]
    others = WEIGHTS[::-1]
    changed = not np.array_equal(w, GRAPHS[name](x, PLACE, 0.7, (others[0], others[0])))
    assert changed is facts["needs_weights"]


@pytest.mark.parametrize("name", [n for n in GRAPHS if GRAPHS.facts(n)["needs_place"]])
def test_renaming_tokens_with_their_places_renames_the_graph(name, rng):
    x, p = rng.standard_normal((12, 3)), rng.permutation(12)
    w = GRAPHS[name](x, PLACE, 0.7, WEIGHTS)
    assert np.array_equal(GRAPHS[name](x[p], PLACE[p], 0.7), w[p][:, p])


def test_a_ring_closes_and_a_path_does_not():
    x = np.zeros((4, 1))
    ring = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    path = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    assert np.array_equal(GRAPHS["ring"](x, None, 1.0), ring)
    assert np.array_equal(GRAPHS["path"](x, None, 1.0), path)


def test_a_grid_joins_each_token_with_the_ones_beside_above_and_below():
    w = GRAPHS["grid"](np.zeros((12, 1)), PLACE, 1.0)
    for i, (row, column) in enumerate(PLACE):
        for j, (other_row, other_column) in enumerate(PLACE):
            beside = row == other_row and abs(column - other_column) == 1
            above = column == other_column and abs(row - other_row) == 1
            assert w[i, j] == (beside or above)


def test_a_grid_may_have_holes_and_start_anywhere():
    """A ring of eight places around an empty one."""
    around = np.array([[i, j] for i in range(3) for j in range(3) if (i, j) != (1, 1)]) - 7
    w = GRAPHS["grid"](np.zeros((8, 1)), around, 1.0)
    assert np.array_equal(w.sum(axis=0), np.full(8, 2.0))


def test_nearness_of_tokens_is_a_gaussian_of_their_distance(rng):
    x = rng.standard_normal((6, 3))
    w = GRAPHS["tokens"](x, None, 0.3)
    for i in range(6):
        for j in range(6):
            assert_allclose(w[i, j], np.exp(-0.15 * np.square(x[i] - x[j]).sum()), rtol=1e-14)


@pytest.mark.parametrize("name", ["logits", "affinity"])
def test_projections_are_needed_where_queries_meet_keys(name):
    with pytest.raises(Refusal, match=r"^the graphs 'logits' and 'affinity' .* graph 'tokens'\.$"):
        GRAPHS[name](np.zeros((4, 2)), None, 1.0)


def test_logits_are_the_mean_of_those_of_both_directions(rng):
    """And what is exponentiated is each of them, not the matrix."""
    x, (w_q, w_k) = rng.standard_normal((6, 3)), WEIGHTS
    s, w = (GRAPHS[name](x, None, 0.3, WEIGHTS) for name in ("logits", "affinity"))
    for i in range(6):
        for j in range(6):
            there, back = (0.3 * (x[a] @ w_q) @ (x[b] @ w_k) / 3**0.5 for a, b in ((i, j), (j, i)))
            assert_allclose(s[i, j], (there + back) / 2, rtol=1e-13, atol=1e-15)
            assert_allclose(w[i, j], np.exp((there + back) / 2), rtol=1e-13)


def test_an_affinity_beyond_floats_is_refused_by_its_laplacian():
    with pytest.raises(Refusal, match=r"^affinity \[0, 0\] is inf; .* Check the tokens and beta"):
        LAPLACIANS["random_walk"](GRAPHS["affinity"](np.ones((3, 3)), None, 1e4, WEIGHTS))


@pytest.mark.parametrize(
    ("name", "n_tokens", "place", "message"),
    [
        ("ring", 2, None, r"^the graph 'ring' got 2 tokens; .* Use 'path' or more tokens\.$"),
        ("path", 1, None, r"^the graph 'path' got 1 token; an edge joins two\. Use more tokens\.$"),
        ("grid", 3, None, r"^the graph 'grid' got tokens without a place; .* 'tokens'\.$"),
        ("grid", 3, PLACE, r"^there are 3 tokens and 12 places; .* from the same data\.$"),
        (
            "grid",
            3,
            np.array([[0, 1], [0, 2], [0, 1]]),
            r"^tokens 0 and 2 share the place \(0, 1\); .* Remove one of them\.$",
        ),
        (
            "grid",
            3,
            np.array([[0, 1], [4, 4], [0, 2]]),
            r"^token 1 at \(4, 4\) has no neighbour on the grid; .* or remove it\.$",
        ),
    ],
)
def test_a_graph_refuses_tokens_it_cannot_join(name, n_tokens, place, message):
    with pytest.raises(Refusal, match=message):
        GRAPHS[name](np.zeros((n_tokens, 1)), place, 1.0)
