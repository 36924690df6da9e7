"""Peak memory of real jobs against what is estimated for them, from small recipes to large.

Each job is a process of its own, started as the workflow starts it, and says itself what it used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lowpass.fingerprint import Code
from lowpass.plan import Plan
from lowpass.plan.code import inventory_of
from lowpass.resources import Resources
from lowpass.resources.spent import Spent
from lowpass.usage import MEGABYTE, read

from ..workflow.project import ROOT
from .measuring import Row, Samples
from .processes import python

SEED = 7
# More than needed, and no more than so many times as much.
MOST = {"small": 2.0, "large": 3.0}
LARGE = 512


def section(n_tokens: int, d_model: int, **attention: Any) -> dict[str, Any]:
    """Describe frozen attention of so many tokens, with measures of each kind."""
    return {
        "data": {"generator": "gaussian", "n_tokens": n_tokens, "d_model": d_model},
        "attention": {"beta": 1, "depth": 20, **attention},
        "spectra": ["log10_hc_dc_ratio", "slem", "entropy"],
        "replicates": 1,
    }


RECIPES = {
    "n = 16, d = 8": section(16, 8),
    "n = 256, d = 32": section(256, 32),
    "n = 256, d = 32, 4 inside": {**section(256, 32, beta=[1, 2, 3, 4]), "inside": ["beta"]},
    "n = 256, d = 32, recomputed": section(256, 32, layers="recomputed"),
    "n = 512, d = 64": section(512, 64),
    "n = 1024, d = 64": section(1024, 64),
}
LONG = {"n = 2048, d = 64": section(2048, 64)}


def rows(*, long: bool) -> Iterator[Row]:
    """Run every recipe's jobs, and divide what is estimated by what was used."""
    for case, asked in {**RECIPES, **(LONG if long else {})}.items():
        kind = "large" if asked["data"]["n_tokens"] >= LARGE else "small"
        with TemporaryDirectory() as folder:
            for spent in run(asked, Path(folder)):
                yield Row(
                    f"estimate of {spent.point.stage}",
                    case,
                    "B",
                    ours=Samples((spent.megabytes * MEGABYTE,)),
                    theirs=Samples((spent.used.megabytes * MEGABYTE,)),
                    against="peak",
                    limit=MOST[kind],
                    clock="memory",
                    notes={"seconds": spent.used.seconds, "minutes": spent.minutes},
                )


def run(asked: Mapping[str, Any], folder: Path) -> Iterator[Spent]:
    """Make every product of an experiment, each in a process of its own."""
    plan, code = Plan(SEED, {"trial": asked}, "here", ROOT), Code.read(ROOT / "src")
    resources = Resources(ROOT)
    for point in plan:
        inputs = [str(ROOT / point.resource)] if point.resource else [p.path for p in point.parents]
        command = ["-m", "lowpass", "make", point.text]
        command += ["--code", inventory_of(code, point.recipe).fingerprint]
        said = python([*command, "--in", *inputs, "--out", point.path], folder)
        usage = read(said)
        assert usage, said
        yield Spent(point, resources.megabytes(point), resources.minutes(point), usage)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with TemporaryDirectory() as place:
            for each in run({**RECIPES, **LONG}[name], Path(place)):
                print(name, each.point.stage, each.used, each.megabytes, each.minutes)
