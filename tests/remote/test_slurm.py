"""Questions to Slurm: an answer's lines, or Slurm's own words for why there is none."""

from __future__ import annotations

import pytest

from lowpass.remote.slurm import Silent, ask


def test_an_answer_is_its_lines(slurm):
    slurm(sinfo='echo "$1"; echo "two words"')
    assert ask(["sinfo", "-h"]) == ["-h", "two words"]


def test_a_failure_is_told_in_slurms_own_words(slurm):
    slurm(sinfo='echo "slurm_load_partitions: Unable to contact\n slurm controller" >&2; exit 1')
    with pytest.raises(
        Silent, match=r"^slurm_load_partitions: Unable to contact slurm controller$"
    ):
        ask(["sinfo"])


def test_a_failure_without_words_and_a_command_that_is_not_there_are_named(slurm):
    slurm(sinfo="exit 3")
    with pytest.raises(Silent, match=r"^sinfo failed$"):
        ask(["sinfo"])
    with pytest.raises(Silent, match=r"^there is no squeue on PATH$"):
        ask(["squeue"])


def test_a_command_that_does_not_end_is_given_up(slurm, monkeypatch):
    slurm(sinfo="exec /bin/sleep 60")
    monkeypatch.setattr("lowpass.remote.slurm.PATIENCE", 0.1)
    with pytest.raises(Silent, match="timed out"):
        ask(["sinfo"])
