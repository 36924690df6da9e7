"""The shape of a configuration file."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from lowpass.domains import Count, Index
from lowpass.registry import Refusal
from lowpass.spec.base import Spec

# Names that rules and targets of the workflow have already.
TAKEN = frozenset(
    "all data attention diffusion smoothing spectra experiment figures claims paper "
    "generate figure judge typeset publish".split()
)
EXPERIMENT_NAME = r"[a-z][a-z0-9-]*"
DIMENSION_NAME = r"[a-z][a-z0-9_]*"
# With the key behind it, a file name stays short enough to read.
LONGEST_NAME = 60


def target_name(name: str) -> str:
    """Refuse an experiment's name that cannot be a target and a file name."""
    if name in TAKEN:
        raise Refusal(
            f"'{name}' is a rule or target of the workflow already, and an experiment's name is "
            f"a target too; rename the experiment, as '{name}-runs'."
        )
    if not re.fullmatch(EXPERIMENT_NAME, name) or len(name) > LONGEST_NAME:
        raise Refusal(
            f"{name!r} cannot be a target and a file name; an experiment's name is a letter and "
            f"then letters, digits or hyphens, all lower case, at most {LONGEST_NAME} of them. "
            f"Rename it."
        )
    return name


def dimension_name(name: str) -> str:
    """Refuse a name of a dimension that no expression could use."""
    if not re.fullmatch(DIMENSION_NAME, name):
        raise Refusal(
            f"{name!r} cannot name a dimension of a dataset; a name is a letter and then letters, "
            f"digits or underscores, all lower case. Rename it."
        )
    return name


class Section(Spec):
    """Describe one experiment; a list where a scalar belongs is a sweep."""

    why: str = Field(description="what the experiment is for, in one sentence")
    data: dict[str, Any] = Field(description="generator of the tokens or observations")
    attention: dict[str, Any] | None = Field(None, description="attention acting on tokens")
    diffusion: dict[str, Any] | None = Field(None, description="heat flowing between tokens")
    smoothing: dict[str, Any] | None = Field(None, description="smoothing of observations")
    spectra: list[str] | None = Field(None, description="measures taken of the trajectory")
    replicates: Count | None = Field(None, description="number of random replicates")
    inside: list[str] = Field([], description="swept parameters computed within one job")
    zip: dict[Annotated[str, AfterValidator(dimension_name)], dict[str, list[Any]]] = Field(
        {}, description="lists that advance together along one named dimension"
    )


class Config(Spec):
    """Describe a whole run."""

    seed: Index = Field(description="root of every random stream")
    experiments: dict[Annotated[str, AfterValidator(target_name)], Section] = Field(
        description="by name, each with its parameters"
    )
