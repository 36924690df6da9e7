"""Each measure against a slow computation that shares nothing with it but the trajectory."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
import xarray as xr
from mpmath import besseli
from numpy.testing import assert_allclose
from PIL import Image
from scipy.linalg import expm

from lowpass import fourier
from lowpass.kernels import softmax
from lowpass.labels import VARIABLES
from lowpass.measures import MEASURES
from lowpass.measures.components import logits_of, tokens_of
from lowpass.measures.decay import LATER
from lowpass.registry import Refusal
from lowpass.stages.spectra import spectra
from lowpass.weights import VALUES

from .configurations import ROOT

N_TOKENS, D_MODEL, DEPTH = 7, 3, 16
CAMERA = {"generator": "image", "path": "workflow/resources/camera.png", "patch": 16}


def section(**changes) -> dict:
    return {
        "data": {"generator": "gaussian", "n_tokens": N_TOKENS, "d_model": D_MODEL},
        "attention": {"beta": 1.0, "depth": DEPTH, "record": "all", **changes},
        "spectra": ["slem"],
        "replicates": 10,
    }


@pytest.fixture(params=["split", "float64", "sinkhorn", "second_mode"])
def trajectory(request, shared_laboratory) -> xr.Dataset:
    """Read ten runs with every layer recorded, an odd number of tokens and sharp enough logits."""
    changes = {
        "split": {},
        "float64": {"arithmetic": "float64", "depth": 6},  # Short of its floor.
        "sinkhorn": {"kernel": "sinkhorn"},
        "second_mode": {"weights": "symmetric", "start": "second_mode"},
    }
    return shared_laboratory.first("attention", section(**changes[request.param]))


def measure(name: str, trajectory: xr.Dataset) -> xr.DataArray:
    return spectra({"params": {"measures": [name]}}, trajectory)[name]


def matrices(trajectory: xr.Dataset) -> list[np.ndarray]:
    return list(trajectory["attention"].values)


def component(trajectory: xr.Dataset, name: str, replicate: int, layer: int) -> tuple[list, int]:
    """Take a recorded tensor as nested lists, and its binary exponent."""
    place = {"replicate": replicate, "recorded_layer": layer}
    one = trajectory[name].isel(place).values.tolist()
    return one, int(trajectory[f"{name}_exponent"].isel(place))


def log10_norm(rows: list, exponent: int) -> float:
    """Take the norm entry by entry, and its exponent aside."""
    total = math.sqrt(math.fsum(entry * entry for row in rows for entry in row))
    return math.log10(total) + exponent * math.log10(2) if total else -math.inf


def stationary(a: np.ndarray) -> np.ndarray:
    """Iterate from the uniform distribution until nothing changes."""
    pi = np.full(len(a), 1 / len(a))
    for _ in range(5000):
        pi = pi @ a
        pi /= pi.sum()
    return pi


# Ratios.


def test_the_ratio_is_that_of_norms_of_recorded_tensors(trajectory):
    ratio = measure("log10_hc_dc_ratio", trajectory)
    for replicate in range(3):
        for layer in trajectory["recorded_layer"].values:
            high = log10_norm(*component(trajectory, "hc", replicate, layer))
            mean, exponent = component(trajectory, "dc", replicate, layer)
            low = log10_norm([mean] * N_TOKENS, exponent)
            found = ratio.sel(layer=layer).isel(replicate=replicate)
            assert_allclose(found, high - low, rtol=0, atol=1e-12)


def test_the_transient_ratio_is_that_of_an_oblique_projection(trajectory):
    ratio = measure("log10_transient_ratio", trajectory)
    if (trajectory["log10_stationary_norm"] == -np.inf).all():
        assert (ratio == np.inf).all()
        return
    for replicate, a in enumerate(matrices(trajectory)[:3]):
        pi = stationary(a)
        for layer in range(5):
            mean, exponent = component(trajectory, "dc", replicate, layer)
            high, shift = component(trajectory, "hc", replicate, layer)
            x = np.ldexp(mean, exponent) + np.ldexp(high, shift)
            kept = np.outer(np.ones(N_TOKENS), pi @ x)
            direct = np.log10(np.linalg.norm(x - kept) / np.linalg.norm(kept))
            found = ratio.sel(layer=layer).isel(replicate=replicate)
            assert_allclose(found, direct, rtol=0, atol=1e-9)


def test_a_component_that_is_exactly_zero_has_an_infinite_ratio():
    """No transient is minus infinity; no mean is plus infinity."""
    norms = {
        "log10_hc_norm": ("layer", [-np.inf, 0.0]),
        "log10_dc_norm": ("layer", [0.0, -np.inf]),
    }
    assert MEASURES["log10_hc_dc_ratio"](xr.Dataset(norms)).values.tolist() == [-np.inf, np.inf]
    assert VARIABLES["log10_hc_dc_ratio"].infinite


# Eigenvalues.


def test_the_second_eigenvalue_is_the_growth_of_powers(trajectory):
    """Gelfand: ‖(A - 1πᵀ)^k‖^(1/k), with k = 2^24 reached by squaring."""
    found = measure("slem", trajectory)
    for replicate, a in enumerate(matrices(trajectory)):
        power, log_scale = a - stationary(a), 0.0
        for _ in range(24):
            scale = np.linalg.norm(power)
            power, log_scale = (power / scale) @ (power / scale), 2 * (log_scale + np.log(scale))
        growth = np.exp((log_scale + np.log(np.linalg.norm(power))) / 2**24)
        assert_allclose(found[replicate], growth, rtol=1e-6)


def test_two_tokens_have_a_second_eigenvalue_in_closed_form():
    """A = [[1-p, p], [q, 1-q]] has the eigenvalues 1 and 1 - p - q."""
    p, q = 0.3, 0.9
    made = of_matrix([[1 - p, p], [q, 1 - q]])
    assert_allclose(measure("slem", made), [abs(1 - p - q)], rtol=1e-14)
    assert measure("unit_eigenvalue_defect", made) < 1e-15


def of_matrix(a) -> xr.Dataset:
    return xr.Dataset({"attention": (("replicate", "query", "key"), np.array([a], dtype=float))})


def test_a_matrix_that_forgets_at_once_has_no_second_eigenvalue():
    assert_allclose(measure("slem", of_matrix(np.full((5, 5), 0.2))), 0, atol=1e-15)


def test_a_cycle_forgets_nothing():
    assert_allclose(measure("slem", of_matrix(np.roll(np.eye(5), 1, axis=1))), 1, rtol=1e-14)


# Defects.


def test_the_largest_defect_of_a_row_sum_is_found(trajectory):
    found = measure("row_sum_defect", trajectory)
    direct = [max(abs(math.fsum(row) - 1) for row in a.tolist()) for a in matrices(trajectory)]
    assert_allclose(found, direct, rtol=0, atol=2e-15)
    spoilt = trajectory.copy(deep=True)
    spoilt["attention"][4, 2, 1] += 2.0**-20
    assert_allclose(measure("row_sum_defect", spoilt)[4], 2.0**-20, rtol=1e-8)


def test_scaled_attention_has_no_eigenvalue_one(trajectory):
    assert (measure("unit_eigenvalue_defect", trajectory) < 1e-14).all()
    scaled = trajectory.assign(attention=trajectory["attention"] * (1 + 1e-6))
    assert_allclose(measure("unit_eigenvalue_defect", scaled), 1e-6, rtol=1e-6)


def test_the_smallest_entry_is_found(trajectory):
    found = measure("min_attention", trajectory)
    direct = [min(entry for row in a.tolist() for entry in row) for a in matrices(trajectory)]
    assert found.values.tolist() == direct


def zero_frequency(column: list[float]) -> list[float]:
    """Transform there and back with sums of exponentials, keeping frequency zero alone."""
    n = len(column)
    spectrum = [
        sum(x * cmath.exp(-2j * cmath.pi * k * i / n) for i, x in enumerate(column))
        for k in range(n)
    ]
    return [(spectrum[0] * cmath.exp(0) / n).real for _ in range(n)]


def test_the_defect_of_the_mean_is_that_of_a_slow_transform(trajectory):
    found = measure("dft_mean_defect", trajectory)
    for replicate in range(3):
        mean, exponent = component(trajectory, "dc", replicate, 0)
        high, shift = component(trajectory, "hc", replicate, 0)
        mean = np.ldexp(mean, exponent)
        x = mean + np.ldexp(high, shift)
        slow = [zero_frequency(x[:, feature].tolist()) for feature in range(D_MODEL)]
        assert_allclose(found[replicate], np.abs(np.array(slow).T - mean).max(), atol=2e-15)


def test_a_component_that_is_no_mean_is_noticed(trajectory):
    """What is added to every token of HC belongs to frequency zero."""
    spoilt = trajectory.copy(deep=True)
    spoilt["hc"][2, 0, :, 1] += 2.0**-10
    scale = 2.0 ** spoilt["hc_exponent"].values[2, 0]
    found = measure("dft_mean_defect", spoilt)
    assert_allclose(found[2], 2.0**-10 * scale, rtol=1e-9)
    assert (found[:2] < 1e-14).all()


# Rates and predictions.


def decaying(log10_ratio: np.ndarray) -> xr.Dataset:
    """Give a trajectory whose two ratios are those wanted, replicate by replicate."""
    dims = ("replicate", "layer")
    norms = {
        "log10_hc_norm": (dims, log10_ratio),
        "log10_dc_norm": (dims, np.zeros_like(log10_ratio)),
        "log10_transient_norm": (dims, log10_ratio),
        "log10_stationary_norm": (dims, np.zeros_like(log10_ratio)),
    }
    return xr.Dataset(norms, {"layer": np.arange(log10_ratio.shape[1])})


@pytest.mark.parametrize("name", ["transient_rate", "hc_dc_rate"])
def test_a_geometric_decay_has_its_own_rate(name):
    """At layer 400 the ratio is 1e-2000 or less, beyond any float."""
    rates = np.array([1e-5, 0.2, 0.999, 1.0, 1.5])
    layer = np.arange(401)
    made = decaying(3.0 + np.log10(rates)[:, None] * layer)
    assert_allclose(measure(name, made), rates, rtol=1e-12)


@pytest.mark.parametrize("name", ["transient_rate", "hc_dc_rate"])
def test_a_rate_is_fitted_to_the_later_half_alone(name, rng):
    wild = rng.standard_normal((3, 41))
    made = decaying(np.concatenate([wild[:, :20], -np.arange(20, 41) * 0.5 + wild[:, 20:]], axis=1))
    direct = [
        10 ** np.polyfit(np.arange(20, 41), row[20:], 1)[0] for row in made["log10_hc_norm"].values
    ]
    assert_allclose(measure(name, made), direct, rtol=1e-12)


def test_a_second_mode_decays_at_its_eigenvalue(shared_laboratory):
    """One mode alone: the transient norm falls by exactly |λ₂| each layer."""
    made = shared_laboratory.first(
        "attention", section(weights="symmetric", start="second_mode", depth=30)
    )
    falls = 10 ** np.diff(made["log10_transient_norm"].values, axis=1)
    assert_allclose(falls, measure("slem", made).values[:, None] * np.ones(30), rtol=1e-10)


def test_the_prediction_is_a_line_with_the_slope_of_the_eigenvalue(shared_laboratory):
    made = shared_laboratory.first("attention", section())
    predicted = measure("log10_predicted_ratio", made)
    slopes = np.diff(predicted.values, axis=1)
    second = [sorted(abs(np.linalg.eigvals(a)))[-2] for a in matrices(made)]
    assert_allclose(slopes, np.log10(second)[:, None] * np.ones(DEPTH), rtol=1e-10)
    off = measure("log10_transient_ratio", made) - predicted
    assert_allclose(off.isel(layer=slice(DEPTH // LATER, None)).mean("layer"), 0, atol=1e-12)


def test_the_prediction_of_one_mode_is_the_ratio_itself():
    """With c = 10^2 and a matrix of the right eigenvalue, prediction and ratio coincide."""
    rate = 0.25
    made = decaying(2.0 + np.log10(rate) * np.arange(21)[None])
    made = made.merge(of_matrix([[0.5, 0.5], [0.25, 0.75]])).assign_coords(token=[0, 1])
    assert_allclose(measure("slem", made), rate, rtol=1e-14)
    predicted = measure("log10_predicted_ratio", made)
    assert_allclose(predicted, measure("log10_transient_ratio", made), rtol=1e-13)


@pytest.mark.parametrize("order", [1.0, 1.5, 3.0])
def test_a_decay_of_some_order_has_it(order):
    """A ratio r that becomes c rᵖ in each layer, with p one, between, and three."""
    logs = [-0.5]
    for _ in range(8):
        logs.append(order * logs[-1] - 0.25)
    made = decaying(np.array([logs]))
    assert_allclose(measure("collapse_order", made), [order], rtol=1e-12)


def test_an_order_is_fitted_to_the_later_half_alone(rng):
    wild = rng.standard_normal((3, 4))
    cubic = np.tile(-(3.0 ** np.arange(5)), (3, 1))
    made = decaying(np.concatenate([wild, cubic], axis=1))
    assert_allclose(measure("collapse_order", made), 3, rtol=1e-12)


def test_tokens_that_become_equal_within_a_layer_collapse_at_no_finite_order():
    made = decaying(np.array([[0.0, -1, -2, -3, -4, -np.inf, -np.inf]]))
    assert (measure("collapse_order", made) == np.inf).all()
    assert VARIABLES["collapse_order"].infinite


def test_the_floor_is_handed_on(shared_laboratory):
    made = shared_laboratory.first("attention", section(arithmetic="float32"))
    floor = measure("log10_rounding_floor", made)
    assert_allclose(10**floor, 2.0**-24 / np.sqrt(2 * N_TOKENS), rtol=1e-12)


# Frequencies.


def test_the_gain_of_a_mode_is_the_norm_of_what_it_becomes(trajectory):
    found = measure("input_mode_gain", trajectory)
    token = np.arange(N_TOKENS)
    for replicate, a in enumerate(matrices(trajectory)):
        for k in range(N_TOKENS // 2 + 1):
            mode = np.exp(2j * np.pi * k * token / N_TOKENS) / np.sqrt(N_TOKENS)
            assert_allclose(found[replicate, k], np.linalg.norm(a @ mode), rtol=1e-12)


@pytest.mark.parametrize("beta", [0.5, 4.0, 30.0])
def test_attention_on_a_circle_has_the_gains_of_bessel(beta, shared_laboratory):
    """R11; beside a gain of 1e-38 the rounding of 96 sums of order one is all that is measured."""
    asked = section(score="l2", weights="identity", beta=beta)
    made = shared_laboratory.first(
        "attention", {**asked, "data": {"generator": "ring", "n_tokens": 96}}
    )
    names = ("input_mode_gain", "bessel_gain")
    found, wanted = (measure(name, made).values[0, :25] for name in names)
    exact = [float(besseli(k, beta) / besseli(0, beta)) for k in range(25)]
    assert_allclose(wanted, exact, rtol=1e-13)
    assert_allclose(found, exact, rtol=1e-13, atol=1e-14)


def test_attention_tends_to_the_heat_equation_on_a_circle():
    """Of fixed k the relative distance is k²/4β² and smaller terms."""
    k = np.arange(1, 5)
    betas = np.array([200.0, 800.0])
    made = xr.Dataset({"inverse_temperature": ("replicate", betas)}, {"token": np.arange(16)})
    bessel, heat = (measure(name, made).values[:, k] for name in ("bessel_gain", "gaussian_gain"))
    off = (heat / bessel - 1) * 4 * betas[:, None] ** 2 / k**2
    assert_allclose(off[1], 1, rtol=0.05)
    assert (abs(off[1] - 1) < abs(off[0] - 1) / 3).all()


def ring_heat(method: str, measures: list[str]) -> dict:
    return {
        "data": {"generator": "ring", "n_tokens": 25},
        "diffusion": {"graph": "ring", "diffusion_time": 3.0, "depth": 2, "method": method},
        "spectra": measures,
        "replicates": 1,
    }


def test_heat_on_a_ring_has_its_gains_in_closed_form(shared_laboratory):
    made = shared_laboratory.first("diffusion", ring_heat("eigh", ["slem"]))
    exact = np.exp(-3.0 * (2 - 2 * np.cos(2 * np.pi * np.arange(13) / 25)))
    assert_allclose(measure("ring_heat_gain", made)[0], exact, rtol=1e-13)
    assert_allclose(measure("input_mode_gain", made)[0], exact, rtol=0, atol=1e-14)


def test_a_flow_without_its_matrix_has_no_measures_of_one(shared_laboratory):
    made = shared_laboratory.first("diffusion", ring_heat("chebyshev", ["log10_hc_dc_ratio"]))
    with pytest.raises(Refusal, match=r"no mixing matrix, .*; write 'method: eigh', or leave out"):
        measure("slem", made)


def test_a_generator_is_a_layer_less_the_identity_over_half_a_squared_bandwidth(shared_laboratory):
    asked = {**section(score="l2", weights="identity", beta=9.0), **data_of("layer_generator")}
    made = shared_laboratory.first("attention", asked)
    angle = measure("angle", made).values[0]
    x = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    direct = 18 * (made["attention"].values[0] @ x - x)
    found = measure("layer_generator", made)
    assert_allclose(found[0], direct, rtol=1e-12, atol=1e-13)
    assert_allclose(measure("kernel_width", made), 1 / 3, rtol=1e-15)
    slope = -0.5 * np.sin(angle) / (1 + 0.5 * np.cos(angle))
    for drift, error in zip((2, 1, 0), measure("generator_error", made).values[0], strict=True):
        limit = np.stack(
            [-x[:, 0] - drift * slope * x[:, 1], -x[:, 1] + drift * slope * x[:, 0]], axis=-1
        )
        assert_allclose(measure("limit_generator", made).sel(drift=drift)[0], limit, atol=1e-14)
        assert_allclose(error, np.linalg.norm(direct - limit) / np.linalg.norm(limit), rtol=1e-12)


# The spectrum and what keeps it from real.


def test_the_spectrum_has_the_power_sums_of_the_matrix(trajectory):
    """Newton: Σ λᵏ = tr Aᵏ for k up to n determine all eigenvalues."""
    names = ("eigenvalue_real", "eigenvalue_imag")
    real, imaginary = (measure(name, trajectory).values for name in names)
    for replicate, a in enumerate(matrices(trajectory)):
        value = real[replicate] + 1j * imaginary[replicate]
        for k in range(1, N_TOKENS + 1):
            trace = np.trace(np.linalg.matrix_power(a, k))
            assert_allclose((value**k).sum(), trace, rtol=1e-12, atol=1e-13)
        assert (np.diff(abs(value)) <= 1e-15).all()


def test_modes_are_numbered(trajectory):
    assert measure("eigenvalue_real", trajectory)["mode"].values.tolist() == [*range(N_TOKENS)]


def test_the_gap_is_what_the_second_modulus_leaves_of_one(trajectory):
    gap = measure("spectral_gap", trajectory)
    assert_allclose(gap + measure("slem", trajectory), 1, rtol=1e-15)


def test_symmetric_logits_give_real_eigenvalues_and_others_do_not(shared_laboratory):
    names = ("reversibility_defect", "second_imaginary_share")
    real = shared_laboratory.first("attention", section(weights="symmetric"))
    other = shared_laboratory.first("attention", section())
    for name in names:
        assert (measure(name, real) < 1e-14).all()
        assert (measure(name, other) > 1e-3).any()


def test_the_departure_from_normality_is_what_eigenvalues_leave(trajectory):
    found = measure("henrici_number", trajectory)
    for replicate, a in enumerate(matrices(trajectory)):
        left = (a**2).sum() - (abs(np.linalg.eigvals(a)) ** 2).sum()
        assert_allclose(found[replicate] ** 2, left / (a**2).sum(), rtol=1e-11, atol=1e-15)


# Gains, contraction and mixing.


def test_numbers_of_a_matrix_are_those_of_its_entries(trajectory):
    """Each with sums written out, over all replicates."""
    slow = {
        "column_sum_defect": lambda a: max(abs(math.fsum(column) - 1) for column in a.T),
        "max_column_sum": lambda a: max(math.fsum(column) for column in a.T),
        "column_gain": lambda a: math.sqrt(max(math.fsum(column) for column in a.T)),
        "entropy": lambda a: -sum(x * math.log(x) for x in a.ravel()) / N_TOKENS,
        "hc_gain": lambda a: np.linalg.norm(centre() @ a @ centre(), 2),
        "hc_gain_rms": lambda a: np.linalg.norm(centre() @ a @ centre()) / np.sqrt(N_TOKENS - 1),
        "ca_gain": lambda a: np.linalg.norm(centre() @ a),
        "dobrushin": lambda a: max(abs(p - q).sum() for p in a for q in a) / 2,
        "projective_diameter": lambda a: max(np.ptp(np.log(p / q)) for p in a for q in a),
        "birkhoff": lambda a: np.tanh(max(np.ptp(np.log(p / q)) for p in a for q in a) / 4),
        "attention_effective_rank": lambda a: rank_by_entropy(np.linalg.svd(a)[1]),
    }
    for name, number in slow.items():
        direct = [number(a) for a in matrices(trajectory)]
        assert_allclose(measure(name, trajectory), direct, rtol=1e-12, atol=1e-14, err_msg=name)


def centre() -> np.ndarray:
    return np.eye(N_TOKENS) - 1 / N_TOKENS


def rank_by_entropy(sigma: np.ndarray) -> float:
    share = sigma / sigma.sum()
    return math.exp(-sum(p * math.log(p) for p in share if p > 0))


def test_powers_are_followed_layer_by_layer(trajectory):
    names = ("log10_power_gain", "log10_mixing_distance")
    gain, distance = (measure(name, trajectory) for name in names)
    for replicate, a in enumerate(matrices(trajectory)[:3]):
        for layer in range(5):
            power = np.linalg.matrix_power(a, layer)
            norm = np.linalg.norm(centre() @ power @ centre(), 2)
            far = abs(power - stationary(a)).sum(axis=1).max() / 2
            here = {"layer": layer, "replicate": replicate}
            assert_allclose(gain.isel(here), np.log10(norm), rtol=0, atol=1e-11)
            assert_allclose(distance.isel(here), np.log10(far), rtol=0, atol=1e-11)


def test_the_bounds_on_mixing_are_lines_of_the_second_eigenvalue(trajectory):
    layer = trajectory["layer"].values
    for replicate, a in enumerate(matrices(trajectory)[:3]):
        line = np.log10(sorted(abs(np.linalg.eigvals(a)))[-2]) * layer + np.log10(0.5)
        found = measure("log10_mixing_lower", trajectory)[replicate]
        assert_allclose(found, line, rtol=1e-11)
        above = measure("log10_mixing_upper", trajectory)[replicate] - found
        assert_allclose(above, -np.log10(stationary(a).min()) / 2, rtol=1e-10)


def test_symmetric_attention_mixes_between_its_bounds(shared_laboratory):
    """R10, a thousand layers deep."""
    made = shared_laboratory.first(
        "attention", section(weights="symmetric", depth=1000, record=[0])
    )
    lower, distance, upper = (
        measure(f"log10_mixing_{name}", made) for name in ("lower", "distance", "upper")
    )
    assert (distance < -300).any()
    assert (lower <= distance + 1e-9).all()
    assert (distance <= upper + 1e-9).all()


def test_the_bounds_by_logits_are_those_of_the_largest(shared_laboratory):
    made = shared_laboratory.first("attention", section())
    x = tokens_of(made.sel(recorded_layer=[0])).isel(recorded_layer=0, drop=True).values
    q, k = (x @ made[name].values for name in ("w_q", "w_k"))
    alpha = abs(q @ np.swapaxes(k, -1, -2)).max((1, 2)) / np.sqrt(D_MODEL)
    assert_allclose(measure("tanh_bound", made), np.tanh(alpha), rtol=1e-15)
    wang = N_TOKENS * np.exp(2 * alpha) / (np.exp(2 * alpha) + N_TOKENS - 1)
    assert_allclose(measure("wang_bound", made), np.sqrt(wang), rtol=1e-13)
    assert (measure("birkhoff", made) <= measure("tanh_bound", made)).all()
    assert (measure("hc_gain", made) <= measure("wang_bound", made)).all()


# Differences between tokens.


def rows_of(trajectory: xr.Dataset, replicate: int, layer: int) -> np.ndarray:
    """Put the tokens of a recorded layer together."""
    mean, exponent = component(trajectory, "dc", replicate, layer)
    high, shift = component(trajectory, "hc", replicate, layer)
    return np.ldexp(mean, exponent) + np.ldexp(high, shift)


def test_numbers_of_tokens_are_those_of_their_rows(trajectory):
    """The first layers, where one array still holds what differs."""
    slow = {
        "effective_rank": lambda x, a: rank_by_entropy(np.linalg.svd(x)[1]),
        "hc_effective_rank": lambda x, a: rank_by_entropy(np.linalg.svd(centre() @ x)[1]),
        "stable_rank": lambda x, a: (x**2).sum() / np.linalg.norm(x, 2) ** 2,
        "mean_cosine": lambda x, a: mean_cosine(x),
        "log10_stable_rank_excess": lambda x, a: np.log10(
            (np.linalg.svd(x)[1][1:] ** 2).sum() / np.linalg.norm(x, 2) ** 2
        ),
        "log10_cosine_gap": lambda x, a: np.log10(1 - mean_cosine(x)),
        "log10_edge_energy": lambda x, a: np.log10(pairs(a, x)),
        "log10_dirichlet_energy": lambda x, a: np.log10(pairs(stationary(a)[:, None] * a, x)),
        "log10_composite_norm": lambda x, a: np.log10(composite(x - x.mean(axis=0))),
    }
    if (trajectory["log10_stationary_norm"] == -np.inf).all():
        # One mode alone has no rank to speak of.
        slow = {name: slow[name] for name in slow if "rank" not in name and "cosine" not in name}
    for name, number in slow.items():
        found = measure(name, trajectory)
        for replicate, a in enumerate(matrices(trajectory)[:3]):
            for layer in range(3):
                direct = number(rows_of(trajectory, replicate, layer), a)
                here = {"replicate": replicate, "recorded_layer": layer}
                assert_allclose(found.isel(here), direct, rtol=1e-8, atol=1e-8, err_msg=name)


def mean_cosine(x: np.ndarray) -> float:
    unit = [row / np.linalg.norm(row) for row in x]
    cosines = [p @ q for i, p in enumerate(unit) for j, q in enumerate(unit) if i != j]
    return math.fsum(cosines) / len(cosines)


def pairs(w: np.ndarray, x: np.ndarray) -> float:
    n = range(len(x))
    return math.fsum(w[i, j] * ((x[i] - x[j]) ** 2).sum() for i in n for j in n) / 2


def composite(r: np.ndarray) -> float:
    return math.sqrt(abs(r).sum(axis=0).max() * abs(r).sum(axis=1).max())


@pytest.mark.parametrize(
    ("name", "decades"),
    [
        ("log10_cosine_gap", 2),
        ("log10_stable_rank_excess", 2),
        ("log10_dirichlet_energy", 2),
        ("log10_edge_energy", 2),
        ("log10_composite_norm", 1),
        ("log10_composite_norm_infimum", 1),
    ],
)
def test_what_dies_is_followed_at_the_rate_of_the_second_eigenvalue(
    name, decades, shared_laboratory
):
    """Symmetric logits, 2000 layers deep: 1e-300 and below, by the power that a number has."""
    made = shared_laboratory.first(
        "attention", section(weights="symmetric", depth=2000, record=[1900, 2000])
    )
    fall = measure(name, made).diff("recorded_layer").isel(recorded_layer=-1)
    assert_allclose(fall / 100, decades * np.log10(measure("slem", made)), rtol=1e-9)
    assert (measure(name, made) < -300).any()


def test_the_infimum_is_below_the_norm_of_every_residual(trajectory):
    low = measure("log10_composite_norm_infimum", trajectory)
    assert (low <= measure("log10_composite_norm", trajectory) + 1e-12).all()
    for layer in range(2):
        x = rows_of(trajectory, 0, layer)
        best = min(composite(x - y) for y in (*x, x.mean(axis=0), np.median(x, axis=0)))
        assert low.isel(replicate=0, recorded_layer=layer) <= np.log10(best) + 1e-12


def test_the_bound_of_dong_is_the_theorem_with_our_temperature(shared_laboratory):
    beta = 2.5
    made = shared_laboratory.first("attention", section(beta=beta, depth=3))
    w_v = np.diag([2.0, -1.0, 0.5])
    dims = ("replicate", "feature", "projected")
    valued = made.assign(w_v=(dims, np.stack([w_v] * 10)))
    put_out = valued.assign(w_o=(dims, np.stack([w_v.T @ w_v] * 10)))
    for given, norm in ((made, 1.0), (valued, 2.0), (put_out, 8.0)):
        found = measure("log10_dong_bound", given)
        start = measure("log10_composite_norm_infimum", given).isel(recorded_layer=0)
        for replicate in range(3):
            w_qk = beta * made["w_q"].values[replicate] @ made["w_k"].values[replicate].T
            factor = 4 * abs(w_qk).sum(axis=0).max() * norm / math.sqrt(D_MODEL)
            residual = 10 ** float(start[replicate])
            direct = [factor ** ((3**n - 1) / 2) * residual ** (3**n) for n in range(4)]
            assert_allclose(10 ** found[replicate, :4], direct, rtol=1e-10)


# Waves along the tokens.


def test_amplitudes_are_those_of_a_slow_transform(trajectory):
    found = measure("log10_dft_amplitude", trajectory)
    delta = measure("delta_log_amplitude", trajectory)
    assert found["frequency"].values.tolist() == [*range(N_TOKENS // 2 + 1)]
    first = 1 if (trajectory["log10_stationary_norm"] == -np.inf).all() else 0
    for layer in range(3):
        x = rows_of(trajectory, 1, layer)
        here = {"replicate": 1, "recorded_layer": layer}
        waves = abs(np.array([slow_wave(x, k) for k in range(N_TOKENS // 2 + 1)]))
        rms = np.log10(np.sqrt((waves**2).mean(axis=1)))
        assert_allclose(found.isel(here)[first:], rms[first:], rtol=0, atol=1e-9)
        if not first:
            apart = np.log(waves).mean(axis=1) - np.log(waves[0]).mean()
            assert_allclose(delta.isel(here), apart, rtol=0, atol=1e-8)


def slow_wave(x: np.ndarray, k: int) -> np.ndarray:
    turns = [cmath.exp(-2j * cmath.pi * k * i / len(x)) for i in range(len(x))]
    return sum(turn * row for turn, row in zip(turns, x, strict=True)) / math.sqrt(len(x))


def test_an_empty_frequency_is_infinitely_far_from_one_that_is_not():
    """Tokens ±1 have the Nyquist frequency alone; with a mean, two of three are left."""
    alone = {
        "dc": (("replicate", "recorded_layer", "feature"), [[[0.0]], [[3.0]], [[0.0]]]),
        "hc": (
            ("replicate", "recorded_layer", "token", "feature"),
            np.array([[1.0, -1, 1, -1], [1, -1, 1, -1], [0, 0, 0, 0]])[:, None, :, None],
        ),
    }
    exponents = (("replicate", "recorded_layer"), np.zeros((3, 1), dtype=int))
    made = xr.Dataset({**alone, "dc_exponent": exponents, "hc_exponent": exponents})
    found = measure("delta_log_amplitude", made).isel(recorded_layer=0)
    assert found.values.tolist() == [
        [0, -np.inf, np.inf],
        [0, -np.inf, pytest.approx(-np.log(3), rel=1e-14)],
        [0, -np.inf, -np.inf],
    ]


def test_spectra_of_matrices_are_those_of_the_transformed_matrix(trajectory):
    n = np.arange(N_TOKENS)
    f = np.exp(-2j * np.pi * np.outer(n, n) / N_TOKENS) / np.sqrt(N_TOKENS)
    for replicate, a in enumerate(matrices(trajectory)):
        turned = abs(f @ a @ f.conj().T) ** 2
        gain = np.sqrt(turned.sum(axis=0)[: N_TOKENS // 2 + 1])
        rows = np.sqrt(turned.sum(axis=1)[: N_TOKENS // 2 + 1])
        share = 1 - np.trace(turned) / turned.sum()
        assert_allclose(measure("output_spectrum", trajectory)[replicate], rows, rtol=1e-12)
        assert_allclose(measure("offdiagonal_dft_energy", trajectory)[replicate], share, atol=1e-13)
        ranks = [sum(other < each for other in gain[1:]) for each in gain[1:]]
        assert_allclose(
            measure("gain_rank_correlation", trajectory)[replicate],
            np.corrcoef(ranks, range(len(ranks)))[0, 1],
            rtol=1e-12,
        )


# Pictures.


@pytest.fixture
def melting(shared_laboratory) -> xr.Dataset:
    """Read a picture under attention to patches that are alike."""
    return shared_laboratory.first(
        "attention",
        {
            "data": CAMERA,
            "attention": {"score": "l2", "weights": "identity", "beta": 2, "depth": 3},
            "spectra": ["picture"],
        },
    )


def test_the_first_picture_is_the_photograph(melting):
    levels = np.asarray(Image.open(ROOT / CAMERA["path"]), dtype=float) / 255
    seen = measure("picture", melting)
    assert_allclose(seen.isel(replicate=0, recorded_layer=0), levels, rtol=0, atol=1e-15)


def test_the_next_picture_is_attention_to_the_photograph(melting):
    levels = np.asarray(Image.open(ROOT / CAMERA["path"]), dtype=float) / 255
    tiles = levels.reshape(8, 16, 8, 16).swapaxes(1, 2).reshape(64, 256)
    mixed = (melting["attention"].values[0] @ tiles).reshape(8, 8, 16, 16)
    seen = measure("picture", melting).isel(replicate=0).sel(recorded_layer=1)
    assert_allclose(seen, mixed.swapaxes(1, 2).reshape(128, 128), rtol=0, atol=1e-14)


def test_a_picture_that_only_lost_contrast_is_brought_back(melting):
    """Brightness and contrast are fitted, whatever their sign: nothing else changed."""
    dimmed = melting.copy(deep=True)
    for name in ("hc", "dc"):
        dimmed[name][0, 2] = -0.01 * melting[name][0, 0]
        dimmed[f"{name}_exponent"][0, 2] = melting[f"{name}_exponent"][0, 0]
    seen = measure("fitted_picture", dimmed).isel(replicate=0)
    assert_allclose(seen.isel(recorded_layer=2), seen.isel(recorded_layer=0), rtol=0, atol=1e-12)
    correlation = measure("picture_correlation", dimmed).values[0]
    assert_allclose(correlation[[0, 2]], [1, -1], rtol=1e-12)


def test_a_fitted_picture_is_a_regression_of_the_photograph(melting):
    seen, fit = (measure(n, melting).values[0, 1].ravel() for n in ("picture", "fitted_picture"))
    first = measure("picture", melting).values[0, 0].ravel()
    assert_allclose(fit, np.polyval(np.polyfit(seen, first, 1), seen), rtol=0, atol=1e-12)
    correlation = measure("picture_correlation", melting).values[0, 1]
    assert_allclose(correlation, np.corrcoef(seen, first)[0, 1], rtol=1e-12)


def test_a_picture_of_one_grey_is_like_none(melting):
    plain = melting.copy(deep=True)
    plain["hc"][0, 1] = 0.0
    plain["dc"][0, 1] = 0.3
    assert_allclose(measure("picture_correlation", plain)[0, 1], 0, atol=1e-12)
    fit = measure("fitted_picture", plain)[0, 1]
    assert_allclose(fit, measure("picture", plain)[0, 0].mean(), rtol=1e-12)


# Where tokens end up.


def test_departures_are_distances_from_a_row_of_the_first_layer(trajectory):
    x = tokens_of(trajectory).values
    for name, row in (("mean_departure", x[:, 0].mean(axis=1)), ("first_departure", x[:, 0, 0])):
        off = x - row[:, None, None]
        direct = np.linalg.norm(off, axis=(2, 3)) / np.linalg.norm(x[:, :1], axis=(2, 3))
        assert_allclose(measure(name, trajectory), direct, rtol=1e-12, atol=1e-14)


def test_the_power_of_all_frequencies_is_the_energy_of_the_component(melting):
    """Parseval: ring by ring, weighted by how many frequencies a ring has."""
    power = 10 ** measure("log10_radial_power", melting).values[0]
    *_, count = fourier.radial_spectrum(np.zeros((8, 8)))
    energy = 10 ** (2 * melting["log10_hc_norm"].values[0][melting["recorded_layer"].values])
    assert_allclose(power @ count * 16**2, energy, rtol=1e-12)


def test_power_far_below_the_range_of_floats_is_found(melting):
    far = melting.assign(hc_exponent=melting["hc_exponent"] - 4000)
    shift = measure("log10_radial_power", melting) - measure("log10_radial_power", far)
    assert_allclose(shift.values[np.isfinite(shift)], 8000 * np.log10(2), rtol=1e-12)


def test_the_amplitude_of_plane_waves_is_that_of_the_grid_of_patches(melting):
    """Oracle: the unshifted transform of each pixel of a patch, ring by ring."""
    found = 10 ** measure("log10_dft_amplitude_2d", melting)
    high, shift = component(melting, "hc", 0, 2)
    grid = np.ldexp(np.array(high), shift).reshape(8, 8, -1)
    square = abs(np.fft.fft2(grid, axes=(0, 1))) ** 2 / 64
    f = abs(np.fft.fftfreq(8))
    ring = np.round(8 * np.hypot(f[:, None], f))
    direct = [np.sqrt(square[ring == k].mean()) for k in range(7)]
    assert_allclose(found["wave_frequency"], np.arange(7) / 8)
    assert_allclose(found.isel(replicate=0, recorded_layer=2)[1:], direct[1:], rtol=1e-12)


def test_heat_is_matched_by_itself(shared_laboratory):
    """Its own layers are found again, at their times and with no difference."""
    heat = {"graph": "grid", "diffusion_time": 0.75, "depth": 8, "record": [0, 1, 3, 8]}
    made = shared_laboratory.first(
        "diffusion", {"data": CAMERA, "diffusion": heat, "spectra": ["slem"]}
    )
    assert_allclose(
        measure("matched_heat_time", made)[0], 0.75 * np.array([0, 1, 3, 8]), rtol=1e-10
    )
    assert measure("matched_difference", made).max() < 1e-11
    assert abs(measure("matched_difference_picture", made)).max() < 1e-11
    assert_allclose(
        measure("matched_heat_picture", made), measure("picture", made), rtol=0, atol=1e-11
    )


def test_attention_is_matched_by_heat_of_the_same_norm(melting):
    """And the difference of the two pictures is that of the means beside the stored one."""
    seen, heat, off = (
        measure(name, melting).isel(replicate=0)
        for name in ("picture", "matched_heat_picture", "matched_difference_picture")
    )
    tokens = tokens_of(melting).isel(replicate=0)
    start = tokens.sel(recorded_layer=0)
    mean = np.tile(start.mean("token").values.reshape(16, 16), (8, 8))
    for layer in melting["recorded_layer"].values:
        now = tokens.sel(recorded_layer=layer)
        left = (now - now.mean("token")).values
        cooled = heat.sel(recorded_layer=layer).values - mean
        assert_allclose(np.linalg.norm(cooled), np.linalg.norm(left), rtol=1e-9)
        own_mean = np.tile(now.mean("token").values.reshape(16, 16), (8, 8))
        direct = seen.sel(recorded_layer=layer).values - own_mean - cooled
        assert_allclose(off.sel(recorded_layer=layer), direct, rtol=0, atol=1e-12)
        distance = measure("matched_difference", melting).sel(recorded_layer=layer)
        assert_allclose(distance[0], np.linalg.norm(direct) / np.linalg.norm(left), atol=1e-9)


def test_a_picture_of_one_patch_everywhere_is_matched_by_nothing(melting):
    plain = melting.copy(deep=True)
    plain["hc"][:, 1] = 0.0
    assert measure("matched_heat_time", plain)[0, 1] == np.inf
    assert measure("matched_difference", plain)[0, 1] == 0
    assert (measure("matched_difference_picture", plain)[0, 1] == 0).all()


def test_tokens_that_are_no_patches_have_no_picture(shared_laboratory):
    made = shared_laboratory.first("attention", section())
    with pytest.raises(Refusal, match=r"no patches of a picture, .*data\.generator is 'image'\."):
        measure("picture", made)


# Growth.


def test_growth_is_the_norm_of_recorded_tensors_against_layer_0(trajectory):
    found = measure("log10_hc_growth", trajectory)
    for replicate in range(3):
        start = log10_norm(*component(trajectory, "hc", replicate, 0))
        for layer in trajectory["recorded_layer"].values:
            direct = log10_norm(*component(trajectory, "hc", replicate, layer)) - start
            one = found.sel(layer=layer).isel(replicate=replicate)
            assert_allclose(one, direct, rtol=0, atol=1e-12)


def test_oscillations_are_differences_of_the_largest_and_the_smallest_token(trajectory):
    found = measure("log10_oscillation_growth", trajectory)
    for replicate in range(3):
        first = oscillations(trajectory, replicate, 0)
        for layer in range(trajectory.sizes["recorded_layer"]):
            later = oscillations(trajectory, replicate, layer)
            direct = max(b - a for a, b in zip(first, later, strict=True))
            one = found.isel(recorded_layer=layer, replicate=replicate)
            assert_allclose(one, direct, rtol=0, atol=1e-12)


def oscillations(trajectory: xr.Dataset, replicate: int, layer: int) -> list[float]:
    """Take log10 of max z - min z of every feature, the exponent aside."""
    rows, exponent = component(trajectory, "hc", replicate, layer)
    columns = list(zip(*rows, strict=True))
    return [math.log10(max(z) - min(z)) + exponent * math.log10(2) for z in columns]


def test_the_gains_of_the_first_layer_are_those_of_the_matrix_on_its_tokens(shared_laboratory):
    made = shared_laboratory.first("attention", section(beta=3.0))
    x = tokens_of(made).sel(recorded_layer=0).values
    mixed = made["attention"].values @ x
    high, start = (np.linalg.norm(z - z.mean(1, keepdims=True), axis=(1, 2)) for z in (mixed, x))
    assert_allclose(measure("hc_layer_gain", made), high / start, rtol=1e-12)
    largest = (np.ptp(mixed, axis=1) / np.ptp(x, axis=1)).max(-1)
    assert_allclose(measure("oscillation_gain", made), largest, rtol=1e-12)


def test_the_gain_of_oscillations_needs_the_tokens_of_both_layers(shared_laboratory):
    made = shared_laboratory.first("attention", section(record=[0, 4]))
    with pytest.raises(Refusal, match=r"layers \[0, 4\] are recorded; write 'record: geometric'"):
        measure("oscillation_gain", made)


@pytest.mark.parametrize("layers", ["frozen", "waning"])
def test_the_bound_on_oscillations_is_a_product_of_coefficients(layers, shared_laboratory):
    """Of (1 - s)I + sA, entry by entry."""
    made = shared_laboratory.first("attention", section(layers=layers, beta=3.0))
    found = measure("log10_oscillation_bound", made)
    for replicate, a in enumerate(matrices(made)[:2]):
        product = 0.0
        for layer in range(1, 6):
            s = 1.0 if layers == "frozen" else 2.0 ** -(layer + 1)
            rows = ((1 - s) * np.eye(N_TOKENS) + s * a).tolist()
            apart = [sum(abs(p - q) for p, q in zip(r, o, strict=True)) for r in rows for o in rows]
            product += math.log10(max(apart) / 2)
            assert_allclose(found.isel(replicate=replicate).sel(layer=layer), product, rtol=1e-12)
        assert (found.sel(layer=0) == 0).all()
    grown = measure("log10_oscillation_growth", made)
    assert (grown.values <= found.values + 1e-12).all()


def test_values_have_the_norm_and_the_radius_of_their_projections(shared_laboratory):
    made = shared_laboratory.first("attention", section(values="random", output="random"))
    for replicate in range(3):
        product = made["w_v"].values[replicate] @ made["w_o"].values[replicate]
        norm = math.sqrt(max(np.linalg.eigvalsh(product.T @ product)))
        assert_allclose(measure("value_norm", made)[replicate], norm, rtol=1e-12)
        power = np.linalg.matrix_power(product, 2**9)
        gelfand = np.linalg.norm(power) ** (1 / 2**9)
        assert_allclose(measure("value_radius", made)[replicate], gelfand, rtol=2e-2)


def test_the_rate_of_hc_is_its_slope_in_decades(shared_laboratory):
    made = shared_laboratory.first("attention", section(values="identity", value_scale=2.0))
    norm = made["log10_hc_norm"]
    layer = norm["layer"].values
    later = layer >= len(layer) // LATER
    slope = np.polyfit(layer[later], norm.values[:, later].T, 1)[0]
    assert_allclose(measure("hc_rate", made), 10**slope, rtol=1e-10)


# Steps and the flows that they are steps of.

STEPS = {"skip": 1.0, "step": 0.25, "values": "random", "depth": 4}


@pytest.mark.parametrize("layers", ["frozen", "recomputed"])
def test_steps_are_compared_with_the_solution_of_their_equation(layers, shared_laboratory):
    """By a step of order four, taken a hundred times for each layer."""
    asked = section(**STEPS, layers=layers, remedy="laplacian", strength=0.5)
    made = shared_laboratory.first("attention", asked)
    found, note = (measure(name, made) for name in ("flow_error", "note_flow_error"))
    assert (found.isel(recorded_layer=0) == 0).all()
    x = tokens_of(made).values
    for replicate in range(2):
        one = made.isel(replicate=replicate)
        for errors, strength in ((found, 0.5), (note, 1.0)):
            rate = flow_of(one, layers, strength)
            y = x[replicate, 0]
            for layer in range(1, 5):
                for _ in range(100):
                    y = fourth_order(rate, y, 0.0025)
                off = np.linalg.norm(x[replicate, layer] - y) / np.linalg.norm(y)
                here = errors.isel(replicate=replicate).sel(recorded_layer=layer)
                assert_allclose(here, off, rtol=1e-8)


def flow_of(one: xr.Dataset, layers: str, strength: float):
    def rate(x: np.ndarray) -> np.ndarray:
        a = one["attention"].values
        if layers == "recomputed":
            weight = np.exp(
                (x @ one["w_q"].values) @ (x @ one["w_k"].values).T / math.sqrt(D_MODEL)
            )
            a = weight / weight.sum(axis=1, keepdims=True)
        return (a @ x - strength * x) @ one["w_v"].values

    return rate


def fourth_order(rate, x: np.ndarray, h: float) -> np.ndarray:
    one = rate(x)
    two = rate(x + h / 2 * one)
    three = rate(x + h / 2 * two)
    return x + h / 6 * (one + 2 * two + 2 * three + rate(x + h * three))


@pytest.mark.parametrize("layers", ["frozen", "recomputed"])
@pytest.mark.parametrize("score", ["dot", "l2"])
def test_a_solved_flow_is_its_own_solution(score, layers, shared_laboratory):
    """The stage and the measure share neither the matrix nor its logits."""
    limit = {"integrator": "dop853", "arithmetic": "float64", "layers": layers, "score": score}
    made = shared_laboratory.first("attention", section(**STEPS, **limit))
    assert measure("flow_error", made).max() < 1e-10
    assert measure("note_flow_error", made).isel(recorded_layer=1).min() > 0.02


def test_the_difference_quotient_of_a_step_is_its_right_hand_side(shared_laboratory):
    made = shared_laboratory.first("attention", section(**STEPS))
    assert measure("quotient_error", made).max() < 1e-13
    a, w_v = made["attention"].values, made["w_v"].values
    x = tokens_of(made).isel(recorded_layer=0).values
    note = (a @ x - x) @ w_v
    missing = np.linalg.norm(x @ w_v, axis=(1, 2)) / np.linalg.norm(note, axis=(1, 2))
    assert_allclose(measure("note_quotient_error", made), missing, rtol=1e-10)


def test_a_difference_quotient_needs_both_of_its_layers(shared_laboratory):
    made = shared_laboratory.first("attention", section(**{**STEPS, "record": [2]}))
    with pytest.raises(Refusal, match=r"^the difference quotient needs .* layers \[0, 2\] are re"):
        measure("quotient_error", made)


def test_runs_that_share_a_replicate_have_equations_of_their_own(shared_laboratory):
    """What is solved once for runs that differ in their sublayers is not taken for others."""
    asked = section(**{**STEPS, "sublayers": [1, 2], "weights": ["tied", "untied"], "depth": 2})
    inside = ["sublayers", "weights"]
    both = shared_laboratory.first("attention", {**asked, "inside": inside})
    for weights in ("tied", "untied"):
        one = section(**{**STEPS, "sublayers": 2, "weights": weights, "depth": 2})
        alone = measure("flow_error", shared_laboratory.first("attention", one))
        found = measure("flow_error", both).sel(sublayers=2, weights=weights)
        assert_allclose(found, alone, rtol=1e-12, atol=1e-14)


def test_a_circle_of_tokens_falls_short_of_two_equations(shared_laboratory):
    """Its gain in a layer is I₁/I₀, that of the heat equation e^(-τ), τ = 1/2β."""
    beta, turns = 4.0, 24
    asked = section(score="l2", weights="identity", beta=beta, depth=2)
    asked["data"] = {"generator": "ring", "n_tokens": turns}
    made = shared_laboratory.first("attention", asked)
    gain = float(besseli(1, beta) / besseli(0, beta))
    for layer in (1, 2):
        heat, circle = (
            measure(name, made).sel(recorded_layer=layer)
            for name in ("heat_equation_error", "curve_shortening_error")
        )
        tau = layer / (2 * beta)
        assert_allclose(measure("matched_time", made).sel(recorded_layer=layer), tau, rtol=1e-15)
        assert_allclose(heat, abs(gain**layer / math.exp(-tau) - 1), rtol=1e-9)
        assert_allclose(circle, abs(gain**layer / math.sqrt(1 - 2 * tau) - 1), rtol=1e-9)


def test_what_has_shrunk_to_nothing_is_infinitely_far(shared_laboratory):
    asked = section(score="l2", weights="identity", beta=1.0, depth=1)
    asked["data"] = {"generator": "ring", "n_tokens": 12}
    made = shared_laboratory.first("attention", asked)
    assert (measure("curve_shortening_error", made).isel(recorded_layer=1) > 1e10).all()
    flat = made.assign(inverse_temperature=0 * made["inverse_temperature"])
    assert (measure("heat_equation_error", flat).isel(recorded_layer=1) > 1e10).all()
    assert (measure("heat_equation_error", flat).isel(recorded_layer=0) < 1e-14).all()
    assert (measure("matched_time", flat) == [0, np.inf]).all()


# What note 1 makes of logits.


def test_logits_are_made_again_from_the_tokens_of_layer_0(shared_laboratory):
    """Softmax of them is the attention that is stored, swept inside a job or not."""
    made = shared_laboratory.first("attention", section(beta=[0.5, 2.0]) | {"inside": ["beta"]})
    assert_allclose(softmax(logits_of(made)), made["attention"], rtol=1e-12)
    late = made.drop_sel(recorded_layer=0)
    with pytest.raises(Refusal, match=r"tokens are not recorded; write 'record: geometric'"):
        measure("lowest_share", late)


def test_logits_that_are_stated_are_handed_on(shared_laboratory):
    asked = section(beta=3.0)
    asked["data"]["generator"] = "row_shifts"
    made = shared_laboratory.first("attention", asked)
    shifts = shared_laboratory.first("data", asked)["logits"]
    assert_allclose(logits_of(made), 3 * shifts, rtol=1e-15)
    assert (measure("uniform_distance", made) == 0).all()
    assert (measure("symmetrised_error", made) == np.inf).all()
    for replicate, s in enumerate(shifts.values):
        popular = np.exp(1.5 * s[:, 0]) / np.exp(1.5 * s[:, 0]).sum()
        direct = math.sqrt(N_TOKENS * sum((popular - 1 / N_TOKENS) ** 2))
        assert_allclose(measure("symmetrised_distance", made)[replicate], direct, rtol=1e-12)


def test_distances_are_in_units_of_that_from_uniform(trajectory):
    units = measure("uniform_distance", trajectory)
    for replicate, a in enumerate(matrices(trajectory)):
        assert_allclose(units[replicate], np.linalg.norm(a - 1 / N_TOKENS), rtol=1e-13)
        own = measure("identity_error", trajectory)[replicate] * units[replicate]
        assert_allclose(own, np.linalg.norm(a - np.eye(N_TOKENS)), rtol=1e-12)


def test_the_heat_kernel_of_the_best_time_is_as_far_as_is_said(shared_laboratory):
    made = shared_laboratory.first("attention", section())
    for replicate, s in enumerate(logits_of(made)):
        even = (s + s.T) / 2
        laplacian = np.diag(even.sum(axis=1)) - even
        radius = max(abs(np.linalg.eigvalsh(laplacian)))
        time = float(measure("heat_best_time", made)[replicate]) / radius
        a = made["attention"].values[replicate]
        direct = np.linalg.norm(a - expm(-time * laplacian)) / np.linalg.norm(a - 1 / N_TOKENS)
        assert_allclose(measure("heat_error", made)[replicate], direct, rtol=1e-10)
        far = np.log10(np.linalg.norm(a - expm(-laplacian)) / np.sqrt(N_TOKENS - 1))
        assert_allclose(measure("log10_heat_distance", made)[replicate], far, rtol=1e-9)
        lowest = min(np.linalg.eigvalsh(laplacian)) / radius
        assert_allclose(measure("lowest_share", made)[replicate], lowest, rtol=1e-12)
        share = np.mean(even.sum(axis=1) < 0)
        assert measure("negative_degree_share", made)[replicate] == share
    assert_allclose(
        measure("gauge_error", made).sel(gauge=0), measure("heat_error", made), rtol=1e-9
    )


# One residual layer.


@pytest.fixture(scope="module")
def residual(shared_laboratory) -> xr.Dataset:
    changes = {"weights": "symmetric", "values": "random", "skip": 1.0, "record": [0, 1]}
    return shared_laboratory.first("attention", section(**changes))


def complex_measure(name: str, trajectory: xr.Dataset) -> np.ndarray:
    return measure(f"{name}_real", trajectory).values + 1j * measure(f"{name}_imag", trajectory)


def test_measured_gains_are_those_of_the_operator_and_not_of_the_note(residual):
    found, operator, written = (
        complex_measure(f"{name}_gain", residual).values
        for name in ("layer", "operator", "written")
    )
    assert found.shape == (10, N_TOKENS, D_MODEL)
    assert_allclose(found, operator, rtol=1e-9, atol=1e-9)
    assert abs(found - written).max(axis=(1, 2)).min() > 0.1
    assert measure("operator_defect", residual).max() < 1e-14
    assert measure("written_defect", residual).min() > 1e-2


def test_predicted_gains_are_sums_over_the_eigenvalues_of_two_matrices(residual):
    """Σ (1 + λμ) = nd + tr A tr W, and Σ (1 + λ)μ = (n + tr A) tr W."""
    a, w = (residual[name].values.trace(axis1=1, axis2=2) for name in ("attention", "w_v"))
    sums = [
        complex_measure(f"{n}_gain", residual).sum(axis=(1, 2)) for n in ("operator", "written")
    ]
    assert_allclose(sums[0], N_TOKENS * D_MODEL + a * w, rtol=1e-12)
    assert_allclose(sums[1], (N_TOKENS + a) * w, atol=1e-12)


def test_the_gain_of_a_layer_needs_the_tokens_of_two(shared_laboratory):
    made = shared_laboratory.first("attention", section(record=[0, 2]))
    with pytest.raises(Refusal, match=r"layers 0 and 1, and layers \[0, 2\] .* 'record: \[0, 1\]'"):
        measure("operator_defect", made)


def test_a_source_belongs_to_the_first_layer(shared_laboratory):
    made = shared_laboratory.first(
        "attention", section(remedy="neutreno", strength=0.5, values="graded", record=[0, 1])
    )
    assert measure("operator_defect", made).max() < 1e-14


def test_the_least_real_part_is_the_field_of_values_of_a_normal_map(shared_laboratory):
    """For W W* = W* W it is the least eigenvalue of (W + Wᵀ)/2."""
    for values, scale in [("rotation", 1.0), ("turning", -2.0), ("graded", 1.0)]:
        made = shared_laboratory.first("attention", section(values=values, value_scale=scale))
        w = made["w_v"].values
        least = np.linalg.eigvalsh((w + w.transpose(0, 2, 1)) / 2)[:, 0]
        assert_allclose(measure("least_real_value", made), least, rtol=1e-12)


def test_the_sharpening_edge_is_where_the_predicted_rate_is_one(shared_laboratory):
    edge = measure("sharpening_edge", shared_laboratory.first("attention", section()))
    for place in range(3):
        scale = float(edge[place])
        made = shared_laboratory.first("attention", section(skip=1.0, value_scale=scale))
        assert_allclose(measure("predicted_rate", made)[place], 1, rtol=1e-12)


def test_where_depth_suffices_the_tapered_rate_is_the_predicted_one(shared_laboratory):
    changes = {"weights": "symmetric", "values": "random", "skip": 1.0, "depth": 300}
    made = shared_laboratory.first("attention", section(**changes, record=[0]))
    error = measure("predicted_rate_error", made)
    off = abs(measure("tapered_rate", made) / measure("predicted_rate", made) - 1)
    assert 0 < (error < 1e-8).sum() < made.sizes["replicate"]
    assert (off < 10 * error + 1e-13).all()


# Ranges.

N_BELOW = N_TOKENS * (1 + 1e-14)
LOG_N = np.log10(N_TOKENS)
ANY = (-np.inf, np.inf)
RANGES = {
    "heat_reach": (0, np.inf),
    "log10_taylor_error": (-np.inf, np.inf),
    "log10_taylor_lead": (-np.inf, np.inf),
    "mode_gain": (0, np.inf),
    "stable": (0, 1),
    "wave_gain": (-np.inf, np.inf),
    "ring_step_gain": (-np.inf, 1),
    "slem": (0, 1 + 1e-14),
    "spectral_gap": (-1e-14, 1),
    "gaussian_slem": (0, np.inf),
    "slem_over_gaussian": (0, np.inf),
    "independent_slem": (0, np.inf),
    "slem_over_independent": (0, np.inf),
    "millionth_depth": (0, np.inf),
    "eigenvalue_real": (-1 - 1e-14, 1 + 1e-14),
    "eigenvalue_imag": (-1 - 1e-14, 1 + 1e-14),
    "second_imaginary_share": (0, 1),
    "henrici_number": (0, 1),
    "reversibility_defect": (0, 1),
    "row_sum_defect": (0, 1e-14),
    "column_sum_defect": (0, N_TOKENS - 1),
    "max_column_sum": (1 - 1e-14, N_BELOW),
    "unit_eigenvalue_defect": (0, 1e-14),
    "dft_mean_defect": (0, 1e-14),
    "min_attention": (0, 1 / N_TOKENS),
    "entropy": (0, np.log(N_TOKENS) * (1 + 1e-14)),
    "attention_effective_rank": (1, N_BELOW),
    "hc_gain": (0, np.sqrt(N_TOKENS)),
    "hc_gain_rms": (0, np.sqrt(N_TOKENS)),
    "hc_layer_gain": (0, np.sqrt(N_TOKENS)),
    "oscillation_gain": (0, 1),
    "log10_oscillation_bound": (-np.inf, 0),
    "hc_rate": (0, 1),
    "uniform_distance": (0, np.sqrt(N_TOKENS - 1)),
    "symmetrised_distance": (0, np.sqrt(2 * N_TOKENS)),
    "symmetrised_error": (0, np.inf),
    "spectral_exponential_defect": (0, 1e-9),
    "elementwise_gap": (0, np.inf),
    "spectral_kernel_gap": (0, np.inf),
    "other_modes_energy": (0, 1),
    "own_modes_defect": (0, 1e-13),
    "signed_eigenvalue": (-1 - 1e-14, 1 + 1e-14),
    "lowest_share": (-1 - 1e-14, 1e-14),
    "negative_degree_share": (0, 1),
    "heat_row_defect": (0, 1e-13),
    "normalised_row_defect": (0, np.inf),
    "heat_min_entry": (-np.inf, 1 / N_TOKENS),
    "shifted_lowest": (-1e-14, 1 + 1e-14),
    "shifted_min_entry": (-1e-15, 1 / N_TOKENS),
    "heat_error": (0, np.inf),
    "heat_best_time": (0, np.inf),
    "log10_heat_distance": ANY,
    "identity_error": (0, np.inf),
    "column_bound": (0, 1),
    "symmetric_floor": (0, 1),
    "heat_floor": (0, 1),
    "gauge_error": (0, np.inf),
    "best_gauge_error": (0, 1),
    "walk_defect": (0, 1),
    "walk_balance_defect": (0, 1),
    "walk_spectrum_defect": (0, 2),
    "walk_energy_defect": (0, 2),
    "walk_eigenvalue": (0, 2),
    "value_norm": (1, 1),
    "value_radius": (1, 1),
    "log10_hc_growth": (-np.inf, LOG_N / 2),
    "log10_oscillation_growth": (-np.inf, 0),
    "ca_gain": (0, np.sqrt(N_TOKENS)),
    "column_gain": (1 - 1e-14, np.sqrt(N_TOKENS)),
    "dobrushin": (0, 1),
    "projective_diameter": (0, np.inf),
    "birkhoff": (0, 1),
    "tanh_bound": (0, 1),
    "wang_bound": (1, np.sqrt(N_TOKENS)),
    "log10_power_gain": (-np.inf, LOG_N / 2),
    "stationary": (0, 1),
    "stationary_min": (0, (1 + 1e-14) / N_TOKENS),
    "log10_mixing_distance": (-np.inf, 0),
    "log10_mixing_lower": (-np.inf, np.log10(0.5)),
    "log10_mixing_upper": ANY,
    "transient_rate": (0, 1),
    "transient_growth": (0, 1),
    "tapered_rate": (0, 1),
    "tapered_growth": (0, 1),
    "predicted_rate_error": (0, 2),
    "sharpening_edge": (-np.inf, -1),
    "least_real_value": (1, 1),
    "layer_gain_real": (-1 - 1e-9, 1 + 1e-9),
    "layer_gain_imag": (-1 - 1e-9, 1 + 1e-9),
    "operator_gain_real": (-1 - 1e-14, 1 + 1e-14),
    "operator_gain_imag": (-1 - 1e-14, 1 + 1e-14),
    "written_gain_real": (-1 - 1e-14, 1 + 1e-14),
    "written_gain_imag": (-1 - 1e-14, 1 + 1e-14),
    "operator_defect": (0, 1e-14),
    "written_defect": (0, 1e-14),
    "predicted_growth": (0, 1 + 1e-14),
    "predicted_rate": (0, 1 + 1e-14),
    "predicted_stability": (1, 2),
    "second_gain_share": (0, 1),
    "log10_mode_ratio": ANY,
    "log10_fixed_point_distance": ANY,
    "flow_error": (0, 1),
    "note_flow_error": (0, np.inf),
    "quotient_error": (0, 1e-12),
    "note_quotient_error": (0, np.inf),
    "matched_time": (0, np.inf),
    "heat_equation_error": (0, np.inf),
    "curve_shortening_error": (0, np.inf),
    "attention_spread": (0, 0),
    "power_error": (0, 14 + 1e-13),
    "hc_dc_rate": (0, 1),
    "collapse_order": (-np.inf, np.inf),
    "log10_rounding_floor": (-np.inf, 0),
    "log10_hc_dc_ratio": ANY,
    "log10_transient_ratio": ANY,
    "log10_hc_norm": ANY,
    "log10_dc_norm": ANY,
    "log10_predicted_ratio": ANY,
    "effective_rank": (1, D_MODEL),
    "hc_effective_rank": (1, D_MODEL),
    "stable_rank": (1, D_MODEL),
    "log10_stable_rank_excess": (-np.inf, np.log10(D_MODEL - 1)),
    "mean_cosine": (-1 / (N_TOKENS - 1), 1),
    "log10_cosine_gap": (-np.inf, np.log10(N_TOKENS / (N_TOKENS - 1))),
    "log10_dirichlet_energy": ANY,
    "log10_edge_energy": ANY,
    "log10_composite_norm": ANY,
    "log10_composite_norm_infimum": ANY,
    "log10_dong_bound": ANY,
    "log10_dft_amplitude": ANY,
    "delta_log_amplitude": ANY,
    "input_mode_gain": (0, np.inf),
    "output_spectrum": (0, np.inf),
    "gain_rank_correlation": (-1, 1),
    "offdiagonal_dft_energy": (0, 1),
    "bessel_gain": (0, 1),
    "gaussian_gain": (0, 1),
    "ring_heat_gain": (0, 1),
    "picture": (0, 1),
    "fitted_picture": (-0.5, 1.5),
    "picture_correlation": (-1 - 1e-14, 1 + 1e-14),
    "matched_heat_time": (0, np.inf),
    "matched_difference": (0, 2 + 1e-12),
    "matched_heat_picture": (0, 1),
    "matched_difference_picture": (-1, 1),
    "mean_departure": (0, np.inf),
    "first_departure": (0, np.inf),
    "layer_generator": ANY,
    "limit_generator": (-4, 4),
    "generator_error": (0, np.inf),
    "angle": (-np.pi, np.pi),
    "kernel_width": (0, np.inf),
    "log10_radial_power": ANY,
    "log10_dft_amplitude_2d": ANY,
}
UNORDERED = [name for name in MEASURES if not MEASURES.facts(name).get("ordered")]


def source_of(name: str) -> dict:
    """Give what a measure needs: a remedy that returns to layer 0, or steps of a flow."""
    of = MEASURES.facts(name).get("of") or ()
    if "flow" in of:
        return {"skip": 1.0, "step": 0.05}
    return {"remedy": "neutreno", "strength": 0.5} if "source" in of else {}


def data_of(name: str) -> dict:
    """Give the data of a measure that is of tokens with a known density."""
    dense = "density" in (MEASURES.facts(name).get("of") or ())
    ring = {"generator": "dense_ring", "n_tokens": N_TOKENS}
    return {"data": ring, "replicates": None} if dense else {}


def is_of_heat(name: str) -> bool:
    """Tell whether a measure is of diffusion alone."""
    return "diffusion" in (MEASURES.facts(name).get("of") or ())


def suiting(name: str, laboratory, **changes) -> xr.Dataset:
    """Make a trajectory of attention, or of what a measure needs."""
    asked = {**section(**changes, **source_of(name)), **data_of(name)}
    if is_of_heat(name):
        flow = {"graph": "ring", "diffusion_time": changes["beta"], "depth": changes["depth"]}
        asked = {**asked, "attention": None, "diffusion": flow}
        return laboratory.first("diffusion", asked)
    if MEASURES.facts(name).get("of") == "picture":
        asked = {**asked, "data": CAMERA, "replicates": None}
    return laboratory.first("attention", asked)


def test_every_measure_has_a_range():
    assert {*RANGES} == {*MEASURES}


@pytest.mark.parametrize("beta", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("name", RANGES)
def test_a_measure_stays_in_its_range(name, beta, shared_laboratory):
    made = suiting(name, shared_laboratory, beta=beta, depth=60, record="geometric")
    low, high = RANGES[name]
    found = measure(name, made)
    assert ((found >= low) & (found <= high)).all()


@pytest.mark.parametrize("name", UNORDERED)
def test_renaming_tokens_changes_no_measure(name, shared_laboratory, rng):
    """What has a value for each token is renamed with them."""
    made = suiting(name, shared_laboratory, beta=1.0, depth=DEPTH, record="all")
    order = rng.permutation(N_TOKENS)
    renamed = made.isel(query=order, key=order, token=order)
    expected = measure(name, made).isel(token=order, missing_dims="ignore")
    # Of a long sum only rounding is left, which follows the order.
    found, expected = (
        each.sel(taylor_power=slice(8)) if "taylor_power" in each.dims else each
        for each in (measure(name, renamed), expected)
    )
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "name", [n for n in MEASURES if MEASURES.facts(n).get("of") in (None, "matrix")]
)
def test_what_knows_the_order_says_so(name, shared_laboratory, rng):
    """The converse: what is marked changes when tokens are renamed, but for frequency zero."""
    if name not in UNORDERED:
        made = shared_laboratory.first("attention", section())
        order = np.roll(rng.permutation(N_TOKENS), 1)
        renamed = made.isel(query=order, key=order, token=order)
        assert abs(measure(name, renamed) - measure(name, made)).max() > 1e-3


@pytest.mark.parametrize("name", MEASURES)
def test_the_measure_of_one_replicate_is_that_beside_others(name, shared_laboratory):
    made = suiting(name, shared_laboratory, beta=1.0, depth=4)
    last = made.isel(replicate=[-1])
    together = measure(name, made).isel(replicate=[-1])
    assert_allclose(measure(name, last), together, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_measures_within_one_job_are_those_of_two(name, shared_laboratory):
    """An axis inside comes first, and changes no number."""
    # The one measure that compares the runs of a job has a test of its own.
    facts = MEASURES.facts(name)
    if is_of_heat(name) or facts.get("of") == "picture" or facts.get("across"):
        return
    alone = [
        {**section(beta=beta, depth=4, **source_of(name)), **data_of(name)} for beta in (0.5, 2.0)
    ]
    apart = [shared_laboratory.first("attention", asked) for asked in alone]
    inside = {**section(beta=[0.5, 2.0], depth=4, **source_of(name)), **data_of(name)}
    both = shared_laboratory.first("attention", {**inside, "inside": ["beta"]})
    found = measure(name, both)
    assert found.dims[0] == "beta"
    for place, each in enumerate(apart):
        one = measure(name, each)
        assert found.dims[1:] == one.dims
        assert_allclose(found.isel(beta=place), one, rtol=1e-12, atol=1e-14)


# Layers of heat.


def heat_of(laboratory, *measures, **changes):
    """Let heat flow as a section says, and measure it."""
    flow = {"graph": "ring", "diffusion_time": 0.3, "depth": 2, **changes}
    asked = {"data": {"generator": "gaussian", "n_tokens": 6, "d_model": 4}, "replicates": 2}
    return laboratory.run({**asked, "diffusion": flow, "spectra": [*measures]})


@pytest.mark.parametrize("graph", ["affinity", "logits"])
def test_errors_of_taylor_polynomials_are_those_of_matrices(graph, shared_laboratory):
    flow = {"graph": graph, "beta": 0.5, "laplacian": "signed"}
    asked = ("log10_taylor_error", "log10_taylor_lead", "heat_reach")
    made = heat_of(shared_laboratory, *asked, **flow)
    section = {"data": {"generator": "gaussian", "n_tokens": 6, "d_model": 4}, "replicates": 2}
    section |= {"diffusion": {"diffusion_time": 0.3, "depth": 2, **flow}, "spectra": [*asked]}
    laplacian = shared_laboratory.first("diffusion", section)["laplacian_matrix"].values
    for replicate in range(2):
        z = -0.3 * laplacian[replicate]
        series = np.eye(6)
        for power in (1, 2):
            series = series + np.linalg.matrix_power(z, power) / math.factorial(power)
            direct = np.log10(np.linalg.norm(expm(z) - series, 2))
            one = made.isel(replicate=replicate).sel(taylor_power=power)
            assert_allclose(one["log10_taylor_error"], direct, atol=1e-9)
            lead = np.linalg.norm(z, 2) ** (power + 1) / math.factorial(power + 1)
            assert_allclose(one["log10_taylor_lead"], np.log10(lead), atol=1e-12)
            assert_allclose(one["heat_reach"], np.linalg.norm(z, 2), rtol=1e-12)


def test_no_time_leaves_a_polynomial_exact(shared_laboratory):
    made = heat_of(shared_laboratory, "log10_taylor_lead", diffusion_time=0.0)
    assert (made["log10_taylor_lead"] == -np.inf).all()


@pytest.mark.parametrize(("method", "time"), [("euler", 0.4), ("eigh", 0.4), ("euler", 0.1)])
def test_the_gain_of_a_wave_is_that_of_its_eigenvalue(method, time, shared_laboratory):
    """Its sign included: one step may turn the fastest waves over."""
    predicted = "ring_step_gain" if method == "euler" else "ring_heat_gain"
    made = heat_of(shared_laboratory, "wave_gain", predicted, method=method, diffusion_time=time)
    assert_allclose(made["wave_gain"], made[predicted], atol=1e-13)
    assert (made["wave_gain"].isel(frequency=-1) < 0).all() == (method == "euler" and time > 0.25)


def test_a_wave_has_no_gain_where_no_layer_is_recorded(shared_laboratory):
    with pytest.raises(Refusal, match=r"^wave_gain needs the tokens of layers 0 and 1, .* \[0\]"):
        heat_of(shared_laboratory, "wave_gain", record=[0])


@pytest.mark.parametrize("values", ["oblique", "quarter_turn"])
def test_turned_values_grow_by_the_gain_of_their_fastest_mode(values, shared_laboratory):
    """|1 - 4τμ| with μ of modulus one, at 60 and 90 degrees."""
    flow = {"method": "euler", "values": values, "diffusion_time": 0.4, "depth": 150}
    made = heat_of(shared_laboratory, "mode_gain", "transient_growth", "stable", **flow)
    angle = math.pi / (3 if values == "oblique" else 2)
    assert_allclose(made["mode_gain"], abs(1 - 1.6 * np.exp(1j * angle)), rtol=1e-12)
    assert_allclose(made["transient_growth"], made["mode_gain"], rtol=1e-6)
    assert (made["stable"] == 0).all()


def test_turned_values_need_planes():
    with pytest.raises(Refusal, match=r"^values that turn planes got 3 features; .* 'rotation'\.$"):
        VALUES["oblique"](np.random.default_rng(1), 3)
