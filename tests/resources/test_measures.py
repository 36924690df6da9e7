"""What measures are counted to hold, against what numpy allocates for them."""

from __future__ import annotations

import tracemalloc

import pytest

from lowpass.measures import MEASURES
from lowpass.registry import Refusal
from lowpass.resources.measures import HELD, PROGRAMS, SEARCHED, WORKSPACE, arrays_of, states_of
from lowpass.resources.work import Work
from lowpass.stages.spectra import taken

from ..laboratory import Laboratory

GAUSSIAN = {"generator": "gaussian", "n_tokens": 96, "d_model": 8}
LAYERS = {"weights": "symmetric", "beta": 1, "depth": 6, "record": "all"}
FLOW = {"skip": 1, "step": 0.25, "remedy": "laplacian", "strength": 1, "arithmetic": "float64"}
HEAT = {"graph": "affinity", "beta": 1, "diffusion_time": 0.5, "depth": 6, "record": "all"}
RING = {"score": "l2", "weights": "identity"}
PICTURE = {"generator": "image", "path": "workflow/resources/camera.png", "patch": 8}
DRAWN = {"data": GAUSSIAN, "replicates": 10}
SOURCES = {
    "frozen": {**DRAWN, "attention": LAYERS},
    "flow": {**DRAWN, "attention": {**LAYERS, **FLOW}},
    "source": {**DRAWN, "attention": {**LAYERS, "remedy": "neutreno", "strength": 0.2}},
    "ring": {"data": {"generator": "dense_ring", "n_tokens": 96}, "attention": {**LAYERS, **RING}},
    "picture": {"data": PICTURE, "attention": {**LAYERS, **RING}},
    "heat": {**DRAWN, "diffusion": HEAT},
}
# Bytes of objects and of small grids, which have nothing to do with the number of tokens.
FIXED = 4e5
# Of all tokens at once their memory is cubic, and their time is that of a linear program.
SLOW = {SEARCHED, *PROGRAMS}


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory) -> Laboratory:
    return Laboratory(tmp_path_factory.mktemp("measures"), unchanged=True)


def trajectory_for(name: str, laboratory: Laboratory):
    """Find a trajectory that a measure can be taken of; none where all of them lack something."""
    for source in SOURCES.values():
        try:
            plan = laboratory.plan({**source, "spectra": [name]})
            point = next(point for point in plan if point.stage in ("attention", "diffusion"))
            trajectory = laboratory.open(point)
            taken(name, trajectory)  # What it imports stays.
        except Refusal:
            continue
        return trajectory
    return None


@pytest.mark.parametrize("name", sorted(set(MEASURES) - SLOW))
def test_a_measure_holds_no_more_than_is_counted(name, laboratory):
    trajectory = trajectory_for(name, laboratory)
    if trajectory is None:
        pytest.skip("needs what no trajectory here has")
    square = 8 * trajectory.sizes["replicate"] * trajectory.sizes["token"] ** 2
    counted = arrays_of(name, Work(0, 0, 0, matrices=1)) * square
    counted += WORKSPACE * square / trajectory.sizes["replicate"]
    counted += states_of(name) * trajectory["hc"].nbytes
    tracemalloc.start()
    result = taken(name, trajectory)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= counted + 2 * result.nbytes + FIXED


def test_what_is_counted_by_name_is_a_measure():
    assert set(HELD) | SLOW <= set(MEASURES)
