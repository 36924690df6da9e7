"""What a mixing matrix does to frequencies.

It owns the numbers that describe one matrix (stationary distribution,
eigenvalues, defects) or one trajectory (norms, fitted rates), all on bare
arrays with any leading dimensions.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal

# As many tokens are eliminated one by one before a matrix product does the rest of their work.
TOKENS_AT_ONCE = 64
# Above it, squares that underflow are too small to matter in their sum.
SMALLEST_SQUARE = 1e-250


def _eliminate(a: np.ndarray, low: int, high: int) -> np.ndarray:
    """Lead every walk past the tokens of a stretch, in place; give how much leaves each of them."""
    leaving = np.ones((*a.shape[:-2], high - low))
    for k in range(high - 1, max(low, 1) - 1, -1):
        leaving[..., k - low] = a[..., k, :k].sum(axis=-1)
        a[..., k, :k] /= leaving[..., k - low, None]
        detour = a[..., k, None, :k]
        a[..., low:k, :k] += a[..., low:k, k, None] * detour
        a[..., :low, low:k] += a[..., :low, k, None] * detour[..., low:]
    # What the stretch adds to all other tokens is one matrix product.
    a[..., :low, :low] += a[..., :low, low:high] @ a[..., low:high, :low]
    return leaving


def _gth(attention: np.ndarray) -> np.ndarray:
    """Find π of irreducible matrices without a subtraction (grassmann1985)."""
    a = attention.copy()
    n_tokens = a.shape[-1]
    leaving = np.ones(a.shape[:-1])
    for high in range(n_tokens, 0, -TOKENS_AT_ONCE):
        low = max(high - TOKENS_AT_ONCE, 0)
        leaving[..., low:high] = _eliminate(a, low, high)
    pi = np.zeros(a.shape[:-1])
    pi[..., 0] = 1
    for k in range(1, n_tokens):
        arriving = (pi[..., :k] * a[..., :k, k]).sum(axis=-1)
        # Shares, not ratios: a token may be seen 1e300 times more often than another.
        total = leaving[..., k] + arriving
        pi[..., :k] *= (leaving[..., k] / total)[..., None]
        pi[..., k] = arriving / total
    return pi / pi.sum(axis=-1, keepdims=True)


def _cesaro(attention: np.ndarray) -> np.ndarray:
    """Average the iterated uniform distribution of one matrix with zeros."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n_classes, part = connected_components(csr_array(attention > 0), connection="strong")
    leaves = (attention > 0) & (part[:, None] != part[None, :])
    is_closed = np.array([not leaves[part == c].any() for c in range(n_classes)])
    closed = is_closed[part]
    inner = attention[np.ix_(~closed, ~closed)]
    start = np.full(part.size, 1 / part.size)
    passed = np.linalg.solve((np.eye(len(inner)) - inner).T, start[~closed])
    caught = start[closed] + passed @ attention[np.ix_(~closed, closed)]
    mass = np.zeros(part.size)
    mass[closed] = caught
    pi = np.zeros(part.size)
    for c in np.flatnonzero(is_closed):
        members = part == c
        pi[members] = mass[members].sum() * _gth(attention[np.ix_(members, members)])
    # What the solver rounds away is nobody's.
    return pi / pi.sum()


def stationary(attention: np.ndarray) -> np.ndarray:
    r"""Find the distribution that a mixing matrix leaves as it is.

    .. math:: \pi^\top A = \pi^\top, \qquad \pi^\top 1 = 1

    Elimination after Grassmann, Taksar and Heyman never subtracts, so every
    entry has full relative accuracy, however small. Three choices:

    - Column sums within 4 n eps of one: A is doubly stochastic and π is
      exactly 1/n, so that what must be exactly zero is.
    - A periodic matrix (a cycle) still has one π; it is returned although the
      powers of A do not converge.
    - A reducible matrix (a block mask) has several. Returned is the Cesàro
      limit of the uniform start, :math:`\tfrac1n 1^\top \lim_T \tfrac1T \sum_{t<T} A^t`:
      each closed class in proportion to the tokens it absorbs.

    Parameters
    ----------
    attention : (..., query, key) float
        Non-negative; rows sum to one. The diagonal is never read: it is taken
        to be what the rest of the row leaves.

    Returns
    -------
    (..., token) float
        Non-negative; sums to one.

    Raises
    ------
    Refusal
        If an entry is negative.

    References
    ----------
    .. [1] grassmann1985.
    """
    if (attention < 0).any():
        raise Refusal(
            f"the mixing matrix has the entry {attention.min():.3g}; a stationary distribution "
            "needs weights that are not negative. Use a positive kernel such as softmax."
        )
    n_tokens = attention.shape[-1]
    pi = np.empty(attention.shape[:-1])
    positive = (attention > 0).all(axis=(-2, -1))
    pi[positive] = _gth(attention[positive])
    for index in np.argwhere(~positive):
        pi[tuple(index)] = _cesaro(attention[tuple(index)])
    column_defect = np.abs(attention.sum(axis=-2) - 1).max(axis=-1)
    pi[column_defect <= 4 * n_tokens * np.finfo(np.float64).eps] = 1 / n_tokens
    return pi


def eigenvalues(attention: np.ndarray) -> np.ndarray:
    """List all eigenvalues by decreasing modulus.

    Parameters
    ----------
    attention : (..., query, key) float

    Returns
    -------
    (..., mode) complex
        Of a conjugate pair, the one with positive imaginary part comes first.
    """
    value = np.linalg.eigvals(attention).astype(np.complex128)
    # NumPy's other word for a stable sort names a measure, whose code would count here as well.
    order = np.argsort(-np.abs(value), axis=-1, kind="mergesort")
    return np.take_along_axis(value, order, axis=-1)


def row_sum_defect(attention: np.ndarray) -> np.ndarray:
    """Give the largest distance of a row sum from one.

    Parameters
    ----------
    attention : (..., query, key) float

    Returns
    -------
    (...) float
        Dimensionless.
    """
    return np.abs(attention.sum(axis=-1) - 1).max(axis=-1)


def unit_eigenvalue_defect(attention: np.ndarray) -> np.ndarray:
    """Give the distance from one of the eigenvalue nearest to it.

    Parameters
    ----------
    attention : (..., query, key) float

    Returns
    -------
    (...) float
        Dimensionless.
    """
    return np.abs(eigenvalues(attention) - 1).min(axis=-1)


def log10_norm(u: np.ndarray, exponent: np.ndarray | int = 0) -> np.ndarray:
    """Give the decimal logarithm of a Frobenius norm, beyond the range of floats.

    Parameters
    ----------
    u : (..., token, feature) float
    exponent : (...) int
        The array meant is ``u * 2**exponent``.

    Returns
    -------
    (...) float
        -inf for a zero array. Nothing overflows or underflows.
    """
    flat = u.reshape(*u.shape[:-2], -1)
    with np.errstate(over="ignore"):
        square = np.vecdot(flat, flat)
    outside = ~((square > SMALLEST_SQUARE) & (square < np.inf))
    shift = np.zeros(square.shape, dtype=np.int64)
    if outside.any():
        shift = np.where(outside, np.frexp(np.abs(flat).max(axis=-1))[1], 0)
        scaled = np.ldexp(flat, -shift[..., None])
        square = np.vecdot(scaled, scaled)
    with np.errstate(divide="ignore"):
        return 0.5 * np.log10(square) + (exponent + shift) * np.log10(2)


def dft_mean(x: np.ndarray) -> np.ndarray:
    """Keep only the zero frequency of a Fourier transform along tokens.

    Parameters
    ----------
    x : (..., token, feature) float
        Any number of tokens, odd ones too.

    Returns
    -------
    (..., token, feature) float
        Every row is the token mean.

    References
    ----------
    .. [1] wang2022, section 2.
    """
    from scipy.fft import irfft, rfft

    spectrum = np.asarray(rfft(x, axis=-2))
    spectrum[..., 1:, :] = 0
    return np.asarray(irfft(spectrum, n=x.shape[-2], axis=-2))


def fitted_rate(log10_ratio: np.ndarray, first: int) -> np.ndarray:
    """Fit a geometric rate to the tail of a decay.

    Parameters
    ----------
    log10_ratio : (..., layer) float
        Decimal logarithm of a ratio at layers 0, 1, 2 ...
    first : int
        First layer of the fit; before it other modes still matter.

    Returns
    -------
    (...) float
        Ten to the power of the least-squares slope: the factor per layer.
        Zero where the ratio itself reached zero, infinite where it reached infinity.

    Raises
    ------
    Refusal
        If fewer than two layers are left to fit.
    """
    tail = log10_ratio[..., first:]
    n_layers = tail.shape[-1]
    if n_layers < 2:
        raise Refusal(
            f"a rate was to be fitted from layer {first} on, which leaves {n_layers} of "
            f"{log10_ratio.shape[-1]} layers; a slope needs two. Start earlier or go deeper."
        )
    layer = np.arange(n_layers) - (n_layers - 1) / 2
    return power_of_ten(tail, layer / (layer @ layer))


def tapered_rate(log10_ratio: np.ndarray, first: int) -> np.ndarray:
    r"""Average the steps of the tail of a decay, those at its two ends least.

    .. math:: \log_{10} \rho = \sum_t w_t (\log_{10} r_{t+1} - \log_{10} r_t), \qquad
        w_t \propto \sin^8(\pi (t + \tfrac12) / N)

    Where modes turn, a ratio swings about its slope. The least-squares slope over N layers is
    then off by a multiple of N⁻², and this one by one of N⁻⁹.

    Parameters
    ----------
    log10_ratio : (..., layer) float
        Decimal logarithm of a ratio at layers 0, 1, 2 ...
    first : int
        First layer of the average.

    Returns
    -------
    (...) float
        The factor per layer, as :func:`fitted_rate` gives it; exact for a geometric decay.

    Raises
    ------
    Refusal
        If fewer than two layers are left.
    """
    tail = log10_ratio[..., first:]
    steps = taper(tail.shape[-1] - 1)
    # A weighted sum of steps is one of the ratios themselves.
    return power_of_ten(tail, np.append(0, steps) - np.append(steps, 0))


def taper(n_steps: int) -> np.ndarray:
    """Weigh steps between layers, those at the ends least.

    Returns
    -------
    (step,) float
        They sum to one.

    Raises
    ------
    Refusal
        If there is no step.
    """
    if n_steps < 1:
        raise Refusal(
            f"a rate was to be averaged over {n_steps} steps between layers, and needs one; start "
            f"earlier or go deeper."
        )
    # With the eighth power, swings that fill the layers ten times count 2e-7 of their height.
    window = np.sin(np.pi * (np.arange(n_steps) + 0.5) / n_steps) ** 8
    return window / window.sum()


def power_of_ten(tail: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Raise ten to a weighted sum over layers (..., layer), whose weights sum to zero.

    Returns
    -------
    (...) float
        Zero where the ratio itself reached zero, infinite where it reached infinity.
    """
    finite = np.asarray(np.isfinite(tail).all(axis=-1))
    slope = np.where(finite[..., None], tail, 0.0) @ weights
    without = np.where((tail == -np.inf).any(axis=-1), 0.0, np.inf)
    without = np.where(np.isnan(tail).any(axis=-1), np.nan, without)
    return np.where(finite, 10**slope, without)


def fitted_order(log10_ratio: np.ndarray, first: int) -> np.ndarray:
    r"""Fit the order of convergence to the tail of a decay.

    .. math:: \log r_{l+1} \approx \log C + p \log r_l

    Parameters
    ----------
    log10_ratio : (..., layer) float
        Decimal logarithm of a ratio r at layers 0, 1, 2 ...
    first : int
        First layer of the fit.

    Returns
    -------
    (...) float
        The least-squares slope p of one layer's logarithm over that of the layer before: 1 where
        the decay is geometric, also where the ratio stands still, and 3 where it is cubic.
        Infinite where the ratio reached zero, or is infinite.

    Raises
    ------
    Refusal
        If fewer than three layers are left to fit.
    """
    tail = log10_ratio[..., first:]
    n_layers = tail.shape[-1]
    if n_layers < 3:
        raise Refusal(
            f"an order was to be fitted from layer {first} on, which leaves {n_layers} of "
            f"{log10_ratio.shape[-1]} layers; a slope of one layer over another needs three. "
            f"Start earlier or go deeper."
        )
    finite = np.asarray(np.isfinite(tail).all(axis=-1))
    kept = np.where(finite[..., None], tail, 0.0)
    before = kept[..., :-1] - kept[..., :-1].mean(axis=-1, keepdims=True)
    width = np.vecdot(before, before)
    still = np.asarray(width == 0)
    slope = np.where(still, 1.0, np.vecdot(before, kept[..., 1:]) / np.where(still, 1.0, width))
    return np.where(finite, slope, np.inf)


def rounding_floor(dtype: str, n_tokens: int) -> float:
    r"""Give the smallest positive ratio of HC to DC that one array can hold.

    .. math:: u / \sqrt{2n}

    Two unequal numbers near m differ by at least u |m|, with u half the
    machine epsilon; for one token among n that gives the bound, attained at
    n = 2. An iteration stalls above it, where the rounding of its sums and of
    the row sums feeds the ratio: by one to two decades at n = 64.

    Parameters
    ----------
    dtype : str
        ``"float64"`` or ``"float32"``.
    n_tokens : int

    Returns
    -------
    float
        Dimensionless.
    """
    return float(np.finfo(dtype).eps / 2 / np.sqrt(2 * n_tokens))
