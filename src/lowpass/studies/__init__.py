"""Questions asked of smoothers: each takes observations, and gives labelled answers."""

from __future__ import annotations

import lowpass.studies.selection  # noqa: F401  (registers a study)
from lowpass.studies.names import STUDIES as STUDIES
