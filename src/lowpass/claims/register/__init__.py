"""Every statement the paper examines, under its identifier.

`REGISTER` holds them in the order of the paper: A and B for the two parts of
note 1, N for note 2, K for where the notes meet, R for remedies. It holds no
verdict: a verdict is arithmetic on stored numbers.
"""

from lowpass.claims.register import chain, heat, kernel, meeting, remedies
from lowpass.claims.register.statement import REGISTER, Statement

__all__ = ["REGISTER", "Statement", "chain", "heat", "kernel", "meeting", "remedies"]
