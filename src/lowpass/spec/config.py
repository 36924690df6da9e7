"""The shape of a configuration file."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from lowpass.domains import Count, Index
from lowpass.spec.base import Spec

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$")]


class Section(Spec):
    """Describe one experiment; a list where a scalar belongs is a sweep."""

    why: str = Field(description="what the experiment is for, in one sentence")
    data: dict[str, Any] = Field(description="generator of the tokens or observations")
    attention: dict[str, Any] | None = Field(None, description="attention acting on tokens")
    smoothing: dict[str, Any] | None = Field(None, description="smoothing of observations")
    spectra: list[str] | None = Field(None, description="measures taken of the trajectory")
    replicates: Count | None = Field(None, description="number of random replicates")
    inside: list[str] = Field([], description="swept parameters computed within one job")
    zip: dict[str, dict[str, list[Any]]] = Field(
        {}, description="lists that advance together along one named dimension"
    )


class Config(Spec):
    """Describe a whole run."""

    seed: Index = Field(description="root of every random stream")
    experiments: dict[Name, Section] = Field(description="by name, each with its parameters")
