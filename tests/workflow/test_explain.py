"""What would run and why, said before it runs: the jobs are those of real dry runs, always."""

from __future__ import annotations

import json
import re
import shutil
import signal
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import netCDF4
import pytest
import yaml
from snakemake.persistence.file import FilePersistence

from lowpass.explaining.reruns import LARGEST
from lowpass.explaining.rulebook import commands
from lowpass.memory import Memory

from .project import CONFIG, Project, jobs_in, succeeded, write_config
from .test_midrun import Run
from .test_reruns import EDITS, KERNELS, Change, configures, edits, installs

TOKENS = "results/data/gaussian_n-tokens-16_*.nc"
PICTURE = "results/figures/decay~*.png"
SOFTMAX = edits(KERNELS, "return weight / weight.sum(", "return 1 * weight / weight.sum(")
MORE = configures(dc_limit={"attention": {"beta": [0.5, 3, 1]}})
# What is said of each edit of the rerun matrix.
SAID = {
    "a kernel": ["lowpass.kernels.sinkhorn changed"],
    "a function two imports away": ["lowpass.balance._log_sum changed"],
    "a constant": ["lowpass.balance.HANDOVER changed"],
    "a kernel that most use": ["lowpass.kernels.softmax changed"],
    "a default argument": ["lowpass.data.two_levels changed"],
    "a measure": [
        "lowpass.measures.matrices.unit_eigenvalue_defect changed, "
        "lowpass.spectra.eigenvalues is gone, lowpass.spectra.unit_eigenvalue_defect is gone"
    ],
    "the card of a measure": [
        "lowpass.measures.matrices.VARIABLES.enter('unit_eigenvalue_defect') changed"
    ],
    "a figure": ["lowpass.figures.attention.draw_decay changed"],
    "a function of two figures": ["lowpass.figures.attention.rank_middle changed"],
    "a judge": ["lowpass.claims.stochastic.SPARE_DECADES changed"],
    "a section of the paper": ["workflow/paper/sections/limit.typ changed"],
    "a data file": ["workflow/resources/nile.csv changed"],
    "a parameter": ["depth 60 instead of 80 in dc-limit"],
    "two values exchanged": [
        "d_model 16 instead of 8 in dc-limit",
        "n_tokens 8 instead of 16 in dc-limit",
    ],
    "the reason for an experiment": ["the reason for nile changed"],
    "one more figure": ["figure later is new"],
    "one more value of a sweep": ["beta 3 is new in dc-limit"],
}


class Explained(NamedTuple):
    """Hold an answer, and what a dry run prints in the same folder."""

    answer: dict[str, Any]
    dry: str

    @classmethod
    def of(cls, project: Project, *targets: str) -> Explained:
        """Ask for both."""
        answer, dry = project.explain(*targets)
        return cls(json.loads(answer), dry)

    def causes(self) -> list[str]:
        """Give what is said, after checking that it is said of the jobs that Snakemake plans."""
        jobs = [job["outputs"][0] for job in self.answer["jobs"]]
        assert {*jobs} == {*re.findall(r"^Job \d+: (results/\S+)$", self.dry, re.MULTILINE)}
        caused = {number for cause in self.answer["causes"] for number in cause["jobs"]}
        assert caused == set(range(len(jobs)))
        return [cause["text"] for cause in self.answer["causes"]]


def test_every_edit_of_the_rerun_matrix_is_explained():
    assert {*SAID} == {*EDITS}


@pytest.mark.parametrize("change", EDITS)
def test_exactly_the_affected_jobs_run_and_the_cause_is_named_after_a_change_of(change, project):
    make, affected = EDITS[change]
    make(project)
    said = Explained.of(project)
    assert jobs_in(said.dry) == affected
    assert said.causes() == SAID[change]


# Other changes: what is done, what is said, and of which target.


def reseed(project: Project) -> None:
    write_config(project.root / CONFIG, {**project.config, "seed": 5})


def add_case(project: Project) -> None:
    case = project.config["experiments"]["counterexamples"]["zip"]["case"]
    more = {name: [*values, values[0]] for name, values in case.items()}
    more |= {"label": [*case["label"], "one more"], "data.n_tokens": [*case["data.n_tokens"], 6]}
    project.configure(counterexamples={"zip": {"case": more}})


def deletes(*patterns: str) -> Change:
    def delete(project: Project) -> None:
        for path in [path for pattern in patterns for path in project.root.glob(pattern)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return delete


def does(*changes: Change) -> Change:
    def change(project: Project) -> None:
        for each in changes:
            each(project)

    return change


def tamper(project: Project) -> None:
    with netCDF4.Dataset(next(project.root.glob("results/attention/sinkhorn*")), "a") as file:
        file["hc"][0, 0, 0, 0] += 1


def interrupt(project: Project) -> None:
    """Leave the note that Snakemake makes of a job when it begins."""
    (path,) = project.products("smoothing")
    notes = FilePersistence(path=project.root / ".snakemake")
    notes._mark_incomplete(str(path.relative_to(project.root)), None)


def publish_others(project: Project) -> None:
    (path,) = project.root.glob("results/publish/*")
    path.rename(path.with_name("manifest~0123456789ab.json"))


CASES: dict[str, tuple[Change, list[str], tuple[str, ...]]] = {
    "nothing": (does(), [], ()),
    "another seed": (reseed, ["seed 5 instead of 20261129"], ()),
    "more replicates": (
        configures(dc_limit={"replicates": 14}),
        ["14 replicates instead of 4 in dc-limit"],
        (),
    ),
    "a value taken out": (
        configures(dc_limit={"attention": {"beta": [1]}}),
        ["beta 0.5 was taken out of dc-limit"],
        (),
    ),
    "a measure taken out": (
        configures(counterexamples={"spectra": ["log10_hc_dc_ratio", "log10_transient_ratio"]}),
        ["measure min_attention, slem were taken out of counterexamples"],
        (),
    ),
    "another case": (add_case, ["case one more is new in counterexamples"], ()),
    "an experiment more": (
        lambda project: project.configure(river=project.config["experiments"]["nile"]),
        ["experiment river is new"],
        (),
    ),
    "an experiment less": (configures(nile=None), ["experiment nile was taken out"], ()),
    "two at once": (
        does(MORE, SOFTMAX),
        ["lowpass.kernels.softmax changed", "beta 3 is new in dc-limit"],
        (),
    ),
    "another judge": (
        edits("src/lowpass/claims/stochastic.py", '"judge of A02"', '"other judge of A02"'),
        ["other judge of A02 is new", "judge of A02 was taken out"],
        (),
    ),
    "the bibliography": (
        lambda project: project.append("workflow/paper/references.bib", "\n"),
        ["workflow/paper/references.bib changed"],
        (),
    ),
    "another library": (
        lambda project: installs(project, "typst"),
        [f"typst 99.0 instead of {version('typst')}"],
        (),
    ),
    "a rule": (
        edits("workflow/rules/smoothing.smk", "2> {log}", "2>> {log}"),
        ["the command of rule smoothing changed"],
        (),
    ),
    "code that is not on record": (
        does(SOFTMAX, deletes("results/code")),
        ["the code changed (what it was is not on record)"],
        (),
    ),
    "a result edited by hand": (
        tamper,
        ["results/attention/sinkhorn* was edited after it was written (delete it: jobs refuse *"],
        (),
    ),
    "a job that was interrupted": (
        interrupt,
        ["results/smoothing/* was left unfinished by a run that was interrupted"],
        (),
    ),
    "a result that is gone and needed": (
        does(MORE, deletes(TOKENS)),
        [f"{TOKENS} is gone, though a run had made it", "beta 3 is new in dc-limit"],
        (),
    ),
    "the paper gone": (
        deletes("results/paper.pdf"),
        ["results/paper.pdf is gone, though a run had made it"],
        (),
    ),
    "all results gone": (
        deletes("results"),
        ["results/data/*, results/*, results/* and * more are gone, though a run had made them"],
        (),
    ),
    "fixed names of other products": (
        publish_others,
        ["results/paper.pdf and the other fixed names stand for other products"],
        (),
    ),
    "results that came without Snakemake's memory": (
        does(deletes(".snakemake"), lambda project: next(iter(project.products("data"))).touch()),
        ["files are newer than what was made from them, and Snakemake forgot their content"],
        (),
    ),
    "nothing there": (deletes("results", ".snakemake"), ["nothing has run here yet"], ()),
    "one experiment": (does(MORE, SOFTMAX), ["lowpass.kernels.softmax changed"], ("nile",)),
    "figures": (
        deletes(PICTURE),
        [f"{PICTURE} is gone, though a run had made it"],
        ("figures",),
    ),
    "data": (does(SOFTMAX, MORE), [], ("data",)),
}


@pytest.mark.parametrize("case", CASES)
def test_a_change_is_named_as_the_cause_of_what_snakemake_plans(case, project):
    make, causes, targets = CASES[case]
    make(project)
    found = Explained.of(project, *targets).causes()
    assert len(found) == len(causes)
    for text, pattern in zip(found, causes, strict=True):
        assert re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text), text


def test_a_file_is_a_target(project):
    MORE(project)
    (path,) = (path for path in project.products("spectra") if "beta-1_depth-80" in path.name)
    path.unlink()
    name = str(path.relative_to(project.root))
    said = Explained.of(project, name)
    assert said.causes() == [f"{name} is gone, though a run had made it"]
    assert [job["outputs"] for job in said.answer["jobs"]] == [[name]]


# What no run would notice.


def test_what_is_missing_and_not_made_again_is_said(project):
    deletes(TOKENS, PICTURE)(project)
    said = Explained.of(project)
    assert said.causes() == []
    assert [path.rpartition(".")[2] for path in said.answer["unmade"]] == ["nc", "png"]


def test_code_that_snakemake_forgot_is_named_with_what_makes_it_again(project):
    SOFTMAX(project)
    would = Explained.of(project).answer["jobs"]
    deletes(".snakemake")(project)
    said = Explained.of(project)
    assert said.causes() == []
    told = succeeded(project.lowpass("explain"))
    assert told.startswith("nothing would run\nwould not run, though lowpass.kernels.softmax chan")
    paths = succeeded(project.lowpass("explain", "--forgotten")).split()
    assert paths == said.answer["forgotten"]
    forced = project.dry("--forcerun", *paths)
    assert {*re.findall(r"^Job \d+: (results/\S+)$", forced, re.MULTILINE)} == {
        job["outputs"][0] for job in would
    }
    # Who does not ask is told to.
    assert forced.count("so a change of it reruns nothing; 'make explain' names what chan") == 1


# While a run is in progress, and when it was interrupted.


def test_it_answers_while_a_run_is_in_progress_and_after_it_was_interrupted(project):
    run = Run.until_first_trajectory(project)
    during = project.lowpass("explain", "--json")
    run.process.send_signal(signal.SIGINT)
    run.end()
    assert (during.returncode, during.stderr) == (0, "")
    answer = json.loads(during.stdout)
    assert answer["run"] == "running"
    # A job may just have given its file a name, of which nobody has taken note.
    making = "the run in progress is just making results/"
    texts = {cause["text"] for cause in answer["causes"] if not cause["text"].startswith(making)}
    assert texts == {"depth 60 instead of 80 in dc-limit"}
    after = Explained.of(project)
    left = "left unfinished by a run that was interrupted"
    texts = {text for text in after.causes() if not text.endswith(left)}
    assert texts == {"depth 60 instead of 80 in dc-limit"}
    assert after.answer["run"] == "free"


# Text.


def test_causes_come_first_and_then_the_sum(project):
    does(MORE, edits(KERNELS, "plan = np.empty(scores.shape)", "plan = np.zeros(scores.shape)"))(
        project
    )
    lines = succeeded(project.lowpass("explain", "--all")).splitlines()
    files = [line for line in lines if line.startswith("    ")]
    assert [line for line in lines if line not in files] == [
        "beta 3 is new in dc-limit: 1 attention, 1 spectra, the experiment dc-limit, the claims, "
        "2 figures, the paper, the publication",
        "lowpass.kernels.sinkhorn changed: 1 attention, 1 spectra, the experiment "
        "counterexamples, the claims, 2 figures, the paper, the publication",
        "12 of 30 jobs would run: 2 attention, 2 spectra, 2 experiments (dc-limit, "
        "counterexamples), the claims, 3 figures, the paper, the publication",
    ]
    assert len({*files}) == 1 + 1 + 1 + 1 + 1 + 1 + 1 + 3 * 4 + 1 + 4
    assert lines[1].startswith("    results/attention/softmax_beta-3_")


# What it takes from Snakemake.


def test_commands_are_those_that_snakemake_ran(finished):
    memory = Memory(finished.root)
    ran = {path.split("/")[1]: memory.of(path) for path in memory.paths if "~" in path}
    said = commands(finished.root)
    assert {*ran} <= {*said}
    for stage, note in ran.items():
        assert note is not None
        assert said[stage][1] == note.command


def test_files_are_compared_up_to_the_size_that_snakemake_is_told():
    profile = Path(__file__).parents[2] / "profiles/default/config.yaml"
    assert yaml.safe_load(profile.read_text())["max-checksum-file-size"] == LARGEST
