"""What every test may ask for: one source of random numbers."""

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """Draw the same numbers in each test, whatever ran before it."""
    return np.random.default_rng(20261129)
