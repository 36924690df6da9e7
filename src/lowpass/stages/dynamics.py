"""The dynamics of attention: the state of every layer, in the arithmetic that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from lowpass import spectra
from lowpass.consensus import matrix_mixing, softmax_mixing, split_logits
from lowpass.frozen import Frozen, diluted, dual, waning_share
from lowpass.integrators import INTEGRATORS
from lowpass.kernels import KERNELS, attend
from lowpass.layers import PLAIN, SPLIT, Block, Head, following, iterate, split_along
from lowpass.masks import masked
from lowpass.remedies import Filter
from lowpass.spec.attention import Attention
from lowpass.splits import Split, by_mean
from lowpass.stages.components import State, of_mean, of_plain, of_split, side_by_side
from lowpass.stages.projections import Projections, drawn
from lowpass.starts import STARTS

Heads = Callable[[Any, int], Sequence[tuple[Head, np.ndarray | None]]]


class Made(NamedTuple):
    """Hold the first layer: attention (replicate, head, query, key), and what it came from."""

    attention: np.ndarray
    projections: Projections
    max_logit: np.ndarray | None

    def alone(self, place: int) -> Made:
        """Give what belongs to one replicate; its largest logit is known by then."""
        one = slice(place, place + 1)
        return Made(self.attention[one], self.projections.of(one), None)


def states(
    spec: Attention, data: xr.Dataset, made: Made, block: Block, seed: int
) -> Iterator[State]:
    """Yield the components of layer 0, 1, ..., depth."""
    if spec.integrator == "euler":
        return islice(layered(spec, data, made, block, seed), spec.depth + 1)
    # A solver chooses its steps by all that it is given, so that each replicate is solved alone.
    runs = [
        layered(spec, data.isel(replicate=[place]), made.alone(place), block, seed)
        for place in range(data.sizes["replicate"])
    ]
    return islice(map(side_by_side, zip(*runs, strict=True)), spec.depth + 1)


def layered(
    spec: Attention, data: xr.Dataset, made: Made, block: Block, seed: int
) -> Iterator[State]:
    """Iterate layers without end, each of them as many thinner ones as are asked for."""
    thin = replace(block, step=block.step / spec.sublayers)
    if spec.keeps_a_mode:
        run = with_mode(spec, data["x"].values, made, thin)
    else:
        run = without_mode(spec, data, made, thin, seed)
    return islice(run, 0, None, spec.sublayers)


def with_mode(spec: Attention, x: np.ndarray, made: Made, block: Block) -> Iterator[State]:
    """Iterate layers of one head that share a stationary mode, split along it."""
    a, remedy = made.attention[:, 0], block.remedy
    values = made.projections.values(0, 1, x.shape[-1])
    # The filter goes into the matrix, but for its source.
    block = replace(block, remedy=Filter(source=remedy.source))
    matrix = a if remedy == block.remedy else remedy.matrix(a)
    even_handed = remedy.high == remedy.mean
    weights = spectra.stationary(a) if even_handed else dual(matrix, remedy.constant_gain)
    kept, rest = STARTS[spec.start](x, a, weights)

    def layer_matrix(layer: int) -> np.ndarray:
        return matrix if spec.layers != "waning" else waning(matrix, layer)

    if spec.arithmetic == "split":
        gain = remedy.constant_gain

        def split_heads(y: Split, layer: int) -> list[tuple[Head, np.ndarray | None]]:
            return [(Frozen(layer_matrix(layer), weights, gain), values)]

        run = iterate(split_along(weights), Split.of(kept, rest), split_heads, block)
        return (of_split(split, weights) for split in run)
    cast = np.dtype(spec.arithmetic)
    start = (kept[..., None, :] + rest).astype(cast)
    values = None if values is None else values.astype(cast)
    matrix = matrix.astype(cast, copy=False)

    def plain_heads(y: np.ndarray, layer: int) -> list[tuple[Head, np.ndarray | None]]:
        return [(times(layer_matrix(layer)), values)]

    run = plain_layers(spec.integrator, start, plain_heads, block)
    return (of_plain(plain, weights) for plain in run)


def plain_layers(
    integrator: str, start: np.ndarray, heads: Heads, block: Block
) -> Iterator[np.ndarray]:
    """Iterate layers in one array, as explicit steps or along the flow of which they are steps."""
    if integrator == "euler":
        return iterate(PLAIN, start, heads, block)
    return along_flow(INTEGRATORS[integrator], start, heads, block)


def along_flow(
    advance: Callable[..., np.ndarray], x: np.ndarray, heads: Heads, block: Block
) -> Iterator[np.ndarray]:
    """Yield the tokens at every multiple of a layer's step, without end."""
    flow, first = replace(block, skip=0.0, step=1.0), x if block.remedy.source else None

    def rate(y: np.ndarray) -> np.ndarray:
        return following(PLAIN, y, first, lambda z: heads(z, 1), flow)

    while True:
        yield x
        x = advance(rate, x, block.step)


def waning(matrix: np.ndarray, layer: int) -> np.ndarray:
    """Mix a matrix with the identity, the less of it the deeper the layer."""
    return diluted(matrix, float(waning_share(layer)))


def times(matrix: np.ndarray) -> Head:
    """Make the head that multiplies with a matrix."""
    return lambda y: matrix @ y


def without_mode(
    spec: Attention, data: xr.Dataset, made: Made, block: Block, seed: int
) -> Iterator[State]:
    """Iterate layers that share no stationary mode, split by the token mean."""
    x = data["x"].values
    split = spec.arithmetic == "split"
    cast = np.dtype("float64" if split else spec.arithmetic)

    def heads(y: Any, layer: int) -> list[tuple[Head, np.ndarray | None]]:
        fresh = spec.projections == "fresh" and layer > 1
        projections = drawn(spec, data, seed, layer) if fresh else made.projections
        found = []
        for head in range(spec.n_heads):
            if spec.layers == "recomputed":
                w_q, w_k = projections.compared(head, spec.n_heads)
                make = recomputed_split if split else recomputed_plain
                mixing = make(spec, mask_of(spec, data), y, w_q.astype(cast), w_k.astype(cast))
            else:
                a = made.attention[:, head]
                a = waning(a, layer) if spec.layers == "waning" else a
                mixing = matrix_mixing(a) if split else times(a.astype(cast))
            values = projections.values(head, spec.n_heads, x.shape[-1])
            found.append((mixing, None if values is None else values.astype(cast)))
        return found

    if split:
        return map(of_mean, iterate(SPLIT, by_mean(x), heads, block))
    run = plain_layers(spec.integrator, x.astype(cast), heads, block)
    return (of_plain(plain, None) for plain in run)


def mask_of(spec: Attention, data: xr.Dataset) -> str | np.ndarray:
    """Give the mask that the data state, or the name of one."""
    # Files hold ones and zeros, since netCDF knows no truth.
    return data["allowed"].values.astype(bool) if "allowed" in data else spec.mask


def recomputed_split(
    spec: Attention, mask: str | np.ndarray, y: Split, w_q: np.ndarray, w_k: np.ndarray
) -> Head:
    """Make the head that compares the tokens of its own layer, split."""
    given = {"score": spec.score, "beta": spec.beta or 0.0}
    if isinstance(mask, str) and mask == "none":
        return softmax_mixing(y, w_q, w_k, **given)
    scores = masked(split_logits(y, w_q, w_k, **given), mask, mask_width=spec.mask_width)
    return matrix_mixing(KERNELS[spec.kernel](scores))


def recomputed_plain(
    spec: Attention, mask: str | np.ndarray, y: np.ndarray, w_q: np.ndarray, w_k: np.ndarray
) -> Head:
    """Make the head that compares the tokens of its own layer, in one array."""
    matrix = attend(
        y @ w_q,
        y @ w_k,
        score=spec.score,
        kernel=spec.kernel,
        mask=mask,
        mask_width=spec.mask_width,
        beta=spec.beta or 0.0,
    )
    return times(matrix.astype(y.dtype))
