"""In which parameters an experiment differs from what it was, and which points that concerns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lowpass.explaining.words import exchanged, taken, told
from lowpass.plan.axes import LISTS, SWEPT_STAGES
from lowpass.records import canonical
from lowpass.spec.data import BLOCK


@dataclass(frozen=True)
class Change:
    """Hold one difference between two sections.

    Parameters
    ----------
    text : str
        As a person would say it.
    stage : str
        The first stage that it concerns, and with it all that follow.
    axis : str
        The sweep it belongs to; empty where it concerns every point.
    places : frozenset
        The new places on that axis; empty where some were only taken out.
    first_block : int
        The first block of replicates that is new.
    """

    text: str
    stage: str
    axis: str = ""
    places: frozenset[Any] = frozenset()
    first_block: int = 0

    def concerns(self, place: Mapping[str, Any], block: int, stages: Collection[str]) -> bool:
        """Say whether a product is another one because of this.

        Parameters
        ----------
        place : mapping
            Of the product's point on the swept axes.
        block : int
            Of replicates.
        stages : collection of str
            The product's own, and those it is made from.
        """
        there = not self.axis or place.get(self.axis) in self.places
        return self.stage in stages and there and block >= self.first_block


def changes(
    before: Mapping[str, Any], now: Mapping[str, Any], name: str, specs: Mapping[str, Any]
) -> list[Change]:
    """Compare two canonical sections of an experiment.

    Parameters
    ----------
    before, now : mapping
        Canonical sections.
    name : str
        Of the experiment.
    specs : mapping of str to Spec
        Parameters of one of its points, by stage; they know the defaults.
    """
    found: list[Change] = []
    for stage in SWEPT_STAGES:
        if (stage in before) != (stage in now):
            verb = "is new in" if stage in now else "was taken out of"
            found.append(Change(f"{stage} {verb} {name}", "data"))
        elif stage in now:
            found += stage_changes(stage, before, now, name, specs[stage])
    found += zip_changes(before, now, name)
    return [*found, *list_changes(before, now, name)]


def stage_changes(
    stage: str, before: Mapping[str, Any], now: Mapping[str, Any], name: str, spec: Any
) -> Iterator[Change]:
    """Compare the parameters of one stage, those that are zipped left out."""
    left, right = (dict(leaves(each[stage])) for each in (before, now))
    zipped = {path for each in (before, now) for columns in zips(each).values() for path in columns}
    for key in dict.fromkeys([*left, *right]):
        if f"{stage}.{key}" not in zipped:
            old, new = (as_list(stage, key, each, spec) for each in (left, right))
            if canonical(old) != canonical(new):
                came = [value for value in new if value not in old]
                went = [value for value in old if value not in new]
                inner = any(key in each.get("inside", ()) for each in (before, now))
                swept = is_swept(stage, key, right.get(key)) or not came
                # Points that stay are what they were, unless they are computed together.
                axis = key if swept and not inner else ""
                places = frozenset(came) if axis else frozenset()
                yield Change(exchanged(key, came, went, name), stage, axis, places)


def zip_changes(before: Mapping[str, Any], now: Mapping[str, Any], name: str) -> Iterator[Change]:
    """Compare the lists that advance together, case by case."""
    for axis in dict.fromkeys([*zips(before), *zips(now)]):
        old, new = rows(before, axis), rows(now, axis)
        # Cases that are computed together are made anew together.
        inner = any(axis in each.get("inside", ()) for each in (before, now))
        along = "" if inner else axis
        paths = sorted({path for row in (*old.values(), *new.values()) for path in row}, key=rank)
        stage = paths[0].partition(".")[0]
        if any({*row} != {*paths} for row in (*old.values(), *new.values())) or not (old and new):
            yield Change(f"{axis} varies other parameters in {name}", stage)
            continue
        came = [label for label in new if label not in old]
        went = [label for label in old if label not in new]
        if came:
            places = frozenset(() if inner else came)
            yield Change(exchanged(axis, came, (), name), stage, along, places)
        if went:
            yield Change(taken(axis, went, name), stage, along)
        for label, path in ((label, path) for label in new if label in old for path in paths):
            values = [rows_[label][path] for rows_ in (new, old)]
            if values[0] != values[1]:
                where, _, key = path.partition(".")
                text = f"{key} {told(values[0])} instead of {told(values[1])} for {axis} {label}"
                places = frozenset(() if inner else [label])
                yield Change(f"{text} of {name}", where, along, places)


def list_changes(before: Mapping[str, Any], now: Mapping[str, Any], name: str) -> Iterator[Change]:
    """Compare measures, replicates, and what is swept within one job."""
    old, new = ({*each.get("spectra", ())} for each in (before, now))
    if old != new:
        yield Change(exchanged("measure", sorted(new - old), sorted(old - new), name), "spectra")
    old, new = (each.get("replicates", 0) for each in (before, now))
    if old != new:
        text = f"{new} replicates instead of {old} in {name}"
        yield Change(text, "data", first_block=-(-min(old, new) // BLOCK))
    old, new = ({*each.get("inside", ())} for each in (before, now))
    for key in sorted(old ^ new):
        stage = stage_of(key, {**before, **now})
        how = "within one job" if key in new else "from job to job"
        yield Change(f"{key} is swept {how} in {name}", stage)


def stage_of(axis: str, section: Mapping[str, Any]) -> str:
    """Give the stage that has a swept parameter, or lists that advance together."""
    columns = [path for path in zips(section).get(axis, ()) if path != "label"]
    swept = [stage for stage in SWEPT_STAGES if axis in section.get(stage, ())]
    return columns[0].partition(".")[0] if columns else next(iter(swept), "attention")


def zips(section: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what advances together, by axis."""
    return section.get("zip", {})


def rows(section: Mapping[str, Any], axis: str) -> dict[str, dict[str, Any]]:
    """Give the parameters of each case by its label."""
    columns = dict(zips(section).get(axis, {}))
    labels = columns.pop("label", [])
    return {
        label: {path: values[i] for path, values in columns.items()}
        for i, label in enumerate(labels)
    }


def rank(path: str) -> int:
    """Order parameters by their stages."""
    return SWEPT_STAGES.index(path.partition(".")[0])


def leaves(params: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """List nested parameters under dotted names."""
    for name, value in params.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def is_swept(stage: str, key: str, value: Any) -> bool:
    """Say whether a value is a list of values, and no value that is a list."""
    return isinstance(value, list) and key not in LISTS.get(stage, ())


def as_list(stage: str, key: str, given: Mapping[str, Any], spec: Any) -> list[Any]:
    """Give the values of a parameter: many where it is swept, its default where it is absent."""
    if key in given:
        return given[key] if is_swept(stage, key, given[key]) else [given[key]]
    known = type(spec).model_fields.get(key)
    return [None if known is None or known.is_required() else known.get_default()]
