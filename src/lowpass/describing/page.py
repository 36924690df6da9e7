"""The page beside the configurations: how they are read, and all that may stand in them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel

from lowpass.describing import docstrings
from lowpass.describing.parameters import (
    CHOSEN,
    Parameters,
    Schema,
    can_be_inside,
    can_be_swept,
    chosen,
    options,
    parameters_of,
    scalar,
    stages,
)
from lowpass.describing.tables import mathematics, table
from lowpass.describing.values import allowed, alternatives, default
from lowpass.labels import VARIABLES
from lowpass.measures import MEASURES
from lowpass.plan.axes import INSIDE_STAGES, SWEPT_STAGES
from lowpass.plan.sweep import STAGES
from lowpass.spec.config import Config, Section
from lowpass.spec.data import BLOCK

EXPERIMENTS = {"experiments": "names with [experiments](#an-experiment)"}
WIDTH = 100
HEAD = ("parameter", "value", "default", "meaning")
INTRODUCTION = """\
<!-- Written by `make describe`; an edit of this file would be lost. -->

# The configuration

`paper.yaml` is the paper, and `smoke.yaml` holds one of every kind of run, in seconds. A file of
your own takes the place of the paper's: `.venv/bin/snakemake --configfile mine.yaml`. With the
first line below, an editor that knows the YAML language server completes, explains and checks what
you write.

```yaml
# yaml-language-server: $schema=workflow/schemas/config.schema.json
{example}```
"""
RULES = """\
A list where one value belongs is a **sweep**: one run for each value, and for each combination
where there are several lists. What is swept becomes a dimension of the experiment's dataset.

**`inside`** names sweeps that are computed within one job and stored in one file, for runs that
take less time than starting them. It is open to parameters of {inside}, and to lists under `zip`
that are all of one of these.

**`zip`** lets lists advance together along a dimension of its own: `label` names the cases, and
every other list has a value for each.

**Replicates** are stored in blocks of {block}, so that more of them leave the first untouched.

**Numbers** are those of YAML 1.1: write `1.0e-3`, since `1e-3` is text.

Everything random is drawn from **`seed`** and from what shapes the draw: tokens and weights stay
the same when another parameter changes. A changed parameter is another file, so going back to an
old value computes nothing.
"""
EXAMPLE = """\
seed: 7
experiments:
  sharpness:
    why: Does a sharper softmax forget more slowly, and does the arithmetic show it?
    data: {generator: gaussian, n_tokens: 64, d_model: 32}
    attention: {beta: [1, 2, 4], arithmetic: [split, float32], depth: 200}
    inside: [arithmetic]
    spectra: [log10_hc_dc_ratio, transient_rate]
    replicates: 20
  starts:
    why: What is kept depends on the start and on the kernel.
    data: {generator: gaussian, n_tokens: 16, d_model: 8}
    attention: {weights: symmetric, beta: 3, depth: 60}
    zip:
      case:
        label: [tokens, nothing that stays]
        attention.start: [tokens, no_stationary]
        attention.kernel: [softmax, sinkhorn]
    spectra: [log10_hc_dc_ratio]
    replicates: 10
"""


def as_text() -> str:
    """Write the page."""
    return "\n".join([INTRODUCTION.format(example=EXAMPLE), *rules(), "", *lines()]) + "\n"


def rules() -> Iterator[str]:
    """Yield the lines of a list of rules, none of them long."""
    inside = alternatives([f"`{stage}`" for stage in INSIDE_STAGES])
    for rule in RULES.format(inside=inside, block=BLOCK).split("\n\n"):
        yield textwrap.fill(rule, WIDTH, initial_indent="- ", subsequent_indent="  ")


def lines() -> Iterator[str]:
    """Yield the lines of every section."""
    read = stages()
    yield from ["## The file", "", *fields_of(parts(Config, EXPERIMENTS)), ""]
    yield from ["## An experiment", "", *fields_of(parts(Section, elsewhere(read))), ""]
    for stage in (name for name in STAGES if name in CHOSEN or name in read):
        if stage in CHOSEN:
            yield from choosing(stage)
        elif stage in SWEPT_STAGES:
            yield from section_of_stage(stage, read[stage])
        else:
            yield from measures(stage)


def choosing(stage: str) -> Iterator[str]:
    """Write the section of a stage that chooses its parameters by a word."""
    about = "" if stage == "data" else f"{sentence(Section.model_fields[stage].description)} "
    word = CHOSEN[stage].word
    told = f"{about}The {word} decides which other parameters there are."
    yield from [f"## `{stage}`", "", *textwrap.wrap(told, WIDTH), ""]
    for name, each in chosen(stage).items():
        yield from section_of_entry(stage, name, each)


def parts(model: type[BaseModel], told: Mapping[str, str]) -> Parameters:
    """Describe the parts of a file or of an experiment, some of them in other words."""
    fields, required = parameters_of(model)
    return Parameters(
        {
            name: {**field, "told": told[name]} if name in told else field
            for name, field in fields.items()
        },
        required,
    )


def elsewhere(read: Mapping[str, Parameters]) -> dict[str, str]:
    """Point to the sections of this page where parts of an experiment are described."""
    mappings = {name: f"mapping, [below](#{name})" for name in SWEPT_STAGES}
    names = {name: f"list of names, [below](#{name})" for name in read if name not in mappings}
    return {**mappings, **names, "inside": "list of names", "zip": "names with lists of each"}


def fields_of(each: Parameters) -> list[str]:
    """Write a table of parameters, what is inside of a mapping below it."""
    told: dict[str, str] = {}
    found = [rows(name, field, each.required, told) for name, field in each.fields.items()]
    return table(HEAD, (row for some in found for row in some))


def rows(
    path: str, field: Schema, required: Sequence[str], told: dict[str, str]
) -> list[tuple[str, ...]]:
    """List the row of a parameter, and those of its mapping where no other has told them."""
    inner = next((each for each in options(field) if "properties" in each), {})
    first = told.setdefault(str(inner), path) if inner else path
    value = field.get("told") or (allowed(field) if first == path else f"as `{first}`")
    own = (f"`{path}`", value, default(path, field, required), field.get("description", ""))
    if first != path:
        return [own]
    below = [
        rows(f"{path}.{name}", each, [f"{path}.{need}" for need in inner.get("required", [])], told)
        for name, each in inner.get("properties", {}).items()
    ]
    return [own, *(row for some in below for row in some)]


def section_of_entry(stage: str, name: str, each: Parameters) -> Iterator[str]:
    """Write the section of one entry that a stage may choose."""
    entries = CHOSEN[stage].entries
    gives = f" Gives {entries.facts(name)['kind']}." if stage == "data" else ""
    told = f"{docstrings.summary(entries[name])}{gives}"
    yield from [f"### `{name}`", "", *textwrap.wrap(told, WIDTH), ""]
    yield from [*fields_of(each), "", *exceptions(stage, each)]
    if stage != "data":
        for parameter, field in each.fields.items():
            yield from choices(parameter, field)


def section_of_stage(name: str, each: Parameters) -> Iterator[str]:
    """Write the section of one stage."""
    yield from [f"## `{name}`", "", sentence(Section.model_fields[name].description), ""]
    yield from [*fields_of(each), "", *exceptions(name, each)]
    for parameter, field in each.fields.items():
        yield from choices(parameter, field)


def sentence(description: str | None) -> str:
    """Write a description as a sentence."""
    return f"{(description or '')[:1].upper()}{(description or '')[1:]}."


def exceptions(stage: str, each: Parameters) -> Iterator[str]:
    """Say which parameters cannot be swept, or not inside of a job."""
    fixed = [
        name
        for name, field in each.fields.items()
        if not can_be_swept(stage, name, field) or scalar(field) == {"type": "null"}
    ]
    outside = [
        name
        for name, field in each.fields.items()
        if name not in fixed and stage in INSIDE_STAGES and not can_be_inside(stage, name, field)
    ]
    for names, what in ((fixed, "be swept"), (outside, "stand under `inside`")):
        if names:
            yield from [f"Cannot {what}: {', '.join(f'`{name}`' for name in names)}.", ""]


def choices(name: str, field: Schema) -> Iterator[str]:
    """List what a name may be, each with what it does."""
    if "enumDescriptions" in field:
        yield from [f"**`{name}`**, {field['description']}:", ""]
        said = zip(field["enum"], field["enumDescriptions"], strict=True)
        yield from [*(f"- `{choice}`: {summary}" for choice, summary in said), ""]


def measures(name: str) -> Iterator[str]:
    """Write the section of the measures."""
    yield from [f"## `{name}`", "", sentence(Section.model_fields[name].description), ""]
    head = ("measure", "symbol", "name", "for each", "what it is")
    yield from table(
        head,
        (
            (
                f"`{measure}`",
                mathematics(VARIABLES[measure].symbol),
                VARIABLES[measure].long_name,
                ", ".join(VARIABLES[measure].dims),
                docstrings.summary(MEASURES[measure]),
            )
            for measure in sorted(MEASURES)
        ),
    )
