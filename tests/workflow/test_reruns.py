from .project import NOTHING


def test_a_second_run_has_nothing_to_do(project):
    assert project.plan() == NOTHING
