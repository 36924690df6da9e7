"""What jobs are estimated to need: laws of all stages, and real jobs within their estimates."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lowpass.__main__ import main
from lowpass.plan import Plan, Point
from lowpass.registry import Refusal
from lowpass.resources import FEWEST, LIBRARIES, Resources
from lowpass.resources.sizes import Size, size_of
from lowpass.rules import Rules
from lowpass.usage import Usage, line
from lowpass.whole import whole_plan

from ..benchmarks.resources import run, section
from ..configurations import ROOT, TEXT, edited, planned

CONFIGURATIONS = ("config/paper.yaml", "config/smoke.yaml", "tests/miniatures.yaml")
TOKENS = {"generator": "gaussian", "n_tokens": 200, "d_model": 16}
HEAT = {"graph": "affinity", "beta": 1, "diffusion_time": 0.5, "depth": 9}
SECTIONS = {
    "frozen": {"attention": {"beta": 1, "depth": 9}},
    "recomputed": {"attention": {"beta": 1, "depth": 9, "layers": "recomputed"}},
    "of four heads": {"attention": {"beta": 1, "depth": 9, "n_heads": 4}},
    "filtered": {"attention": {"beta": 1, "depth": 9, "remedy": "gfsa", "strength": 0.3}},
    "summarised": {"attention": {"beta": 1, "depth": 9, "matrix": "summarised"}},
    "heat": {"diffusion": HEAT},
}


def work(asked, stage: str, root: Path = ROOT):
    """Estimate the first job of a stage, beyond its start."""
    plan = Plan(7, {"trial": asked}, "here", root)
    return Resources(root).work(next(point for point in plan if point.stage == stage))


def trial(kind: str, **sizes):
    """Describe an experiment of one kind with some sizes of its tokens."""
    return {**SECTIONS[kind], "data": {**TOKENS, **sizes}, "spectra": ["slem"], "replicates": 1}


def stage_of(kind: str) -> str:
    return next(iter(SECTIONS[kind]))


# Laws.


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_job_has_an_estimate(name):
    plan = whole_plan(ROOT / name, name, ROOT)
    resources = Resources(ROOT)
    for point in plan:
        assert resources.megabytes(point) >= LIBRARIES
        assert FEWEST <= resources.minutes(point)


@pytest.mark.parametrize("kind", SECTIONS)
def test_memory_grows_with_the_square_of_the_tokens(kind):
    """Doubling them quadruples every matrix, and doubles every state."""
    few, many, most = (
        work(trial(kind, n_tokens=n, d_model=4), stage_of(kind)).held for n in (400, 800, 1600)
    )
    assert 3.5 < (most - many) / (many - few) <= 4


@pytest.mark.parametrize("kind", SECTIONS)
def test_operations_grow_between_the_square_and_the_cube_of_the_tokens(kind):
    small, large = (work(trial(kind, n_tokens=n), stage_of(kind)).operations for n in (2000, 4000))
    assert 3.5 < large / small < 9


@pytest.mark.parametrize("stage", ["attention", "spectra"])
def test_what_is_computed_within_one_job_is_added_up(stage):
    """Every further run of a job adds as much."""
    held, operations = [], []
    for count in (2, 3, 4, 8):
        asked = trial("frozen")
        asked["attention"] = {"beta": [1 + i for i in range(count)], "depth": 9}
        found = work({**asked, "inside": ["beta"]}, stage)
        held.append(found.held)
        operations.append(found.operations)
    for each in (held, operations):
        np.testing.assert_allclose(each[2] - each[1], each[1] - each[0])
        np.testing.assert_allclose(each[3] - each[2], 4 * (each[1] - each[0]))
        assert each[1] > each[0]


def test_a_block_has_ten_replicates_however_few_are_selected():
    one, ten, eleven = (
        work({**trial("frozen"), "replicates": count}, "attention") for count in (1, 10, 11)
    )
    assert one == ten == eleven


def test_copies_of_a_file_are_replicates(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((30, 5)))
    data = {
        "generator": "file",
        "path": "x.npy",
        "tokens": {"dims": ["token", "feature"]},
        "copies": 3,
    }
    asked = {"data": data, "attention": {"beta": 1, "depth": 2}, "spectra": ["slem"]}
    assert work(asked, "attention", tmp_path).size == Size(3, 30, 5, 30, 0, 1328)


@pytest.mark.parametrize("depth", [10, 1000])
def test_layers_that_are_not_recorded_take_time_and_no_memory(depth):
    asked = trial("frozen")
    shallow = work({**asked, "attention": {"beta": 1, "depth": 5, "record": [0]}}, "attention")
    deep = work({**asked, "attention": {"beta": 1, "depth": depth, "record": [0]}}, "attention")
    assert deep.held == shallow.held
    assert deep.operations > shallow.operations


def test_a_name_does_not_matter():
    point = next(iter(Plan(7, {"trial": trial("frozen")}, "here", ROOT)))
    other = Point(point.stage, "any_name", point.recipe, point.parents, point.resource)
    for ask in (Resources(ROOT).megabytes, Resources(ROOT).minutes):
        assert ask(point) == ask(other)


def test_every_further_attempt_has_as_much_more(tmp_path):
    rules = Rules(planned(TEXT, tmp_path), ROOT)
    for point in rules.plan:
        first, second, third = (rules.memory(point.stage, point.name, i) for i in (1, 2, 3))
        assert 0 < first
        assert (second, third) == (2 * first, 3 * first)


def test_each_job_is_estimated_once(tmp_path, monkeypatch):
    """Claims and paper lead to everything, many times over."""
    plan, seen = planned(TEXT, tmp_path), []
    resources = Resources(ROOT)
    estimate = resources._estimate
    monkeypatch.setattr(resources, "_estimate", lambda point: seen.append(point) or estimate(point))
    for _ in range(2):
        for point in plan:
            resources.megabytes(point)
    assert sorted(map(id, seen)) == sorted(map(id, plan))


def test_a_stage_that_nobody_counted_is_refused():
    with pytest.raises(Refusal, match="stage 'novel': nothing says what its jobs need"):
        Resources(ROOT).megabytes(Point("novel", "x", {"stage": "novel", "params": {}}))


# Sizes of what a file holds.


def tensors(folder: Path) -> dict[str, Path]:
    """Write the same tensor in every format that has a header, and in the one that has none."""
    import netCDF4

    values = np.arange(12.0).reshape(4, 3)
    files = {suffix: folder / f"x.{suffix}" for suffix in ("npy", "npz", "csv", "nc")}
    np.save(files["npy"], values)
    np.savez(files["npz"], hidden=values, other=np.zeros(7))
    np.savetxt(files["csv"], values, delimiter=",")
    with netCDF4.Dataset(files["nc"], "w") as file:
        file.createDimension("token", 4)
        file.createDimension("feature", 3)
        file.createVariable("hidden", float, ("token", "feature"))[...] = values
    return files


@pytest.mark.parametrize("suffix", ["npy", "npz", "csv", "nc"])
def test_a_tensor_is_as_large_as_its_file_says(suffix, tmp_path):
    file = tensors(tmp_path)[suffix]
    tensor = {"name": "hidden" if suffix in ("npz", "nc") else None, "dims": ["token", "feature"]}
    found = size_of({"generator": "file", "path": file.name, "tokens": tensor}, file)
    assert (found.replicates, found.tokens, found.features) == (1, 4, 3)
    assert found.file == file.stat().st_size


def test_one_head_of_many_is_one_matrix(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((8, 5, 5)))
    tensor = {"dims": ["head", "query", "key"], "at": {"head": 0}}
    found = size_of({"generator": "file", "attention": tensor}, tmp_path / "a.npy")
    # Impulses stand in for tokens that nobody gave.
    assert (found.tokens, found.features, found.squares) == (5, 5, 1)
    assert found.square == 8 * 25


def test_a_picture_is_as_large_as_its_header_says():
    path = ROOT / "workflow/resources/camera.png"
    found = size_of({"generator": "image", "patch": 8, "copies": 2}, path)
    assert (found.replicates, found.tokens, found.features) == (2, 256, 64)


def test_a_file_that_cannot_be_read_is_left_to_its_job(tmp_path):
    (tmp_path / "x.npy").write_bytes(b"nothing")
    tensor = {"dims": ["token", "feature"]}
    assert size_of({"generator": "file", "tokens": tensor}, tmp_path / "x.npy") == Size()


# Real jobs.


@pytest.mark.parametrize("name", ["plain", "inside"])
def test_a_real_job_stays_within_its_estimate_and_near_it(name, tmp_path):
    asked = section(320, 16)
    if name == "inside":
        asked = {**section(224, 16, beta=[1, 2, 3, 4]), "inside": ["beta"]}
    stages = []
    for spent in run(asked, tmp_path):
        stages.append(spent.point.stage)
        assert spent.used.megabytes <= spent.megabytes <= 3 * spent.used.megabytes
    assert stages == ["data", "attention", "spectra", "experiment"]


# The command.


@pytest.fixture
def logs(tmp_path, monkeypatch) -> Plan:
    """Plan a small configuration, whose jobs all used half of what was estimated."""
    monkeypatch.chdir(tmp_path)
    plan = planned(edited(("replicates: 20", "replicates: 10")), tmp_path)
    resources = Resources(ROOT)
    for point in plan:
        tell(tmp_path, point, Usage(resources.megabytes(point) // 2, 1.5))
    return plan


def tell(folder: Path, point: Point, usage: Usage) -> None:
    """Write the log of a job."""
    log = folder / f"logs/{point.stage}/{point.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"layer 3 of 3\n{line(usage)}\n", encoding="utf-8")


def test_jobs_within_their_estimates_are_told_stage_by_stage(logs, capsys):
    assert main(["resources", "--configfile", "mine.yaml"]) == 0
    said = capsys.readouterr().out
    for stage in {point.stage for point in logs}:
        count = sum(point.stage == stage for point in logs)
        assert f"{stage}: {count} job{'s' if count > 1 else ''}, {count} done\n" in said
    assert "more than estimated" not in said


def test_a_job_that_held_more_than_was_estimated_is_named(logs, capsys, tmp_path):
    point = logs.experiments["table"]
    estimate = Resources(ROOT).megabytes(point)
    tell(tmp_path, point, Usage(estimate + 1, 1.0))
    assert main(["resources", "--configfile", "mine.yaml"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == (
        f"more than estimated: {point.path} ({estimate + 1} MB, estimated {estimate} MB)"
    )


def test_json_tells_of_every_job(logs, capsys, tmp_path):
    silent = next(point for point in logs if point.stage == "claims")
    (tmp_path / f"logs/claims/{silent.name}.log").unlink()
    assert main(["resources", "--configfile", "mine.yaml", "--json"]) == 0
    said = {each["product"]: each for each in json.loads(capsys.readouterr().out)}
    assert set(said) == {point.path for point in logs}
    assert said.pop(silent.path)["megabytes"] is None
    for each in said.values():
        assert each["megabytes"] == each["estimated_megabytes"] // 2
        assert each["seconds"] == 1.5


def test_before_a_run_there_are_estimates(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plan = planned(TEXT, tmp_path)
    assert main(["resources", "--configfile", "mine.yaml"]) == 0
    said = capsys.readouterr().out
    largest = max(Resources(ROOT).megabytes(point) for point in plan if point.stage == "attention")
    assert f"attention: 4 jobs, 0 done\n  largest estimate  {largest} MB   " in said
    assert "peak" not in said
