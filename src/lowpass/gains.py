r"""What a layer makes of every mode, predicted from the eigenvalues of attention alone.

It owns the gains of a layer :math:`X \to s X + h\, H X W + h c X_0 W`, with H a filter of
attention A and W the map of values. A mode of A with eigenvalue λ, in a feature that is an
eigenvector of W with eigenvalue μ, is multiplied by :math:`s + h \mu g(\lambda)`; the
constant mode by :math:`s + h \mu g_1`. Nothing here iterates a layer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# Gains that differ by less are those of one mode in several features.
ALIKE = 1e-9


@dataclass(frozen=True)
class Rule:
    """Hold what a layer does with attention, for any leading dimensions.

    Attributes
    ----------
    high, mean : (..., power) float
        Coefficients of I, A, A² for what differs between tokens, and for their mean.
    source : (...) float
        c, the weight of the tokens of layer 0.
    skip, step : (...) float
        s and h.
    value_eigenvalue : (..., value) complex
        μ, the eigenvalues of the map of values; one for the identity.
    """

    high: np.ndarray
    mean: np.ndarray
    source: np.ndarray
    skip: np.ndarray
    step: np.ndarray
    value_eigenvalue: np.ndarray

    @property
    def is_even_handed(self) -> bool:
        """Whether the filter is one polynomial, for the mean of tokens as for the rest."""
        return bool((self.high == self.mean).all())

    @property
    def is_plain(self) -> bool:
        """Whether a layer is attention itself, but for the map of values."""
        only = np.zeros(self.high.shape[-1])
        only[1:2] = 1
        filters = (self.high == only).all() and (self.mean == only).all()
        return bool(filters and not self.source.any() and not self.skip.any())

    def at(self, place: tuple[int, ...]) -> Rule:
        """Give the rule at one place of the leading dimensions."""
        return Rule(
            self.high[place],
            self.mean[place],
            self.source[place],
            self.skip[place],
            self.step[place],
            self.value_eigenvalue[place],
        )

    def layered(self, filtered: np.ndarray) -> np.ndarray:
        """Give s + h μ g for gains g (..., mode): (..., mode, value)."""
        weight = self.step[..., None] * self.value_eigenvalue
        return self.skip[..., None, None] + weight[..., None, :] * filtered[..., :, None]

    def transient(self, eigenvalue: np.ndarray) -> np.ndarray:
        """Give the gains of modes of A (..., mode) other than the constant one.

        Returns
        -------
        (..., mode, value) complex
        """
        powers = eigenvalue[..., None] ** np.arange(self.high.shape[-1])
        return self.layered((powers * self.high[..., None, :]).sum(axis=-1))

    def constant(self) -> np.ndarray:
        """Give the gains of the constant mode, (..., value) complex."""
        return self.layered(self.mean.sum(axis=-1)[..., None])[..., 0, :]


def other_eigenvalues(attention: np.ndarray) -> np.ndarray:
    r"""List the eigenvalues of A without the one of the constant mode.

    They are those of what A does to the differences :math:`z_i - z_1`, a matrix with the
    entries :math:`A_{ij} - A_{1j}`; so none has to be picked out.

    Parameters
    ----------
    attention : (..., query, key) float
        Rows sum to one.

    Returns
    -------
    (..., mode) complex
        One fewer than tokens, in any order.
    """
    differences = attention[..., 1:, 1:] - attention[..., :1, 1:]
    return np.linalg.eigvals(differences).astype(np.complex128)


def growth(rule: Rule, eigenvalue: np.ndarray) -> np.ndarray:
    """Give the factor by which a layer multiplies the transient part, in the end.

    Parameters
    ----------
    rule : Rule
    eigenvalue : (..., mode) complex
        Of attention, without the constant mode.

    Returns
    -------
    (...) float
        The largest modulus of a gain. A source does not grow, and what does not grow as fast
        as it tends to a fixed point: with a source the factor is at least one.
    """
    return with_source(rule, np.abs(rule.transient(eigenvalue)).max(axis=(-2, -1), initial=0))


def rate(rule: Rule, eigenvalue: np.ndarray) -> np.ndarray:
    """Give the factor by which a layer multiplies the transient ratio, in the end.

    Returns
    -------
    (...) float
        The growth of the transient part over that of the constant one; infinite where the
        constant part vanishes, zero where the transient part does.
    """
    rest = growth(rule, eigenvalue)
    kept = with_source(rule, np.abs(rule.constant()).max(axis=-1))
    vanishes = np.where(rest > 0, np.inf, 0.0)
    return np.divide(rest, kept, out=vanishes, where=kept > 0)


def stability(rule: Rule, eigenvalue: np.ndarray) -> np.ndarray:
    """Give the largest modulus of a gain, that of the constant mode included.

    Returns
    -------
    (...) float
        Below one where tokens settle, whatever the source.
    """
    rest = np.abs(rule.transient(eigenvalue)).max(axis=(-2, -1), initial=0)
    return np.maximum(rest, np.abs(rule.constant()).max(axis=-1))


def second_share(rule: Rule, eigenvalue: np.ndarray) -> np.ndarray:
    """Give the second-largest gain of a transient mode, in units of the largest.

    Returns
    -------
    (...) float
        In [0, 1]: with the power of the depth the faster modes die out. One where two modes
        have gains of one modulus, as a complex pair has; zero where there is no second mode.
    """
    gains = np.abs(rule.transient(eigenvalue))
    sorted_gains = np.sort(gains.reshape(*gains.shape[:-2], -1), axis=-1)
    if sorted_gains.shape[-1] < 2:
        return np.zeros(sorted_gains.shape[:-1])
    largest = sorted_gains[..., -1]
    return np.divide(sorted_gains[..., -2], largest, out=np.ones(largest.shape), where=largest > 0)


def rate_error(rule: Rule, eigenvalue: np.ndarray, first: int, weights: np.ndarray) -> np.ndarray:
    r"""Predict how far off the rate of a transient ratio is that is averaged over steps.

    .. math:: \max\{(1 - q)\, q^{t_0},\; 2|\sin\varphi|\,|\textstyle\sum_t w_t
        e^{2i\varphi t}|\}

    A second gain that is q times the largest bends the slope by the first term, which vanishes
    with 1 - q: a mode that is as fast does no harm. Modes whose gains are a pair with the
    phases ±φ make the ratio swing at 2φ, of which the weights leave the second term. Both are
    taken of the transient modes and of the constant one, up to factors of the order of one.

    Parameters
    ----------
    rule : Rule
    eigenvalue : (..., mode) complex
        Of attention, without the constant mode.
    first : int
        t₀, the layer before the first step.
    weights : (step,) float
        w, which sum to one.

    Returns
    -------
    (...) float
        Relative to the rate; zero where nothing else is left.
    """
    transient, constant = rule.transient(eigenvalue), rule.constant()
    error = np.zeros(constant.shape[:-1])
    for place in np.ndindex(error.shape):
        for gains in (transient[place].ravel(), constant[place]):
            error[place] = max(error[place], slope_error(gains, first, weights))
    return error


def slope_error(gains: np.ndarray, first: int, weights: np.ndarray) -> float:
    """Predict the error of one growth from the gains (mode,) of what grows."""
    size = np.abs(gains)
    if size.max(initial=0) == 0:
        return 0.0
    largest = gains[size.argmax()]
    unlike = np.minimum(np.abs(gains - largest), np.abs(gains - largest.conjugate()))
    share = size[unlike > ALIKE * size.max()].max(initial=0) / size.max()
    turns = np.exp(2j * np.angle(largest) * np.arange(len(weights)))
    swing = 2 * abs(np.sin(np.angle(largest)) * (weights @ turns))
    return float(max((1 - share) * share**first, swing))


def with_source(rule: Rule, factor: np.ndarray) -> np.ndarray:
    """Let nothing fall that a source feeds."""
    return np.where(rule.source * rule.step != 0, np.maximum(factor, 1.0), factor)


def sharpening_edge(eigenvalue: np.ndarray) -> np.ndarray:
    r"""Give the negative μ down to which X + μ A X sharpens.

    .. math:: -\max_i 2\,\frac{1 - \mathrm{Re}\,\lambda_i}{1 - |\lambda_i|^2}

    The gain of a mode exceeds that of the constant one, :math:`|1 + \mu\lambda| > |1 + \mu|`,
    exactly where μ lies between that and zero. For real λ it is
    :math:`-2 / (1 + \lambda)`, which the least eigenvalue decides.

    Parameters
    ----------
    eigenvalue : (..., mode) complex
        Of attention, without the constant mode.

    Returns
    -------
    (...) float
        At most -1; minus infinity where a mode of modulus one is not constant.
    """
    lost = 1 - np.abs(eigenvalue) ** 2
    each = np.divide(
        2 * (1 - np.real(eigenvalue)), lost, out=np.full(lost.shape, np.inf), where=lost > 0
    )
    return -each.max(axis=-1, initial=1.0)


def largest_mode(
    matrix: np.ndarray, weights: np.ndarray, gain: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Find the mode of one matrix that a layer enlarges most, but for the constant one.

    Parameters
    ----------
    matrix : (query, key) float
        M, with M 1 = m 1.
    weights : (token,) float
        p, with pᵀM = m pᵀ and pᵀ1 = 1.
    gain : callable
        From eigenvalues (mode,) of M to the gains (mode, value) that a layer gives them.

    Returns
    -------
    (token,) complex
        A right eigenvector of M.
    """
    # What M does to differences from the first token has all modes but the constant one.
    value, difference = np.linalg.eig(matrix[1:, 1:] - matrix[:1, 1:])
    largest = np.abs(gain(value)).max(axis=-1).argmax()
    mode = np.concatenate([[0], difference[:, largest]])
    return mode - weights @ mode


def mode_ratio(mode: np.ndarray) -> float:
    """Give the ratio of HC to DC of one signal (token,), as a decimal logarithm."""
    mean = mode.mean()
    with np.errstate(divide="ignore"):
        high = np.log10(np.linalg.norm(mode - mean))
        return float(high - np.log10(abs(mean) * np.sqrt(mode.size)))


def fixed_point(layer: np.ndarray, source: np.ndarray, x: np.ndarray) -> np.ndarray:
    r"""Find the tokens that a layer with a source leaves as they are.

    .. math:: X^* = (I - M)^{-1} c X_0, \qquad X \to M X + c X_0

    For NeuTRENO M = A - λ̃I and c = λ̃, so that :math:`X^* = λ̃((1 + λ̃)I - A)^{-1} X_0`.

    Parameters
    ----------
    layer : (..., query, key) float
        M.
    source : (...) float
        c.
    x : (..., token, feature) float
        The tokens of layer 0.

    Returns
    -------
    (..., token, feature) float

    References
    ----------
    .. [1] nguyen2023.
    """
    return np.linalg.solve(np.eye(layer.shape[-1]) - layer, source[..., None, None] * x)
