"""The command line: one line for each refusal, an exit code, and nothing written."""

from __future__ import annotations

import errno
import gc
import io
import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

import lowpass.stages.data
from lowpass.__main__ import INTERRUPTED, main, parser
from lowpass.commands import publish
from lowpass.fingerprint import Code
from lowpass.plan import Plan, Point
from lowpass.plan.code import inventory_of
from lowpass.progress import Progress
from lowpass.provenance import record_in
from lowpass.records import SCHEMA
from lowpass.usage import read

from .configurations import ROOT
from .laboratory import SEED, Laboratory
from .results_tree import forge

TABLE = "flow.csv"
GOOD = "year,flow\n1,5\n2,7\n4,6\n"
OBSERVED = {
    "data": {"generator": "series", "path": TABLE, "key": "year", "value": "flow"},
    "smoothing": {"study": "selection", "bandwidths": {"low": 0.5, "high": 50, "count": 9}},
}
DRAWN = {
    "data": {"generator": "gaussian", "n_tokens": 6, "d_model": 3},
    "attention": {"weights": "symmetric", "beta": 1, "depth": 3},
    "spectra": ["slem"],
    "replicates": 1,
}


@pytest.fixture(scope="module")
def code() -> Code:
    """Read the code that jobs run."""
    return Code.read(ROOT / "src")


@pytest.fixture
def ask(capsys, monkeypatch, tmp_path):
    """Type a command in an empty folder; give its exit code and what it said."""
    monkeypatch.chdir(tmp_path)

    def typed(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return typed


@pytest.fixture
def job(ask, code):
    """Run the job of a planned point, as its rule would."""

    def run(point: Point, *inputs: str) -> tuple[int, str, str]:
        mark = inventory_of(code, point.recipe).fingerprint
        return ask("make", point.text, "--code", mark, "--in", *inputs, "--out", point.path)

    return run


def is_done(answer: tuple[int, str, str]) -> bool:
    """Say whether a job succeeded, and told nothing but what it used."""
    status, out, err = answer
    return (status, out, err.count("\n")) == (0, "", 1) and read(err) is not None


def first(plan: Plan, stage: str) -> Point:
    return next(point for point in plan if point.stage == stage)


def table_in(folder: Path, content: bytes) -> Point:
    """Write a table, and plan the data that is taken from it."""
    (folder / TABLE).write_bytes(content)
    return first(Plan(SEED, {"table": OBSERVED}, "here", folder), "data")


# Commands.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: command; 'python -m lowpass --help' says"),
        (["trase"], "argument command: invalid choice: 'trase' .*; 'python -m lowpass --help' sa"),
        (["trace"], r"the following arguments are required: FILE\|KEY; 'python -m lowpass trace"),
        (["trace", "a", "--jsn"], "unrecognized arguments: --jsn; 'python -m lowpass --help' say"),
        (["trace", "a", "--diff"], "--diff compares two products, not 1"),
        (["make", "x", "--code", "y", "--out", "z"], r"argument recipe: 'x' is not JSON \(Expect"),
        (["make", "[]", "--code", "y", "--out", "z"], r"argument recipe: '\[\]' has no 'stage' an"),
        (["make", '{"stage": "data"}', "--code", "y", "--out", "z"], "argument recipe: .* has no"),
    ],
)
def test_a_command_that_is_none_is_refused_in_one_line(arguments, message, ask):
    status, out, err = ask(*arguments)
    assert status == 1
    assert out == ""
    assert re.match(rf"lowpass: command line: {message}", err)
    assert err.count("\n") == 1


@pytest.mark.parametrize("what", ["nonsense", "0123456789ab", "no\nsense", "results/paper.pdf"])
def test_what_cannot_be_traced_is_refused_in_one_line(what, ask):
    status, out, err = ask("trace", what)
    assert (status, out) == (1, "")
    assert err.startswith(f"lowpass: '{what.replace(chr(10), ' ')}' is neither a file nor the key")
    assert err.endswith("give a path, or the twelve digits after the ~ in a name.\n")
    assert err.count("\n") == 1


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        parser().parse_args(["--help"])
    said = capsys.readouterr().out
    assert all(command in said for command in ("trace", "make", "publish"))


def test_a_recipe_is_taken_as_it_is_written():
    text = '{"params":{},"stage":"data"}'
    assert parser().parse_args(["make", text, "--code", "x", "--out", "y"]).recipe == text


# What the operating system refuses.


class Full(io.StringIO):
    """Stand for a log on a full disk."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def failing(fault: BaseException):
    """Give a command that fails in this way."""

    def run(asked):
        raise fault

    return run


def test_what_the_system_refuses_is_one_line(ask, monkeypatch):
    monkeypatch.setattr(publish, "run", failing(OSError(errno.EIO, "Input/output error", "a.nc")))
    assert ask("publish", "--in", "a.nc", "--out", "b.nc") == (
        1,
        "",
        "lowpass: a.nc: it cannot be used (Input/output error). Correct that, and run again.\n",
    )


def test_a_line_that_the_log_has_no_room_for_is_said_elsewhere(ask, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr", Full())
    status, out, _ = ask("trace", "nonsense")
    assert status == 1
    assert re.fullmatch(r"lowpass: 'nonsense' is neither a file nor .*\.\n", out)


def test_an_interrupted_command_says_so_in_one_line(ask, monkeypatch):
    monkeypatch.setattr(publish, "run", failing(KeyboardInterrupt()))
    assert ask("publish", "--in", "a.nc", "--out", "b.nc") == (
        INTERRUPTED,
        "",
        "lowpass: interrupted. Run again to go on; what was finished is kept.\n",
    )


# Jobs.


def test_a_job_writes_its_product_with_an_inventory_and_says_what_it_used(job, tmp_path):
    point = table_in(tmp_path, GOOD.encode())
    assert is_done(job(point, TABLE))
    code = record_in(tmp_path / point.path)[0]["code"]
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")} == {
        TABLE,
        point.path,
        f"results/code/{code}.json",
    }


def test_a_job_that_finds_the_inventory_of_its_code_leaves_it(job, tmp_path):
    point = table_in(tmp_path, GOOD.encode())
    job(point, TABLE)
    (inventory,) = tmp_path.glob("results/code/*")
    before = inventory.stat()
    assert is_done(job(point, TABLE))
    assert inventory.stat().st_ino == before.st_ino


def test_a_product_that_lies_in_no_results_has_no_inventory(ask, code, tmp_path):
    point = table_in(tmp_path, GOOD.encode())
    mark = inventory_of(code, point.recipe).fingerprint
    out = f"elsewhere/{Path(point.path).name}"
    assert is_done(ask("make", point.text, "--code", mark, "--in", TABLE, "--out", out))
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")} == {TABLE, out}


def test_a_job_looks_for_garbage_among_what_it_computes_alone(job, monkeypatch, tmp_path):
    """To look through all that was imported would take as long as to import numpy."""
    seen = []

    def observe(recipe, content):
        seen.append((gc.isenabled(), gc.get_freeze_count() > 10_000))
        return series(recipe, content)

    series = lowpass.stages.data.data
    monkeypatch.setattr("lowpass.stages.data.data", observe)
    job(table_in(tmp_path, GOOD.encode()), TABLE)
    assert seen == [(True, True)]
    assert (gc.isenabled(), gc.get_freeze_count()) == (True, 0)


@pytest.fixture
def slow(monkeypatch):
    """Let every look at the clock find a quarter of a minute gone."""
    clock = itertools.count(step=15.0).__next__
    monkeypatch.setattr("lowpass.jobs.Progress", lambda say: Progress(say, clock))


NILE = {**OBSERVED, "data": {**OBSERVED["data"], "path": "workflow/resources/nile.csv"}}
LONG = {
    "attention": (DRAWN, ["layer"] * 4),
    "spectra": ({**DRAWN, "spectra": ["slem", "min_attention", "hc_dc_rate"]}, ["measure"] * 3),
    "smoothing": (NILE, ["step"] * 9),
    "experiment": ({**DRAWN, "replicates": 21}, ["verifying point"] * 3 + ["gathering point"] * 3),
}


@pytest.mark.parametrize("stage", LONG)
def test_a_long_job_tells_its_log_how_far_it_is_and_makes_the_same(stage, job, tmp_path, request):
    section, items = LONG[stage]
    laboratory = Laboratory(tmp_path)
    point = first(laboratory.plan(section), stage)
    parents = [laboratory.make(parent)["path"] for parent in point.parents]
    assert is_done(job(point, *parents))
    made = laboratory.file(point).read_bytes()
    request.getfixturevalue("slow")
    status, out, err = job(point, *parents)
    assert (status, out) == (0, "")
    *watched, last = err.splitlines()
    assert read(last)
    lines = [re.match(r"(.*?) +\d+ of \d+ +\d+ %  \[#*-*\]  [\d.]+ ", each) for each in watched]
    assert [line[1] for line in lines] == items
    assert laboratory.file(point).read_bytes() == made


FAULTS = {
    "nan": (GOOD + "5,nan\n", "column 'flow' holds nan in data row 4; .* Remove the row or fill"),
    "infinity": (GOOD + "5,-inf\n", "column 'flow' holds -inf in data row 4; .* Remove the row"),
    "no such column": ("yaer,flow\n1,5\n2,7\n", "no column is called 'year'; did you mean 'yaer'"),
    "a word": (GOOD + "5,six\n", "line 5: column 'flow' holds 'six'; it is not a number. Write"),
    "a short line": (GOOD + "5\n", "line 5: '5' has 1 cells and the header has 2; .* Add or rem"),
    "two of a name": ("year,year\n1,5\n", "line 1: two columns are called 'year'; .* Rename one"),
    "out of order": (GOOD + "3,9\n", "column 'year' goes from 4.0 in data row 3 to 3.0 in data r"),
    "too few rows": ("year,flow\n1,5\n2,7\n", "there are 2 rows; .* Give at least 3 rows"),
    "nothing": ("", "there is no data line below a header; nothing can be read. Give one line of"),
    "binary": (b"\x89PNG\r\n\x1a\n\xff", "byte 0 is not UTF-8 text; save the table as UTF-8"),
    "another encoding": (GOOD.encode("utf-16"), "byte 0 is not UTF-8 text; save the table as UTF"),
}


@pytest.mark.parametrize(("content", "message"), FAULTS.values(), ids=FAULTS)
def test_a_table_that_is_none_is_refused_and_nothing_is_written(content, message, job, tmp_path):
    point = table_in(tmp_path, content.encode() if isinstance(content, str) else content)
    status, out, err = job(point, TABLE)
    assert (status, out) == (1, "")
    assert re.match(rf"lowpass: {TABLE}: {message}", err)
    assert err.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_a_table_that_changed_after_it_was_planned_is_refused(job, tmp_path):
    point = table_in(tmp_path, GOOD.encode())
    (tmp_path / TABLE).write_text(GOOD.replace("7", "8"), encoding="utf-8")
    status, out, err = job(point, TABLE)
    assert (status, out) == (1, "")
    assert re.fullmatch(
        rf"lowpass: {TABLE}: its content changed after the plan was made \(sha256 [0-9a-f]{{12}} "
        r"was planned, [0-9a-f]{12} is there\)\. Run again\.\n",
        err,
    )
    assert not (tmp_path / "results").exists()


def test_a_table_that_was_deleted_after_it_was_planned_is_refused(job, tmp_path):
    point = table_in(tmp_path, GOOD.encode())
    (tmp_path / TABLE).unlink()
    status, out, err = job(point, TABLE)
    assert (status, out) == (1, "")
    assert re.match(rf"lowpass: {TABLE}: .*[Nn]o such file.*, and run again\.\n", err)
    assert err.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_a_job_names_its_product_where_the_system_names_no_file(job, monkeypatch, tmp_path):
    def run(*asked):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("lowpass.jobs.run", run)
    point = table_in(tmp_path, GOOD.encode())
    assert job(point, TABLE) == (
        1,
        "",
        f"lowpass: {point.path}: it cannot be used (Too many open files). Correct that, and run "
        f"again.\n",
    )


@pytest.mark.parametrize(
    ("changes", "stage", "message"),
    [
        (
            {"attention": {"weights": "untied", "start": "second_mode", "beta": 1, "depth": 3}},
            "attention",
            r"the second eigenvalue \S+ is complex; .* Use weights with symmetric logits",
        ),
        (
            {"data": {"generator": "two_levels", "n_tokens": 5, "d_model": 3}},
            "data",
            "two_levels got n_tokens = 5; two halves of equal size need an even number. Use 6",
        ),
        (
            {"attention": {"kernel": "boxcar", "score": "l2", "beta": 1.0e6, "depth": 3}},
            "attention",
            r"query \[0, 0, 0\] has no key within the bandwidth of the kernel 'boxcar': .* Divide",
        ),
    ],
)
def test_a_run_that_its_own_draws_forbid_is_refused(changes, stage, message, job, tmp_path):
    point = first(Laboratory(tmp_path).plan({**DRAWN, **changes}), stage)
    inputs = [Laboratory(tmp_path).make(parent)["path"] for parent in point.parents]
    status, out, err = job(point, *inputs)
    assert (status, out) == (1, "")
    assert re.match(f"lowpass: {point.path}: {message}", err)
    assert err.count("\n") == 1
    assert not list(tmp_path.glob(f"results/{stage}/*"))


@pytest.mark.parametrize("stage", ["attention", "experiment", "claims", "figures", "paper"])
def test_a_parent_of_later_code_is_refused(stage, job, tmp_path):
    """Whether a job is told its parents or finds them by its recipe."""
    laboratory = Laboratory(tmp_path)
    plan = laboratory.plan(DRAWN)
    for shows in ("claims", "figures", "paper"):
        plan.add(shows, "some", {"figure": "decay"}, (plan.experiments["trial"],))
    point = first(plan, stage)
    parents = [laboratory.make(parent)["path"] for parent in point.parents]
    later = laboratory.file(point.parents[0])
    forge(later, lambda record: record.update(schema=SCHEMA + 1), seal_again=False)
    status, out, err = job(point, *parents)
    assert (status, out) == (1, "")
    assert f"{later.relative_to(tmp_path)}: its record has the schema {SCHEMA + 1} and this" in err
    assert err.endswith("Update lowpass, or delete the file and run again.\n")
    assert err.count("\n") == 1
    assert not list(tmp_path.glob(f"results/{stage}/*"))


@pytest.mark.parametrize(("low", "high"), [(0.001, 0.4), (200, 500)])
def test_a_grid_without_its_minimum_is_refused(low, high, job, tmp_path):
    shutil.copy(ROOT / "workflow/resources/nile.csv", tmp_path / TABLE)
    section = {
        **OBSERVED,
        "smoothing": {"study": "selection", "bandwidths": {"low": low, "high": high, "count": 9}},
    }
    plan = Plan(SEED, {"table": section}, "here", tmp_path)
    data, smoothing = first(plan, "data"), first(plan, "smoothing")
    assert is_done(job(data, TABLE))
    status, out, err = job(smoothing, data.path)
    assert (status, out) == (1, "")
    assert re.fullmatch(
        rf"lowpass: {smoothing.path}: the lowest score lies at bandwidth \S+, an end of the "
        r"grid .*; the minimum may lie beyond it\. Widen the grid\.\n",
        err,
    )
    assert not list(tmp_path.glob("results/smoothing/*"))


def test_code_that_is_not_what_was_planned_is_refused(ask, tmp_path):
    point = table_in(tmp_path, GOOD.encode())
    status, out, err = ask(
        "make", point.text, "--code", "0" * 16, "--in", TABLE, "--out", point.path
    )
    assert (status, out) == (1, "")
    assert re.fullmatch(
        rf"lowpass: {point.path}: the code of stage 'data' is [0-9a-f]{{16}} and not 0{{16}} as "
        r"planned; it was edited while the workflow ran\. Run again\.\n",
        err,
    )
    assert not (tmp_path / "results").exists()


def test_a_recipe_that_no_stage_knows_is_refused(ask, tmp_path):
    recipe = json.dumps({"stage": "attention", "params": {"beta": 1.0, "depth": 3, "twist": 2}})
    path = "results/attention/x~0.nc"
    status, _, err = ask("make", recipe, "--code", "0" * 16, "--out", path)
    assert status == 1
    assert err.startswith(f"lowpass: {path}: recipe: twist: no parameter is called 'twist'")
    assert not (tmp_path / "results").exists()
