"""From an experiment's section to cells: one set of scalar parameters for each point."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

from lowpass.registry import Refusal, did_you_mean
from lowpass.spec import attention, data, smoothing, spectra
from lowpass.spec.base import Spec

STAGES = {
    "data": data.parse,
    "attention": attention.parse,
    "smoothing": smoothing.parse,
    "spectra": spectra.parse,
}
SWEPT_STAGES = ("data", "attention", "smoothing")
INSIDE_STAGES = ("attention", "smoothing")
# Parameters to which a list belongs, so that it is no sweep.
LISTS = {"attention": {"record"}}


class Cell(NamedTuple):
    """Hold one point's place on the swept axes and its stages' parameters."""

    place: dict[str, Any]
    specs: dict[str, Spec]
    inside: dict[str, dict[str, list[Any]]]


class Option(NamedTuple):
    """Hold one position on a swept axis: its label, and the parameters it sets.

    A plain sweep has no label of its own; the validated value serves.
    """

    label: str | None
    settings: dict[tuple[str, str], Any]


def expand(section: Mapping[str, Any], where: str) -> list[Cell]:
    """List the points of a section.

    Parameters
    ----------
    section : mapping
        As the configuration has it, or in canonical form.
    where : str
        File and key path, for messages.

    Raises
    ------
    Refusal
        At an empty or repeated sweep, an unknown parameter, or stages that do not fit together.
    """
    check_stages(section, where)
    outer = [*list_axes(section, where), *zip_axes(section, where)]
    inner = inside_axes(section, where)
    names = [name for name, _ in outer] + [name for axes in inner.values() for name in axes]
    for name in names:
        if names.count(name) > 1:
            raise Refusal(f"{where}: two swept parameters are called '{name}'; sweep one of them.")
    return [
        cell(section, dict(choice), inner, where)
        for choice in itertools.product(
            *([(name, option) for option in options] for name, options in outer)
        )
    ]


def check_stages(section: Mapping[str, Any], where: str) -> None:
    """Refuse a chain of stages that leads nowhere."""
    if (section.get("attention") is None) == (section.get("smoothing") is None):
        raise Refusal(
            f"{where}: needs either 'attention' (of tokens) or 'smoothing' (of observations); "
            f"write one of them."
        )
    needs = {"attention": ("spectra", "replicates"), "spectra": ("attention",)}
    for stage, others in needs.items():
        for other in others:
            if section.get(stage) is not None and section.get(other) is None:
                raise Refusal(f"{where}: '{stage}' is given without '{other}'; add '{other}:'.")


def list_axes(section: Mapping[str, Any], where: str) -> list[tuple[str, list[Option]]]:
    """Find the lists that stand where scalars belong and are swept from file to file."""
    inside = section.get("inside") or []
    return [
        (name, [Option(None, {(stage, name): value}) for value in values])
        for stage, name, values in swept_lists(section, where)
        if name not in inside
    ]


def swept_lists(section: Mapping[str, Any], where: str) -> list[tuple[str, str, list[Any]]]:
    """List every sweep as stage, parameter and values."""
    found = []
    for stage in SWEPT_STAGES:
        for name, values in (section.get(stage) or {}).items():
            if isinstance(values, list) and name not in LISTS.get(stage, ()):
                place = f"{where}.{stage}.{name}"
                if not values:
                    raise Refusal(f"{place}: the sweep is empty, so nothing would run; fill it.")
                for value in values:
                    if isinstance(value, list | dict):
                        raise Refusal(f"{place}: {value!r} is no scalar; sweep scalars only.")
                    if values.count(value) > 1:
                        raise Refusal(f"{place}: {value!r} is swept twice; delete one of them.")
                found.append((stage, name, values))
    return found


def inside_axes(section: Mapping[str, Any], where: str) -> dict[str, dict[str, list[Any]]]:
    """Find the sweeps computed within one job, by stage."""
    found: dict[str, dict[str, list[Any]]] = {}
    swept = {name: (stage, values) for stage, name, values in swept_lists(section, where)}
    for name in section.get("inside") or []:
        if name not in swept or swept[name][0] not in INSIDE_STAGES:
            known = [key for key, (stage, _) in swept.items() if stage in INSIDE_STAGES]
            raise Refusal(
                f"{where}.inside: '{name}' is not a swept parameter of "
                f"{' or '.join(INSIDE_STAGES)}{did_you_mean(name, known)} "
                f"Swept there: {', '.join(known) or 'none'}."
            )
        stage, values = swept[name]
        found.setdefault(stage, {})[name] = values
    return {stage: dict(sorted(axes.items())) for stage, axes in found.items()}


def zip_axes(section: Mapping[str, Any], where: str) -> list[tuple[str, list[Option]]]:
    """Find the lists that advance together along one dimension."""
    axes = []
    for name, columns in (section.get("zip") or {}).items():
        place = f"{where}.zip.{name}"
        labels = columns.get("label")
        if not labels or len({str(label) for label in labels}) < len(labels):
            raise Refusal(f"{place}.label: {labels!r} must give each case a name of its own.")
        for path, values in columns.items():
            check_column(place, path, values, labels)
        paths = [path for path in columns if path != "label"]
        axes.append((name, [option(columns, paths, i) for i in range(len(labels))]))
    return axes


def option(columns: Mapping[str, list[Any]], paths: list[str], i: int) -> Option:
    """Take one row of the lists that advance together."""
    settings = {}
    for path in paths:
        stage, _, name = path.partition(".")
        settings[stage, name] = columns[path][i]
    return Option(str(columns["label"][i]), settings)


def check_column(place: str, path: str, values: list[Any], labels: list[Any]) -> None:
    """Refuse a list of another length, or one that belongs to no parameter."""
    if len(values) != len(labels):
        raise Refusal(
            f"{place}.{path}: has {len(values)} values where 'label' has {len(labels)}; "
            f"lists that advance together have one length."
        )
    stage, _, name = path.partition(".")
    if path != "label" and (stage not in SWEPT_STAGES or not name):
        raise Refusal(
            f"{place}: '{path}' names no parameter of a stage; "
            f"write stage.parameter, as 'attention.beta'."
        )


def cell(
    section: Mapping[str, Any],
    options: Mapping[str, Option],
    inner: Mapping[str, dict[str, list[Any]]],
    where: str,
) -> Cell:
    """Validate one choice of values, one from each axis."""
    params = {stage: dict(section[stage]) for stage in SWEPT_STAGES if section.get(stage)}
    for each in options.values():
        for (stage, name), value in each.settings.items():
            params.setdefault(stage, {})[name] = value
    inside = {
        stage: {
            name: sorted(
                validated(stage, params[stage], axes, {name: value}, where)[name]
                for value in values
            )
            for name, values in axes.items()
        }
        for stage, axes in inner.items()
    }
    if section.get("spectra") is not None:
        params["spectra"] = {"measures": sorted(section["spectra"])}
    specs = {
        stage: STAGES[stage](one_of(each, inner.get(stage, {})), f"{where}.{stage}")
        for stage, each in params.items()
    }
    check_kind(specs, where)
    place = {
        name: each.label if each.label is not None else value_of(specs, each)
        for name, each in options.items()
    }
    return Cell(place, specs, inside)


def validated(stage, params, axes, chosen, where) -> dict[str, Any]:
    """Give a stage's parameters at one position of its inner axes, defaults filled in."""
    return STAGES[stage]({**one_of(params, axes), **chosen}, f"{where}.{stage}").model_dump()


def one_of(params: Mapping[str, Any], axes: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Replace every inner sweep by its first value."""
    return {**params, **{name: values[0] for name, values in axes.items()}}


def value_of(specs: Mapping[str, Spec], option: Option) -> Any:
    """Read the validated value that a plain sweep sets."""
    stage, name = next(iter(option.settings))
    return getattr(specs[stage], name)


def check_kind(specs: Mapping[str, Spec], where: str) -> None:
    """Refuse attention of observations and smoothing of tokens."""
    kind = data.kind(specs["data"].generator)
    stage = "smoothing" if kind == data.OBSERVATIONS else "attention"
    if stage not in specs:
        raise Refusal(
            f"{where}.data.generator: '{specs['data'].generator}' gives {kind}, "
            f"which '{stage}' reads; add '{stage}:' or choose another generator."
        )


def canonical_section(section: Mapping[str, Any], cells: list[Cell]) -> dict[str, Any]:
    """Write a section so that equal experiments are equal texts.

    Sweeps ascend, values that equal their defaults are left out, and so is the reason why.
    """
    inside = sorted(section.get("inside") or [])
    result: dict[str, Any] = {"replicates": section.get("replicates"), "inside": inside}
    swept = {(stage, name) for stage, name, _ in swept_lists(section, "section")}
    zipped = [path for columns in (section.get("zip") or {}).values() for path in columns]
    for stage in SWEPT_STAGES:
        if stage in cells[0].specs:
            given = cells[0].specs[stage].model_dump(exclude_defaults=True)
            result[stage] = {
                name: swept_values(cells, stage, name) if (stage, name) in swept else value
                for name, value in {**given, **dict.fromkeys(n for s, n in swept if s == stage)}.items()
                if f"{stage}.{name}" not in zipped
            }
    if "spectra" in cells[0].specs:
        result["spectra"] = cells[0].specs["spectra"].measures
    result["zip"] = {
        name: sorted_columns(columns) for name, columns in (section.get("zip") or {}).items()
    }
    return {name: value for name, value in result.items() if value not in (None, [], {})}


def swept_values(cells: list[Cell], stage: str, name: str) -> list[Any]:
    """List the validated values of a sweep in ascending order."""
    inner = cells[0].inside.get(stage, {}).get(name)
    return sorted(inner or {getattr(each.specs[stage], name) for each in cells})


def sorted_columns(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Put the cases of lists that advance together into the order of their labels."""
    order = sorted(range(len(columns["label"])), key=lambda i: str(columns["label"][i]))
    return {path: [values[i] for i in order] for path, values in sorted(columns.items())}
