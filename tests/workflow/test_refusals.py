"""Bad input, typed as a person types it: one line, an exit code, and nothing written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lowpass.spec.config import TAKEN

from .project import CONFIG, Finished, Project, jobs_in, succeeded

NILE = "workflow/resources/nile.csv"


@pytest.fixture
def untouched(tmp_path: Path) -> Project:
    """Check out the project, which has run nothing."""
    (tmp_path / "project").mkdir()
    return Project.checkout(tmp_path / "project")


def files(project: Project) -> set[str]:
    """List all files but Snakemake's own, and Python's beside the way in."""
    found = (path.relative_to(project.root) for path in project.root.rglob("*"))
    return {str(path) for path in found if not {".snakemake", "__pycache__"} & {*path.parts}}


def refused(finished: Finished) -> str:
    """Give the only line that was printed, beside the one that names the profile."""
    assert finished.returncode != 0
    lines = [*finished.stdout.splitlines(), *finished.stderr.splitlines()]
    (line,) = (each for each in lines if each and not each.startswith("Using workflow specific"))
    assert line in finished.stderr
    return line


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "generator: gaussian",
            "generator: gausian",
            rf"{CONFIG}: experiments\.dc-limit\.data\.generator: no token generator is called "
            r"'gausian'; did you mean 'gaussian'\? Known: .*\.",
        ),
        (
            "depth: 80",
            "depth: 80\n      beta_: 1e-3",
            rf"{CONFIG}: experiments\.dc-limit\.attention\.beta_: .*; did you mean 'beta'\? .*",
        ),
        (
            "low: 0.5",
            "low: 1e-1",
            rf"{CONFIG}: experiments\.nile\.smoothing\.bandwidths\.low: '1e-1' is text in YAML "
            r"1\.1; write 1\.0e-1\.",
        ),
        (
            "  nile:",
            "  dc-limit:",
            rf"{CONFIG}: 'dc-limit' is written twice, on lines \d+ and \d+; .*",
        ),
        (
            "  nile:",
            "  all:",
            rf"{CONFIG}: experiments\.all: 'all' is a rule or target of the workflow already, .*",
        ),
        (
            NILE,
            "workflow/resources/none.csv",
            rf"{CONFIG}: experiments\.nile\.data\.path: 'workflow/resources/none\.csv' cannot be "
            r"read \(No such file or directory\); .*",
        ),
        (
            "experiments:",
            "experiments: {",
            rf"{CONFIG}: is not YAML on line \d+: .*; correct it there\.",
        ),
    ],
)
def test_a_faulty_configuration_is_refused_in_one_line(old, new, message, untouched):
    lines = (untouched.root / CONFIG).read_text(encoding="utf-8").splitlines(keepends=True)
    where = next(i for i, line in enumerate(lines) if old in line)
    lines[where] = lines[where].replace(old, new)
    untouched.write(CONFIG, "".join(lines))
    before = files(untouched)
    assert re.fullmatch(f"lowpass: {message}", refused(untouched.ask()))
    assert files(untouched) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--config", "sede=5"],
            r"command line: sede: no parameter is called 'sede'; did you mean 'seed'\? .*",
        ),
        (["--config", "seed=five"], r"command line: seed: 'five' is not a whole number; .*"),
        (
            ["--configfile", CONFIG, "config/smoke.yaml"],
            r"command line: 2 files follow --configfile; a plan comes from one file, so name one\.",
        ),
    ],
)
def test_a_faulty_command_line_is_refused_in_one_line(arguments, message, untouched):
    before = files(untouched)
    assert re.fullmatch(f"lowpass: {message}", refused(untouched.ask(*arguments)))
    assert files(untouched) == before


@pytest.mark.parametrize("text", ["", "- a\n", "seed: [1\n", None])
def test_a_file_that_snakemake_itself_cannot_read_starts_nothing(text, untouched):
    """Snakemake reads what follows --configfile before it reads the Snakefile."""
    if text is not None:
        untouched.write("mine.yaml", text)
    before = files(untouched)
    assert untouched.ask("--configfile", "mine.yaml").returncode != 0
    assert files(untouched) == before


def test_a_product_that_is_not_planned_is_refused_in_one_line(untouched):
    before = files(untouched)
    said = untouched.ask("results/data/x~0123456789ab.nc", "--quiet", "all")
    assert re.fullmatch(
        r"lowpass: results/data/x~0123456789ab: no such product is planned by this configuration; "
        r".*",
        refused(said),
    )
    assert files(untouched) == before


def test_a_seed_on_the_command_line_replaces_that_of_the_file(untouched):
    seed = untouched.config["seed"]
    plain = untouched.dry("-p", "dc-limit")
    given = untouched.dry("-p", "dc-limit", "--config", "seed=5")
    assert f'"seed":{seed},' in plain
    assert '"seed":5,' not in plain
    assert f'"seed":{seed},' not in given
    assert '"seed":5,' in given
    assert jobs_in(given) == jobs_in(plain)


def test_a_table_with_a_gap_is_refused_by_its_job_and_named_in_the_log(untouched):
    """Its name has a blank and a quote, as names have that people give."""
    path = "workflow/resources/the river's flow.csv"
    untouched.write(path, "year,flow\n1871,5\n1872,nan\n1873,4\n")
    untouched.configure(nile={"data": {"path": path}})
    finished = untouched.snakemake("nile")
    message = f"lowpass: {path}: column 'flow' holds nan in data row 2; a smoother has no meaning "
    (log,) = untouched.root.glob("logs/data/*.log")
    assert finished.returncode != 0
    assert log.read_text(encoding="utf-8").startswith(message)
    assert log.read_text(encoding="utf-8").count("\n") == 1
    assert message in finished.stderr
    assert list(untouched.root.glob("results/*/*")) == []


def test_a_question_about_nothing_is_answered_in_one_line(untouched):
    before = files(untouched)
    assert re.fullmatch(
        "lowpass: 'nonsense' is neither a file nor the key of a product under results/; .*",
        refused(untouched.trace("nonsense")),
    )
    assert files(untouched) == before


def test_names_that_no_experiment_may_have_are_those_of_rules_and_targets(untouched):
    said = succeeded(untouched.ask("--list-rules"))
    names = {line.split()[0] for line in said.splitlines() if re.fullmatch(r"[a-z-]+", line)}
    assert names - set(untouched.config["experiments"]) == set(TAKEN) == names & set(TAKEN)
