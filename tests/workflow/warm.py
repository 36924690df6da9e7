"""Programs that start in a fork of a process which has imported their libraries.

It owns the start of those that are typed a hundred times, and whose imports would take most of
the time. Of this project nothing is imported ahead, and all else is as ``python -m`` has it.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from .environment import environment

LIBRARIES = ("snakemake.cli", "snakemake.api", "numpy", "xarray", "netCDF4", "pydantic", "yaml")
SERVER = """
import gc, importlib, json, os, runpy, signal, sys

for name in sys.argv[1:]:
    importlib.import_module(name)
gc.freeze()

def become(job):
    os.chdir(job["folder"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.clear()
    os.environ.update(job["env"])
    given = job["env"].get("PYTHONPATH")
    sys.path[:1] = [job["folder"], *(given.split(os.pathsep) if given else [])]
    signal.alarm(job["seconds"])
    *others, last = job["programs"]
    for program in others:
        try:
            start(**program)
        except SystemExit as end:
            if end.code:
                raise
        sys.stdout.flush()
        sys.stderr.flush()
    start(**last)

def start(output, arguments):
    for here, path in enumerate(output, start=1):
        os.dup2(os.open(path, os.O_WRONLY), here)
    sys.argv[:] = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)

while line := sys.stdin.readline():
    child = os.fork()
    if child == 0:
        become(json.loads(line))
        break
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


@cache
def server() -> subprocess.Popen[str]:
    """Start the process that forks; it ends when its input does."""
    started = subprocess.Popen(
        [sys.executable, "-c", SERVER, *LIBRARIES],
        env=environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(started.communicate)
    return started


def run_module(
    arguments: Sequence[str], folder: Path, env: Mapping[str, str], seconds: int
) -> subprocess.CompletedProcess[str]:
    """Do what ``python -m`` does with a module and its arguments, in a folder.

    Whatever takes longer than some ``seconds`` is ended.
    """
    return run_modules([arguments], folder, env, seconds)[-1]


def run_modules(
    programs: Sequence[Sequence[str]], folder: Path, env: Mapping[str, str], seconds: int
) -> list[subprocess.CompletedProcess[str]]:
    """Run modules one after another in one process, which reads the project's code once.

    The first that fails is the last, and its exit code is that of all.
    """
    with TemporaryDirectory() as place:
        outputs = [
            [Path(place, f"{name}{number}") for name in ("out", "err")]
            for number in range(len(programs))
        ]
        for file in (file for files in outputs for file in files):
            file.touch()
        job = {
            "programs": [
                {"output": [*map(str, files)], "arguments": [*program]}
                for files, program in zip(outputs, programs, strict=True)
            ],
            "folder": str(folder),
            "env": dict(env),
            "seconds": seconds,
        }
        print(json.dumps(job), file=server().stdin, flush=True)
        status = int(server().stdout.readline())
        said = [[file.read_text(encoding="utf-8") for file in files] for files in outputs]
    return [
        subprocess.CompletedProcess([*program], status, *texts)
        for program, texts in zip(programs, said, strict=True)
    ]
