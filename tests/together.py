"""Which tests one worker runs, since they share what takes long to make.

Marks would say so too, but xdist writes them to where pytest 9.2 no longer reads them.
"""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

# Folders and files below this one. What each of them shares is a fixture of its own, but for some
# that share one project.
GROWN = ("test_opening.py", "test_trace.py", "verify/test_verdict.py")
TOGETHER = (
    *GROWN,
    "claims",
    "describing",
    "figures",
    "fingerprint/test_mutants.py",
    "fingerprint/test_real.py",
    "stages/test_spectra.py",
    "workflow/test_bytes.py",
    "workflow/test_own_tensors.py",
    "workflow/test_report.py",
    "workflow/test_verify.py",
)


def together(name: str) -> str:
    """Give what tests have in common that one worker runs: a place, or one test its own name.

    Examples
    --------
    >>> together("tests/claims/test_order.py::test_high_frequencies_may_pass")
    'claims'
    >>> together("tests/test_ring.py::test_a_ring_is_closed")
    'tests/test_ring.py::test_a_ring_is_closed'
    """
    path = name.partition("::")[0].removeprefix("tests/")
    place = next((place for place in TOGETHER if f"{path}/".startswith(f"{place}/")), name)
    return GROWN[0] if place in GROWN else place


class Together(LoadScopeScheduling):
    """Send what belongs together to one worker, the largest first."""

    def _split_scope(self, nodeid: str) -> str:
        return together(nodeid)

    def mark_test_complete(self, node: object, item_index: int, duration: float = 0) -> None:
        """Forget what is done: xdist counts all that a worker was ever given after each test."""
        scope = self._split_scope(self.registered_collections[node][item_index])
        super().mark_test_complete(node, item_index, duration)
        if all(self.assigned_work[node][scope].values()):
            del self.assigned_work[node][scope]
