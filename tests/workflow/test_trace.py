"""From the paper and from any figure of a real run, back to parameters and seed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import netCDF4
import pytest
from PIL import Image

from lowpass import store
from lowpass.fingerprint import Code
from lowpass.plan.code import inventory_of
from lowpass.provenance import digest_of, record_in
from lowpass.records import canonical
from lowpass.trace import OK, Tracer
from lowpass.whole import whole_plan

from .project import CONFIG, EXPERIMENTS, Finished, Project

FORMS = (".svg", ".png", ".pdf", ".night.svg")
FINAL = ("paper", "claims", "experiment", "figures")
STAGES = {"data", "attention", "smoothing", "spectra", "experiment", "claims", "figures", "paper"}


@pytest.fixture(scope="module")
def plan(finished):
    return whole_plan(finished.root / CONFIG, CONFIG, finished.root)


@pytest.fixture(scope="module")
def figures(finished) -> list[Path]:
    """List every file of every figure."""
    return finished.products("figures")


def told(finished: Finished) -> list[dict[str, Any]]:
    """Read the answers of one question about several products."""
    return json.loads(finished.stdout)


def records(answer: dict[str, Any], stage: str) -> list[dict[str, Any]]:
    """Give the records of one stage that an answer tells."""
    each = (product["record"] for product in answer["products"].values())
    return [record for record in each if record and record["recipe"]["stage"] == stage]


def products(project: Project) -> list[str]:
    """List every file below results/ but the inventories of code."""
    return [name for name in project.bytes_of() if not name.startswith("results/code/")]


def statuses(answer: dict[str, Any]) -> set[str]:
    return {product["status"] for product in answer["products"].values()}


# What a run leaves.


def test_every_file_has_a_record_of_what_was_planned(finished, plan):
    """Fixed names are copies; a manifest is of no stage, and lists the others."""
    planned = {point.key: point for point in plan}
    paths = [finished.root / name for name in products(finished)]
    assert len(paths) > len(planned)
    reached = set()
    for path in paths:
        record, _ = record_in(path)
        assert digest_of(path, record) == record.get("digest", digest_of(path, record)), path
        if record["recipe"]["stage"] == "publish":
            continue
        point = planned[record["key"]]
        assert record["recipe"] == point.recipe
        reached.add(record["key"])
    assert reached == {*planned}


def test_every_file_is_traced_to_its_end(finished, plan):
    tracer = Tracer(finished.root, {point.key for point in plan})
    for name in products(finished):
        walk = tracer.trace(finished.root / name).walk()
        assert {node.status for node in walk} == {OK}, name


def test_every_file_is_an_output_of_the_plan(finished, plan):
    """Nothing lies about that no rule made."""
    outputs = {path for point in plan for path in point.paths}
    outputs |= {"results/paper.pdf", "results/claims.json", "results/manifest.json"}
    there = {name for name in products(finished) if not name.startswith("results/publish/")}
    assert there == outputs


def test_the_code_of_every_product_is_on_record(finished, plan):
    """An inventory is named after what it hashes to, and no other lies there."""
    code = Code.read(finished.root / "src")
    paths = [path for point in plan for path in point.paths]
    stated = {record_in(finished.root / path)[0]["code"] for path in paths}
    kept = {path.stem: path for path in finished.root.glob("results/code/*.json")}
    assert {*kept} == stated == {inventory_of(code, point.recipe).fingerprint for point in plan}
    for fingerprint, path in kept.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest().startswith(fingerprint)


def test_the_manifest_has_the_digest_of_every_final_file(finished, plan):
    listed = json.loads((finished.root / "results/manifest.json").read_text())["sha256"]
    final = {path for point in plan if point.stage in FINAL for path in point.paths}
    assert {*listed} == final | {"results/paper.pdf", "results/claims.json"}
    for name, stated in listed.items():
        content = (finished.root / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == stated, name


def test_fixed_names_hold_what_bears_a_key(finished):
    for name, stage in [("paper.pdf", "paper"), ("claims.json", "claims")]:
        (keyed,) = finished.products(stage)
        assert (finished.root / "results" / name).read_bytes() == keyed.read_bytes()


# From the end to the beginning.


@pytest.fixture(scope="module")
def seed(finished) -> int:
    return finished.config["seed"]


def test_the_paper_leads_to_every_parameter_and_the_seed(finished, seed):
    said = finished.trace("results/paper.pdf", "--json")
    assert said.returncode == 0, said.stdout + said.stderr
    (answer,) = told(said)
    assert statuses(answer) == {OK}
    assert {r["recipe"]["stage"] for s in STAGES for r in records(answer, s)} == STAGES
    data = records(answer, "data")
    read = [record for record in data if "path" in record["parameters"]]
    assert [record["parameters"]["path"] for record in read] == ["workflow/resources/nile.csv"]
    assert {record["recipe"]["seed"] for record in data if record not in read} == {seed}
    swept = finished.config["experiments"]
    betas = {*swept["dc-limit"]["attention"]["beta"], swept["counterexamples"]["attention"]["beta"]}
    assert {run["parameters"]["beta"] for run in records(answer, "attention")} == betas


def test_every_figure_leads_to_parameters_and_seed(finished, figures, seed):
    assert {"".join(path.suffixes[-2:]) for path in figures} >= {".night.svg"}
    said = finished.trace(*map(str, figures), "--json")
    assert said.returncode == 0, said.stdout + said.stderr
    answers = told(said)
    assert len(answers) == len(figures)
    for answer in answers:
        assert statuses(answer) == {OK}
        (figure,) = records(answer, "figures")
        data = records(answer, "data")
        for record in data:
            assert record["recipe"].get("seed", seed) == seed
            assert "generator" in record["parameters"]
        shown = {record["parameters"]["name"] for record in records(answer, "experiment")}
        assert shown == {*figure["parameters"]["experiments"]}


@pytest.fixture(scope="module")
def mailed(finished, figures, tmp_path_factory) -> list[Path]:
    """Copy every figure and the paper out of the project, under names that say nothing."""
    away = tmp_path_factory.mktemp("mail")
    files = [*figures, finished.root / "results/paper.pdf"]
    return [
        Path(shutil.copyfile(path, away / f"attachment-{i}{path.suffix}"))
        for i, path in enumerate(files)
    ]


def test_what_was_mailed_answers_alone(finished, mailed, seed):
    """Nothing of the project's results is there; the sections and the seed are in the file."""
    said = Project(mailed[0].parent).python(
        *("-m", "lowpass", "trace", "--json", *map(str, mailed)),
        env={"PYTHONPATH": str(finished.root / "src")},
    )
    answers = told(said)
    assert said.returncode == 1
    assert len(answers) == len(mailed)
    for answer in answers:
        product = answer["products"][answer["product"]]
        assert product["status"] == OK
        assert statuses(answer) == {OK, "missing"}
        sections = product["record"]["parameters"]["experiments"]
        assert {*sections} <= {*EXPERIMENTS}
        random = any("attention" in section for section in sections.values())
        assert product["record"]["recipe"].get("seed") == (seed if random else None)
        for name, section in sections.items():
            assert section["data"]["generator"] if name != "counterexamples" else section["zip"]


def test_what_was_mailed_finds_the_project_from_its_folder(finished, mailed):
    said = finished.trace("--json", *map(str, mailed))
    assert said.returncode == 0, said.stdout + said.stderr
    for answer in told(said):
        assert statuses(answer) == {OK}
        assert records(answer, "data")


def test_a_key_in_a_caption_is_enough(finished, plan):
    point = next(point for point in plan if point.stage == "figures")
    said = finished.trace(point.key)
    assert said.returncode == 0
    first, _, status = said.stdout.splitlines()[0].partition("  ")
    assert (first in point.paths, status) == (True, OK)


def test_two_runs_differ_by_what_was_swept(finished, plan):
    runs = [p for p in plan if p.stage == "spectra" and "depth-80" in p.slug]
    said = finished.trace("--diff", *(point.key for point in runs))
    assert said.stdout == "attention.beta: 0.5 | 1.0\n"


def test_an_experiment_opens_by_its_name_from_any_folder(finished, tmp_path):
    for folder in (finished.root, tmp_path):
        said = Project(folder).python(
            *("-c", "import lowpass; print(*lowpass.open('dc-limit')['slem'].dims)"),
            env={"PYTHONPATH": str(finished.root / "src")},
        )
        assert said.stdout.split() == ["arithmetic", "beta", "replicate"], said.stderr


# What is found out.


def edited_value(project: Project) -> Path:
    path = project.products("attention")[0]
    before = path.stat()
    with netCDF4.Dataset(path, "a") as file:
        file["hc"][0, 0, 0, 0] = file["hc"][0, 0, 0, 0] * (1 + 2**-52)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return path


def altered_parameter(project: Project) -> Path:
    """Alter a depth, and the digest with it: the record is valid, and so is the file by itself."""
    path = project.products("attention")[0]
    with netCDF4.Dataset(path, "a") as file:
        record = json.loads(file.record)
        record["recipe"]["params"]["depth"] += 1
        record["parameters"]["depth"] += 1
        file.setncattr("record", canonical(record))
    mark = store.digest(path)
    with netCDF4.Dataset(path, "a") as file:
        file.setncattr("digest", mark)
    return path


def foreign_picture(project: Project) -> Path:
    path = project.products("figures", "png")[0]
    Image.new("RGB", (40, 30)).save(path)
    return path


def swapped_figures(project: Project) -> Path:
    one, other = (path for path in project.products("figures", "svg")[:3:2])
    one.write_bytes(other.read_bytes())
    return one


def changed_pdf(project: Project) -> Path:
    path = project.products("figures", "pdf")[0]
    path.write_bytes(path.read_bytes() + b"%")
    return path


def other_claims(project: Project) -> Path:
    path = project.root / "results/claims.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"holds"', '"refuted"'), "utf-8")
    return path


# What can be spoilt at once, since no file is spoilt twice.
SPOILT = {
    "a value, a picture, a document and a verdict": [
        edited_value,
        foreign_picture,
        changed_pdf,
        other_claims,
    ],
    "a parameter and a figure": [altered_parameter, swapped_figures],
}


@pytest.mark.parametrize("spoils", SPOILT.values(), ids=SPOILT)
def test_tampering_is_detected_and_named(spoils, project):
    paths = [spoil(project).relative_to(project.root) for spoil in spoils]
    shown = map(str, project.products("figures"))
    said = project.trace(*shown, "results/paper.pdf", "results/claims.json")
    assert said.returncode == 1
    assert [path for path in paths if f"{path}  tampered: " not in said.stdout] == []
