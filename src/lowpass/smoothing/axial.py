"""Keys as one query sees them: how far along it, and how far aside.

It owns the half-plane in which both smoothers are round or straight: seen from a query, a weight
depends on nothing but the way along it and the distance from its axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Contours(NamedTuple):
    """Hold where weights have fallen by one power of e after another.

    Attributes
    ----------
    radius : (contour,) float
        Of circles around the query, on which a Gaussian smoother is constant.
    along : (contour,) float
        Of lines across the query's axis, on which attention is constant.
    lifted_radius : (contour,) float
        Of circles around the query that meet the circle of the lifted keys on those lines.
    """

    radius: np.ndarray
    along: np.ndarray
    lifted_radius: np.ndarray


def along_and_across(query: np.ndarray, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn the plane, so that a query lies on its first axis.

    Parameters
    ----------
    query : (2,) float
        Not zero.
    key : (key, 2) float

    Returns
    -------
    along, across : (key,) float
        In the units of a feature.
    """
    axis = query / np.hypot(*query)
    return key @ axis, key @ np.array([-axis[1], axis[0]])


def contours(query_norm: float, radius: float, temperature: float, count: int) -> Contours:
    r"""Follow the weights down from their largest values, of a key on the query or beyond it.

    .. math::
        r_m^2 = 2 m T, \qquad u_m = R - m T / \|q\|, \qquad
        \rho_m^2 = \|q\|^2 + R^2 - 2 u_m \|q\| = (R - \|q\|)^2 + r_m^2

    Parameters
    ----------
    query_norm : float
        ‖q‖, not zero.
    radius : float
        R, the largest norm of a key.
    temperature : float
        T, in the squared units of a feature.
    count : int
        Number of contours, m = 1 ... count.

    Returns
    -------
    Contours
        In the units of a feature.
    """
    fallen = np.arange(1, count + 1) * temperature
    return Contours(
        np.sqrt(2 * fallen),
        radius - fallen / query_norm,
        np.sqrt((radius - query_norm) ** 2 + 2 * fallen),
    )
