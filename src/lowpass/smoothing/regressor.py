"""The smoother as an estimator of scikit-learn.

It owns the one place that names scikit-learn, and keeps to its conventions:
``fit`` remembers observations and, where it was given none, chooses a
bandwidth; ``predict`` smooths. Everything else of the package does without.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowpass.smoothing.bandwidth import bracket
from lowpass.smoothing.checks import Sample, checked
from lowpass.smoothing.estimators import smooth
from lowpass.smoothing.minimum import Minimum, minimise
from lowpass.smoothing.trials import Trial, loo_residuals

# Bandwidths of the scan; it sees the valleys that are wider than its steps, of half an octave.
SCANNED = 25
# A criterion that was drawn from data tells no more digits of a bandwidth.
DIGITS = 6


def conventions() -> tuple[type, ...]:
    """Import what an estimator derives from.

    Returns
    -------
    tuple of type
        What a regressor can do, and what any estimator can.

    Raises
    ------
    ModuleNotFoundError
        If scikit-learn is not installed.
    """
    try:
        from sklearn.base import BaseEstimator, RegressorMixin
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"there is no module '{missing.name}'; KernelRegressor is an estimator of "
            "scikit-learn. Install it: pip install scikit-learn.",
            name=missing.name,
        ) from None
    return RegressorMixin, BaseEstimator


class KernelRegressor(*conventions()):
    """Regress on local averages, or on local planes.

    Parameters
    ----------
    bandwidth : float or (feature,) float, optional
        In the units of each feature. Without it, ``fit`` takes the multiple of each feature's
        standard deviation that predicts best what was observed at one place from all other
        places.
    kernel : str
        Name in :data:`lowpass.smoothing.profiles.PROFILES`.
    degree : {0, 1}
        Of the local polynomial.
    period : float or (feature,) float, optional
        The circumference, where a feature lies on a circle; inf where it lies on a line.
    beyond : {"nearest", "refuse", "nan"}
        What is predicted where no observation is in reach: see
        :func:`lowpass.smoothing.estimators.smooth`.
    method : str
        Name in :data:`lowpass.smoothing.methods.METHODS`, or ``"auto"``.

    Attributes
    ----------
    bandwidth_ : float or (feature,) float
        The one that is used.
    selection_ : Minimum or None
        How multiples of the standard deviation were judged, where a bandwidth was chosen among
        them; :attr:`lowpass.smoothing.minimum.Minimum.place` says whether that is a minimum.
    n_features_in_ : int

    Examples
    --------
    >>> model = KernelRegressor(bandwidth=1.0).fit([[0.0], [1.0], [3.0]], [5.0, 6.0, 7.0])
    >>> model.predict([[1e6]])
    array([7.])
    """

    def __init__(
        self,
        bandwidth: ArrayLike | None = None,
        *,
        kernel: str = "gaussian",
        degree: int = 0,
        period: ArrayLike | None = None,
        beyond: str = "nearest",
        method: str = "auto",
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.degree = degree
        self.period = period
        self.beyond = beyond
        self.method = method

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> KernelRegressor:
        """Remember observations, and choose a bandwidth where there is none.

        Parameters
        ----------
        X : (key, feature) float
        y : (key,) or (key, output) float
        sample_weight : (key,) float, optional
            An observation of weight two is two observations, one of weight zero is none.

        Returns
        -------
        KernelRegressor
            Itself.

        Raises
        ------
        Refusal
            See :func:`lowpass.smoothing.checks.checked`.
        """
        from sklearn.utils.validation import _check_sample_weight, validate_data

        key, value = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, key, ensure_non_negative=True)
        asked = 1.0 if self.bandwidth is None else self.bandwidth
        sample = checked(key, key, value, asked, weight, period=self.period)
        self.bandwidth_, self.selection_ = asked, None
        if self.bandwidth is None:
            self.bandwidth_, self.selection_ = chosen(places(sample), self.kernel, self.degree)
        self._key, self._value, self._weight = key, value, weight
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Smooth the remembered observations at other places.

        Parameters
        ----------
        X : (query, feature) float

        Returns
        -------
        (query,) or (query, output) float
            In the units of the values.
        """
        from sklearn.utils.validation import check_is_fitted, validate_data

        check_is_fitted(self)
        query = validate_data(self, X, dtype=np.float64, reset=False)
        return smooth(
            query,
            self._key,
            self._value,
            self.bandwidth_,
            kernel=self.kernel,
            degree=self.degree,
            weight=self._weight,
            period=self.period,
            beyond=self.beyond,
            method=self.method,
        )

    def __sklearn_tags__(self) -> Any:
        """Tell that several outputs can be predicted at once."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def places(sample: Sample) -> Sample:
    """Merge what was observed at one place to its mean, with all of its weight.

    Parameters
    ----------
    sample : Sample

    Returns
    -------
    Sample
        Of distinct keys in order, each of them with a positive weight. Queries are the keys.
    """
    weight = np.ones(len(sample.key)) if sample.weight is None else sample.weight
    counts = weight > 0
    key, at = np.unique(sample.key[counts], axis=0, return_inverse=True)
    total = np.bincount(at, weight[counts])
    value = np.zeros((len(key), sample.value.shape[1]))
    np.add.at(value, at, weight[counts, None] * sample.value[counts])
    return replace(sample, query=key, key=key, value=value / total[:, None], weight=total)


def chosen(sample: Sample, kernel: str, degree: int) -> tuple[np.ndarray, Minimum | None]:
    """Choose the bandwidths, alike in standard deviations, that predict places best.

    Parameters
    ----------
    sample : Sample
        Of distinct places: see :func:`places`.
    kernel : str
    degree : {0, 1}

    Returns
    -------
    bandwidth : (feature,) float
        One, where there is a single place: any other would give the same fit.
    selection : Minimum or None
        Its points are multiples of standard deviations.
    """
    weight = sample.weight
    assert weight is not None
    if len(sample.key) == 1:
        return np.ones(sample.key.shape[1]), None
    middle = np.average(sample.key, axis=0, weights=weight)
    spread = np.sqrt(np.average(np.square(sample.key - middle), axis=0, weights=weight))
    unit = np.where(spread > 0, spread, 1.0)
    # Counted from their mean, values lose no digits to it.
    centred = sample.value - np.average(sample.value, axis=0, weights=weight)
    tried = Trial(replace(sample, value=centred), kernel, degree)

    def score(multiple: float) -> float:
        error = np.square(loo_residuals(tried.at(multiple * unit)))
        return float(np.average(error.sum(axis=1), weights=weight))

    found = minimise(score, *bracket(sample.key / unit), count=SCANNED)
    if found.place in ("low end", "high end"):
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"the best bandwidth, {found.at:.3g} standard deviations, lies at the {found.place} of "
            f"{found.grid[0]:.3g} ... {found.grid[-1]:.3g}, so it may be no minimum; look at "
            "selection_, or give a bandwidth.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return float(f"{found.at:.{DIGITS}g}") * unit, found
