"""One smoother, tried on observations.

It owns what the criteria look at: how far values lie from their own fit, how
far from a fit that did not see them, and how much of a fit is its own value.
Rows of the smoother's matrix are made some at a time and never kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lowpass.registry import Refusal
from lowpass.smoothing.checks import Sample, checked
from lowpass.smoothing.local import matrix_of

# From a slice of the keys to what is hidden from each, (rows, key) bool.
Hidden = Callable[[slice], np.ndarray]
# Entries of a tile of the smoother's matrix: 8 MiB, so that the matrix need not fit.
TILE = 2**20


class Fitted(NamedTuple):
    r"""Hold what a fit leaves.

    Parameters
    ----------
    residual : (key, output) float
        :math:`v - Av`.
    spare : (key,) float
        :math:`1 - A_{ii}`, the weight of all others.
    left : (key,) float
        :math:`\sum_j (I - A)_{ij}^2`, the variance of a residual in units of that of a value.
    """

    residual: np.ndarray
    spare: np.ndarray
    left: np.ndarray


@dataclass(frozen=True, eq=False)
class Trial:
    """Hold a smoother to be tried at its own keys.

    Parameters
    ----------
    sample : Sample
        Whose queries are its keys.
    kernel : str
        Name in ``PROFILES``.
    degree : {0, 1}
        Of the polynomial that is fitted around each query.
    """

    sample: Sample
    kernel: str = "gaussian"
    degree: int = 0

    @property
    def key(self) -> np.ndarray:
        """Where something was observed, (key, feature) float."""
        return self.sample.key

    @property
    def value(self) -> np.ndarray:
        """What was observed, (key, output) float."""
        return self.sample.value

    def at(self, bandwidth: ArrayLike) -> Trial:
        """Try another bandwidth on the same sample."""
        each = np.broadcast_to(np.asarray(bandwidth, dtype=float), self.key.shape[1:])
        return replace(self, sample=replace(self.sample, bandwidth=each))

    def tiles(self) -> Iterator[slice]:
        """Cut the keys into pieces whose rows of the matrix are small enough to hold."""
        n = len(self.key)
        step = max(1, TILE // n)
        return (slice(start, min(start + step, n)) for start in range(0, n, step))

    def matrix(self, rows: slice | np.ndarray, hidden: np.ndarray | None = None) -> np.ndarray:
        """Give some rows of the smoother at its own keys, without what is hidden from each."""
        asked = replace(self.sample, query=self.key[rows])
        return matrix_of(asked, kernel=self.kernel, degree=self.degree, hidden=hidden)

    @cached_property
    def fitted(self) -> Fitted:
        """Compare the values with their fit."""
        n = len(self.key)
        fitted = Fitted(np.empty(self.value.shape), np.empty(n), np.empty(n))
        for rows in self.tiles():
            others = self.matrix(rows)
            at = np.arange(rows.start, rows.stop)
            others[at - rows.start, at] = 0
            spare = others.sum(axis=1)
            fitted.spare[rows] = spare
            fitted.left[rows] = np.square(spare) + np.square(others).sum(axis=1)
            fitted.residual[rows] = spare[:, None] * self.value[rows] - others @ self.value
        return fitted

    def unseen(self, hidden: Hidden) -> np.ndarray:
        """Predict every value without what is hidden from it, and take the difference.

        Parameters
        ----------
        hidden : callable
            Gives (rows, key) bool for a slice of the keys.

        Returns
        -------
        (key, output) float
        """
        residual = np.empty(self.value.shape)
        for rows in self.tiles():
            away = hidden(rows)
            if away.all(axis=1).any():
                blind = rows.start + int(np.argmax(away.all(axis=1)))
                raise Refusal(
                    f"nothing is left to predict the value of key [{blind}] from; every other key "
                    "was left out with it. Use a smaller window, or more folds."
                )
            residual[rows] = self.value[rows] - self.matrix(rows, away) @ self.value
        return residual


def trial(
    key: ArrayLike,
    value: ArrayLike,
    bandwidth: ArrayLike,
    *,
    kernel: str = "gaussian",
    degree: int = 0,
    period: ArrayLike | None = None,
) -> Trial:
    """Prepare a sample for the criteria.

    Parameters
    ----------
    key : (key, feature) or (key,) float
    value : (key,) or (key, output) float
        A constant that is added to all of them is of no account.
    bandwidth : float or (feature,) float
        In the units of each feature.
    kernel : str
        Name in ``PROFILES``.
    degree : {0, 1}
    period : float or (feature,) float, optional
        The circumference, where keys lie on a circle.

    Raises
    ------
    Refusal
        If an input is not finite or does not fit, or fewer than two keys differ.
    """
    sample = checked(key, key, value, bandwidth, period=period)
    if (sample.key == sample.key[:1]).all():
        raise Refusal(
            f"the {len(sample.key)} keys are all the same; a criterion compares predictions from "
            "other places, so it needs two distinct keys. Observe a second place."
        )
    # Counted from the first, constant values are zeros to every digit.
    return Trial(replace(sample, value=sample.value - sample.value[:1]), kernel, degree)


def loo_residuals(tried: Trial) -> np.ndarray:
    r"""Predict each observation from all others and take the difference.

    The shortcut :math:`r_i / (1 - A_{ii})` is exact for constant and linear fits alike, but
    divides zero by zero at an isolated point. Here :math:`1 - A_{ii}` is the sum of the other
    weights, which does not cancel; a point that keeps more than half of its own weight is
    predicted anew, with a logit of -inf for itself. So is every point of a linear fit on a
    circle, where a line has another height at each image of the point.

    Parameters
    ----------
    tried : Trial

    Returns
    -------
    (key, output) float
        Always finite: an isolated point is predicted by its nearest neighbour.
    """
    residual, spare, _ = tried.fitted
    around = tried.sample.period
    is_bent = tried.degree > 0 and around is not None and bool(np.isfinite(around).any())
    is_short = (spare >= 0.5) & (not is_bent)
    alone = np.flatnonzero(~is_short)
    left = residual / np.where(is_short, spare, 1)[:, None]
    step = max(1, TILE // len(spare))
    for rows in (alone[start : start + step] for start in range(0, len(alone), step)):
        itself = rows[:, None] == np.arange(len(spare))
        left[rows] = tried.value[rows] - tried.matrix(rows, itself) @ tried.value
    return left
