"""Questions asked of smoothers: each takes observations, and gives labelled answers."""

from __future__ import annotations

import lowpass.studies.blocking
import lowpass.studies.contest
import lowpass.studies.convergence
import lowpass.studies.identities
import lowpass.studies.plane
import lowpass.studies.pooling
import lowpass.studies.random_features
import lowpass.studies.response
import lowpass.studies.selection  # noqa: F401  (registers studies)
from lowpass.studies.names import STUDIES as STUDIES
