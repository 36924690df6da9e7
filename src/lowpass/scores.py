"""From queries and keys to logits.

It owns how a query is compared with a key: one number for each pair, which an
attention kernel turns into a weight. The fact ``gives`` of an entry says what
that number is, as not every kernel can read every number: a ``"product"``, a
``"squared distance"`` (minus half of it), a ``"distance"`` (minus it), or the
``"logarithm"`` of a similarity. The fact ``per_root_feature`` says whether it is
divided by the root of the number of features.
"""

from __future__ import annotations

import numpy as np

from lowpass.masks import masked
from lowpass.registry import Refusal, Registry

SCORES = Registry("score")


def first(bad: np.ndarray) -> str:
    """Write the place of the first true entry, axis by axis."""
    return ", ".join(str(i) for i in np.argwhere(bad)[0])


def refuse_unusable(scores: np.ndarray) -> None:
    """Refuse scores that cannot be weighed.

    Parameters
    ----------
    scores : (..., query, key) float

    Raises
    ------
    Refusal
        If a score is nan or +inf, or a row is masked throughout.
    """
    bad = np.isnan(scores) | (scores == np.inf)
    if bad.any():
        raise Refusal(
            f"score [{first(bad)}] is {scores[bad][0]}; a weight needs a finite score, or -inf "
            "where a key is masked. Check the tokens, the weights and beta."
        )
    blind = (scores == -np.inf).all(axis=-1)
    if blind.any():
        raise Refusal(
            f"score row [{first(blind)}] is -inf throughout; a query that sees no key has no "
            "distribution. Let its mask allow one key."
        )


def _same_width(q: np.ndarray, k: np.ndarray, why: str) -> None:
    if q.shape[-1] != k.shape[-1]:
        raise Refusal(
            f"queries have {q.shape[-1]} features and keys have {k.shape[-1]}; {why} needs the "
            "same number. Check w_q and w_k."
        )


@SCORES.add("dot", gives="product", per_root_feature=True, split_form=True)
def dot(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Multiply every query with every key.

    Parameters
    ----------
    q : (..., query, feature) float
    k : (..., key, feature) float

    Returns
    -------
    (..., query, key) float

    Raises
    ------
    Refusal
        If the numbers of features differ.
    """
    _same_width(q, k, "a dot product")
    return q @ np.swapaxes(k, -1, -2)


def _directions(x: np.ndarray, what: str) -> np.ndarray:
    """Divide every vector by its length, which may be tiny or huge, but not zero."""
    largest = np.abs(x).max(axis=-1, keepdims=True)
    if (largest == 0).any():
        raise Refusal(
            f"{what} [{first(largest[..., 0] == 0)}] is zero; a vector without a direction has "
            "no cosine with another. Use score 'dot' or 'l2', or tokens that are not zero."
        )
    # Scaled first, so that the squares neither overflow nor vanish.
    scaled = x / largest
    return scaled / np.sqrt(np.square(scaled).sum(axis=-1, keepdims=True))


@SCORES.add("cosine", gives="product", per_root_feature=False)
def cosine(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    r"""Give the cosine of the angle between every query and every key.

    .. math:: s_{ij} = \frac{q_i \cdot k_j}{\|q_i\| \|k_j\|}

    Parameters
    ----------
    q : (..., query, feature) float
    k : (..., key, feature) float
        Lengths do not count, neither of a query nor of a key.

    Returns
    -------
    (..., query, key) float
        In [-1, 1] up to rounding.

    Raises
    ------
    Refusal
        If the numbers of features differ, or a query or key is zero.
    """
    _same_width(q, k, "a cosine")
    return _directions(q, "query") @ np.swapaxes(_directions(k, "key"), -1, -2)


def _square_distance(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Sum squared differences one feature at a time.

    Expanding the square would cancel where a query and a key nearly agree, far
    from the origin.
    """
    _same_width(q, k, "a distance")
    square = np.zeros((*np.broadcast_shapes(q.shape[:-2], k.shape[:-2]), q.shape[-2], k.shape[-2]))
    for feature in range(q.shape[-1]):
        square += (q[..., :, None, feature] - k[..., None, :, feature]) ** 2
    return square


@SCORES.add("l2", gives="squared distance", per_root_feature=False, split_form=True)
def l2(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    r"""Give minus half the squared distance of every query from every key.

    .. math:: s_{ij} = -\tfrac12 \|q_i - k_j\|^2

    Under softmax these are Gaussian weights.

    Parameters
    ----------
    q : (..., query, feature) float
    k : (..., key, feature) float

    Returns
    -------
    (..., query, key) float
        Not positive.

    Raises
    ------
    Refusal
        If the numbers of features differ.
    """
    return -_square_distance(q, k) / 2


@SCORES.add("distance", gives="distance", per_root_feature=False)
def distance(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    r"""Give minus the distance of every query from every key.

    .. math:: s_{ij} = -\|q_i - k_j\|

    Under softmax these are the weights :math:`e^{-\beta\|q - k\|}` of Laplace's
    kernel, whose peak is sharp and whose tail is longer than a Gaussian's.

    Parameters
    ----------
    q : (..., query, feature) float
    k : (..., key, feature) float

    Returns
    -------
    (..., query, key) float
        Not positive.

    Raises
    ------
    Refusal
        If the numbers of features differ.
    """
    return -np.sqrt(_square_distance(q, k))


def log_elu_features(x: np.ndarray) -> np.ndarray:
    r"""Give the logarithm of the features of linear attention.

    .. math:: \log\phi(x), \quad \phi(x) = \mathrm{elu}(x) + 1
              = \begin{cases} 1 + x & x > 0 \\ e^x & x \le 0 \end{cases}

    Parameters
    ----------
    x : (...) float

    Returns
    -------
    (...) float

    References
    ----------
    .. [1] katharopoulos2020, section 3.2.
    """
    return np.where(x > 0, np.log1p(np.maximum(x, 0)), x)


@SCORES.add("elu", gives="logarithm", per_root_feature=False)
def elu(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    r"""Give the logarithm of the similarity of linear attention.

    .. math:: s_{ij} = \log \big(\phi(q_i) \cdot \phi(k_j)\big), \quad
              \phi(x) = \mathrm{elu}(x) + 1

    Softmax at :math:`\beta = 1` without a mask is then exactly linear attention,
    :math:`\phi(q_i) \cdot \phi(k_j) / \sum_l \phi(q_i) \cdot \phi(k_l)`: of a rank
    that is at most the number of features. At any other β the similarity is a
    power of this one, which is no inner product of these features.

    Parameters
    ----------
    q : (..., query, feature) float
    k : (..., key, feature) float

    Returns
    -------
    (..., query, key) float
        Finite, as every feature is positive; the sum is taken on logarithms,
        so that none underflows.

    Raises
    ------
    Refusal
        If the numbers of features differ.

    References
    ----------
    .. [1] katharopoulos2020, section 3.2.
    """
    _same_width(q, k, "an inner product of features")
    log_q, log_k = log_elu_features(q), log_elu_features(k)
    total = log_q[..., :, None, 0] + log_k[..., None, :, 0]
    for feature in range(1, q.shape[-1]):
        total = np.logaddexp(total, log_q[..., :, None, feature] + log_k[..., None, :, feature])
    return total


def logits(
    q: np.ndarray,
    k: np.ndarray,
    *,
    score: str,
    mask: str | np.ndarray,
    beta: float,
    mask_width: int | None = None,
) -> np.ndarray:
    r"""Scale scores by the inverse temperature and mask them.

    The score "dot" is divided by the root of the number of features, so that
    :math:`S = \beta\, q k^\top / \sqrt{d}`; "l2" is not, :math:`S = -\beta \|q - k\|^2 / 2`,
    so that :math:`\beta` is one over a squared bandwidth. On a ring of unit
    radius the latter is :math:`\beta \cos(\theta_i - \theta_j)` up to a constant.

    Parameters
    ----------
    q : (..., query, feature) float
    k : (..., key, feature) float
    score : str
        Name in ``SCORES``.
    mask : str or (..., query, key) bool
        Name in ``MASKS``, or a mask of one's own.
    beta : float
        Inverse temperature, dimensionless.
    mask_width : int, optional
        Of the mask "window", in tokens.

    Returns
    -------
    (..., query, key) float
        -inf where the mask forbids.

    Raises
    ------
    Refusal
        As :func:`lowpass.masks.masked` does.
    """
    unit = beta / np.sqrt(q.shape[-1]) if SCORES.facts(score)["per_root_feature"] else beta
    return masked(SCORES[score](q, k) * unit, mask, mask_width=mask_width)
