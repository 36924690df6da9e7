"""One finished run of the workflow for all tests, and a copy of it for each."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from .project import Project


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Run the workflow once, whichever worker of the test run comes first; never change it."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    root, done = base / "finished", base / "finished.done"
    with open(base / "finished.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(root, ignore_errors=True)
            Project.checkout(root).run()
            done.touch()
    return Project(root)


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """Copy the finished run, to be changed at will."""
    return finished.copy(tmp_path / "project")
