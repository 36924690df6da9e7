"""Compiled files that an edit left behind: neither the plan nor a job runs them."""

from __future__ import annotations

from .project import Project
from .test_midrun import edit_unseen

PROFILES = "src/lowpass/smoothing/profiles.py"
# Of the same length: where far observations count most, the widest bandwidth is the best, an end.
NEAR, FAR = "return -scores / 2", "return +scores / 2"


def test_an_edit_that_compiled_files_do_not_see_is_run_by_its_jobs(project: Project):
    assert project.python("-m", "compileall", "-q", "src").returncode == 0
    edit_unseen(project, PROFILES, NEAR, FAR)
    assert project.products("smoothing", "nc") != []
    finished = project.snakemake("nile")
    assert finished.returncode != 0
    assert "Error in rule smoothing" in finished.stderr
    assert "lowpass: results/smoothing/" in finished.stderr
    assert project.products("smoothing", "nc") == []
