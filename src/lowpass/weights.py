"""How projections are drawn.

It owns the distributions of the query and key projections, which decide how tokens
are compared, beside those of the projections of what attention averages.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal, Registry

WEIGHTS = Registry("weight distribution")
VALUES = Registry("value distribution")


@WEIGHTS.add("untied")
def untied(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw independent projections of queries and keys.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        Independent entries, N(0, 1/d).
    """
    w_q, w_k = rng.standard_normal((2, d_model, d_model)) / np.sqrt(d_model)
    return w_q, w_k


@WEIGHTS.add("symmetric")
def symmetric(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw projections whose dot-product logits are symmetric.

    Symmetric logits make softmax attention reversible, so its spectrum is real.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        The identity, and (G + Gᵀ)/√2 with G ~ N(0, 1/d).
    """
    g = rng.standard_normal((d_model, d_model)) / np.sqrt(d_model)
    return np.eye(d_model), (g + g.T) / np.sqrt(2)


@WEIGHTS.add("tied")
def tied(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw one projection for queries and keys alike.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        Equal, with entries N(0, 1/d): the logits are a positive semi-definite
        Gram matrix.
    """
    w = rng.standard_normal((d_model, d_model)) / np.sqrt(d_model)
    return w, w


@WEIGHTS.add("identity")
def identity(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Compare the tokens as they are; nothing is random.

    Parameters
    ----------
    rng : numpy.random.Generator
        Not used.
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        Both the identity.
    """
    return np.eye(d_model), np.eye(d_model)


@WEIGHTS.add("orthogonal")
def orthogonal(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw independent rotations of queries and keys.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        Orthogonal, uniformly distributed: lengths of tokens stay as they are.
    """
    return rotation(rng, d_model), rotation(rng, d_model)


def rotation(rng: np.random.Generator, d_model: int) -> np.ndarray:
    """Draw a uniformly distributed orthogonal matrix (feature, feature) (stewart1980)."""
    q, r = np.linalg.qr(rng.standard_normal((d_model, d_model)))
    # Without the signs of R's diagonal the distribution is not uniform.
    return q * np.sign(np.diag(r))


@VALUES.add("identity")
def same(rng: np.random.Generator, d_model: int) -> np.ndarray:
    """Average the tokens as they are; nothing is random.

    Parameters
    ----------
    rng : numpy.random.Generator
        Not used.
    d_model : int

    Returns
    -------
    (feature, feature) float
        The identity.
    """
    return np.eye(d_model)


@VALUES.add("random")
def random(rng: np.random.Generator, d_model: int) -> np.ndarray:
    """Draw independent entries.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    (feature, feature) float
        N(0, 1/d); its spectrum fills the unit disc as d grows (ginibre1965).
    """
    return rng.standard_normal((d_model, d_model)) / np.sqrt(d_model)


@VALUES.add("rotation")
def rotated(rng: np.random.Generator, d_model: int) -> np.ndarray:
    """Draw a rotation.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    (feature, feature) float
        Orthogonal, uniformly distributed; eigenvalues on the unit circle.
    """
    return rotation(rng, d_model)


@VALUES.add("turning")
def turning(rng: np.random.Generator, d_model: int) -> np.ndarray:
    """Keep the tokens, and turn them: the identity beside a random skew matrix.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    (feature, feature) float
        I + (G - Gᵀ)/√2 with G ~ N(0, 1/d): normal, with eigenvalues of real part one that fill
        a line parallel to the imaginary axis.
    """
    g = rng.standard_normal((d_model, d_model)) / np.sqrt(d_model)
    return np.eye(d_model) + (g - g.T) / np.sqrt(2)


@VALUES.add("graded")
def graded(rng: np.random.Generator, d_model: int) -> np.ndarray:
    """Give eigenvalues that are evenly spaced from -1 to 1, in a random frame.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    (feature, feature) float
        Symmetric.
    """
    frame = rotation(rng, d_model)
    return (frame * np.linspace(-1, 1, d_model)) @ frame.T


def turned(rng: np.random.Generator, d_model: int, angle: float) -> np.ndarray:
    """Turn every plane of a random frame by one angle (feature, feature).

    Raises
    ------
    Refusal
        If the number of features is odd, so that one would be left over.
    """
    if d_model % 2:
        raise Refusal(
            f"values that turn planes got {d_model} features; a plane takes two. Give an even "
            "number of features, or use the values 'rotation'."
        )
    frame = rotation(rng, d_model)
    plane = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return frame @ np.kron(np.eye(d_model // 2), plane) @ frame.T


@VALUES.add("oblique")
def oblique(rng: np.random.Generator, d_model: int) -> np.ndarray:
    r"""Turn planes by 60 degrees, in a random frame.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int
        Even.

    Returns
    -------
    (feature, feature) float
        Orthogonal; every eigenvalue is :math:`e^{\pm i\pi/3}`, on the right.
    """
    return turned(rng, d_model, np.pi / 3)


@VALUES.add("quarter_turn")
def quarter_turn(rng: np.random.Generator, d_model: int) -> np.ndarray:
    r"""Turn planes by 90 degrees, in a random frame.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int
        Even.

    Returns
    -------
    (feature, feature) float
        Orthogonal and antisymmetric; every eigenvalue is :math:`\pm i`.
    """
    return turned(rng, d_model, np.pi / 2)
