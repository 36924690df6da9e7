"""Tensors of one's own, from two lines of numpy to an opened result, with the real Snakemake."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ..test_readme import block
from .project import NOTHING, Finished, Project, succeeded, told

MINE = ("mine", "--configfile", "mine.yaml")
CHAIN = Counter(generate=1, attention=1, spectra=1, experiment=1, mine=1)
# Beside the experiment of the README: logits that hide keys, alone in a file.
LOGITS = """\
  scores:
    why: What do scores with a mask forget?
    data: {generator: file, path: scores.npy, logits: {dims: [key, query]}}
    attention: {beta: 1, depth: 3, record: all}
    spectra: [slem]
"""
OPEN = """\
import lowpass
mine = lowpass.open("mine", "mine.yaml")
print(*mine["log10_hc_dc_ratio"].dims, mine.sizes["layer"], repr(float(mine["slem"][0])))
"""


def causal(n_tokens: int) -> np.ndarray:
    """Give logits (key, query) in which no query sees a later key, and only the first sees one."""
    seen = np.tri(n_tokens, dtype=bool)
    scores = np.random.default_rng(1).standard_normal((n_tokens, n_tokens))
    return np.where(seen, scores, -np.inf).T


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Project:
    """Do what the README says, in a copy of the project, and run one experiment more."""
    made = Project.checkout(tmp_path_factory.mktemp("own") / "project")
    succeeded(made.python("-c", block("Your own tensors", "python")))
    made.write("mine.yaml", block("Your own tensors", "yaml") + LOGITS)
    np.save(made.root / "scores.npy", causal(5))
    succeeded(made.snakemake("scores", *MINE))
    return made


@pytest.fixture
def mine(ran: Project, tmp_path: Path) -> Project:
    """Copy the finished run, to be changed at will."""
    return ran.copy(tmp_path / "project")


def tensors(project: Project) -> dict[str, np.ndarray]:
    with np.load(project.root / "mine.npz") as file:
        return dict(file)


def save(project: Project, **changed: np.ndarray) -> None:
    np.savez(project.root / "mine.npz", **{**tensors(project), **changed})


def one_line(finished: Finished) -> str:
    """Give the only line of ours that a failed command printed, which shows no traceback."""
    assert finished.returncode != 0
    said = finished.stdout + finished.stderr
    assert "Traceback" not in said
    (line,) = set(told(said))
    return line


# What comes of it.


def test_a_result_opens_and_is_what_numpy_finds(ran):
    said = succeeded(ran.python("-c", OPEN)).split()
    assert said[:4] == ["replicate", "layer", "201", said[3]]
    second = np.sort(np.abs(np.linalg.eigvals(tensors(ran)["attn"][0])))[-2]
    assert_allclose(float(said[3]), second, rtol=1e-10)


def test_every_result_is_traced_to_its_file(ran):
    found = ran.products("experiment")
    assert len(found) == 2
    said = ran.trace("--configfile", "mine.yaml", *map(str, found))
    assert said.returncode == 0, said.stdout + said.stderr
    assert not re.search("tampered|stale|orphan|missing", said.stdout)


# What changes.


def test_a_changed_file_is_felt_by_its_own_chain(mine):
    assert mine.plan("scores", *MINE) == NOTHING
    save(mine, hidden=2 * tensors(mine)["hidden"])
    assert mine.plan("scores", *MINE) == CHAIN


def test_rows_that_do_not_sum_to_one_are_refused_where_they_are(mine):
    attn = tensors(mine)["attn"]
    attn[0, 7] *= 1 + 1e-6
    attn[0, 9] *= 1 + 1e-9
    save(mine, attn=attn)
    before = mine.bytes_of()
    line = one_line(mine.snakemake(*MINE))
    assert re.fullmatch(
        r"lowpass: mine\.npz: attention 'attn': the row at head 0, query 7 sums to 1\.00000\d+; "
        r"rounding of 64 numbers of float64 moves it from 1 by .* at most\. Give scores as .*",
        line,
    )
    assert mine.bytes_of() == before


# What vanishes.


def test_a_file_that_vanishes_after_the_plan_stops_its_job_in_one_line(mine):
    """The command is that of the job which Snakemake would have started."""
    save(mine, hidden=tensors(mine)["hidden"] + 1)
    shown = mine.dry("--printshellcmds", *MINE)
    (command,) = re.findall(r"python -m (lowpass make .* --in mine\.npz --out \S+)", shown)
    (mine.root / "mine.npz").unlink()
    before = mine.bytes_of()
    line = one_line(mine.python("-m", *shlex.split(command)))
    assert re.fullmatch(r"lowpass: .*mine\.npz.*No such file or directory.*", line)
    assert mine.bytes_of() == before


def test_a_file_that_is_gone_is_told_before_anything_runs(mine):
    (mine.root / "mine.npz").unlink()
    assert one_line(mine.snakemake(*MINE)) == (
        "lowpass: mine.yaml: experiments.mine.data.path: 'mine.npz' cannot be read (No such file "
        "or directory); paths are relative to the project's folder, so check it there."
    )


# What lies elsewhere.


def test_a_link_stands_for_its_file_until_that_is_gone(mine, tmp_path):
    there, outside = mine.root / "mine.npz", tmp_path / "outside.npz"
    there.rename(outside)
    there.symlink_to(outside)
    assert mine.plan(*MINE) == NOTHING
    outside.unlink()
    assert one_line(mine.snakemake("--dry-run", *MINE)) == (
        f"lowpass: mine.yaml: experiments.mine.data.path: 'mine.npz', a link to '{outside}', "
        f"cannot be read (No such file or directory); paths are relative to the project's folder, "
        f"so check it there."
    )


def test_a_path_out_of_the_project_is_answered_with_a_link(mine, tmp_path):
    mine.edit("mine.yaml", "path: mine.npz", f"path: {tmp_path}/outside.npz")
    assert one_line(mine.snakemake("--dry-run", *MINE)).endswith(
        f"or a link to it: ln -s {tmp_path}/outside.npz workflow/resources/."
    )
