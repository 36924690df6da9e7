"""The swept axes of an experiment: lists from file to file, inside a job, or side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from lowpass.labels import DIMENSIONS, VARIABLES
from lowpass.registry import Refusal, did_you_mean
from lowpass.spec.base import shown
from lowpass.spec.inside import LABEL, Values

SWEPT_STAGES = ("data", "attention", "diffusion", "smoothing")
INSIDE_STAGES = ("attention", "diffusion", "smoothing")
# Parameters to which a list belongs, so that it is no sweep.
LISTS = {"data": {"keys"}, "attention": {"record"}, "diffusion": {"record"}}
# Parameters that change the shape of a result, which no dimension of one file can hold.
SHAPING = {"attention": {"depth"}, "diffusion": {"depth"}}
# Parameters that decide what is computed, so that results of two could not lie side by side.
DECISIVE = {"smoothing": {"study"}}


class Option(NamedTuple):
    """Hold one position on a swept axis: its label, and the parameters it sets.

    A plain sweep has no label of its own; the validated value serves.
    """

    label: str | None
    settings: dict[tuple[str, str], Any]


Axis = tuple[str, list[Option]]


def outer_axes(section: Mapping[str, Any], where: str) -> list[Axis]:
    """List the axes swept from file to file, after checking every name on any axis.

    Parameters
    ----------
    section : mapping
        Of the configuration.
    where : str
        File and key path, for messages.

    Raises
    ------
    Refusal
        At a sweep that is empty, repeats itself, or has the name of something else.
    """
    swept = swept_lists(section, where)
    inside = section.get("inside") or []
    lists = [
        (name, [Option(None, {(stage, name): value}) for value in values])
        for stage, name, values in swept
        if name not in inside
    ]
    zipped = zip_axes(section, where)
    companions = [
        name for _, options in zipped for _, name in options[0].settings if options[0].settings
    ]
    check_names([name for _, name, _ in swept] + [name for name, _ in zipped] + companions, where)
    return [*lists, *((name, options) for name, options in zipped if name not in inside)]


def check_names(names: Iterable[str], where: str) -> None:
    """Refuse swept parameters that could not stand side by side in one dataset."""
    for name, count in Counter(names).items():
        if count > 1:
            raise Refusal(
                f"{where}: {count} swept parameters are called '{name}', and a dataset has one "
                f"dimension of that name; sweep one of them, or rename what stands under 'zip'."
            )
        if name in DIMENSIONS or name in VARIABLES:
            raise Refusal(
                f"{where}: '{name}' cannot be swept, since results have a dimension or variable "
                f"of that name; describe one experiment for each value."
            )


def swept_lists(section: Mapping[str, Any], where: str) -> list[tuple[str, str, list[Any]]]:
    """List every sweep as stage, parameter and values."""
    found = []
    for stage in SWEPT_STAGES:
        for name, values in (section.get(stage) or {}).items():
            if isinstance(values, list) and name not in LISTS.get(stage, ()):
                check_scalars(values, f"{where}.{stage}.{name}")
                check_one(stage, name, f"{where}.{stage}.{name}")
                check_repeats(values, f"{where}.{stage}.{name}")
                found.append((stage, name, values))
    return found


def check_scalars(values: list[Any], where: str) -> None:
    """Refuse an empty sweep, and lists or mappings in one."""
    if not values:
        raise Refusal(f"{where}: the sweep is empty, so nothing would run; fill it.")
    for value in values:
        if isinstance(value, list | dict):
            raise Refusal(f"{where}: {shown(value)} is no scalar; sweep scalars only.")


def check_one(stage: str, name: str, where: str) -> None:
    """Refuse the sweep of what decides which variables there are."""
    if name in DECISIVE.get(stage, ()):
        raise Refusal(
            f"{where}: cannot be swept, since each gives other variables; describe one experiment "
            f"for each."
        )


def check_repeats(values: list[Hashable], where: str) -> None:
    """Refuse a value that stands twice on one axis."""
    seen: set[tuple[bool, Hashable]] = set()
    for value in values:
        # Python takes true for 1, a configuration does not.
        mark = (isinstance(value, bool), value)
        if mark in seen:
            raise Refusal(
                f"{where}: {shown(value)} stands there twice, and each has to differ; delete one."
            )
        seen.add(mark)


def inside_axes(section: Mapping[str, Any], where: str) -> dict[str, dict[str, Values]]:
    """Find the sweeps computed within one job, by stage."""
    found: dict[str, dict[str, Values]] = {}
    swept = {name: (stage, values) for stage, name, values in swept_lists(section, where)}
    zipped, inside = dict(zip_axes(section, where)), section.get("inside") or []
    check_repeats(inside, f"{where}.inside")
    for name in inside:
        if name in zipped:
            stage, columns = inside_columns(name, zipped[name], where)
            found.setdefault(stage, {})[name] = columns
            continue
        if name not in swept or swept[name][0] not in INSIDE_STAGES:
            known = [key for key, (stage, _) in swept.items() if stage in INSIDE_STAGES]
            raise Refusal(
                f"{where}.inside: '{name}' is not a swept parameter of "
                f"{' or '.join(INSIDE_STAGES)}{did_you_mean(name, known)} "
                f"Swept there: {', '.join(known) or 'none'}. Sweep it there, or take it out."
            )
        stage, values = swept[name]
        check_shape(stage, name, name, where)
        found.setdefault(stage, {})[name] = values
    return {stage: dict(sorted(axes.items())) for stage, axes in found.items()}


def check_shape(stage: str, name: str, axis: str, where: str) -> None:
    """Refuse a parameter whose values give results of different shapes."""
    if name in SHAPING.get(stage, ()):
        taken = "it" if name == axis else f"'{axis}'"
        raise Refusal(
            f"{where}.inside: '{name}' changes the shape of what is computed, so its values "
            f"do not fit into one file; take {taken} out of 'inside'."
        )


def inside_columns(
    axis: str, options: list[Option], where: str
) -> tuple[str, dict[str, list[Any]]]:
    """Give the stage of lists that advance together within its job, and the lists by name."""
    stages = sorted({stage for option in options for stage, _ in option.settings})
    if len(stages) > 1 or stages[0] not in INSIDE_STAGES:
        raise Refusal(
            f"{where}.inside: '{axis}' advances parameters of {' and '.join(stages)}, and a job is "
            f"of one stage, {' or '.join(INSIDE_STAGES)}; take '{axis}' out of 'inside'."
        )
    columns: dict[str, list[Any]] = {LABEL: [option.label for option in options]}
    for stage, name in options[0].settings:
        check_shape(stage, name, axis, where)
        columns[name] = [option.settings[stage, name] for option in options]
    return stages[0], columns


def zip_axes(section: Mapping[str, Any], where: str) -> list[Axis]:
    """Find the lists that advance together along one dimension."""
    axes = []
    for name, columns in (section.get("zip") or {}).items():
        spot = f"{where}.zip.{name}"
        labels = checked_labels(columns, spot)
        settings: list[dict[tuple[str, str], Any]] = [{} for _ in labels]
        for path in columns:
            if path != "label":
                parameter = checked_column(section, path, columns[path], len(labels), spot)
                for row, value in zip(settings, columns[path], strict=True):
                    row[parameter] = value
        axes.append((name, [Option(*row) for row in zip(labels, settings, strict=True)]))
    return axes


def checked_labels(columns: Mapping[str, list[Any]], where: str) -> list[str]:
    """Give the name of each case, refusing what does not tell the cases apart."""
    if "label" not in columns or len(columns) < 2:
        raise Refusal(
            f"{where}: needs 'label', a name for each case, and the parameters that differ from "
            f"case to case; write both, as 'label: [low, high]' and 'attention.beta: [1, 9]'."
        )
    labels = columns["label"]
    check_scalars(labels, f"{where}.label")
    for label in labels:
        if not isinstance(label, str):
            raise Refusal(
                f"{where}.label: {shown(label)} is not text, and a case is called by its label; "
                f"write it in quotes."
            )
    check_repeats(labels, f"{where}.label")
    return labels


def checked_column(
    section: Mapping[str, Any], path: str, values: list[Any], count: int, where: str
) -> tuple[str, str]:
    """Give the stage and parameter of a column, refusing one that does not fit."""
    stage, _, name = path.partition(".")
    if stage not in SWEPT_STAGES or section.get(stage) is None or not name:
        raise Refusal(
            f"{where}: '{path}' names no parameter of a stage of this experiment; "
            f"write stage.parameter, as 'data.n_tokens'."
        )
    check_scalars(values, f"{where}.{path}")
    check_one(stage, name, f"{where}.{path}")
    if len(values) != count:
        raise Refusal(
            f"{where}.{path}: has {len(values)} values where 'label' has {count}; "
            f"lists that advance together have one length."
        )
    if name in section[stage]:
        raise Refusal(
            f"{where}.{path}: is also given as {stage}.{name}, and only one of them can count; "
            f"delete one."
        )
    return stage, name
