"""Measure, print and save: ``python -m tests.benchmarks [TOPIC ...] [--long]``."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path

from .settings import settle

TOPICS = ("plan", "startup", "layers", "consensus", "attention", "spectra", "memory", "overhead")
TOPICS += ("integrators", "heat", "smoothing", "resources", "cluster")
LATEST = Path("bench/latest.json")


def main() -> int:
    """Run the topics that were asked for; a missed target is shown and is no failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"{', '.join(TOPICS)}; or all")
    parser.add_argument("--long", action="store_true", help="the largest sizes too (15 minutes)")
    parser.add_argument("--out", type=Path, default=LATEST, help=f"instead of {LATEST}")
    asked = parser.parse_args()
    unknown = sorted(set(asked.topics) - set(TOPICS))
    if unknown:
        parser.error(f"no topic is called '{unknown[0]}'; known: {', '.join(TOPICS)}")
    settle()
    from .machine import facts
    from .report import save, table

    machine = facts()
    print("  ".join(f"{name} {value}" for name, value in machine.items()), end="\n\n")
    found = {}
    for topic in asked.topics or TOPICS:
        began = time.perf_counter()
        found[topic] = list(import_module(f".{topic}", __package__).rows(long=asked.long))
        took = time.perf_counter() - began
        print(f"{topic} (measured in {took:.0f} s)\n{table(found[topic])}\n", flush=True)
        save(asked.out, found, {**machine, "load_at_the_end": facts()["load"]})
    print(f"every sample: {asked.out}; what the rows mean: tests/benchmarks/README.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
