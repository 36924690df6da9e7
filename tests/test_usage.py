"""What a process used: measured of itself, and one line at the end of its log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lowpass.usage import Usage, line, read, used

LARGE = 2 * 10**8
# Whoever starts it, a program has a peak of its own.
HEIR = """
import subprocess, sys
held = b"x" * 200_000_000
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""
TELL = "from lowpass.usage import line, used; print(line(used()))"
SOURCE = Path(__file__).parents[1] / "src"


def told(*arguments: str) -> Usage:
    """Run Python, and read what it says that it used."""
    env = {"PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, env=env
    )
    return read(done.stdout)


@pytest.mark.parametrize("usage", [Usage(0, 0.0), Usage(231, 1.84), Usage(12_345, 98_765.43)])
def test_a_line_is_read_as_it_was_written(usage):
    assert read(line(usage)) == usage
    assert read(f"layer 3 of 3\n{line(usage)}\n") == usage


@pytest.mark.parametrize(
    "log",
    [
        "",
        "\n",
        "lowpass: results/data/x~0.nc: the disk is full. Free some space.\n",
        "lowpass: used 231 MB and 1.8",
        f"{line(Usage(1, 1.0))}\nKilled\n",
    ],
)
def test_a_log_that_ends_otherwise_says_nothing_of_use(log):
    assert read(log) is None


def test_a_peak_stays_when_memory_is_given_back():
    before = used().megabytes
    held = b"x" * LARGE
    during = used().megabytes
    del held
    assert during >= max(before, LARGE // 10**6)
    # Linux counts the pages of each processor in batches, of less than a megabyte.
    assert used().megabytes >= during - 1


def test_a_program_does_not_inherit_the_peak_of_what_starts_it():
    assert told("-c", HEIR, TELL).megabytes < LARGE / 10**6


def test_the_time_is_that_of_this_process():
    first = used().seconds
    sum(range(10**6))
    assert used().seconds > first > 0
