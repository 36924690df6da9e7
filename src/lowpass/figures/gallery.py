"""Every module of figures, imported so that its figures are registered."""

import lowpass.figures.attention
import lowpass.figures.smoothing
import lowpass.figures.verdicts

__all__ = ["lowpass"]
