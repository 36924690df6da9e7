"""What every test may ask for: one source of random numbers, and a place to run experiments."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from .laboratory import Laboratory
from .together import Together

if TYPE_CHECKING:
    from .results_tree import Tree


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log) -> Together:
    """Tell xdist which tests one worker runs."""
    return Together(config, log)


@pytest.fixture
def rng() -> np.random.Generator:
    """Draw the same numbers in each test, whatever ran before it."""
    return np.random.default_rng(20261129)


@pytest.fixture
def laboratory(tmp_path) -> Laboratory:
    """Run experiments in this process, in a folder of this test's own."""
    return Laboratory(tmp_path)


@pytest.fixture(scope="session")
def shared_laboratory(tmp_path_factory) -> Laboratory:
    """Run experiments whose products several tests read, and none changes."""
    return Laboratory(tmp_path_factory.mktemp("laboratory"), unchanged=True)


@pytest.fixture(scope="session")
def grown(tmp_path_factory) -> "Tree":
    """Make a project once; never change it."""
    from .results_tree import grow  # Here, since it imports what draws.

    return grow(tmp_path_factory.mktemp("tree") / "project")
