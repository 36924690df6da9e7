"""What a trajectory stores of a layer: its components' norms, and its tensors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from lowpass import spectra, splits
from lowpass.stages.trajectory import Layer

# Where tokens and features lie in a picture: labels of dimensions that are there already.
PLACES = ("row", "column", "patch_row", "patch_column")
# All that is known of tokens beside their features.
LABELS = (*PLACES, "log_density_slope")


def labels_of(data: xr.Dataset) -> dict[str, xr.DataArray]:
    """Collect the labels of tokens, which a trajectory hands on."""
    names = ("replicate", "token", "feature", *LABELS)
    return {name: data[name] for name in names if name in data.coords}


class State(NamedTuple):
    """Hold a layer's components, each with its binary exponent.

    Layers that share no stationary mode have no stationary part, and no transient one.
    """

    dc: tuple[np.ndarray, np.ndarray]
    hc: tuple[np.ndarray, np.ndarray]
    stationary: tuple[np.ndarray, np.ndarray] | None = None
    transient: tuple[np.ndarray, np.ndarray] | None = None


def of_split(split: splits.Split, pi: np.ndarray) -> State:
    """Read the components off a split state; ``pi`` (replicate, token) is stationary."""
    mean = splits.dc_scaled(split, pi)
    kept = (split.kept, split.kept_exponent)
    return State(mean, splits.hc(split), kept, (split.rest, split.exponent))


def of_mean(split: splits.Split) -> State:
    """Read the components off a state that is split by the token mean."""
    return State((split.kept, split.kept_exponent), (split.rest, split.exponent))


def of_plain(plain: np.ndarray, pi: np.ndarray | None) -> State:
    """Read the components off one array (replicate, token, feature)."""
    array = plain.astype(float, copy=False)
    mean = array.mean(axis=-2)
    one = np.zeros(len(array), dtype=np.int64)
    parts = ((mean, one), (array - mean[..., None, :], one))
    if pi is None:
        return State(*parts)
    kept = (pi[..., None, :] @ array)[..., 0, :]
    return State(*parts, (kept, one), (array - kept[..., None, :], one))


def side_by_side(parts: Sequence[State]) -> State:
    """Join the states of replicates that were computed alone."""
    return State(*(joined(each) for each in zip(*parts, strict=True)))


def joined(pairs: Sequence[Any]) -> Any:
    """Join one component of several states; nothing where they have none."""
    if pairs[0] is None:
        return None
    return tuple(np.concatenate(arrays) for arrays in zip(*pairs, strict=True))


def rows(states: Iterator[State], recorded: set[int]) -> Iterator[Layer]:
    """Give norms at every layer, and tensors at the recorded ones."""
    keep = (layer in recorded for layer in itertools.count())
    # No name is left here that would hold a layer while the next one is computed.
    return map(row_of, states, keep)


def row_of(state: State, keep: bool) -> Layer:
    """Describe one layer: its norms, and its tensors where they are to be kept."""
    dc, dc_exponent = state.dc
    hc, hc_exponent = state.hc
    n_tokens = hc.shape[-2]
    row: dict[str, tuple[tuple[str, ...], np.ndarray]] = {
        "log10_dc_norm": (("replicate",), norm_of_mean(dc, dc_exponent, n_tokens)),
        "log10_hc_norm": (("replicate",), spectra.log10_norm(hc, hc_exponent)),
    }
    if state.stationary and state.transient:
        kept, transient = state.stationary, state.transient
        row["log10_stationary_norm"] = (("replicate",), norm_of_mean(*kept, n_tokens))
        row["log10_transient_norm"] = (("replicate",), spectra.log10_norm(*transient))
    if keep:
        row["dc"] = (("replicate", "feature"), dc)
        row["dc_exponent"] = (("replicate",), dc_exponent)
        row["hc"] = (("replicate", "token", "feature"), hc)
        row["hc_exponent"] = (("replicate",), hc_exponent)
    return row


def norm_of_mean(mean: np.ndarray, exponent: np.ndarray, n_tokens: int) -> np.ndarray:
    """Take log10 of the Frobenius norm of a row (..., feature) repeated for every token."""
    return spectra.log10_norm(mean[..., None, :], exponent) + 0.5 * np.log10(n_tokens)
