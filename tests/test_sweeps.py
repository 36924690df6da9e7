"""What docs/sweeps.md promises: its example can be planned, and is as large as it says."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path

import pytest

from lowpass.plan import Plan
from lowpass.resources import Resources
from lowpass.whole import whole_plan

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs/sweeps.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plan(tmp_path_factory) -> Plan:
    """Plan the configuration that is shown."""
    (text,) = re.findall(r"```yaml\n(.*?)```", TEXT, flags=re.S)
    path = tmp_path_factory.mktemp("sweep") / "sweep.yaml"
    path.write_text(text, encoding="utf-8")
    return whole_plan(path, "sweep.yaml", ROOT)


def test_the_example_has_ten_thousand_settings_in_a_hundred_trajectories(plan):
    counts = Counter(point.stage for point in plan)
    assert counts["attention"] == counts["spectra"] == 100
    inside = next(p for p in plan if p.stage == "attention").recipe["params"]["inside"]
    assert counts["attention"] * math.prod(map(len, inside.values())) == 10_000


def test_the_estimates_that_are_shown_are_those_of_the_example(plan):
    resources, shown = Resources(ROOT), re.findall(r"\| (\d+) MB \|$", TEXT, flags=re.M)
    found = [
        {resources.megabytes(point) for point in plan if point.stage == stage}
        for stage in ("attention", "spectra")
    ]
    wanted = [min(found[0]), max(found[0]), max(found[1])]
    assert wanted == [int(each) for each in shown[-3:]]


def test_every_file_that_is_linked_exists():
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert links
    assert all((ROOT / "docs" / link).exists() for link in links)
