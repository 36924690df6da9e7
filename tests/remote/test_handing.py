"""A plan that is handed over answers as the run that planned does, or refuses."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from lowpass.answering import answers
from lowpass.registry import Refusal
from lowpass.remote.handing import FOLDER, VARIABLE, Handed, hand_over
from lowpass.remote.sending import RUN, prepare
from lowpass.rules import Rules
from lowpass.whole import whole_plan

from ..configurations import NAME, ROOT, TEXT


@pytest.fixture
def config(here: Path) -> Path:
    """Write the small configuration."""
    (here / NAME).write_text(TEXT, encoding="utf-8")
    return here / NAME


@pytest.fixture
def rules(config: Path) -> Rules:
    """Answer for it."""
    return Rules(whole_plan(config, NAME, ROOT), ROOT)


def handed(rules: Rules, config: Path) -> Handed:
    """Hand over, and read what was handed over."""
    return Handed.read(str(hand_over(rules.answers(), config, alone=True)))


def test_a_job_is_told_what_its_run_planned(rules, config):
    told = handed(rules, config)
    for point in rules.plan:
        for question in ("parents", "recipe", "code", "minutes"):
            ask, answer = (getattr(one, question) for one in (rules, told))
            assert answer(point.stage, point.name) == ask(point.stage, point.name)
        for attempt in (1, 2, 3):
            asked = (point.stage, point.name, attempt)
            assert told.memory(*asked) == rules.memory(*asked)
    assert told.published() == rules.published()


def test_every_question_of_the_rules_is_answered():
    texts = [path.read_text() for path in [ROOT / "Snakefile", *ROOT.glob("workflow/rules/*.smk")]]
    asked = {word for text in texts for word in dir(Rules) if f"plan.{word}" in text}
    assert {"parents", "published", "experiments"} <= asked <= {*dir(Handed)}


def test_a_plan_is_named_after_what_is_in_it_and_takes_the_place_of_older_ones(rules, config):
    first = hand_over(rules.answers(), config, alone=True)
    assert hand_over(rules.answers(), config, alone=True) == first
    config.write_text(f"# Other.\n{TEXT}", encoding="utf-8")
    second = hand_over(rules.answers(), config, alone=False)
    assert {*FOLDER.iterdir()} == {first, second}
    hand_over(rules.answers(), config, alone=True)
    assert {*FOLDER.iterdir()} == {second}


@pytest.mark.parametrize("change", ["edited", "deleted"])
def test_a_configuration_that_changed_is_refused(change, rules, config):
    path = str(hand_over(rules.answers(), config, alone=True))
    if change == "edited":
        config.write_text(f"{TEXT}\n", encoding="utf-8")
    else:
        config.unlink()
    with pytest.raises(Refusal) as caught:
        Handed.read(path)
    said = str(caught.value)
    assert said.startswith(f"{NAME}: it was edited after this job was planned (sha256 ")
    assert said.endswith("so the job was not run. Run again.")


def test_a_job_that_nobody_told_its_plan_refuses(here):
    with pytest.raises(Refusal, match=f"{VARIABLE}.*sbatch --export=ALL"):
        Handed.read("")
    with pytest.raises(Refusal, match=f"{FOLDER}/0.json: the plan .* a later run took its place"):
        Handed.read(f"{FOLDER}/0.json")


def test_what_is_not_in_the_plan_ends_the_job_with_one_line(rules, config):
    with pytest.raises(SystemExit, match=r"^lowpass: results/attention/no~0: it is not in this"):
        handed(rules, config).recipe("attention", "no~0")


# Who answers.


def stand_in(**changes) -> SimpleNamespace:
    """Stand for Snakemake's object in a run that sends its jobs by Slurm."""
    given = {"slurm_account": "physics", "slurm_partition": "long"}
    workflow = {
        "remote_exec": False,
        "local_exec": False,
        "executor_plugin": SimpleNamespace(name="slurm"),
        "executor_settings": None,
        "resource_settings": SimpleNamespace(default_resources=given),
    }
    return SimpleNamespace(**workflow | changes)


def test_a_run_tells_its_jobs_where_their_plan_is(rules, config, slurm):
    environment = {VARIABLE: "that of another run"}
    slurm(sbatch="", sacctmgr="echo physics", sinfo="echo long")
    prepare(stand_in(), environment, rules.answers, config, alone=True)
    told = answers(stand_in(remote_exec=True), environment)
    assert isinstance(told, Handed)
    assert told.published() == rules.published()
    assert environment[RUN].startswith("lowpass_")


def test_a_run_that_another_scheduler_sends_needs_no_slurm(rules, config, slurm):
    slurm()
    other = stand_in(
        executor_plugin=SimpleNamespace(name="cluster-generic"),
        executor_settings=SimpleNamespace(submit_cmd="qsub -V -r n"),
    )
    environment = {}
    prepare(other, environment, rules.answers, config, alone=True)
    assert {*environment} == {VARIABLE, RUN}


def test_jobs_that_a_command_sends_have_the_name_of_their_run():
    profile = yaml.safe_load((ROOT / "profiles/cluster-generic/config.yaml").read_text())
    assert f' --job-name="${RUN}" ' in profile["cluster-generic-submit-cmd"]


def test_a_local_run_asks_nothing_and_hands_nothing_over(here, slurm):
    environment = {}
    prepare(stand_in(local_exec=True), environment, dict, here / "no.yaml", alone=True)
    assert not FOLDER.exists()
    assert environment == {}


def test_a_job_without_a_plan_ends_with_one_line(here):
    with pytest.raises(SystemExit, match=r"^lowpass: this job was not told its plan"):
        answers(stand_in(remote_exec=True), {})
