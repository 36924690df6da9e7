"""The whole plan: what is judged, drawn and typeset of the experiments that are there."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest
import yaml

from lowpass.claims.names import CLAIMS
from lowpass.claims.register import REGISTER
from lowpass.figures.names import FIGURES
from lowpass.project import TEXTS
from lowpass.registry import Refusal
from lowpass.whole import whole_plan

from .configurations import ROOT, TEXT, keys, lost, planned


def read(file: str) -> dict:
    """Read a configuration as it stands in its file."""
    return yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))


PAPER, SMOKE = read("config/paper.yaml"), read("config/smoke.yaml")
MINIATURES = read("tests/miniatures.yaml")
# A job starts for longer than it computes, so jobs are what an hour or a minute has room for.
MOST_JOBS = {"config/paper.yaml": 300, "config/smoke.yaml": 80}


def paper(*names: str) -> str:
    """Write the paper's configuration with some of its experiments."""
    chosen = {name: PAPER["experiments"][name] for name in names}
    return yaml.safe_dump({**PAPER, "experiments": chosen}, sort_keys=False)


def of(plan, stage: str) -> dict:
    """Give the points of a stage by slug."""
    return {point.slug: point for point in plan if point.stage == stage}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Plan the paper."""
    return planned(paper(*PAPER["experiments"]), tmp_path_factory.mktemp("whole"))


# Laws.


def test_the_paper_shows_every_registered_figure(whole):
    assert set(of(whole, "figures")) == set(FIGURES)


def test_the_paper_asks_every_registered_judge(whole):
    (claims,) = of(whole, "claims").values()
    asked = claims.recipe["params"]["judged"]
    assert set(asked.values()) == set(CLAIMS)
    assert all(CLAIMS.facts(judge)["claim"] == claim for claim, judge in asked.items())
    assert claims.recipe["params"]["register"] == list(REGISTER)


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_made_from_what_it_says_it_shows(figure, whole):
    point = of(whole, "figures")[figure]
    shown = sorted(FIGURES.facts(figure)["experiments"])
    assert [parent.slug for parent in point.parents] == (shown or ["claims"])
    assert point.recipe["params"]["figure"] == figure


@pytest.mark.parametrize("name", sorted(PAPER["experiments"]))
def test_without_an_experiment_nothing_is_planned_that_shows_it(name, whole, tmp_path):
    rest = planned(paper(*(each for each in PAPER["experiments"] if each != name)), tmp_path)
    shows = {figure for figure in FIGURES if name in FIGURES.facts(figure)["experiments"]}
    judges = {judge for judge in CLAIMS if name in CLAIMS.facts(judge)["experiments"]}
    (claims,) = of(rest, "claims").values()
    assert set(of(rest, "figures")) == set(FIGURES) - shows
    assert set(claims.recipe["params"]["judged"].values()) == set(CLAIMS) - judges
    assert not {point.slug for point in rest if point.stage == "experiment"} & {name}


@pytest.mark.parametrize("order", [sorted, lambda names: sorted(names, reverse=True)])
def test_the_order_of_experiments_does_not_matter(order, whole, tmp_path):
    assert keys(planned(paper(*order(PAPER["experiments"])), tmp_path)) == keys(whole)


@pytest.mark.parametrize("file", MOST_JOBS)
def test_a_run_is_of_few_jobs(file):
    assert sum(1 for _ in whole_plan(ROOT / file, file, ROOT)) <= MOST_JOBS[file]


def test_every_experiment_has_a_miniature_and_no_two():
    assert not set(SMOKE["experiments"]) & set(MINIATURES["experiments"])
    assert set(PAPER["experiments"]) == {*SMOKE["experiments"], *MINIATURES["experiments"]}


def test_the_smoke_run_makes_products_of_every_kind_that_the_paper_has(whole):
    """A rule, and whether it reads nothing, a file, one product, or several, and of which rule."""

    def kinds(plan) -> set[tuple]:
        return {
            (each.stage, bool(each.resource), min(len(each.parents), 2), parent)
            for each in plan
            for parent in {point.stage for point in each.parents} or {None}
        }

    assert kinds(whole_plan(ROOT / "config/smoke.yaml", "smoke", ROOT)) == kinds(whole)


def test_the_smoke_run_sweeps_in_every_way():
    smoke = SMOKE["experiments"].values()
    assert {key for section in smoke for key in section} >= {"zip", "inside", "replicates"}
    assert any(isinstance(value, list) for each in smoke for value in each["data"].values())


# What is particular.


def test_the_paper_is_made_from_claims_figures_and_experiments(whole):
    (paper,) = of(whole, "paper").values()
    assert Counter(parent.stage for parent in paper.parents) == Counter(
        claims=1, figures=len(FIGURES), experiment=len(PAPER["experiments"])
    )


def test_what_is_shown_carries_the_sections_of_its_experiments(whole):
    for stage in ("figures", "claims", "paper"):
        for point in of(whole, stage).values():
            for name, section in point.recipe["params"]["experiments"].items():
                assert section == whole.experiments[name].recipe["params"]["section"]


def test_what_shows_something_drawn_carries_the_seed(whole):
    seeds = {point.slug: point.recipe.get("seed") for point in whole if point.stage == "figures"}
    drawn = {name: point.recipe.get("seed") for name, point in whole.experiments.items()}
    assert drawn["nile"] is None
    assert drawn["dc-limit"] == PAPER["seed"]
    for figure in FIGURES:
        shown = FIGURES.facts(figure)["experiments"]
        if shown:
            assert seeds[figure] == (PAPER["seed"] if any(drawn[n] for n in shown) else None)


def test_experiments_that_no_claim_knows_are_planned_all_the_same(tmp_path):
    plan = planned(TEXT, tmp_path)
    (claims,) = of(plan, "claims").values()
    assert claims.recipe["params"]["judged"] == {}
    assert claims.parents == ()
    assert set(of(plan, "experiment")) == {"tokens", "table"}


@pytest.fixture
def project(tmp_path):
    """Copy what a plan is read from into a folder of this test's own."""
    for folder in (TEXTS, "workflow/resources"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "mine.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "felt"),
    [
        ("paper.typ", True),
        ("references.bib", True),
        ("sections/limit.typ", True),
        ("sections/newer.typ", True),
        ("sections/deeper/newer.typ", True),
        ("sections/.newer.typ", False),
        ("sections/newer.typ~", False),
    ],
)
def test_a_text_that_is_edited_or_added_is_felt_by_the_paper_alone(name, felt, project):
    before = whole_plan(project / "mine.yaml", "mine.yaml", project)
    path = project / TEXTS / name
    path.parent.mkdir(exist_ok=True)
    with open(path, "a", encoding="utf-8") as text:
        text.write("\n")
    after = whole_plan(project / "mine.yaml", "mine.yaml", project)
    assert lost(before, after) == (Counter(paper=1) if felt else Counter())


def test_a_section_that_went_is_felt_by_the_paper_alone(project):
    before = whole_plan(project / "mine.yaml", "mine.yaml", project)
    (project / TEXTS / "sections/limit.typ").unlink()
    after = whole_plan(project / "mine.yaml", "mine.yaml", project)
    assert lost(before, after) == Counter(paper=1)


@pytest.mark.parametrize("name", ["paper.typ", "references.bib"])
def test_a_paper_without_what_it_needs_is_refused(name, project):
    (project / TEXTS / name).unlink()
    with pytest.raises(Refusal, match=rf"^paper: 'workflow/paper/{name}' cannot be read"):
        whole_plan(project / "mine.yaml", "mine.yaml", project)
