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

from lowpass.registry import Refusal, Registry
from lowpass.scores import SCORES
from lowpass.splits import LOWEST, Split, binary_exponent, remove_stationary, summed

KEY_SCORES = Registry("score with a split form")

# Below 2^-64 an exponential differs from 1 + b by less than the rounding of b.
LINEAR = -64
# The exponential of less comes near the end of the range of floats.
FAINT = -600.0
# Two scores that differ at all differ by far more than an exponential can show on this scale.
LARGEST = 1000


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
        mean = np.ldexp(moved.mean(axis=-2, keepdims=True), self.exponent[..., None, None])
        kept, kept_exponent = summed(
            [
                (1.0, state.kept[..., None, :], state.kept_exponent),
                (1.0, self.weights[..., None, :] @ state.rest + mean, state.exponent),
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
        pull, own = KEY_SCORES[score](w_q, w_k, k)
        unit = beta / np.sqrt(w_q.shape[-1]) if SCORES.facts(score)["per_root_feature"] else beta
        pulled = (state.kept[..., None, :] @ pull) @ np.swapaxes(k, -1, -2)
        both = state.kept_exponent + state.exponent
        return cls(q, k, unit, pulled, own, both, 2 * state.exponent)

    def of_keys(self) -> tuple[np.ndarray, np.ndarray]:
        """Give the logits that all queries share (..., 1, key), with their exponent."""
        pulled = (self.unit, self.pull, self.pull_exponent)
        return summed([pulled, (self.unit, self.own, self.exponent)])

    def of_pairs(self, score: str) -> tuple[np.ndarray, np.ndarray]:
        """Give all logits (..., query, key) up to row constants, with their exponent."""
        pairs = SCORES[score](self.q, self.k)
        higher = self.pull.any(axis=(-2, -1)) & (self.pull_exponent > self.exponent)
        shared = np.where(higher, self.pull_exponent, self.exponent)
        pairs *= np.ldexp(self.unit, self.exponent - shared)[..., None, None]
        # Where it is zero its exponent says nothing.
        below = np.minimum(self.pull_exponent - shared, 0)
        pairs += self.pull * np.ldexp(self.unit, below)[..., None, None]
        return pairs, shared

    def of_differences(self, top: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give the logits that queries do not share (..., query, key), with their exponent.

        Those of the heaviest key, ``top`` (..., 1, 1), are a constant in every row. Without them
        nothing large is left where that key has nearly all the weight.
        """
        keys = self.k - np.take_along_axis(self.k, top, axis=-2)
        product = (self.unit * self.q) @ np.swapaxes(keys, -1, -2)
        shift = binary_exponent(product)
        product *= np.ldexp(1.0, -shift)[..., None, None]
        return product, self.exponent + shift


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
        Name in ``KEY_SCORES``: ``"dot"`` or ``"l2"``, as in :func:`lowpass.scores.logits`.
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
        Name in ``KEY_SCORES``: ``"dot"`` or ``"l2"``, as in :func:`lowpass.scores.logits`.
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
    below = _below(*compared.of_keys())
    top = np.argmax(below, axis=-1)[..., None]
    differing, scale = compared.of_differences(top)
    near = scale < 0
    if near.all():
        return _near(differing, scale, below, top)
    far = _far(*compared.of_pairs(score))
    if not near.any():
        return far
    found = _near(differing, np.minimum(scale, -1), below, top)
    return Mixing(
        np.where(near[..., None], found.weights, far.weights),
        np.where(near[..., None, None], found.rest, far.rest),
        np.where(near, found.exponent, far.exponent),
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
    top = np.argmax(attention.mean(axis=-2), axis=-1)[..., None, None]
    rest = attention.copy()
    np.put_along_axis(rest, top, 0.0, axis=-1)
    return _without(top, rest, np.zeros(attention.shape[:-2], dtype=np.int64))


def _near(b: np.ndarray, scale: np.ndarray, below: np.ndarray, top: np.ndarray) -> Mixing:
    """Split off what all queries share; b, on its negative scale, and ``below`` are used up."""
    least = np.maximum(scale, LINEAR)
    b *= np.ldexp(1.0, least)[..., None, None]
    grown = np.expm1(b, out=b)
    grown *= np.ldexp(1.0, -least)[..., None, None]
    off, one, lift = _others(below, top)
    mean = grown @ np.swapaxes(off, -1, -2)
    grown -= np.ldexp(mean, lift[..., None, None])
    grown *= off
    np.put_along_axis(grown, top, -mean * one, axis=-1)
    grown /= 1 + np.ldexp(mean, (scale + lift)[..., None, None])
    weights = np.ldexp(off, lift[..., None, None])
    np.put_along_axis(weights, top, one, axis=-1)
    return Mixing(weights[..., 0, :], grown, scale + lift)


def _far(scores: np.ndarray, exponent: np.ndarray) -> Mixing:
    """Split off the key that all queries choose, if they do, and any if they do not."""
    below = _below(scores, exponent)
    top = np.argmax(below.mean(axis=-2), axis=-1)[..., None, None]
    off, _, lift = _others(below, top)
    return _without(top, off, lift)


def _without(top: np.ndarray, off: np.ndarray, exponent: np.ndarray) -> Mixing:
    """Complete a matrix whose column ``top`` (..., 1, 1) is zero, in its place."""
    np.put_along_axis(off, top, -off.sum(axis=-1, keepdims=True), axis=-1)
    weights = np.zeros((*off.shape[:-2], 1, off.shape[-1]))
    np.put_along_axis(weights, top, 1.0, axis=-1)
    return Mixing(weights[..., 0, :], off, exponent)


def _below(scores: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Bring scores * 2**exponent to at most zero in every row, in place; -inf is beyond floats."""
    scores -= scores.max(axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        scores *= np.ldexp(1.0, np.minimum(exponent, LARGEST))[..., None, None]
    return scores


def _others(below: np.ndarray, top: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normalise exponentials, in place, with those of one column apart.

    Parameters
    ----------
    below : (..., row, key) float
    top : (..., 1, 1) int
        Which column.

    Returns
    -------
    off : (..., row, key) float
        Zero in that column, and in all others on the scale of ``lift``.
    one : (..., row, 1) float
        That column.
    lift : (...) int
        Zero, unless all the others would come near the smallest float or vanish.
    """
    one = np.exp(np.take_along_axis(below, top, axis=-1))
    np.put_along_axis(below, top, -np.inf, axis=-1)
    largest = np.maximum(below.max(axis=(-2, -1)), LOWEST)
    lift = np.where(largest < FAINT, np.floor(largest / np.log(2)), 0).astype(np.int64)
    if lift.any():
        below -= (lift * np.log(2))[..., None, None]
    off = np.exp(below, out=below)
    total = one + np.ldexp(off.sum(axis=-1, keepdims=True), lift[..., None, None])
    off /= total
    return off, one / total, lift
