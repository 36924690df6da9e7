"""What the rules are told: files, recipes, fingerprints, room and time, for every point."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.persistence import MetadataRecord
from snakemake.persistence.file import FilePersistence

from lowpass.memory import Memory
from lowpass.plan import Plan
from lowpass.plan.plan import LONGEST_RECIPE
from lowpass.registry import Refusal
from lowpass.rules import PUBLISHED, Rules, ancestry

from .configurations import NAME, ROOT, TEXT, edited, keys, planned

# The longest argument that Linux hands to a program: a job's command is one.
LONGEST_ARGUMENT = 131_072
RULES = {
    **{stage: stage for stage in ("data", "attention", "smoothing", "spectra", "experiment")},
    **{stage: stage for stage in ("figures", "claims", "paper")},
}


def workflow(*files: Path | str, **config) -> SimpleNamespace:
    """Stand for Snakemake's object: where the Snakefile lies, and what was typed."""
    return SimpleNamespace(
        basedir=str(ROOT),
        overwrite_configfiles=[str(file) for file in files],
        config_settings=SimpleNamespace(config=config),
        is_main_process=True,
        execution_settings=None,
        subprocess_exec=False,
        remote_exec=False,
        dryrun=False,
    )


@pytest.fixture
def file(tmp_path) -> Path:
    """Write the small configuration."""
    (tmp_path / NAME).write_text(TEXT, encoding="utf-8")
    return tmp_path / NAME


@pytest.fixture(scope="module")
def rules() -> Rules:
    """Answer for the paper."""
    return Rules.of(workflow(), {})


def command(rules: Rules, stage: str, name: str) -> str:
    """Fill in the command of a rule as Snakemake does."""
    text = (ROOT / "workflow/rules" / f"{RULES[stage]}.smk").read_text(encoding="utf-8")
    parents = rules.parents(stage, name)
    values = {
        "{params.recipe:q}": shlex.quote(rules.recipe(stage, name)),
        "{params.code}": rules.code(stage, name),
        "{input}": " ".join(parents),
        "{input:q}": shlex.join(parents),
        "{output}": " ".join(rules.plan.find(stage, name).paths),
        "{log}": f"logs/{stage}/{name}.log",
    }
    (shell,) = re.findall(r'shell:\n +"(.*)"', text)
    for mark, value in values.items():
        shell = shell.replace(mark, value)
    assert not re.search(r"\{[a-z.:]+\}", shell.replace(values["{params.recipe:q}"], ""))
    return shell


# Laws.


def test_every_parent_is_a_file_that_another_point_makes_or_the_project_holds(rules):
    made = {path for point in rules.plan for path in point.paths}
    for point in rules.plan:
        for path in rules.parents(point.stage, point.name):
            assert path in made or Path(path).resolve().is_relative_to(ROOT)
            assert path in made or Path(path).is_file()


def test_parents_are_those_of_the_plan_in_its_order(rules):
    for point in rules.plan:
        if not point.resource:
            asked = [Path(path) for path in rules.parents(point.stage, point.name)]
            assert [path.parent.name for path in asked] == [p.stage for p in point.parents]
            for path, parent in zip(asked, point.parents, strict=True):
                assert path.name.startswith(f"{parent.name}.")


def test_the_paper_takes_figures_in_the_form_it_can_hold(rules):
    (paper,) = (point for point in rules.plan if point.stage == "paper")
    figures = [path for path in rules.parents("paper", paper.name) if "/figures/" in path]
    assert figures
    assert {Path(path).suffix for path in figures} == {".pdf"}


def test_a_recipe_says_stage_and_parameters(rules):
    for point in rules.plan:
        asked = json.loads(rules.recipe(point.stage, point.name))
        assert asked == point.recipe
        assert asked["stage"] == point.stage


def test_a_fingerprint_has_sixteen_digits_and_one_for_each_kind_of_code(rules):
    codes = {point: rules.code(point.stage, point.name) for point in rules.plan}
    assert all(re.fullmatch("[0-9a-f]{16}", code) for code in codes.values())
    for stage in RULES:
        others = {code for point, code in codes.items() if point.stage != stage}
        assert others.isdisjoint(code for point, code in codes.items() if point.stage == stage)


def test_a_job_is_one_line_on_the_terminal_that_names_what_it_makes():
    """Snakemake prints the message of a rule in place of ten lines about the job."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "workflow/rules").glob("*.smk")]
    making = [text for text in texts if "    shell:\n" in text]
    assert len(making) > len(RULES)
    assert all('    message:\n        "{output[0]}"\n' in text for text in making)


def test_a_job_that_is_tried_again_has_more_memory(rules):
    for point in rules.plan:
        first, second = (rules.memory(point.stage, point.name, attempt) for attempt in (1, 2))
        assert 0 < first < second
        assert 0 < rules.minutes(point.stage, point.name) <= 60


def test_more_tokens_need_more_memory_where_they_are_compared(tmp_path):
    needed: dict[int, list[int]] = {}
    for n_tokens in (8, 4000):
        rules = Rules(planned(edited(("n_tokens: 8", f"n_tokens: {n_tokens}")), tmp_path), ROOT)
        chain = [
            point
            for _, _, spectra in rules.plan.cells["tokens"]
            for point in ancestry(spectra)
            if point.stage != "data"
        ]
        needed[n_tokens] = [rules.memory(point.stage, point.name, 1) for point in chain]
    # Ten replicates of one matrix of 4000² doubles are 1280 MB.
    assert max(needed[8]) + 1280 < min(needed[4000])


# Targets.


def test_a_kind_of_product_is_all_its_files(rules):
    for stage in ("data", "figures", "claims", "paper"):
        wanted = {path for point in rules.plan if point.stage == stage for path in point.paths}
        assert set(rules.targets(stage)) == wanted != set()


def test_an_experiment_is_its_file_and_the_figures_that_show_it(rules):
    found = rules.targets("nile")
    assert found[0] == rules.plan.experiments["nile"].path
    shown = {Path(path).name.partition("~")[0] for path in found[1:]}
    assert shown == {"nile", "nile-levels"}
    assert {Path(path).suffix for path in found[1:]} == {".svg", ".png", ".pdf"}


def test_finals_are_what_a_person_opens(rules):
    folders = {path.split("/")[1] for path in rules.finals()}
    assert folders == {"paper", "claims", "experiment", "figures"}
    assert len(set(rules.finals())) == len(rules.finals())


def test_fixed_names_come_with_one_that_changes_with_what_they_stand_for(rules, tmp_path):
    (*fixed, keyed) = rules.published()
    assert tuple(fixed) == PUBLISHED
    other = Rules(planned(TEXT, tmp_path), ROOT).published()
    assert tuple(other[:-1]) == PUBLISHED
    assert re.fullmatch("results/publish/manifest~[0-9a-f]{12}.json", keyed)
    assert other[-1] != keyed


# Which configuration.


def test_without_a_file_the_paper_is_planned(rules):
    assert {"dc-limit", "counterexamples", "nile"} <= set(rules.plan.experiments)


def test_a_file_that_is_named_replaces_the_paper(file):
    assert set(Rules.of(workflow(file), {}).plan.experiments) == {"tokens", "table"}


def test_a_value_on_the_command_line_gives_the_keys_of_a_file_that_holds_it(file, tmp_path):
    given, plain = (keys(Rules.of(workflow(file, **each), {}).plan) for each in ({"seed": 5}, {}))
    assert given == keys(planned(edited(("seed: 7", "seed: 5")), tmp_path))
    assert given != plain


# What Snakemake forgot.


def test_products_of_which_snakemake_remembers_nothing_are_counted(tmp_path, monkeypatch):
    rules = Rules(planned(TEXT, tmp_path), ROOT)
    monkeypatch.chdir(tmp_path)
    assert rules.warning(Memory(tmp_path)) == ""
    made = [point.path for point in rules.plan][:2]
    for path in made:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    notes = FilePersistence(path=tmp_path / ".snakemake")
    for count, path in zip((2, 1), made, strict=True):
        said = rules.warning(Memory(tmp_path))
        assert re.match(
            rf"lowpass: of {count} products? in results/ Snakemake does not remember", said
        )
        assert said.count("\n") == 1
        notes._write_record(path, MetadataRecord(params=[]))
    assert rules.warning(Memory(tmp_path)) == ""


# Commands.


def test_no_command_is_longer_than_a_shell_takes(tmp_path):
    """Of 10,000 points, the experiment has the longest recipe and names no inputs."""
    many = [(8 * i + 1) / 8 for i in range(5000)]
    text = edited(("[1, 3]", str(many)), ("replicates: 20", "replicates: 10"))
    rules = Rules(planned(text, tmp_path), ROOT)
    lengths = {}
    for point in rules.plan:
        length = len(command(rules, point.stage, point.name).encode())
        lengths[point.stage] = max(length, lengths.get(point.stage, 0))
    assert max(lengths.values()) < LONGEST_ARGUMENT
    assert LONGEST_RECIPE < LONGEST_ARGUMENT


def test_a_data_file_with_a_blank_and_a_quote_is_one_argument(tmp_path):
    path = "a river's flow.csv"
    (tmp_path / path).write_text("year,flow\n1,2\n", encoding="utf-8")
    sections = {
        "river": {
            "data": {"generator": "series", "path": path, "key": "year", "value": "flow"},
            "smoothing": {"study": "selection", "bandwidths": {"low": 1, "high": 9, "count": 5}},
        }
    }
    rules = Rules(Plan(7, sections, "here", tmp_path), ROOT)
    (point,) = (point for point in rules.plan if point.stage == "data")
    words = shlex.split(command(rules, "data", point.name))
    (asked,) = rules.parents("data", point.name)
    assert Path(asked).name == path
    assert words[words.index("--in") + 1 : words.index("--out")] == [asked]


# Refusals.


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            workflow("one.yaml", "two.yaml"),
            "command line: 2 files follow --configfile; a plan comes from one file, so name one.",
        ),
        (workflow(sede=5), "command line: sede: no parameter is called 'sede'; did you mean 'se"),
        (workflow("none.yaml"), "none.yaml: there is no such file; check the path."),
        (workflow(ROOT / "none.yaml"), "none.yaml: there is no such file; check the path."),
        (workflow("/none/of.yaml"), "/none/of.yaml: there is no such file; check the path."),
    ],
)
def test_a_configuration_is_refused_in_one_line(asked, message):
    with pytest.raises(SystemExit, match=re.escape(f"lowpass: {message}")) as caught:
        Rules.of(asked, {})
    assert "\n" not in caught.value.code


def test_a_value_with_line_breaks_is_refused_in_one_line(file):
    file.write_text(edited(("{beta:", '{kernel: "soft\\n\\nmax", beta:')), encoding="utf-8")
    with pytest.raises(SystemExit, match="no attention kernel is called 'soft  max'") as caught:
        Rules.of(workflow(file), {})
    assert "\n" not in caught.value.code


def test_a_product_that_is_not_planned_is_refused_in_one_line(rules):
    for ask in (rules.parents, rules.recipe, rules.code):
        with pytest.raises(SystemExit, match=r"^lowpass: results/data/x~0: no such product is "):
            ask("data", "x~0")


def test_whoever_looks_at_jobs_sees_all_files_and_can_refuse_in_one_line(rules):
    shown = []
    looked = Rules(rules.plan, ROOT, lambda *files: shown.append(files))
    for point in rules.plan:
        inputs = looked.parents(point.stage, point.name)
        assert inputs == rules.parents(point.stage, point.name)
        assert shown.pop() == (inputs, point.paths)
    assert looked.gathered() == rules.finals()
    assert shown.pop() == (rules.finals(), rules.published())

    def never(inputs, outputs):
        raise Refusal(f"{outputs[0]}: another run\nmakes it.")

    with pytest.raises(SystemExit, match=r"^lowpass: results/paper\.pdf: another run makes it\.$"):
        Rules(rules.plan, ROOT, never).gathered()
