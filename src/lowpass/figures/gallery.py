"""Every module of figures, imported so that its figures are registered."""

import lowpass.figures.architecture
import lowpass.figures.attention
import lowpass.figures.bridge
import lowpass.figures.circle
import lowpass.figures.continuum
import lowpass.figures.contraction
import lowpass.figures.convergence
import lowpass.figures.fast
import lowpass.figures.growth
import lowpass.figures.headline
import lowpass.figures.heat
import lowpass.figures.identities
import lowpass.figures.lobes
import lowpass.figures.matched
import lowpass.figures.mixing
import lowpass.figures.order
import lowpass.figures.pictures
import lowpass.figures.pooling
import lowpass.figures.records
import lowpass.figures.remedied
import lowpass.figures.remedies
import lowpass.figures.residual
import lowpass.figures.scaling
import lowpass.figures.smoothing
import lowpass.figures.stepping
import lowpass.figures.steps
import lowpass.figures.verdicts
import lowpass.figures.walk

__all__ = ["lowpass"]
