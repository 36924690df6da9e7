"""What measures hold and do beside the trajectory that they are taken of.

It owns how many matrices (replicate, query, key) a measure has at once. What is not listed
has as many as the largest of its kind, so that a new measure is estimated as soon as it is there.
It is listed here and not where measures are registered, since what stands there is part of the
code of every result: a better estimate must rerun nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from lowpass.measures import MEASURES
from lowpass.resources.work import Work

# The largest of those that need logits, which are made again; of those that need attention, and
# of all others: the cosines of all pairs of tokens.
WITH_SCORES, WITH_MATRIX, WITHOUT = 14.0, 5.5, 3.5
# Of a matrix that is decomposed, one after the other: it, complex, with its factors.
WORKSPACE = 12.0
# Copies of recorded states: tokens put together, and what is made of them; pixels beside.
STATES, PICTURES = 2.5, 4.5
# Attention and its second mode, one search after the other.
MODES = (
    "slem spectral_gap slem_over_gaussian slem_over_independent millionth_depth predicted_growth "
    "predicted_rate predicted_stability second_gain_share predicted_rate_error sharpening_edge "
    "log10_mode_ratio log10_predicted_ratio henrici_number attention_spread effective_rank "
    "stable_rank log10_stable_rank_excess"
).split()
# Some rows of a matrix, one matrix of many, or none.
ROWS = (
    "log10_hc_dc_ratio log10_transient_ratio log10_hc_norm log10_dc_norm transient_rate "
    "tapered_rate tapered_growth transient_growth hc_dc_rate collapse_order hc_rate "
    "log10_rounding_floor row_sum_defect unit_eigenvalue_defect min_attention eigenvalue_real "
    "eigenvalue_imag second_imaginary_share column_gain tanh_bound wang_bound kernel_width "
    "attention_effective_rank hc_effective_rank bessel_gain gaussian_gain ring_heat_gain "
    "log10_hc_growth hc_layer_gain log10_oscillation_growth oscillation_gain heat_reach "
    "log10_taylor_lead mode_gain stable ring_step_gain dft_mean_defect matched_time picture "
    "layer_generator limit_generator generator_error angle gaussian_slem "
    "independent_slem"
).split()
# Of these, what a search for the second mode finds.
SECOND = ("slem", "spectral_gap", "slem_over_gaussian", "slem_over_independent", "millionth_depth")
# Operations for each mode and entry of a matrix, as many more as a measure holds.
CUBES = {0.0: 0.0, 0.5: 2.0, 1.5: 4.0, WITHOUT: 1.0, WITH_MATRIX: 8.0, WITH_SCORES: 30.0}
HELD = {**dict.fromkeys(MODES, 1.5), **dict.fromkeys(ROWS, 0.5)}
# A search over shifts of all rows holds a matrix for each of them: see gauge.searched.
SEARCHED = "best_gauge_error"
STEPS, STARTS = 100, 3
# Linear programs over all numbers of a state: see collapse.composite_norm_infimum.
PROGRAMS = ("log10_composite_norm_infimum", "log10_dong_bound")
Count = Callable[[Work], float]


def arrays_of(name: str, trajectory: Work) -> float:
    """Count the matrices, one for every replicate and run, that a measure holds at once.

    What needs a matrix that is not stored reads numbers in its place.
    """
    if name in HELD:
        return HELD[name] if trajectory.matrices else 0.0
    kinds = kinds_of(name)
    if "scores" in kinds:
        return WITH_SCORES
    return WITH_MATRIX if kinds & {"matrix", "attention", "logits", "diffusion"} else WITHOUT


def states_of(name: str) -> float:
    """Count the copies of all recorded states, one for every replicate and run."""
    if "picture" in kinds_of(name):
        return PICTURES
    return 0.5 if HELD.get(name) == HELD["hc_rate"] else STATES


def kinds_of(name: str) -> set[str]:
    """Give what a measure is taken of."""
    of = MEASURES.facts(name).get("of", ())
    return {of} if isinstance(of, str) else set(of)


def operations_of(name: str, trajectory: Work) -> float:
    """Count operations: a spectrum of every matrix, and some passes over every state."""
    size = trajectory.size
    matrices, n = trajectory.runs * size.replicates, size.tokens
    states = float(trajectory.runs * trajectory.recorded * size.replicates * n * size.features)
    passes = 100.0 * states + 1000.0 * matrices * trajectory.layers + 1e7
    if name in PROGRAMS:
        return passes + 2e3 * states * n * size.features
    if name == SEARCHED:
        return passes + matrices * STEPS * STARTS * 0.4 * float(n) ** 4
    if name in SECOND:
        return passes + matrices * 300.0 * n**2
    return passes + CUBES[arrays_of(name, trajectory)] * matrices * float(n) ** 3


def searched(trajectory: Work) -> float:
    """Give the bytes that the search over shifts takes, one replicate at a time."""
    n = trajectory.size.tokens
    return 8.0 * 4 * STARTS * float(n) ** 3
