r"""What smoothers, heat, or one step of heat do to the waves of a ring.

Everything is measured: a smoother, a flow or a step acts on observed values, and the
gain of a wave is what is left of it. Closed forms, which know of no weights, stand
beside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lowpass import chebyshev
from lowpass.domains import Bandwidths
from lowpass.fourier import in_phase_gain, offdiagonal_energy
from lowpass.graphs import GRAPHS
from lowpass.laplacians import LAPLACIANS
from lowpass.ring import ring_eigenvalue, ring_heat_gain
from lowpass.smoothing import symbols
from lowpass.smoothing.estimators import smooth, smoother_matrix
from lowpass.studies import waves
from lowpass.studies.names import STUDIES, Answers, Observed, Watch

# Those whose transform is never negative come first.
KERNELS = ("gaussian", "laplace", "triangle", "epanechnikov", "tricube", "boxcar")
LAYERS = (2, 4, 16)
# The eigenvalues of the Laplacian of a ring, in units of 1/D².
BOUNDS = (0.0, 4.0)
# Gains that are so near to zero are zero but for rounding.
NOTHING = 1e-13


class Ring(NamedTuple):
    """Hold what was observed on a circle, with its Laplacian in units of 1/D²."""

    key: np.ndarray
    value: np.ndarray
    period: float
    laplacian: np.ndarray

    @property
    def spacing(self) -> float:
        """Give D, the arc between neighbours."""
        return self.period / len(self.key)

    def gain(self, after: np.ndarray) -> np.ndarray:
        """Compare what came out (..., key) with what went in, for every wave."""
        before = np.broadcast_to(self.value, after.shape)
        return in_phase_gain(before[..., None], after[..., None])


@STUDIES.add("response", of=("values", "circle", "grid"))
def response(observed: Observed, watch: Watch, *, bandwidths: Bandwidths) -> Answers:
    """Measure what smoothers, heat, or one step of heat leave of every wave of a ring.

    Parameters
    ----------
    observed : Dataset
        ``key_position`` (key, feature), evenly spaced along a circle; ``value`` (key), an impulse
        or anything else in which no wave is missing; ``period``, the circumference.
    watch : callable
        Hands on the kernels and bandwidths one by one, so that somebody may count them.
    bandwidths : mapping
        Geometric grid of them, in the units of the keys.

    Returns
    -------
    Dataset
        Gains and symbols over waves, distances between them over bandwidths, and what each
        kernel's symbol has below zero.
    """
    import xarray as xr

    key, value = observed["key_position"].values, observed["value"].values
    circle = np.asarray(GRAPHS["ring"](key, None, 1.0))
    ring = Ring(key, value, float(observed["period"]), LAPLACIANS["combinatorial"](circle))
    grid = bandwidths.grid()
    after, defect = smoothed(ring, grid, watch)
    frequency = 2 * np.pi * np.arange(len(key) // 2 + 1) / ring.period
    scaled = grid[:, None] * frequency
    answers = {
        "relative_bandwidth": ("bandwidth", grid / ring.spacing),
        "scaled_frequency": (waves.WAVES, scaled),
        "smoothed_value": (("smoothing_kernel", "bandwidth", "query"), after),
        "filter_defect": (("smoothing_kernel", "bandwidth"), defect),
        **of_kernels(ring.gain(after), scaled),
        **of_heat(ring, grid, after[0], frequency),
        **of_grids(ring, grid, after[0], frequency),
        **layered(ring, grid),
    }
    places = {"query": observed["key"].values, "ring_wave": np.arange(len(frequency))}
    kinds = {"smoothing_kernel": list(KERNELS), "smoothing_layers": list(LAYERS)}
    return xr.Dataset(answers, {"bandwidth": grid, **places, **kinds})


def smoothed(ring: Ring, grid: np.ndarray, watch: Watch) -> tuple[np.ndarray, np.ndarray]:
    """Smooth once with every kernel at every bandwidth, to see how far each is from a filter.

    Returns
    -------
    after : (kernel, bandwidth, key) float
    defect : (kernel, bandwidth) float
        Share of the smoother that turns waves into others.
    """
    after, defect = [], []
    for kernel, bandwidth in watch([(kernel, h) for kernel in KERNELS for h in grid]):
        matrix = smoother_matrix(ring.key, ring.key, bandwidth, kernel=kernel, period=ring.period)
        after.append(matrix @ ring.value)
        defect.append(offdiagonal_energy(matrix))
    shape = (len(KERNELS), len(grid))
    return np.reshape(after, (*shape, -1)), np.reshape(defect, shape)


def of_kernels(gain: np.ndarray, scaled: np.ndarray) -> dict[str, tuple]:
    """Set gains (kernel, bandwidth, wave) beside the transforms of the kernels on a line."""
    both = ("smoothing_kernel", "bandwidth")
    lobes = [symbols.deepest_lobe(kernel) for kernel in KERNELS]
    on_a_line = np.stack([symbols.SYMBOLS[kernel](scaled) for kernel in KERNELS])
    return {
        "smoother_gain": ((*both, "ring_wave"), gain),
        "kernel_symbol": ((*both, "ring_wave"), on_a_line),
        "lowest_gain": (both, gain.min(axis=-1)),
        "lowest_symbol": ("smoothing_kernel", np.array([lobe.depth for lobe in lobes])),
        "first_zero": (both, first_zero(scaled, gain)),
        "symbol_zero": ("smoothing_kernel", np.array([lobe.first_zero for lobe in lobes])),
    }


def first_zero(scaled: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Interpolate where a gain turns negative first, or say infinity where it never does.

    Parameters
    ----------
    scaled : (bandwidth, wave) float
    gain : (..., bandwidth, wave) float

    Returns
    -------
    (..., bandwidth) float
        In units of the scaled frequency.
    """
    negative = gain < -NOTHING
    after = np.maximum(negative.argmax(axis=-1), 1)[..., None]
    x = np.broadcast_to(scaled, gain.shape)
    left, right = (np.take_along_axis(x, place, -1)[..., 0] for place in (after - 1, after))
    above, below = (np.take_along_axis(gain, place, -1)[..., 0] for place in (after - 1, after))
    drop = np.where(above == below, 1.0, above - below)
    return np.where(negative.any(axis=-1), left + (right - left) * above / drop, np.inf)


def of_heat(
    ring: Ring, grid: np.ndarray, after: np.ndarray, frequency: np.ndarray
) -> dict[str, tuple]:
    """Let heat flow for the time that each bandwidth stands for, and take one step of it.

    Parameters
    ----------
    ring : Ring
    grid : (bandwidth,) float
    after : (bandwidth, key) float
        What the Gaussian smoother makes of the values.
    frequency : (wave,) float
        Radians per unit of the keys.
    """
    time = (grid / ring.spacing) ** 2 / 2
    value = ring.value[:, None]
    flowed = chebyshev.exponential(ring.laplacian, value, time, BOUNDS)[..., 0]
    stepped = ring.value - time[:, None] * (ring.laplacian @ ring.value)
    smoothed, heat, step = (ring.gain(each) for each in (after, flowed, stepped))
    angle = frequency * ring.spacing
    one = abs(ring.value).sum()
    limits = {
        "heat_limit": [symbols.heat_sup(h, ring.spacing) for h in grid],
        "heat_row_limit": [symbols.heat_l1(h, ring.spacing) for h in grid],
    }
    return {
        "heat_gain": (waves.WAVES, heat),
        "heat_symbol": (waves.WAVES, ring_heat_gain(angle, time[:, None])),
        "step_gain": (waves.WAVES, step),
        "step_symbol": (waves.WAVES, 1 - time[:, None] * ring_eigenvalue(angle)),
        "heat_distance": ("bandwidth", abs(heat - smoothed).max(axis=-1)),
        "heat_row_distance": ("bandwidth", abs(flowed - after).sum(axis=-1) / one),
        "step_distance": ("bandwidth", abs(step - smoothed).max(axis=-1)),
        **{name: ("bandwidth", np.array(limit)) for name, limit in limits.items()},
    }


def of_grids(
    ring: Ring, grid: np.ndarray, after: np.ndarray, frequency: np.ndarray
) -> dict[str, tuple]:
    """Say what a grid makes of a Gaussian: its images, and its nearest neighbours alone."""
    gain, first = ring.gain(after), ring.key[:1]
    line = symbols.gaussian(grid[:, None] * frequency)
    rows = [smoother_matrix(first, ring.key, h, period=ring.period)[0] for h in grid]
    share = np.array([row[1] for row in rows])
    folded = [symbols.ring_symbol(frequency, h, ring.spacing) for h in grid]
    bound = [symbols.grid_deviation(h, ring.spacing) for h in grid]
    return {
        "ring_symbol": (waves.WAVES, np.stack(folded)),
        "neighbour_symbol": (
            waves.WAVES,
            1 - share[:, None] * ring_eigenvalue(frequency * ring.spacing),
        ),
        "grid_distance": ("bandwidth", abs(gain - line).max(axis=-1)),
        "grid_bound": ("bandwidth", np.array(bound)),
        "half_power": ("bandwidth", half_power(frequency, gain)),
    }


def half_power(frequency: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Interpolate the frequency of which half the power passes, infinity where all passes more.

    The logarithm of a Gaussian is a line over the squared frequency, so that interpolating one
    there is exact.

    Parameters
    ----------
    frequency : (wave,) float
    gain : (bandwidth, wave) float
        Falling from one.

    Returns
    -------
    (bandwidth,) float
        In the units of the frequency.
    """
    found = []
    for each in gain:
        below = np.flatnonzero(2 * each**2 < 1)
        if not below.size:
            found.append(np.inf)
            continue
        pair = slice(below[0] - 1, below[0] + 1)
        # Ascending, as an interpolation wants it.
        loss = -2 * np.log(np.abs(each[pair]))
        found.append(np.sqrt(np.interp(np.log(2), loss, frequency[pair] ** 2)))
    return np.array(found)


def layered(ring: Ring, grid: np.ndarray) -> dict[str, tuple]:
    """Smooth several times, then once with the bandwidth that is said to do the same."""
    away = np.empty((len(LAYERS), len(grid)))
    for place, h in enumerate(grid):
        matrix = smoother_matrix(ring.key, ring.key, h, period=ring.period)
        many = ring.value
        for layer in range(1, max(LAYERS) + 1):
            many = matrix @ many
            if layer in LAYERS:
                wide = np.sqrt(layer) * h
                once = smooth(ring.key, ring.key, ring.value, wide, period=ring.period)
                apart = abs(ring.gain(many) - ring.gain(once)).max()
                away[LAYERS.index(layer), place] = apart
    limit = [[symbols.layers_deviation(t, h, ring.spacing) for h in grid] for t in LAYERS]
    both = ("smoothing_layers", "bandwidth")
    return {"layers_distance": (both, away), "layers_limit": (both, np.array(limit))}
