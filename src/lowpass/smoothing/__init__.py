"""Attention read as kernel smoothing: estimators, their bandwidth, their error bands.

It owns the names by which smoothing is used on its own. Arrays go in, arrays come out; the
estimator of scikit-learn is in :mod:`lowpass.smoothing.regressor`, which alone imports it.
"""

from lowpass.smoothing.bands import pointwise_band
from lowpass.smoothing.bandwidth import select_bandwidth, select_bandwidths
from lowpass.smoothing.choosing import choice_for
from lowpass.smoothing.converters import dot_products, plain_smoother, weighted_smoother
from lowpass.smoothing.criteria import CRITERIA
from lowpass.smoothing.estimators import smooth, smoother_matrix
from lowpass.smoothing.loo import loo_curve
from lowpass.smoothing.methods import METHODS
from lowpass.smoothing.profiles import PROFILES
from lowpass.smoothing.weights import log_weights

__all__ = [
    "CRITERIA",
    "METHODS",
    "PROFILES",
    "choice_for",
    "dot_products",
    "log_weights",
    "loo_curve",
    "plain_smoother",
    "pointwise_band",
    "select_bandwidth",
    "select_bandwidths",
    "smooth",
    "smoother_matrix",
    "weighted_smoother",
]
