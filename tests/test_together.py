"""What one worker runs: places that are there, and tests of which none is torn apart."""

import pytest

from .configurations import ROOT
from .together import GROWN, TOGETHER, Together, together


@pytest.mark.parametrize("place", TOGETHER)
def test_a_place_is_there(place):
    assert (ROOT / "tests" / place).exists()


def test_tests_of_a_place_stay_together_and_all_others_are_on_their_own():
    names = [
        "tests/workflow/test_verify.py::test_a",
        "tests/workflow/test_verify.py::test_b[x::y-tests/claims]",
        "tests/workflow/test_verify_more.py::test_a",
        "tests/verify/test_answers.py::test_a",
    ]
    assert [together(name) for name in names] == ["workflow/test_verify.py"] * 2 + names[2:]


def test_what_shares_one_project_stays_together():
    assert len({together(f"tests/{place}::test_a") for place in GROWN}) == 1


def test_what_a_worker_has_done_is_forgotten():
    """Else each test would take longer to note than the one before."""

    class Worker:
        shutting_down = True  # It is given nothing more.

    worker, names = Worker(), ["tests/claims/test_a.py::test_a", "tests/claims/test_b.py::test_b"]
    scheduler = object.__new__(Together)
    scheduler.registered_collections = {worker: names}
    scheduler.assigned_work = {worker: {"claims": dict.fromkeys(names, False)}}
    scheduler.mark_test_complete(worker, 1)
    assert scheduler.assigned_work == {worker: {"claims": {names[0]: False, names[1]: True}}}
    scheduler.mark_test_complete(worker, 0)
    assert scheduler.assigned_work == {worker: {}}


def test_a_run_asks_for_this(request):
    """The hook is xdist's; a name that it no longer called would send tests anywhere."""
    hook = request.config.hook.pytest_xdist_make_scheduler
    assert Together in {each.function.__annotations__["return"] for each in hook.get_hookimpls()}
