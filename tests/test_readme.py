"""What the README promises is there, and its examples run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from lowpass import smoothing
from lowpass.kernels import KERNELS
from lowpass.plan import Plan, load
from lowpass.provenance import digest_of, record_in
from lowpass.remedies import REMEDIES, Filter, polynomial
from lowpass.spec import diffusion
from lowpass.spec.attention import parse
from lowpass.whole import whole_plan

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
CONFIG = "config/paper.yaml"


def blocks(heading: str, language: str) -> list[str]:
    """Give the code blocks of a language below a heading."""
    (below,) = re.findall(rf"^## {heading}\n(.*?)(?=^## )", TEXT, flags=re.S | re.M)
    return re.findall(rf"```{language}\n(.*?)```", below, flags=re.S)


def block(heading: str, language: str) -> str:
    """Give the only one."""
    (code,) = blocks(heading, language)
    return code


@pytest.fixture(scope="module")
def plan():
    return whole_plan(ROOT / CONFIG, CONFIG, ROOT)


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    named = set(re.findall(r"\bmake ([a-z-]+)\b", TEXT))
    assert {"paper", "test", "trace", "smoke"} <= named <= targets


def test_every_file_that_is_linked_exists():
    links = re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", TEXT)
    paths = [first or second for first, second in links]
    assert len(paths) > 5
    heads = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    anchors = {f"#{head.lower().replace(' ', '-')}" for head in heads}
    assert [path for path in paths if path not in anchors and not (ROOT / path).exists()] == []


def test_every_experiment_that_is_named_is_planned(plan):
    named = re.findall(r"snakemake ([a-z][a-z-]+)`", TEXT) + re.findall(r'open\("([^"]+)"\)', TEXT)
    assert named
    assert set(named) <= set(plan.experiments)


def test_the_configuration_that_is_shown_can_be_planned(tmp_path):
    text = block("The configuration", "yaml")
    (tmp_path / "mine.yaml").write_text(text)
    shown = whole_plan(tmp_path / "mine.yaml", "mine.yaml", ROOT)
    swept = yaml.safe_load(text)["experiments"]["mine"]["attention"]["beta"]
    betas = {p.recipe["params"]["beta"] for p in shown if p.stage == "attention"}
    assert betas == set(swept)


def test_the_tensors_that_are_made_can_be_planned(tmp_path, monkeypatch):
    """That they can be run as well is tested with the real workflow."""
    monkeypatch.chdir(tmp_path)
    exec(block("Your own tensors", "python"), {})
    assert {path.name for path in tmp_path.iterdir()} == {"mine.npz"}
    Path("mine.yaml").write_text(block("Your own tensors", "yaml"))
    config = load("mine.yaml", "mine.yaml")
    shown = Plan(1, {"mine": config.experiments["mine"].model_dump()}, "mine.yaml", tmp_path)
    assert [point.resource for point in shown if point.stage == "data"] == ["mine.npz"]
    assert not [point for point in shown if "seed" in point.recipe]


def test_the_smoothing_that_is_shown_finds_the_wave():
    """Level 0.3 of noise over 300 days leaves less than 0.15 on a fit, five standard errors."""
    held: dict = {}
    for code in blocks("Kernel smoothing on its own", "python"):
        exec(code, held)
    truth = np.sin(2 * np.pi * np.array([1, 180, 364]) / 365)
    assert_allclose(held["fit"], truth, atol=0.2)
    assert_allclose(held["line"], truth, atol=0.4)
    assert held["place"] == "interior"
    assert (held["lower"] < held["upper"]).all()
    assert held["method"] == "gridded"
    assert held["score"] > 0.7


def test_the_names_of_smoothing_that_are_shown_exist():
    (below,) = re.findall(
        r"^## Kernel smoothing on its own\n(.*?)(?=^## )", TEXT, flags=re.S | re.M
    )
    cells = [row.split("|")[1:3] for row in below.splitlines() if row.startswith("| `")]
    for names, said in cells:
        things = [getattr(smoothing, name) for name in re.findall(r"`(\w+)`", names)]
        assert things
        if names.strip() == "`PROFILES`":
            assert re.findall(r"`(\w+)`", said) == list(*things)


def test_the_kernel_that_is_shown_obeys_the_law_of_its_kind(rng):
    text, _ = blocks("Adding something of one's own", "python")
    held = {"np": np, "KERNELS": type(KERNELS)("attention kernel of the README")}
    exec(text, held)
    scores = rng.standard_normal((3, 5, 5))
    scores[:, 0, 1:3] = -np.inf
    attention = held["KERNELS"]["squared"](scores)
    assert (attention >= 0).all()
    assert (attention[:, 0, 1:3] == 0).all()
    assert_allclose(attention.sum(axis=-1), 1, rtol=1e-14)


def test_the_remedy_that_is_shown_obeys_the_law_of_its_kind(rng):
    _, text = blocks("Adding something of one's own", "python")
    held = {"Filter": Filter, "polynomial": polynomial, "REMEDIES": type(REMEDIES)("remedy")}
    exec(text, held)
    a = KERNELS["softmax"](rng.standard_normal((5, 5)))
    assert_allclose(held["REMEDIES"]["lazy"](0.0).matrix(a), a, atol=1e-15)
    made = held["REMEDIES"]["lazy"](0.3)
    assert made.constant_gain == 1
    assert_allclose(made.matrix(a), 0.3 * np.eye(5) + 0.7 * a, atol=1e-15)


def test_the_layer_that_is_shown_is_one():
    (text,) = re.findall(r"`attention: (\{[^}]*layers: recomputed[^}]*\})`", TEXT)
    assert parse(yaml.safe_load(text), "README").n_heads == 4


def test_the_heat_that_is_shown_flows():
    (text,) = re.findall(r"`diffusion: (\{[^}]*\})`", TEXT)
    assert diffusion.parse(yaml.safe_load(text), "README").laplacian == "random_walk"
    (finer, solved) = re.findall(r"`(sublayers: \d+|integrator: \w+)`", TEXT)
    layers = {"beta": 1, "depth": 24, "skip": 1}
    assert parse({**layers, **yaml.safe_load(finer)}, "README").sublayers == 8
    flow = {**layers, "arithmetic": "float64", **yaml.safe_load(solved)}
    assert parse(flow, "README").integrator == "dop853"


@pytest.mark.parametrize("name", ["headline.svg", "headline-night.svg"])
def test_the_picture_is_a_figure_that_the_paper_plans(name, plan):
    path = ROOT / "docs" / name
    record, _ = record_in(path)
    assert digest_of(path, record) == record["digest"]
    assert record["key"] in {point.key for point in plan if point.stage == "figures"}
