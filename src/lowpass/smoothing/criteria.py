"""What a bandwidth is judged by.

It owns the criteria, estimates of the error of predicting a new observation
that need the old ones only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowpass.registry import Refusal, Registry
from lowpass.smoothing.trials import Trial, loo_residuals, trial

CRITERIA = Registry("bandwidth criterion")


@CRITERIA.add("loo", options=())
def loo(tried: Trial) -> float:
    """Average the squared errors of predicting each observation from all others.

    Parameters
    ----------
    tried : Trial

    Returns
    -------
    float
        In the squared units of a value; finite for every bandwidth.

    References
    ----------
    .. [1] stone1974.
    .. [2] hastie1990, section 3.4.
    """
    return float(np.square(loo_residuals(tried)).mean())


@CRITERIA.add("gcv", options=())
def gcv(tried: Trial) -> float:
    r"""Average the squared residuals as if all points kept one share of their own weight.

    .. math:: \frac1n \sum_i \left(\frac{r_i}{1 - \mathrm{tr} A / n}\right)^2

    Parameters
    ----------
    tried : Trial

    Returns
    -------
    float
        In the squared units of a value; infinite where every value fits itself only.

    References
    ----------
    .. [1] craven1978.
    """
    residual, spare, _ = tried.fitted
    share = float(spare.mean())
    return float(np.square(residual / share).mean()) if share > 0 else math.inf


@CRITERIA.add("aicc", options=())
def aicc(tried: Trial) -> float:
    r"""Give Akaike's criterion, corrected for small samples.

    .. math:: \log \hat\sigma^2 + 1 + \frac{2 (\mathrm{tr} A + 1)}{n - \mathrm{tr} A - 2},
              \qquad \hat\sigma^2 = \tfrac1n \textstyle\sum_i r_i^2

    Parameters
    ----------
    tried : Trial

    Returns
    -------
    float
        Differences are dimensionless. Infinite once tr A reaches n - 2, where the formula
        would turn its sign; minus infinity where a fit leaves nothing.

    References
    ----------
    .. [1] hurvich1998.
    """
    residual, spare, _ = tried.fitted
    return corrected(float(np.square(residual).mean()), float(spare.sum()), len(spare))


def corrected(variance: float, spare: float, n: int) -> float:
    """Combine mean squared residual, n - tr A, and n to the criterion of :func:`aicc`."""
    if spare <= 2:
        return math.inf
    fit = math.log(variance) if variance > 0 else -math.inf
    return fit + 1 + 2 * (n - spare + 1) / (spare - 2)


@CRITERIA.add("kfold", options=("folds",))
def kfold(tried: Trial, *, folds: int | Sequence[int] | np.ndarray = 10) -> float:
    """Average the squared errors of predicting each fold from all others.

    Parameters
    ----------
    tried : Trial
    folds : int or (key,) int
        The fold of every observation; of a number, observation i is in fold i modulo it.

    Returns
    -------
    float
        In the squared units of a value.

    Raises
    ------
    Refusal
        If folds are fewer than two, or more than observations.

    References
    ----------
    .. [1] stone1974.
    """
    n = len(tried.key)
    label = np.arange(n) % max(folds, 1) if isinstance(folds, int) else np.asarray(folds)
    if label.shape != (n,) or len(np.unique(label)) < 2 or (isinstance(folds, int) and folds > n):
        said = f"{folds} folds" if isinstance(folds, int) else f"folds of shape {label.shape}"
        raise Refusal(
            f"{said} cannot divide {n} observations; each fold is predicted from the others. Give "
            f"a number from 2 to {n}, or the fold of every observation."
        )
    away = tried.unseen(lambda rows: label[rows, None] == label)
    return float(np.square(away).mean())


@CRITERIA.add("blocked", options=("window", "neighbours"))
def blocked(tried: Trial, *, window: float | None = None, neighbours: int | None = None) -> float:
    """Average the squared errors of predicting each observation from those not near it.

    Where the errors of near observations are alike, a neighbour tells the error of the point
    and not its mean; leaving it out takes that help away.

    Parameters
    ----------
    tried : Trial
    window : float, optional
        Keys at most so far away are left out, in the units of a feature.
    neighbours : int, optional
        So many observations on either side are left out, in the order of a single feature.
        None of both, 0, leaves out the point alone.

    Returns
    -------
    float
        In the squared units of a value.

    Raises
    ------
    Refusal
        If not exactly one of both is given, nothing is left, or keys have no order.

    References
    ----------
    .. [1] chu1991.
    .. [2] burman1994.
    """
    if (window is None) == (neighbours is None) or (window or 0) < 0 or (neighbours or 0) < 0:
        raise Refusal(
            f"window is {window} and neighbours is {neighbours}; blocked cross-validation leaves "
            "out what is near, so it must know how far that is. Give one of them, not negative."
        )
    place = tried.key if neighbours is None else order(tried.key)
    reach = float(window or neighbours or 0)
    around = tried.sample.period
    if around is not None and neighbours is not None:
        around = np.where(np.isfinite(around), len(place), np.inf)

    def near(rows: slice) -> np.ndarray:
        apart = place[rows, None] - place
        if around is not None:
            apart = np.minimum(apart % around, -apart % around)
        return np.square(apart).sum(axis=-1) <= reach**2

    return float(np.square(tried.unseen(near)).mean())


def order(key: np.ndarray) -> np.ndarray:
    """Number the keys (key, feature) along their only feature."""
    if key.shape[1] != 1:
        raise Refusal(
            f"keys have {key.shape[1]} features and no order, so neighbours cannot be counted. Give"
            " the window, in the units of a feature."
        )
    rank = np.empty(len(key))
    rank[np.argsort(key[:, 0], kind="stable")] = np.arange(len(key))
    return rank[:, None]


def criterion(name: str, options: Mapping[str, Any]) -> Callable[[Trial], float]:
    """Bind what a criterion asks for, out of what there is.

    Parameters
    ----------
    name : str
        Name in ``CRITERIA``.
    options : mapping
        ``folds``, ``window``, ``neighbours``; what another criterion asks for is left.
    """
    asked = {each: options[each] for each in CRITERIA.facts(name)["options"] if each in options}
    judge = CRITERIA[name]
    return lambda tried: judge(tried, **asked)


def curves(
    key: ArrayLike,
    value: ArrayLike,
    bandwidths: Iterable[ArrayLike],
    names: Sequence[str] = ("loo", "gcv", "aicc"),
    *,
    options: Mapping[str, Any] | None = None,
    **smoother: Any,
) -> dict[str, np.ndarray]:
    """Judge every bandwidth by several criteria, with one smoother for all of them.

    Parameters
    ----------
    key : (key, feature) or (key,) float
    value : (key,) or (key, output) float
    bandwidths : (bandwidth,) float or (bandwidth, feature) float
        In the units of each feature.
    names : sequence of str
        Names in ``CRITERIA``.
    options : mapping, optional
        ``folds``, ``window``, ``neighbours`` of the criteria that ask for them.
    **smoother
        ``kernel``, ``degree``, ``period``: see :func:`lowpass.smoothing.trials.trial`.

    Returns
    -------
    dict of str to (bandwidth,) float
    """
    judges = [criterion(name, options or {}) for name in names]
    rows = []
    for bandwidth in bandwidths:
        tried = trial(key, value, bandwidth, **smoother)
        rows.append([judge(tried) for judge in judges])
    return dict(zip(names, np.array(rows).reshape(-1, len(names)).T, strict=True))
