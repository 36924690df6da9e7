r"""Layer norm: every token is centred over its features and brought to variance one.

It owns that map, on whole tokens and on split ones, without the affine part that
models learn and without an epsilon.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal
from lowpass.splits import Split, binary_exponent, by_mean, remove_stationary

# Up to here tokens differ so little from their mean that every 1 + 2^e α is at least 3/4.
CLOSE = 0.25
# The mean is 2^60 times what differs from it: whole tokens that are not used need not grow beyond.
FAR = 60


def layer_norm(x: np.ndarray) -> np.ndarray:
    r"""Centre every token over its features, and divide by its standard deviation.

    .. math:: \mathrm{LN}(x) = \sqrt d\, \tilde x / \|\tilde x\|, \qquad
        \tilde x = x - \tfrac1d 1^\top x

    Parameters
    ----------
    x : (..., token, feature) float

    Returns
    -------
    (..., token, feature) float
        Every token has mean zero and mean square one.

    Raises
    ------
    Refusal
        If a token has the same value in every feature.

    References
    ----------
    .. [1] ba2016, section 3.
    """
    centred = _centred(x)
    flat = ~centred.any(axis=-1)
    if flat.any():
        where = tuple(np.argwhere(flat)[0])
        raise Refusal(
            f"token [{', '.join(str(i) for i in where)}] is {x[where][0]:.6g} in every feature; "
            "layer norm divides by its standard deviation, which is zero. Use other tokens, more "
            "features, or no layer norm."
        )
    # Squares of the scaled entries stay within the range of floats.
    scaled = np.ldexp(centred, -np.frexp(np.abs(centred).max(axis=-1, keepdims=True))[1])
    return scaled / np.sqrt(np.square(scaled).mean(axis=-1, keepdims=True))


def layer_norm_split(state: Split) -> Split:
    r"""Apply layer norm to split tokens beyond machine precision.

    With the centred mean token m, what a token differs by is
    :math:`\tilde u = \alpha m + \tilde u_\perp`. Its norm gives

    .. math:: \mathrm{LN}(m + \tilde u) - \mathrm{LN}(m) =
        \frac{\sqrt d}{\|m\|} \Bigl(\frac{\tilde u_\perp}{\sqrt{g^2 + p}}
        - \frac{p\, m}{\sqrt{g^2 + p}\,(g + \sqrt{g^2 + p})}\Bigr),
        \quad g = 1 + \alpha,\ p = \|\tilde u_\perp\|^2 / \|m\|^2

    without a difference of nearly equal numbers: u of any smallness keeps its
    digits. Where tokens differ by more than a quarter of their mean there is
    nothing to cancel, and whole tokens are normalised.

    Parameters
    ----------
    state : Split
        With uniform weights.

    Returns
    -------
    Split
        With uniform weights.

    Raises
    ------
    Refusal
        If a token has the same value in every feature.

    References
    ----------
    .. [1] ba2016, section 3.
    """
    m, up = _scaled(_centred(state.kept[..., None, :]), state.kept_exponent)
    u, down = _scaled(_centred(state.rest), state.exponent)
    size = np.sqrt(np.square(m).sum(axis=-1))[..., 0]
    largest = np.sqrt(np.square(u).sum(axis=-1).max(axis=-1))
    # No quotient of a mean that is zero, and none that leaves the range of floats.
    close = np.ldexp(largest, np.minimum(down - up, FAR)) < CLOSE * size
    if close.all():
        return _close(m, u, up, down)
    apart = by_mean(layer_norm(np.ldexp(m, np.minimum(up - down, FAR)[..., None, None]) + u))
    if not close.any():
        return apart
    near = _close(
        np.where(close[..., None, None], m, np.eye(1, m.shape[-1])),
        np.where(close[..., None, None], u, 0.0),
        up,
        np.where(close, down, up),
    )
    return Split(
        np.where(close[..., None], near.kept, apart.kept),
        np.where(close[..., None, None], near.rest, apart.rest),
        np.where(close, near.exponent, apart.exponent),
        np.where(close, near.kept_exponent, apart.kept_exponent),
    )


def _centred(x: np.ndarray) -> np.ndarray:
    """Remove the mean over features; equal ones become exactly zero."""
    rest = x - x[..., :1]
    return rest - rest.mean(axis=-1, keepdims=True)


def _scaled(x: np.ndarray, exponent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bring the largest entry of (..., row, column) below one, and hand its exponent on."""
    shift = binary_exponent(x)
    return x * np.ldexp(1.0, -shift)[..., None, None], exponent + shift


def _close(m: np.ndarray, u: np.ndarray, up: np.ndarray, down: np.ndarray) -> Split:
    """Normalise centred tokens 2^up m + 2^down u, whose second part is the smaller one."""
    d = m.shape[-1]
    ratio = (down - up)[..., None, None]
    square = np.square(m).sum(axis=-1, keepdims=True)
    alpha = u @ np.swapaxes(m, -1, -2) / square
    # Centred tokens of two features lie on one line.
    across = u - alpha * m if d > 2 else np.zeros_like(u)
    p = np.square(across).sum(axis=-1, keepdims=True) / square
    g = 1 + np.ldexp(alpha, ratio)
    root = np.sqrt(np.square(g) + np.ldexp(p, 2 * ratio))
    moved = across / root
    moved -= np.ldexp(p, ratio) / (root * (g + root)) * m
    one = np.sqrt(d / square)
    moved *= one
    even = np.full(u.shape[-2], 1 / u.shape[-2])
    mean = np.ldexp(moved.mean(axis=-2, keepdims=True), ratio)
    kept = (one * m + mean)[..., 0, :]
    return Split.of(kept, remove_stationary(even, moved), ratio[..., 0, 0])
