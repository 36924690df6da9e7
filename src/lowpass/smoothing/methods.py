"""Ways to the same fit.

It owns the methods by which a smooth curve is computed: they differ in what
they cost, and in what kernels and dimensions they can do.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Registry
from lowpass.smoothing.checks import Sample
from lowpass.smoothing.local import matrix_of

METHODS = Registry("method of smoothing")
# Numbers in one tile of the matrix: 8 MiB.
TILE = 2**20


@METHODS.add("exact")
def exact(sample: Sample, *, kernel: str, degree: int, beyond: str) -> np.ndarray:
    """Weigh every observation for every query, some rows of the matrix at a time."""
    fit = np.empty((len(sample.query), sample.value.shape[1]))
    rows = max(1, TILE // len(sample.key))
    for start in range(0, len(fit), rows):
        part = slice(start, start + rows)
        matrix = matrix_of(sample.at(part), kernel=kernel, degree=degree, beyond=beyond)
        fit[part] = matrix @ sample.value
    return fit
