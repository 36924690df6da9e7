"""Every measure as a variable of its own name, in the form its card promises."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from lowpass.labels import VARIABLES
from lowpass.measures import MEASURES
from lowpass.registry import Refusal
from lowpass.stages.spectra import spectra

from ..laboratory import Laboratory

GAUSSIAN = {"generator": "gaussian", "n_tokens": 6, "d_model": 3}
# Of few pixels, since some measures solve a linear program for each layer.
IMAGE = {"generator": "image", "path": "small.png", "patch": 2, "copies": 5}
ATTENTION = {
    "attention": {"beta": [0.5, 2.0], "arithmetic": ["float64", "split"], "depth": 12},
    "inside": ["beta", "arithmetic"],
}
DIFFUSION = {
    "diffusion": {
        "graph": "tokens",
        "beta": [0.5, 2.0],
        "laplacian": ["combinatorial", "random_walk"],
        "diffusion_time": 0.5,
        "depth": 12,
    },
    "inside": ["beta", "laplacian"],
}
# What a measure may be of, and a trajectory that has it.
SECTIONS = {
    "attention": {"data": GAUSSIAN, **ATTENTION, "replicates": 10},
    "diffusion": {"data": GAUSSIAN, **DIFFUSION, "replicates": 10},
    "picture": {"data": IMAGE, **ATTENTION},
}
# Where there is what a measure may be of.
WHERE = {
    None: {*SECTIONS},
    "pair": {*SECTIONS},
    "matrix": {*SECTIONS},
    "mode": {*SECTIONS},
    "modulus": {*SECTIONS},
    "transient": {*SECTIONS},
    "attention": {"attention", "picture"},
    "temperature": {"attention", "picture"},
    "logits": {"attention", "picture"},
    "weights": {"attention", "picture"},
    "frozen": {*SECTIONS},
    "source": set(),
    "density": set(),
    "gains": {"diffusion"},
    "scores": {"attention"},
    "flow": {"attention"},
    "diffusion": {"diffusion"},
    "picture": {"picture"},
}


def places(name: str) -> set[str]:
    """Name the trajectories that have all a measure is of."""
    of = MEASURES.facts(name).get("of")
    return set.intersection(*(WHERE[each] for each in (of if isinstance(of, tuple) else (of,))))


ALONE = [name for name in sorted(MEASURES) if not MEASURES.facts(name).get("across")]
CASES = [(name, of) for name in ALONE for of in sorted(places(name))]


@pytest.fixture(scope="module")
def trajectories(tmp_path_factory) -> dict[str, xr.Dataset]:
    """Make every trajectory once, since a measure leaves it alone."""
    root = tmp_path_factory.mktemp("trajectories")
    grey = np.random.default_rng(1).integers(256, size=(8, 6), dtype=np.uint8)
    Image.fromarray(grey).save(root / IMAGE["path"])
    laboratory = Laboratory(root, root=root)
    return {
        of: laboratory.first(
            "attention" if "attention" in section else "diffusion",
            {**section, "spectra": ["slem"]},
        )
        for of, section in SECTIONS.items()
    }


@pytest.fixture
def trajectory(of, trajectories) -> xr.Dataset:
    return trajectories[of]


def taken(names, trajectory) -> xr.Dataset:
    return spectra({"params": {"measures": list(names)}}, trajectory)


@pytest.fixture(scope="module")
def made_of(trajectories) -> Callable[[str, str], xr.Dataset]:
    """Take each measure of each trajectory once, for all tests of one worker."""
    return cache(lambda name, of: taken([name], trajectories[of]))


@pytest.mark.parametrize(("name", "of"), CASES)
def test_a_measure_has_the_dimensions_of_its_card_and_leaves_the_trajectory_alone(
    name, of, trajectory, made_of
):
    swept, before = sorted(SECTIONS[of]["inside"]), trajectory.copy(deep=True)
    made = made_of(name, of)
    xr.testing.assert_identical(trajectory, before)
    assert list(made) == [name]
    assert made[name].dims == (*swept, *VARIABLES[name].dims)
    assert {*made.coords} == {*made[name].dims}
    assert made[name].dtype == float


@pytest.mark.parametrize(("name", "of"), CASES)
def test_a_measure_of_a_run_does_not_depend_on_its_neighbours(name, of, trajectory, made_of):
    together = made_of(name, of).isel(replicate=slice(3, 5)).sel(beta=2.0)
    alone = taken([name], trajectory.isel(replicate=slice(3, 5)).sel(beta=2.0, drop=True))
    xr.testing.assert_identical(together.drop_vars("beta"), alone)


@pytest.mark.parametrize("of", SECTIONS)
def test_measures_do_not_depend_on_each_other_and_are_numbers(of, trajectory, made_of):
    names = [name for name, suits in CASES if suits == of]
    everything = taken(names, trajectory)
    for name in names:
        xr.testing.assert_identical(everything[name], made_of(name, of)[name])
        assert not np.isnan(everything[name]).any(), name


@pytest.mark.parametrize("of", ["attention"])
@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (["slme"], "no measure is called 'slme'; did you mean 'slem'?"),
        ([], r"recipe.*measures: \[\] is "),
    ],
)
def test_what_is_no_measure_is_refused(measures, message, of, trajectory):
    with pytest.raises(Refusal, match=message):
        taken(measures, trajectory)


def test_one_token_of_a_file_is_compared_with_none(trajectories):
    """Of a file the plan does not know how many tokens it holds."""
    whole = trajectories["attention"]
    with pytest.raises(Refusal, match=r"^spectra: 'mean_cosine' compares tokens, and there is one"):
        spectra({"params": {"measures": ["mean_cosine"]}}, whole.isel(token=[0]))
