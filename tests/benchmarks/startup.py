"""The smallest job of the workflow against its libraries and against bare Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from lowpass.fingerprint import Code
from lowpass.plan import Plan, Point
from lowpass.plan.complete import complete
from lowpass.plan.roots import names_of, roots_of

from ..workflow.project import ROOT
from .measuring import Row, alternate, children_cpu, wall
from .processes import python

ROUNDS = 9
SECTION = {
    "data": {"generator": "gaussian", "n_tokens": 4, "d_model": 2},
    "attention": {"beta": 1.0, "depth": 2},
    "spectra": ["slem"],
    "replicates": 10,
}
LIBRARIES = "import numpy, netCDF4, xarray"
# A stage's process starts within this many seconds.
SECONDS = 1.2


def job() -> tuple[Point, list[str]]:
    """Plan the smallest data stage, and give it with the arguments of its process."""
    plan = Plan(7, {"least": SECTION}, "benchmark", ROOT)
    point = next(point for point in plan if point.stage == "data")
    roots = roots_of(point.recipe)
    names = names_of("data", complete(point.recipe))
    code = Code.read(ROOT / "src").fingerprint(roots.definitions, names, roots.distributions)
    make = ["-m", "lowpass", "make", point.text, "--code", code, "--in", "--out", point.path]
    return point, make


def rows(*, long: bool) -> Iterator[Row]:
    """Compare one whole job with what it cannot do without."""
    _, make = job()
    commands = {"job": make, "libraries": ["-c", LIBRARIES], "python": ["-c", "pass"]}
    with TemporaryDirectory() as folder:
        timed = {
            name: lambda command=command: python(command, Path(folder))
            for name, command in commands.items()
        }
        found = alternate(timed, ROUNDS, {"cpu": children_cpu, "wall": wall})
    for clock, samples in found.items():
        case = f"4 tokens, {clock} clock"
        for name, against in (("libraries", LIBRARIES), ("python", "pass")):
            yield Row(
                "data stage, whole job",
                case,
                "s",
                samples["job"],
                samples[name],
                f"python -c '{against}'",
                ceiling=SECONDS if (clock, name) == ("cpu", "python") else None,
                clock=clock,
            )
