r"""Recomputed attention on tokens that all but agree.

It owns the form

.. math:: A = 1 w^\top + 2^r R, \qquad R\,1 = 0,

of an attention matrix whose rows all but agree, for states that are split with
uniform weights: what the rows share acts on the kept part, and only R, which
has a scale of its own, on what is left of the differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowpass.kernels import SCORES
from lowpass.registry import Refusal, Registry
from lowpass.splits import LOWEST, Split, binary_exponent, remove_stationary, summed

KEY_SCORES = Registry("score with a split form")

# Below 2^-64 an exponential differs from 1 + b by less than the rounding of b.
LINEAR = -64


@dataclass(frozen=True)
class Mixing:
    r"""Hold an attention matrix, :math:`A = 1 w^\top + 2^r R`, and apply it.

    Attributes
    ----------
    weights : (..., key) float
        w, which sums to one: what all queries share.
    rest : (..., query, key) float
        R, whose rows sum to zero.
    exponent : (...) int
        r, exact.
    """

    weights: np.ndarray
    rest: np.ndarray
    exponent: np.ndarray

    def __call__(self, state: Split) -> Split:
        r"""Let the matrix act on tokens, :math:`X \mapsto A X`.

        .. math:: 1 s^\top + U \mapsto
            1\,(s + U^\top w + \tfrac1n U^\top R^\top 1)^\top + (I - J) R U

        Tokens that agree stay as they are, exactly.

        Parameters
        ----------
        state : Split
            With uniform weights, as :func:`lowpass.splits.by_mean` gives it.

        Returns
        -------
        Split
            With uniform weights. A rest below ``2**LOWEST`` has become zero.
        """
        moved = self.rest @ state.rest
        exponent = self.exponent + state.exponent
        kept, kept_exponent = summed(
            [
                (1.0, state.kept[..., None, :], state.kept_exponent),
                (1.0, self.weights[..., None, :] @ state.rest, state.exponent),
                (1.0, moved.mean(axis=-2, keepdims=True), exponent),
            ]
        )
        even = np.full(moved.shape[-2], 1 / moved.shape[-2])
        remove_stationary(even, moved, out=moved)
        # An exponent triples from layer to layer, and would leave the integers after forty.
        lost = (exponent < LOWEST) | ~moved.any(axis=(-2, -1))
        moved[lost] = 0.0
        return Split.scaled(kept[..., 0, :], moved, np.where(lost, 0, exponent), kept_exponent)


@KEY_SCORES.add("dot")
def dot(w_q: np.ndarray, w_k: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compare the mean query with every key by their product.

    Parameters
    ----------
    w_q, w_k : (..., feature, projected) float
        The latter is not used.
    k : (..., key, projected) float
        Keys without their mean.

    Returns
    -------
    pull : (..., feature, projected) float
        What the mean token is multiplied with, and then with the keys.
    own : (..., 1, key) float
        What a key adds whatever the query.
    """
    return w_q, np.zeros((*k.shape[:-2], 1, k.shape[-2]))


@KEY_SCORES.add("l2")
def l2(w_q: np.ndarray, w_k: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Compare the mean query with every key by their squared distance.

    .. math:: -\tfrac12 \|\kappa_q - \kappa_k - k_j\|^2 =
        (\kappa_q - \kappa_k)^\top k_j - \tfrac12 \|k_j\|^2 + \text{a constant}

    Parameters
    ----------
    w_q, w_k : (..., feature, projected) float
    k : (..., key, projected) float
        Keys without their mean.

    Returns
    -------
    pull : (..., feature, projected) float
        What the mean token is multiplied with, and then with the keys.
    own : (..., 1, key) float
        What a key adds whatever the query.
    """
    return w_q - w_k, -np.square(k).sum(axis=-1)[..., None, :] / 2


@dataclass(frozen=True)
class _Compared:
    """Hold queries and keys without their means, and what depends on the key alone."""

    q: np.ndarray
    k: np.ndarray
    unit: float
    pull: np.ndarray
    own: np.ndarray
    pull_exponent: np.ndarray
    exponent: np.ndarray

    @classmethod
    def of(
        cls, state: Split, w_q: np.ndarray, w_k: np.ndarray, score: str, beta: float
    ) -> _Compared:
        q, k = state.rest @ w_q, state.rest @ w_k
        unit = beta / np.sqrt(w_q.shape[-1]) if SCORES.facts(score)["per_root_feature"] else beta
        pull, own = KEY_SCORES[score](w_q, w_k, k)
        pulled = (state.kept[..., None, :] @ pull) @ np.swapaxes(k, -1, -2)
        both = state.kept_exponent + state.exponent
        return cls(q, k, unit, pulled, own, both, 2 * state.exponent)

    def of_keys(self) -> tuple[np.ndarray, np.ndarray]:
        """Give the logits that all queries share (..., 1, key), with their exponent."""
        pulled = (self.unit, self.pull, self.pull_exponent)
        return summed([pulled, (self.unit, self.own, self.exponent)])

    def of_pairs(self, score: str) -> tuple[np.ndarray, np.ndarray]:
        """Give all logits (..., query, key) up to row constants, with their exponent."""
        pulled = (self.unit, self.pull, self.pull_exponent)
        return summed([pulled, (self.unit, SCORES[score](self.q, self.k), self.exponent)])


def split_logits(
    state: Split, w_q: np.ndarray, w_k: np.ndarray, *, score: str, beta: float
) -> np.ndarray:
    r"""Compute logits of split tokens up to a constant in every row.

    What the mean token does to a whole row is left out and so rounds nothing away,
    however close the tokens are.

    Parameters
    ----------
    state : Split
        With uniform weights.
    w_q, w_k : (..., feature, projected) float
    score : str
        Name in ``KEY_SCORES``: ``"dot"`` or ``"l2"``, as in :func:`lowpass.kernels.logits`.
    beta : float
        Inverse temperature, dimensionless.

    Returns
    -------
    (..., query, key) float

    Raises
    ------
    Refusal
        If a logit is beyond the range of floats.
    """
    scores, exponent = _Compared.of(state, w_q, w_k, score, beta).of_pairs(score)
    with np.errstate(over="ignore"):
        whole = np.ldexp(scores, exponent[..., None, None])
    if not np.isfinite(whole).all():
        raise Refusal(
            f"logits reach 2**{exponent.max()}, beyond the range of floats; no mask can be "
            "put on them. Take fewer layers, smaller values or a layer norm."
        )
    return whole


def softmax_mixing(
    state: Split, w_q: np.ndarray, w_k: np.ndarray, *, score: str, beta: float
) -> Mixing:
    r"""Compute the softmax attention of split tokens beyond machine precision.

    Up to row constants, which softmax ignores, logits are
    :math:`a_j + b_{ij}`: a from the mean query, b from what queries and keys
    differ by. With :math:`w = \mathrm{softmax}(a)`, :math:`\beta = e^b - 1` and
    :math:`\bar\beta_i = \sum_j w_j \beta_{ij}`,

    .. math:: A_{ij} = w_j + w_j (\beta_{ij} - \bar\beta_i) / (1 + \bar\beta_i)

    exactly. No two nearly equal numbers are subtracted, and b, of second order in
    the differences of tokens, has a scale of its own. So R U is of third order:
    its relative error is three times that of U, and the rounding of a few products.

    Parameters
    ----------
    state : Split
        With uniform weights.
    w_q, w_k : (..., feature, projected) float
    score : str
        Name in ``KEY_SCORES``: ``"dot"`` or ``"l2"``, as in :func:`lowpass.kernels.logits`.
    beta : float
        Inverse temperature, dimensionless.

    Returns
    -------
    Mixing
        Where some \|b\| reaches 1/2, of the whole matrix, as :func:`matrix_mixing` splits it.

    References
    ----------
    .. [1] dong2021, for the third order.
    """
    compared = _Compared.of(state, w_q, w_k, score, beta)
    found = _near(compared)
    near = found.exponent < 0
    if near.all():
        return found
    whole = matrix_mixing(_softmax(*compared.of_pairs(score)))
    return Mixing(
        np.where(near[..., None], found.weights, whole.weights),
        np.where(near[..., None, None], found.rest, whole.rest),
        np.where(near, found.exponent, whole.exponent),
    )


def matrix_mixing(attention: np.ndarray) -> Mixing:
    r"""Split a matrix off that sends every query to one and the same key.

    .. math:: A = 1 e_k^\top + R, \qquad R_{ik} = -\sum_{j \ne k} A_{ij}

    The key k is the one that gets most. So A 1 = 1 holds in spite of rounding, and
    where nearly all of every row goes to k, the little that does not keeps its digits.
    Beyond that, the error of A U is relative to U: where other rows agree to many
    digits, those digits are lost to what they differ by.

    Parameters
    ----------
    attention : (..., query, key) float
        Rows sum to one.

    Returns
    -------
    Mixing
    """
    most = np.argmax(attention.mean(axis=-2), axis=-1)
    weights = (np.arange(attention.shape[-1]) == most[..., None]).astype(np.float64)
    rest = np.where(weights[..., None, :] != 0, 0.0, attention)
    rest -= weights[..., None, :] * rest.sum(axis=-1, keepdims=True)
    return Mixing(weights, rest, np.zeros(attention.shape[:-2], dtype=np.int64))


def _near(compared: _Compared) -> Mixing:
    """Split what all queries share off; meaningless where the exponent is not negative."""
    shared, exponent = compared.of_keys()
    top = np.argmax(shared, axis=-1)[..., None]
    weights = _softmax(shared, exponent)
    # The heaviest key's column is a row constant too; without it a lone key leaves nothing large.
    keys = compared.k - np.take_along_axis(compared.k, top, axis=-2)
    grown = compared.unit * compared.q @ np.swapaxes(keys, -1, -2)
    shift = binary_exponent(grown)
    scale = compared.exponent + shift
    least = np.clip(scale, LINEAR, -1)
    grown *= np.ldexp(1.0, least - shift)[..., None, None]
    np.expm1(grown, out=grown)
    grown *= np.ldexp(1.0, -least)[..., None, None]
    mean = grown @ np.swapaxes(weights, -1, -2)
    grown -= mean
    grown *= weights
    grown /= 1 + np.ldexp(mean, np.minimum(scale, -1)[..., None, None])
    return Mixing(weights[..., 0, :], grown, scale)


def _softmax(scores: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Normalise exponentials of scores * 2**exponent, which need not be floats."""
    below = scores - scores.max(axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        weight = np.exp(np.ldexp(below, exponent[..., None, None]))
    return weight / weight.sum(axis=-1, keepdims=True)
