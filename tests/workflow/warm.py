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
    for here, there in enumerate((os.open(os.devnull, os.O_RDONLY), *job["output"])):
        os.dup2(there, here)
    os.environ.clear()
    os.environ.update(job["env"])
    given = job["env"].get("PYTHONPATH")
    sys.path[:1] = [job["folder"], *(given.split(os.pathsep) if given else [])]
    signal.alarm(job["seconds"])
    sys.argv[:] = [job["module"], *job["arguments"]]
    runpy.run_module(job["module"], run_name="__main__", alter_sys=True)

while line := sys.stdin.readline():
    job = json.loads(line)
    job["output"] = [os.open(path, os.O_WRONLY) for path in job["output"]]
    child = os.fork()
    if child == 0:
        become(job)
        break
    for file in job["output"]:
        os.close(file)
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
    with TemporaryDirectory() as place:
        files = [Path(place, name) for name in ("out", "err")]
        for file in files:
            file.touch()
        job = {
            "module": arguments[0],
            "arguments": [*arguments[1:]],
            "folder": str(folder),
            "env": dict(env),
            "output": [str(file) for file in files],
            "seconds": seconds,
        }
        print(json.dumps(job), file=server().stdin, flush=True)
        status = int(server().stdout.readline())
        out, err = (file.read_text(encoding="utf-8") for file in files)
    return subprocess.CompletedProcess(job["arguments"], status, out, err)
