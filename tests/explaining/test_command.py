"""The command, asked where nothing has run: an answer, or one line."""

from __future__ import annotations

import json
import re

import pytest

from lowpass.__main__ import main

from ..configurations import NAME, TEXT


@pytest.fixture
def ask(capsys, monkeypatch, tmp_path):
    """Ask in a folder that holds nothing but a configuration."""
    (tmp_path / NAME).write_text(TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def asked(*arguments: str) -> tuple[int, str, str]:
        status = main(["explain", *arguments])
        said = capsys.readouterr()
        assert [path.name for path in tmp_path.iterdir()] == [NAME]
        return status, said.out, said.err

    return asked


def test_where_nothing_ran_everything_would(ask):
    status, out, err = ask("--configfile", NAME)
    first, total = out.splitlines()
    assert (status, err) == (0, "")
    assert first.startswith("nothing has run here yet: 3 data, 4 attention, 1 smoothing, 4 spectra")
    count = re.fullmatch(r"(\d+) of \1 jobs would run", total)
    assert count is not None
    jobs = json.loads(ask("--configfile", NAME, "--json")[1])["jobs"]
    assert len(jobs) == int(count[1])
    assert {job["stage"] for job in jobs} == {
        *("data", "attention", "smoothing", "spectra", "experiment"),
        *("claims", "figures", "paper", "publish"),
    }


def test_a_target_is_a_part(ask):
    said = json.loads(ask("--configfile", NAME, "--json", "table")[1])
    stages = [job["stage"] for job in said["jobs"]]
    assert stages == ["data", "smoothing", "experiment"]
    (path,) = said["jobs"][1]["outputs"]
    file = json.loads(ask("--configfile", NAME, "--json", f"./{path}")[1])
    assert file["jobs"] == said["jobs"][:2]


def test_nothing_was_forgotten_where_nothing_is(ask):
    assert ask("--configfile", NAME, "--forgotten") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabel"], r"'tabel' is neither a target nor a product of this configuration; did you me"),
        (["results/data/x~0123456789ab.nc"], r"'results/data/x~0123456789ab\.nc' is neither a tar"),
        (["spectra"], r"'spectra' is neither a target nor .* Targets: all, paper, publish, data, "),
        (["--json", "--all"], r"command line: argument --all/--verbose: not allowed with argument"),
    ],
)
def test_a_question_without_an_answer_is_one_line(arguments, message, ask):
    status, out, err = ask("--configfile", NAME, *arguments)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert re.match(f"lowpass: {message}", err)


def test_a_configuration_that_is_not_there_is_one_line(ask):
    status, out, err = ask("--configfile", "none.yaml")
    assert (status, out) == (1, "")
    assert err == "lowpass: none.yaml: there is no such file; check the path.\n"
