"""In what the claims, a figure or the paper differ from what they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lowpass.explaining.sections import changes
from lowpass.explaining.words import Cause, reseeded
from lowpass.project import TEXTS


def differences(
    before: Mapping[str, Any], now: Mapping[str, Any], specs: Mapping[str, Any], *, deep: bool
) -> list[Cause]:
    """Compare two recipes of what is shown in the end.

    Parameters
    ----------
    before, now : mapping
        Recipes of one stage.
    specs : mapping
        Parameters of one point of every experiment that is planned, by stage.
    deep : bool
        Whether to look into the experiments, since none of them is made anew.
    """
    old, new = before["params"], now["params"]
    left, right = old["experiments"], new["experiments"]
    gone = [name for name in left if name not in specs]
    came = [name for name in right if name not in left]
    causes = [Cause("experiment", f"experiment {name} was taken out") for name in gone]
    if not gone and (deep or not came):
        # What shows or judges an experiment comes and goes with it.
        causes += registered(old, new)
    if deep and not causes:
        causes += [Cause("experiment", f"experiment {name} is new") for name in came]
    for name in (name for name in right if name in left and deep):
        each = changes(left[name], right[name], name, specs[name])
        causes += [Cause("parameter", change.text) for change in each]
    if deep and before.get("seed") != now.get("seed"):
        causes.append(reseeded(before.get("seed"), now.get("seed")))
    return [*causes, *texts(old, new)]


def registered(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Cause]:
    """Name figures, judges and statements that came or went."""
    sides = {
        "figure": [each.get("figures", ()) for each in (old, new)],
        "judge": [sorted(each.get("judged", {}).values()) for each in (old, new)],
        "statement": [each.get("register", ()) for each in (old, new)],
    }
    for kind, (left, right) in sides.items():
        # A judge is called by what it judges.
        word = "" if kind == "judge" else f"{kind} "
        yield from (Cause(kind, f"{word}{name} is new") for name in right if name not in left)
        gone = [name for name in left if name not in right]
        yield from (Cause(kind, f"{word}{name} was taken out") for name in gone)


def texts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Cause]:
    """Name what is printed as it is written: reasons, template, bibliography."""
    for name, reason in new.get("why", {}).items():
        if old["why"].get(name, reason) != reason:
            yield Cause("text", f"the reason for {name} changed")
    left, right = (each.get("sha256", {}) for each in (old, new))
    for name in sorted({*left, *right}):
        if left.get(name) != right.get(name):
            how = "changed" if name in left and name in right else "is new"
            yield Cause("text", f"{TEXTS}/{name} {how if name in right else 'was taken out'}")
