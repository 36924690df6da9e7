"""Measures of a trajectory, each with its card.

A measure maps a labelled trajectory to one labelled variable of the same name.
It owns the choice of dimensions; the mathematics stands below it.
"""

import lowpass.measures.collapse
import lowpass.measures.contraction
import lowpass.measures.decay
import lowpass.measures.diversity
import lowpass.measures.eigen
import lowpass.measures.frequencies
import lowpass.measures.matrices
import lowpass.measures.mixing
import lowpass.measures.pictures
import lowpass.measures.waves
from lowpass.measures.names import MEASURES

__all__ = ["MEASURES", "lowpass"]
