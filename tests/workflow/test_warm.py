"""A warm start beside a cold one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .environment import environment
from .warm import run_module, run_modules

PROGRAM = """
import json, os, sys
print(json.dumps([sys.argv[1:], os.getcwd(), sys.path[:3], dict(os.environ), sys.stdin.read()]))
print(__name__, [name for name in sys.modules if name.startswith("lowpass")], file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("status", ["0", "3"])
def test_a_warm_start_gives_a_program_what_a_cold_one_does(status, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    env = environment({"PYTHONPATH": str(tmp_path / "src"), "LATER": "1"})
    cold = subprocess.run(
        [sys.executable, "-m", "program", status, "a b"],
        cwd=tmp_path,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    warm = run_module(("program", status, "a b"), tmp_path, env, 60)
    assert (warm.returncode, warm.stdout, warm.stderr) == (
        *(int(status), cold.stdout, cold.stderr),
    )
    assert warm.stderr == "__main__ []\n"


def test_a_program_that_fails_says_why(tmp_path):
    (tmp_path / "program.py").write_text("raise ValueError('no')")
    failed = run_module(("program",), tmp_path, environment({}), 60)
    assert failed.returncode == 1
    assert failed.stderr.endswith("ValueError: no\n")


def test_a_program_that_hangs_is_ended(tmp_path):
    (tmp_path / "program.py").write_text("import time\ntime.sleep(600)")
    assert run_module(("program",), tmp_path, environment({}), 1).returncode < 0


def test_programs_run_one_after_another_until_one_fails(tmp_path):
    (tmp_path / "note.py").write_text("import sys\nprint(sys.argv[1])\nsys.exit(int(sys.argv[1]))")
    wanted = {(0, 0): ["0\n", "0\n"], (0, 3): ["0\n", "3\n"], (3, 0): ["3\n", ""]}
    for statuses, said in wanted.items():
        programs = [("note", str(status)) for status in statuses]
        done = run_modules(programs, tmp_path, environment({}), 60)
        assert [each.stdout for each in done] == said
        assert {each.returncode for each in done} == {max(statuses)}
