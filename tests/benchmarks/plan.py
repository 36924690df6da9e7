"""What it takes to know what is to be done: time in this process and of a dry run, and memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from lowpass.fingerprint import Code
from lowpass.plan import Plan, load
from lowpass.plan.complete import complete
from lowpass.plan.roots import names_of, roots_of
from lowpass.resources import Resources

from ..workflow.project import CONFIG, ROOT, jobs_in
from .measuring import Row, Samples, alternate, children_cpu, divided, own_cpu, wall
from .processes import python

POINTS = (10, 100, 1_000, 10_000)
# Rounds at each size; larger ones need fewer, and have less time for them.
ROUNDS = {10: 15, 100: 9, 1_000: 5, 10_000: 3}
# A point among ten times more costs about the same: planning is linear.
GROWTH = 1.25
# Seconds: a dry run of ten thousand points, and what planning the paper adds to Snakemake.
DRY_RUN, PLAN = 40.0, 1.5
# A small process starts what it measures, which would seem as large as a large one.
PEAK = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
BARE = """\
NAMES = range({count})

rule all:
    input:
        expand("out/{{name}}.txt", name=NAMES),

rule one:
    output:
        "out/{{name}}.txt",
    shell:
        "touch {{output}}"
"""


def configuration(n_points: int) -> str:
    """Write a sweep that makes this even number of points.

    Tokens and the experiment are a point each; every temperature has a run and its spectra.
    """
    betas = ", ".join(f"{1 + i / 1000:g}" for i in range(n_points // 2 - 1))
    return f"""\
seed: 7
experiments:
  sweep:
    why: As many points as this.
    data: {{generator: gaussian, n_tokens: 8, d_model: 4}}
    attention: {{beta: [{betas}], depth: 4}}
    spectra: [slem]
    replicates: 10
"""


def parse(path: Path) -> object:
    """Read and validate the configuration."""
    return load(path, path.name)


def expand(path: Path) -> Plan:
    """Read it, expand its points, and name each by its key."""
    config = load(path, path.name)
    sections = {name: section.model_dump() for name, section in config.experiments.items()}
    plan = Plan(config.seed, sections, path.name, ROOT)
    for point in plan:
        _ = point.key
    return plan


def fingerprint(path: Path) -> set[str]:
    """Do all this, and find the code of every point."""
    code = Code.read(ROOT / "src")
    found = set()
    for point in expand(path):
        roots = roots_of(point.recipe)
        names = names_of(point.stage, complete(point.recipe))
        found.add(code.fingerprint(roots.definitions, names, roots.distributions))
    return found


def estimate(path: Path) -> int:
    """Expand its points, and add up the memory that their jobs are estimated to need."""
    resources = Resources(ROOT)
    return sum(resources.megabytes(point) + resources.minutes(point) for point in expand(path))


PHASES: dict[str, Callable[[Path], object]] = {
    "parsed": parse,
    "parsed, expanded, keyed": expand,
    "and its resources estimated": estimate,
    "and its code found": fingerprint,
}


def rows(*, long: bool) -> Iterator[Row]:
    """Measure a point's price at every size, then dry runs."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = {count: folder / f"{count}.yaml" for count in POINTS}
        for count, path in files.items():
            path.write_text(configuration(count), encoding="utf-8")
        yield from point_rows(files)
        yield from dry_rows(ROOT / CONFIG, folder, "the paper", rounds=3)
        for count, rounds in ({1_000: 3, 10_000: 3} if long else {10_000: 1}).items():
            yield from dry_rows(files[count], folder, f"{count:,} points", rounds)
        fewest, *_, most = POINTS
        ours, theirs = (Samples((peak(files[count], folder),)) for count in (most, fewest))
        case, against = f"{most:,} points", f"{fewest} points"
        yield Row("peak of a dry run", case, "B", ours, theirs, against, clock="memory")


def point_rows(files: Mapping[int, Path]) -> Iterator[Row]:
    """Compare a point's price with its price among ten times fewer points."""
    prices = {count: price(path, count) for count, path in files.items()}
    for name in PHASES:
        for fewer, count in pairwise(POINTS):
            ours, theirs = prices[count][name], prices[fewer][name]
            case = f"one of {count:,} points"
            yield Row(f"point {name}", case, "s", ours, theirs, f"one of {fewer:,}", GROWTH)


def price(path: Path, count: int) -> dict[str, Samples]:
    """Time every phase of one configuration, for one of its points."""

    def timed(phase: Callable[[Path], object]) -> Callable[[], object]:
        return lambda: phase(path)

    sides = {name: timed(phase) for name, phase in PHASES.items()}
    found = alternate(sides, ROUNDS[count], {"cpu": own_cpu})["cpu"]
    return {name: divided(samples, count) for name, samples in found.items()}


def dry_rows(path: Path, folder: Path, words: str, rounds: int) -> Iterator[Row]:
    """Compare dry runs of a plan and of one rule with as many outputs."""
    count = sum(jobs_in(dry_run(path, folder)).values())
    bare = folder / "bare.smk"
    bare.write_text(BARE.format(count=count), encoding="utf-8")
    timed = {"plan": lambda: dry_run(path, folder), "bare": lambda: bare_dry_run(bare, folder)}
    found = alternate(timed, rounds, {"cpu": children_cpu, "wall": wall}, warm=False)
    against = "one bare rule, as many outputs"
    for clock, samples in found.items():
        case = f"{words}, {count:,} jobs, {clock} clock"
        ours, theirs = samples["plan"], samples["bare"]
        limit = DRY_RUN if clock == "cpu" else None
        yield Row("dry run", case, "s", ours, theirs, against, ceiling=limit, clock=clock)
    if path == ROOT / CONFIG:
        pairs = zip(found["cpu"]["plan"].values, found["cpu"]["bare"].values, strict=True)
        above = Samples(tuple(mine - bare for mine, bare in pairs))
        case = f"{words}, {count:,} jobs, cpu clock"
        theirs = found["cpu"]["bare"]
        yield Row("dry run above the bare one", case, "s", above, theirs, against, ceiling=PLAN)


def dry_run(path: Path, folder: Path) -> str:
    """List the jobs of a configuration, as a person does."""
    snakefile = ["--snakefile", str(ROOT / "Snakefile"), "--configfile", str(path)]
    return python(["-m", "snakemake", "--dry-run", *snakefile, "--directory", "."], folder)


def peak(path: Path, folder: Path) -> float:
    """Give the most memory that Snakemake holds while it lists jobs, in bytes."""
    command = ["-m", "snakemake", "--dry-run", "--quiet", "--snakefile", str(ROOT / "Snakefile")]
    command += ["--configfile", str(path), "--directory", "."]
    return 1024 * float(python(["-c", PEAK, sys.executable, *command], folder).splitlines()[-1])


def bare_dry_run(snakefile: Path, folder: Path) -> str:
    """List the jobs of a Snakefile without any plan."""
    return python(["-m", "snakemake", "--dry-run", "--snakefile", str(snakefile)], folder)
