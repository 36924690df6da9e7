"""Verdicts on the stochastic-matrix view, and mistakes that must turn each of them."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from lowpass import eigen, spectra, starts
from lowpass.claims.intervals import median_interval
from lowpass.masks import MASKS

DC = "dc-limit"
COUNTER = "counterexamples"


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("A01", "holds"),
        ("A02", "holds"),
        ("A03", "conditional"),
        ("A04", "conditional"),
        ("A05", "asymptotic"),
    ],
)
def test_right_experiments_give_the_verdict_of_the_theory(claim, said, judged, experiments):
    assert judged(claim, experiments)["verdict"] == said


# A01: the mean is the zero frequency.


def with_another_mean(weights):
    """Split the tokens at another average: (trajectory) to (replicate, token) weights."""

    def change(made: xr.Dataset) -> xr.Dataset:
        mean = made["dc"] * np.exp2(made["dc_exponent"].astype(float))
        x = mean + made["hc"] * np.exp2(made["hc_exponent"].astype(float))
        other = (x * weights(made)).sum("token").transpose(*made["dc"].dims)
        zero = xr.zeros_like(made["dc_exponent"])
        return made.assign(
            dc=other,
            hc=(x - other).transpose(*made["hc"].dims),
            dc_exponent=zero,
            hc_exponent=zero,
        )

    return change


@pytest.mark.parametrize(
    "weights",
    [
        lambda made: made["stationary"],
        lambda made: xr.ones_like(made["stationary"]) / (made.sizes["token"] - 1),
        lambda made: (made["token"] > 0) / (made.sizes["token"] - 1),
    ],
    ids=["weighted by π", "divided by n - 1", "without the first token"],
)
def test_another_mean_is_not_the_zero_frequency(weights, judged, remeasured):
    assert judged("A01", remeasured(DC, with_another_mean(weights)))["verdict"] == "refuted"


def test_the_mean_itself_survives_the_same_treatment(judged, remeasured):
    uniform = with_another_mean(lambda made: xr.ones_like(made["stationary"]) / 16)
    assert judged("A01", remeasured(DC, uniform))["verdict"] == "holds"


@pytest.mark.parametrize("kept", [2, "half"])
def test_further_frequencies_are_not_the_mean(kept, judged, remeasured, monkeypatch):
    def dft_mean(x):
        spectrum = np.fft.rfft(x, axis=-2)
        spectrum[..., kept if kept != "half" else spectrum.shape[-2] // 2 :, :] = 0
        return np.fft.irfft(spectrum, n=x.shape[-2], axis=-2)

    monkeypatch.setattr(spectra, "dft_mean", dft_mean)
    assert judged("A01", remeasured(DC, lambda made: made))["verdict"] == "refuted"


# A02: rows sum to one, and one is an eigenvalue.


def of_attention(change):
    """Change the matrices (..., query, key) of a trajectory."""

    def changed(made: xr.Dataset) -> xr.Dataset:
        a = made["attention"]
        return made.assign(attention=a.copy(data=change(a.values)))

    return changed


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a * (1 + 1e-12),
        lambda a: np.swapaxes(a, -1, -2),
        lambda a: a / a.sum(axis=-2, keepdims=True),
        lambda a: a - 1 / a.shape[-1],
        lambda a: a.astype("float32").astype(float),
    ],
    ids=["scaled", "transposed", "normalised by column", "A - J for A", "single precision"],
)
def test_a_matrix_that_is_not_stochastic_refutes(change, judged, remeasured):
    said = judged("A02", remeasured(DC, of_attention(change)))
    assert said["verdict"] == "refuted"


def test_the_larger_of_the_two_defects_decides(judged, experiments):
    runs = experiments[DC].copy(deep=True)
    place = {"arithmetic": "split", "beta": 1.0, "replicate": 3}
    for name, other in [("row_sum_defect", 1e-3), ("unit_eigenvalue_defect", 2e-3)]:
        runs[name].loc[place] = other
        said = judged("A02", {DC: runs})
        assert said["as_written"] == other
        assert said["witness"] == f"dc-limit: {name} at beta 1.0, replicate 3"


# A03: stochastic alone is not enough; primitive is.


def band(n_tokens: int) -> np.ndarray:
    """Let a token see itself and its neighbours: zeros, and yet primitive."""
    place = np.arange(n_tokens)
    return abs(place[:, None] - place[None, :]) <= 1


def test_primitive_matrices_with_zeros_are_no_counterexample(
    judged, experiments, monkeypatch, rerun
):
    """Masks of the same names now mix all tokens in the end, although most see no other at once."""
    monkeypatch.setitem(MASKS._things, "block", band)
    monkeypatch.setitem(MASKS._things, "cycle", band)
    primitive = rerun(COUNTER)
    assert (primitive[COUNTER]["min_attention"].sel(case="two blocks") == 0).all()
    said = judged("A03", {**experiments, **primitive})
    assert said["verdict"] == "holds"


@pytest.mark.parametrize("claim", ["A03", "A04"])
def test_without_its_counterexample_a_claim_is_not_examined(claim, judged, experiments):
    others = {
        "A03": ["second mode", "no mean"],
        "A04": ["two blocks", "two-cycle", "no mean"],
    }
    fewer = {COUNTER: experiments[COUNTER].sel(case=others[claim])}
    assert judged(claim, {**experiments, **fewer})["verdict"] == "not examined"


@pytest.mark.parametrize("claim", ["A03", "A04"])
def test_shallow_runs_cannot_judge_a_limit(claim, judged, experiments, rerun):
    shallow = rerun(DC, attention={"depth": 4})
    assert judged(claim, {**experiments, **shallow})["verdict"] == "not examined"


@pytest.mark.parametrize("claim", ["A03", "A04"])
def test_positive_matrices_that_do_not_forget_would_refute(claim, judged, experiments, rerun):
    """Deep runs whose start has no stationary part keep their ratio for ever."""
    wrong = rerun(DC, attention={"weights": "symmetric", "start": "second_mode"}, spectra=FEW)
    assert judged(claim, {**experiments, **wrong})["verdict"] == "refuted"


FEW = ["log10_hc_dc_ratio", "slem", "min_attention"]


@pytest.mark.parametrize("claim", ["A03", "A04"])
def test_one_array_cannot_show_the_limit_below_its_floor(claim, judged, experiments):
    """Plain floats stop at their rounding, which must not be read as a ratio of zero."""
    runs = experiments[DC]
    plain = runs.sel(arithmetic=["float64"]).assign_coords(arithmetic=["split"])
    exact = judged(claim, experiments)["under_condition"]
    assert judged(claim, {**experiments, DC: plain})["under_condition"] > 1e3 * exact


# A04: every start forgets, but for those without a stationary part.


def test_a_start_with_a_stationary_part_is_no_counterexample(judged, experiments, rerun):
    case = {
        "label": ["second mode", "no mean"],
        "data.generator": ["gaussian", "gaussian"],
        "data.n_tokens": [8, 8],
        "attention.start": ["tokens", "no_stationary"],
        "attention.kernel": ["softmax", "sinkhorn"],
    }
    wrong = rerun(COUNTER, zip={"case": case})
    assert judged("A04", {**experiments, **wrong})["verdict"] == "holds"


def test_a_stationary_part_left_by_rounding_would_be_no_counterexample(
    judged, experiments, monkeypatch, rerun
):
    """A mode that is not projected keeps a part of 1e-16, which wins in the end."""

    def leaky(x, attention, stationary):
        none, transient = starts.second_mode(x, attention, stationary)
        return none + 1e-16, transient

    monkeypatch.setitem(starts.STARTS._things, "second_mode", leaky)
    wrong = rerun(COUNTER)
    assert judged("A04", {**experiments, **wrong})["verdict"] == "holds"


# A05: the rate is the second eigenvalue's.


def with_eigenvalue(experiments, values):
    """Put other numbers in the place of |λ₂| of the runs in split form."""
    runs = experiments[DC].copy(deep=True)
    runs["slem"].loc[{"arithmetic": "split"}] = values
    return {DC: runs}


def moduli(remeasured, number: int) -> xr.DataArray:
    """Give the eigenvalue modulus of some rank of every attention matrix."""

    def slem(a):
        return np.abs(spectra.eigenvalues(a)[..., number])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(eigen, "slem", slem)
        return remeasured(DC, lambda made: made)[DC]["slem"].sel(arithmetic="split")


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_a_temperature_off_by_one_per_cent_refutes_the_rate(factor, judged, experiments, rerun):
    beta = [factor * each for each in (0.5, 1.0)]
    off = rerun(DC, attention={"beta": beta})[DC]["slem"].sel(arithmetic="split")
    assert judged("A05", with_eigenvalue(experiments, off.values))["verdict"] == "refuted"


@pytest.mark.parametrize("number", [0, 2, 3])
def test_another_eigenvalue_refutes_the_rate(number, judged, experiments, remeasured):
    other = moduli(remeasured, number)
    assert judged("A05", with_eigenvalue(experiments, other.values))["verdict"] == "refuted"


def test_the_second_eigenvalue_put_back_by_the_same_way_is_right(judged, experiments, remeasured):
    same = moduli(remeasured, 1)
    assert judged("A05", with_eigenvalue(experiments, same.values))["verdict"] == "asymptotic"


def test_the_eigenvalue_of_j_refutes_the_rate(judged, experiments):
    assert judged("A05", with_eigenvalue(experiments, 0.0))["verdict"] == "refuted"


def test_a_singular_value_refutes_the_rate(judged, experiments, remeasured, monkeypatch):
    """A bound that is often quoted; the second singular value is not the rate."""
    monkeypatch.setattr(eigen, "slem", lambda a: np.linalg.svd(a, compute_uv=False)[..., 1])
    other = remeasured(DC, lambda made: made)[DC]["slem"].sel(arithmetic="split")
    assert judged("A05", with_eigenvalue(experiments, other.values))["verdict"] == "refuted"


def test_plain_floats_refute_the_rate(judged, experiments):
    """Their ratio ends at the rounding, with no slope."""
    plain = experiments[DC].sel(arithmetic=["float64"]).assign_coords(arithmetic=["split"])
    assert judged("A05", {DC: plain})["verdict"] == "refuted"


@pytest.mark.parametrize("rate", ["transient_rate", "hc_dc_rate"])
def test_each_of_the_two_rates_must_agree(rate, judged, experiments):
    runs = experiments[DC].copy(deep=True)
    runs[rate].loc[{"arithmetic": "split", "beta": 0.5, "replicate": 2}] *= 1.006
    said = judged("A05", {DC: runs})
    assert said["verdict"] == "refuted"
    assert said["trend"] == pytest.approx(1 - 1 / 1.006, abs=1e-3)
    assert said["witness"] == f"dc-limit: {rate} at beta 0.5, replicate 2"


def test_a_ratio_that_is_geometric_from_the_start_holds_as_written(judged, experiments):
    runs = experiments[DC]
    exact = runs.assign(log10_transient_ratio=runs["log10_predicted_ratio"])
    assert judged("A05", {DC: exact})["verdict"] == "holds"


def test_the_numbers_of_a_sweep_are_medians_with_their_intervals(judged, experiments):
    numbers = judged("A05", experiments)["numbers"]
    assert list(numbers) == ["slem_beta_0.5", "slem_beta_1"]
    for beta, number in zip((0.5, 1.0), numbers.values(), strict=True):
        values = experiments[DC]["slem"].sel(arithmetic="split", beta=beta).values
        assert number == vars(median_interval(values))
        assert number["low"] < number["value"] < number["high"]


# Witnesses.


@pytest.mark.parametrize(
    ("claim", "name", "value"),
    [("A01", "dft_mean_defect", 0.5), ("A05", "transient_rate", 2.0)],
)
def test_a_witness_names_the_worst_value(claim, name, value, judged, experiments):
    runs = experiments[DC].copy(deep=True)
    runs[name].loc[{"arithmetic": "split", "beta": 0.5, "replicate": 4}] = value
    witness = judged(claim, {DC: runs})["witness"]
    assert witness == f"dc-limit: {name} at beta 0.5, replicate 4"


@pytest.mark.parametrize(("claim", "case"), [("A03", "two blocks"), ("A04", "second mode")])
def test_a_counterexample_is_named(claim, case, judged, experiments):
    runs = experiments[COUNTER].copy(deep=True)
    runs["log10_hc_dc_ratio"].loc[{"case": case, "replicate": 1, "layer": 400}] += 0.5
    said = judged(claim, {**experiments, COUNTER: runs})
    assert said["witness"] == f"counterexamples: log10_hc_dc_ratio at case {case}, replicate 1"


def test_the_share_of_runs_that_are_deep_enough_is_told(judged, experiments):
    runs = experiments[DC].sel(arithmetic="split")
    deep = (runs["slem"] ** int(runs["layer"][-1]) < 1e-13) & (runs["min_attention"] > 0)
    for claim in ("A03", "A04"):
        share = judged(claim, experiments)["numbers"]["deep_share"]["value"]
        assert share == pytest.approx(float(deep.mean()), rel=1e-12)
        assert 0 < share <= 1
