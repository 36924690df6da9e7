"""Cells: every combination once, each with whole and validated parameters."""

from __future__ import annotations

import itertools

import pytest

from lowpass.plan.sweep import expand
from lowpass.registry import Refusal

from ..configurations import adding, edited, planned

WHERE = "mine.yaml: experiments.tokens"


def section(**changes) -> dict:
    """Compose a section of two sweeps."""
    return {
        "data": {"generator": "gaussian", "n_tokens": [8, 16], "d_model": 4},
        "attention": {"beta": [3, 1, 2], "depth": 4},
        "spectra": ["slem", "min_attention"],
        "replicates": 1,
        **changes,
    }


# What they are.


def test_cells_are_the_product_of_the_axes():
    places = [tuple(sorted(cell.place.items())) for cell in expand(section(), WHERE)]
    wanted = itertools.product([1, 2, 3], [8, 16])
    assert sorted(places) == [(("beta", beta), ("n_tokens", n)) for beta, n in wanted]


def test_a_cell_holds_the_parameters_of_its_place():
    for cell in expand(section(), WHERE):
        assert cell.specs["attention"].beta == cell.place["beta"]
        assert cell.specs["data"].n_tokens == cell.place["n_tokens"]
        assert cell.specs["attention"].kernel == "softmax"


def test_places_are_validated_values():
    """1 and 1.0 are one place, so that a label does not depend on how it is written."""
    assert all(isinstance(cell.place["beta"], float) for cell in expand(section(), WHERE))


def test_an_inner_sweep_is_no_place_and_ascends():
    cells = expand(section(inside=["beta"]), WHERE)
    assert [cell.place for cell in cells] == [{"n_tokens": 8}, {"n_tokens": 16}]
    assert [cell.inside for cell in cells] == [{"attention": {"beta": [1.0, 2.0, 3.0]}}] * 2


def test_a_case_is_called_by_its_label():
    zipped = section(
        data={"generator": "gaussian", "d_model": 4},
        zip={"case": {"label": ["wide", "narrow"], "data.n_tokens": [9, 3]}},
    )
    sizes = {cell.place["case"]: cell.specs["data"].n_tokens for cell in expand(zipped, WHERE)}
    assert sizes == {"wide": 9, "narrow": 3}


def test_measures_are_taken_in_one_order():
    (first, *_) = expand(section(), WHERE)
    assert first.specs["spectra"].measures == ["min_attention", "slem"]


def test_every_value_of_an_inner_sweep_is_validated():
    with pytest.raises(Refusal, match=r"tokens\.attention\.beta: -1 is below 0, the least"):
        expand(section(attention={"beta": [1, -1], "depth": 4}, inside=["beta"]), WHERE)


# Stages that fit together.

SMOOTHING = "    smoothing: {study: selection, bandwidths: {low: 0.5, high: 50, count: 9}}\n"
ATTENTION = "    attention: {beta: [1, 3], depth: 4}\n"
SPECTRA = "    spectra: [slem, min_attention]\n"
REPLICATES = "    replicates: 20\n"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            [(REPLICATES, "")],
            r"tokens: 'attention' is given without 'replicates', which it needs; add 'replicates:'",
        ),
        (
            [(SPECTRA, "")],
            r"tokens: 'attention' is given without 'spectra', which it needs; add 'spectra:'",
        ),
        (
            [(SMOOTHING, SMOOTHING + "    spectra: [slem]\n")],
            r"table: 'spectra' is given without 'attention', which it needs; add 'attention:'",
        ),
        (
            [(SMOOTHING, SMOOTHING + "    replicates: 5\n")],
            r"table\.replicates: 5 replicates of what 'series' reads would all be equal, since "
            r"nothing is drawn there; delete 'replicates:'",
        ),
        (
            [(SMOOTHING, "")],
            r"table: has none of 'attention' \(of tokens\), .* so nothing acts on .*; add one",
        ),
        (
            [adding(SMOOTHING.replace("9", "7"))],
            "tokens: has 'attention' beside 'smoothing', and its data go one way; keep one",
        ),
        (
            [(SMOOTHING, ATTENTION.replace("3", "5") + "    spectra: [slem]\n    replicates: 5\n")],
            r"table\.data\.generator: 'series' gives observations, which 'attention' does not "
            r"read; write 'smoothing:' instead, or choose another generator",
        ),
        (
            [(ATTENTION, SMOOTHING.replace("9", "7")), (SPECTRA, ""), (REPLICATES, "")],
            r"tokens\.data\.generator: 'gaussian' gives tokens, which 'smoothing' does not read; "
            r"write 'attention:' instead, or choose another generator",
        ),
    ],
)
def test_a_chain_of_stages_leads_from_data_to_results(changes, message, tmp_path):
    with pytest.raises(Refusal, match=rf"^mine\.yaml: experiments\.{message}\.$"):
        planned(edited(*changes), tmp_path)
