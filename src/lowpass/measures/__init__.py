"""Measures of a trajectory, each with its card.

A measure maps a labelled trajectory to one labelled variable of the same name.
It owns the choice of dimensions; the mathematics stands below it.

Conventions hold for all of them. Tokens are rows; none is treated specially, so that a CLS
token counts like any other. Attention is taken after the softmax. A norm without a name is
Frobenius'. Fourier transforms are unitary and not shifted: frequency zero comes first, each of
0, 1, ... n // 2 is given once, and an odd n loses none. A logarithm is decimal where the name
says ``log10``, and natural where it says ``log``.
"""

import lowpass.measures.circle
import lowpass.measures.collapse
import lowpass.measures.continuum
import lowpass.measures.contraction
import lowpass.measures.decay
import lowpass.measures.definite
import lowpass.measures.diversity
import lowpass.measures.eigen
import lowpass.measures.frequencies
import lowpass.measures.gauge
import lowpass.measures.growth
import lowpass.measures.heat_fit
import lowpass.measures.heat_layers
import lowpass.measures.limits
import lowpass.measures.matched
import lowpass.measures.matrices
import lowpass.measures.mixing
import lowpass.measures.pictures
import lowpass.measures.predictions
import lowpass.measures.residual
import lowpass.measures.scaling
import lowpass.measures.steps
import lowpass.measures.symmetrised
import lowpass.measures.values
import lowpass.measures.walk
import lowpass.measures.waves
from lowpass.measures.names import MEASURES

__all__ = ["MEASURES", "lowpass"]
