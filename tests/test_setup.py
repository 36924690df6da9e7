"""The way from a bare machine to ``.venv``: locks, Makefile, and the facts told twice.

Every Makefile here is a copy in a temporary folder, with a stub for Python that
notes how it was called, so nothing is downloaded.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.txt", "requirements-test.txt", "requirements-cluster.txt")


def requirements(name: str) -> list[str]:
    """Read a requirements file as one string per requirement, without comments."""
    text = re.sub(r"(^|\s)#.*", "", (ROOT / name).read_text()).replace("\\\n", " ")
    return [line for line in map(str.strip, text.splitlines()) if line and line[0] != "-"]


def plain(name: str) -> str:
    """Spell a distribution as an index compares it: lower case, dashes, no extras."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", name)[0]).lower()


def pins(name: str) -> dict[str, str]:
    """Map each distribution of a lock to its version."""
    return {plain(line): re.search(r"==([^\s;]+)", line)[1] for line in requirements(name)}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Copy the files that the bootstrap reads."""
    folder = tmp_path / "a checkout"
    folder.mkdir()
    for name in ("Makefile", *LOCKS):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def python(tmp_path: Path):
    """Write an interpreter that notes its arguments, then runs the given line of shell."""

    def write(line: str = "") -> Path:
        stub = tmp_path / "python-stub"
        stub.write_text(
            f'#!/bin/sh\necho "$*" >> "{tmp_path}/calls"\n{line}\n'
            'case "$*" in "-m venv "*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;; esac\n'
        )
        stub.chmod(0o755)
        return stub

    return write


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run make as a person would, not as a part of the make that runs this test."""
    kept = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(
        ["make", *arguments],
        cwd=checkout,
        env=kept | {"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def calls(checkout: Path) -> list[str]:
    """Give the calls of the stub that change .venv, and forget them."""
    log = checkout.parent / "calls"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return [line for line in lines if line.startswith("-m")]


# The locks.


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_one_version_and_a_hash(name):
    for line in requirements(name):
        assert re.match(r"[\w.-]+==[\w.]+( ; [^\\]+?)?(\s+--hash=sha256:[0-9a-f]{64})+$", line)
    assert len(pins(name)) == len(requirements(name))


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_host_and_no_path(name):
    text = (ROOT / name).read_text()
    assert not re.findall(r"https?:|://|file:|--(?:extra-)?index|--find-links|(?:^|\s|@)/\S", text)
    assert not re.findall(r"\w\.(?:org|com|net|io)\b", text)


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_what_was_asked_for(name):
    asked = requirements(name.replace(".txt", ".in"))
    assert {plain(line) for line in asked} <= pins(name).keys()
    exact = dict(line.split("==") for line in asked if "==" in line)
    assert exact.items() <= pins(name).items()


def test_snakemake_is_pinned_exactly_by_hand():
    assert any(line.startswith("snakemake==") for line in requirements("requirements.in"))


def test_what_a_cluster_needs_is_pinned_exactly_by_hand():
    assert all("==" in line for line in requirements("requirements-cluster.in"))


@pytest.mark.parametrize("name", LOCKS[1:])
def test_no_lock_disagrees_with_that_of_the_paper(name):
    paper, other = pins(LOCKS[0]), pins(name)
    shared = paper.keys() & other.keys()
    assert shared
    assert {name: other[name] for name in shared} == {name: paper[name] for name in shared}


def test_the_paper_needs_nothing_that_only_tests_ask_for():
    for name in ("requirements-test.in", "requirements-cluster.in"):
        others = {plain(line) for line in requirements(name)}
        assert others.isdisjoint(pins("requirements.txt"))


# The bootstrap.


def test_a_first_make_installs_and_a_second_does_nothing(checkout, python):
    stub = f"PYTHON={python()}"
    assert make(checkout, stub, "paper").returncode == 0
    built = calls(checkout)
    assert built[0] == "-m venv --clear --without-pip .venv"
    assert [line for line in built if re.match("-m uv pip sync .*--require-hashes", line)]
    assert built[-2].startswith("-m snakemake --quiet host reason --cores ")
    for name in LOCKS:
        (checkout / name).touch()
    make(checkout, stub, "paper")
    assert calls(checkout) == built[-2:]


@pytest.mark.parametrize(
    ("changed", "target", "synced"),
    [
        ("requirements.txt", "paper", ["requirements.txt"]),
        (
            "requirements.txt",
            "test",
            ["requirements.txt", "requirements.txt requirements-test.txt"],
        ),
        ("requirements-test.txt", "paper", []),
        ("requirements-test.txt", "test", ["requirements.txt requirements-test.txt"]),
    ],
)
def test_a_changed_lock_installs_for_those_who_use_it(checkout, python, changed, target, synced):
    stub = f"PYTHON={python()}"
    make(checkout, stub, "test")
    calls(checkout)
    with (checkout / changed).open("a") as lock:
        lock.write("# A lock is known by its text.\n")
    make(checkout, stub, target)
    syncs = [line for line in calls(checkout) if "pip sync" in line]
    assert [line.partition("--python .venv ")[2] for line in syncs] == synced


def test_a_profile_adds_what_it_needs_once_and_leaves_cores_to_the_cluster(checkout, python):
    stub = f"PYTHON={python()}"
    make(checkout, stub, "paper")
    calls(checkout)
    assert make(checkout, stub, "paper", "PROFILE=slurm").returncode == 0
    added, run, verified = calls(checkout)
    assert added.startswith("-m pip install ")
    assert added.endswith(" --require-hashes --only-binary :all: -r requirements-cluster.txt")
    assert run == "-m snakemake --quiet host reason --profile profiles/slurm -- paper"
    make(checkout, stub, "paper", "PROFILE=slurm")
    assert calls(checkout) == [run, verified]


def test_uv_is_installed_from_its_own_hashes(checkout, python):
    make(checkout, f"PYTHON={python()}", "paper")
    first, *rest = (checkout / ".venv" / "uv.txt").read_text().splitlines()
    assert first == f"uv=={pins('requirements.txt')['uv']} \\"
    assert rest
    assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line) for line in rest)
    assert not rest[-1].endswith("\\")


@pytest.mark.parametrize("fails", ["*uv.txt", "*sync*"])
def test_pip_installs_by_hash_where_uv_cannot(checkout, python, fails):
    stub = python(f'case "$*" in {fails}) exit 1 ;; esac')
    assert make(checkout, f"PYTHON={stub}", "paper").returncode == 0
    assert "-m pip install --require-hashes -r requirements.txt" in calls(checkout)


def test_pip_is_left_alone_where_uv_installs(checkout, python):
    make(checkout, f"PYTHON={python()}", "paper")
    assert [line for line in calls(checkout) if "pip install" in line] == [
        "-m pip install --quiet --require-hashes --only-binary :all: -r .venv/uv.txt"
    ]


def test_a_failed_installation_is_tried_again(checkout, python):
    stub = python('case "$*" in *sync* | *"-r requirements.txt") exit 1 ;; esac')
    assert make(checkout, f"PYTHON={stub}", "paper").returncode != 0
    first = calls(checkout)
    assert make(checkout, f"PYTHON={stub}", "paper").returncode != 0
    assert calls(checkout) == first[1:]


def test_clean_keeps_what_was_installed(checkout, python):
    make(checkout, f"PYTHON={python()}", "paper")
    for name in ("results", "logs", "smoke", ".snakemake"):
        (checkout / name).mkdir()
    before = sorted((checkout / ".venv").rglob("*"))
    assert make(checkout, "clean").returncode == 0
    assert sorted(path.name for path in checkout.iterdir()) == sorted([".venv", "Makefile", *LOCKS])
    assert sorted((checkout / ".venv").rglob("*")) == before


def test_bare_make_lists_every_target(checkout):
    text = (checkout / "Makefile").read_text()
    targets = re.search(r"^\.PHONY: (.*)", text, re.MULTILINE)[1].split()
    listed = [line.split()[1] for line in make(checkout).stdout.splitlines()]
    assert sorted(listed) == sorted(targets)


def test_a_paper_tells_its_level_and_does_not_fail_by_it(checkout, python):
    stub = "PYTHON={}".format(python('case "$*" in *verify*) exit 1 ;; esac'))
    assert make(checkout, stub, "paper").returncode == 0
    assert calls(checkout)[-1] == "-m lowpass verify"
    assert make(checkout, stub, "verify").returncode != 0
    assert calls(checkout) == ["-m lowpass verify"]


@pytest.mark.parametrize("arguments", ["-n", "--configfile mine.yaml"])
def test_a_paper_made_otherwise_is_not_compared_with_this_one(checkout, python, arguments):
    make(checkout, f"PYTHON={python()}", "paper", f"ARGS={arguments}")
    assert calls(checkout)[-1].endswith(f" {arguments} -- paper")


def test_a_paper_that_failed_is_not_compared(checkout, python):
    stub = python('case "$*" in *snakemake*) exit 1 ;; esac')
    assert make(checkout, f"PYTHON={stub}", "paper").returncode != 0
    assert calls(checkout)[-1].startswith("-m snakemake")


# Refusals.


def refusal(checkout: Path, *arguments: str) -> str:
    """Run make, which must say one line and write nothing; give that line."""
    before = sorted(checkout.rglob("*"))
    run = make(checkout, *arguments)
    assert run.returncode != 0
    assert run.stdout == ""
    assert sorted(checkout.rglob("*")) == before
    line = re.fullmatch(r"Makefile:\d+: \*\*\* (lowpass: .*)\.  Stop\.\n", run.stderr)
    assert line, run.stderr
    return line[1]


@pytest.mark.parametrize("target", ["paper", "test"])
@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_missing_module_is_named_with_its_package(checkout, python, module, target):
    stub = python(f'case "$*" in *"import {module}"*) exit 1 ;; esac')
    assert refusal(checkout, f"PYTHON={stub}", target) == (
        f"lowpass: {stub} has no module '{module}'; make needs it to build .venv. "
        "Install it (Debian: apt-get install python3-venv)"
    )


def test_an_old_python_is_told_its_version(checkout, python):
    stub = python('case "$*" in -V) echo Python 3.9.18 ;; *hexversion*) exit 1 ;; esac')
    assert refusal(checkout, f"PYTHON={stub}", "paper") == (
        f"lowpass: {stub} is Python 3.9.18; make needs 3.11 or newer to build .venv. "
        "Name one: make PYTHON=python3.12"
    )


def test_a_missing_python_is_named(checkout):
    assert refusal(checkout, "PYTHON=no-such-python", "paper") == (
        "lowpass: no-such-python does not run. Install it (Debian: apt-get install python3 "
        "python3-venv) or name another: make PYTHON=python3.12"
    )


def test_tracing_nothing_is_refused(checkout, python):
    make(checkout, f"PYTHON={python()}", "paper")
    assert refusal(checkout, "trace") == (
        "lowpass: trace needs a result; name it with KEY= or FILE="
    )


# Facts that stand in two files.


def test_this_python_is_one_that_the_project_takes():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    least = tuple(map(int, re.fullmatch(r">=(\d+)\.(\d+)", project["requires-python"]).groups()))
    assert sys.version_info >= least
    makefile = (ROOT / "Makefile").read_text()
    assert f"sys.hexversion < 0x{least[0]:02x}{least[1]:02x}0000" in makefile
    assert "--python-version {}.{} ".format(*least) in makefile


def test_the_citation_has_the_version_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])


def test_continuous_integration_runs_the_commands_of_the_makefile():
    script = ROOT / ".ci/run"
    assert os.access(script, os.X_OK)
    commands = [line for line in script.read_text().splitlines() if line and line[0] != "#"]
    assert commands[0] == "set -euo pipefail"
    assert commands[-4:] == ["make test", "make lint", "make test-workflow", "make test-cluster"]
    # Without it a test that finds no browser, or no Slurm, would be skipped, and nobody would know.
    assert "export LOWPASS_BROWSER=required LOWPASS_SLURM=required" in commands


def test_python_of_the_environment_imports_the_package_from_anywhere(tmp_path):
    code = "import lowpass; print(lowpass.__file__)"
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run(
        [ROOT / ".venv/bin/python", "-c", code],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(said.stdout.strip()).resolve() == ROOT / "src/lowpass/__init__.py"
