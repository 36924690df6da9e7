"""Every module of judges, imported so that its claims are registered."""

import lowpass.claims.architecture
import lowpass.claims.circle
import lowpass.claims.continuum
import lowpass.claims.contraction
import lowpass.claims.convergence
import lowpass.claims.fast
import lowpass.claims.gauge
import lowpass.claims.growth
import lowpass.claims.heat
import lowpass.claims.identities
import lowpass.claims.mixing
import lowpass.claims.order
import lowpass.claims.records
import lowpass.claims.remedies
import lowpass.claims.residual
import lowpass.claims.response
import lowpass.claims.scaling
import lowpass.claims.selection
import lowpass.claims.stepping
import lowpass.claims.steps
import lowpass.claims.stochastic
import lowpass.claims.walk

__all__ = ["lowpass"]
