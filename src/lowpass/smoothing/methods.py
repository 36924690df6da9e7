"""Ways to the same fit.

It owns the names of the methods by which a smooth curve is computed, and the one that forms
the matrix. An entry maps a checked sample to fits, ``(sample, *, kernel, degree, beyond)``; its
facts say for what it is made: ``kernels`` and ``degrees``, where not for all; the
``most_features`` of a key; the ``error`` of a fit as a share of the range of the values, where
keys are dense; and ``draws``, the parameters that shape a random draw.
"""

from __future__ import annotations

import math

import numpy as np

from lowpass.registry import Refusal, Registry
from lowpass.smoothing.checks import Sample
from lowpass.smoothing.hull import Hull
from lowpass.smoothing.local import matrix_of

METHODS = Registry("method of smoothing")
# Numbers in one tile of the matrix: 8 MiB.
TILE = 2**20


@METHODS.add("exact", kernels=None, degrees=None, most_features=math.inf, error=1e-15, draws=())
def exact(sample: Sample, *, kernel: str, degree: int, beyond: str) -> np.ndarray:
    """Weigh every observation for every query, some rows of the matrix at a time."""
    fit = np.empty((len(sample.query), sample.value.shape[1]))
    rows = max(1, TILE // len(sample.key))
    for start in range(0, len(fit), rows):
        part = slice(start, start + rows)
        matrix = matrix_of(sample.at(part), kernel=kernel, degree=degree, beyond=beyond)
        fit[part] = matrix @ sample.value
    return fit if degree else Hull.of(sample.value).clipped(fit)


def refuse_unsuited(method: str, sample: Sample, *, kernel: str, degree: int) -> None:
    """Refuse what a method is not made for, by its facts.

    Parameters
    ----------
    method : str
        Name in ``METHODS``.
    sample : Sample
    kernel : str
    degree : int

    Raises
    ------
    Refusal
        Naming what was asked for, and a method that does it.
    """
    said = unsuited(method, sample, kernel=kernel, degree=degree)
    if said:
        raise Refusal(f"{said} Use method 'tiled', which does.")


def unsuited(method: str, sample: Sample, *, kernel: str, degree: int) -> str:
    """Say why the facts of a method exclude a sample, or nothing if they do not."""
    facts, d = METHODS.facts(method), sample.key.shape[1]
    asked = {"kernel": (kernel, facts["kernels"]), "degree": (degree, facts["degrees"])}
    for name, (given, known) in asked.items():
        if known is not None and given not in known:
            only = ", ".join(map(str, known))
            return f"method '{method}' got the {name} {given!r}; it can do no other than {only}."
    if d > facts["most_features"]:
        return (
            f"method '{method}' got keys of {d} features; it can do no more than "
            f"{facts['most_features']}."
        )
    return ""
