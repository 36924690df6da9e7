"""What no configuration plans is listed, and nothing else, ever."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lowpass import garbage, project
from lowpass.__main__ import main
from lowpass.fingerprint.inventory import KEPT
from lowpass.rules import PUBLISHED
from lowpass.whole import whole_plan

from .configurations import ROOT, TABLE, TEXT, edited
from .test_locking import OTHER, PATIENCE

OTHER_KEY = "fedcba987654"
STRANGE = (
    f"results/data/gaussian~{OTHER_KEY}.nc",
    f"results/figures/decay~{OTHER_KEY}.night.svg",
    f"results/publish/manifest~{OTHER_KEY}.json",
    f"logs/attention/softmax~{OTHER_KEY}.log",
    f"logs/attention/softmax~{OTHER_KEY}.jsonl",
    f"{KEPT}/{'0' * 16}.json",
)
# Somebody's own, or what Snakemake and the workflow put under fixed names.
FOREIGN = (
    "results/notes.txt",
    "results/data/mine.nc",
    "results/data/x~1.nc",
    f"results/code/{'0' * 16}.txt",
    f"elsewhere/x~{OTHER_KEY}.nc",
    f"x~{OTHER_KEY}.nc",
    "logs/publish.log",
    *PUBLISHED,
)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Make a project that has two configurations, and work there."""
    for name in ("src", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/one.yaml").write_text(TEXT)
    (tmp_path / "config/two.yaml").write_text(f"seed: 8\nexperiments:\n{TABLE}")
    monkeypatch.setattr(project, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(*paths: str, content: str = "") -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(content)


def make(config: str) -> list[str]:
    """Put empty files where a configuration plans products, and list them."""
    plan = whole_plan(Path(config), config, Path.cwd())
    paths = [*garbage.files_of(plan, Path.cwd())]
    touch(*paths)
    return paths


@pytest.fixture
def listed(capsys):
    """Give the paths that gc lists, one a line."""

    def listed(*arguments: str) -> set[str]:
        assert main(["gc", "--paths", *arguments]) == 0
        return {*capsys.readouterr().out.splitlines()}

    return listed


def test_what_some_configuration_plans_is_kept(folder, listed):
    assert len({*make("config/one.yaml"), *make("config/two.yaml")}) > 50
    assert listed() == set()


def test_what_none_plans_is_listed_and_stays(folder, listed):
    make("config/one.yaml")
    touch(*STRANGE, *FOREIGN)
    assert listed() == {*STRANGE}
    assert all(Path(path).exists() for path in STRANGE)


def test_a_value_taken_out_leaves_what_was_made_of_it_and_nothing_shared(folder, listed):
    before = {*make("config/one.yaml")}
    (folder / "config/one.yaml").write_text(edited(("[1, 3]", "[1]")))
    after = {*make("config/one.yaml")}
    assert listed() == before - after
    assert any("beta-3" in path for path in before - after)
    assert not any(path.startswith("results/data/") for path in before - after)


def test_a_configuration_that_lies_elsewhere_can_be_named(folder, listed):
    (folder / "mine.yaml").write_text(edited(("[1, 3]", "[1, 3, 9]")))
    mine, one = {*make("mine.yaml")}, {*make("config/one.yaml")}
    assert listed() == mine - one != set()
    assert listed("--configfile", "mine.yaml") == set()


def test_half_written_files_are_listed_with_or_without_a_plan(folder, listed):
    (first, *_) = make("config/one.yaml")
    parts = {f"{first}.0123abcd.part", f"{STRANGE[0]}.part", "results/paper.pdf.0123abcd.part"}
    parts.add(f"{KEPT}/{'1' * 16}.json.0123abcd.part")
    touch(*parts, "results/notes.txt.part")
    assert listed() == parts


def test_an_inventory_is_kept_as_long_as_a_kept_product_states_it(folder, listed):
    (claims,) = (path for path in make("config/one.yaml") if path.startswith("results/claims/"))
    record = {"schema": 1, "key": "", "digest": "", "parameters": {}, "parents": []}
    record |= {"recipe": {"stage": "claims", "params": {}}, "code": "a" * 16}
    touch(claims, content=json.dumps({"$record": record}))
    touch(*(f"{KEPT}/{digit * 16}.json" for digit in "ab"))
    assert listed() == {f"{KEPT}/{'b' * 16}.json"}


def test_a_run_in_progress_loses_nothing(folder, listed):
    """Its configuration may lie anywhere, and what it writes has no name yet."""
    touch(*STRANGE, f"{STRANGE[0]}.0123abcd.part")
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
    ) as other:
        (folder / ".snakemake/locks").mkdir(parents=True)
        assert other.stdout is not None
        assert other.stdout.readline() == "holds\n"
        touch(".snakemake/locks/0.output.lock", content=f"{STRANGE[0]}\n")
        found = listed()
        other.communicate(timeout=PATIENCE)
    assert found == set()
    # The lock of a run that is gone keeps nothing.
    assert listed() == {*STRANGE, f"{STRANGE[0]}.0123abcd.part"}


# What is said.


def test_sizes_add_up_and_the_way_to_delete_is_said(folder, capsys):
    touch(STRANGE[0], content="x" * 1500)
    touch(STRANGE[3], content="x" * 50)
    assert main(["gc"]) == 0
    *lines, total, advice = capsys.readouterr().out.splitlines()
    assert lines == [f"     50 B  {STRANGE[3]}", f"   1.5 kB  {STRANGE[0]}"]
    assert total == (
        "2 files, 1.6 kB, planned by none of config/one.yaml, config/two.yaml; nothing was deleted."
    )
    assert advice.endswith("gc --paths | xargs rm")


def test_no_garbage_is_said(folder, capsys):
    assert main(["gc"]) == 0
    assert capsys.readouterr().out == (
        "every product here is planned by config/one.yaml, config/two.yaml\n"
    )


def refused(capsys, *arguments: str) -> str:
    """Give the one line of a refusal, after checking that nothing was listed."""
    assert main(["gc", *arguments]) == 1
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    return said.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed: [", "config/two.yaml: is not YAML on line 1: "),
        ("", "config/two.yaml: is empty, so nothing would run; "),
        ("seed: 1\nexperiments: {a: {why: b, data: {}}}", "config/two.yaml: experiments.a: has no"),
    ],
)
@pytest.mark.parametrize("how", [(), ("--paths",)])
def test_a_broken_configuration_makes_no_garbage(text, message, how, folder, capsys):
    touch(*STRANGE)
    (folder / "config/two.yaml").write_text(text)
    said = refused(capsys, *how)
    assert said.startswith(f"lowpass: {message}")
    assert said.endswith("Until then gc cannot tell what it plans.\n")


def test_without_any_configuration_nothing_is_garbage(folder, capsys):
    touch(*STRANGE)
    for path in folder.glob("config/*"):
        path.unlink()
    assert re.match("lowpass: config/: no configuration lies there, ", refused(capsys))


def test_a_configuration_that_is_named_and_missing_is_refused(folder, capsys):
    said = refused(capsys, "--configfile", "none.yaml")
    assert said.startswith("lowpass: none.yaml: there is no such file; check the path.")
