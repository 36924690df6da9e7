"""Parameters of the spectra stage: which measures are taken."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import MinLen
from pydantic import AfterValidator, Field

from lowpass.measures import MEASURES
from lowpass.spec.base import Spec, build


def known_measure(name: str) -> str:
    """Refuse a name that no measure has."""
    MEASURES[name]
    return name


class Spectra(Spec):
    """Name the measures, each of which becomes one variable."""

    measures: Annotated[
        list[Annotated[str, AfterValidator(known_measure)]], MinLen(1)
    ] = Field(description="one variable for each")


def parse(params: dict[str, Any], where: str) -> Spectra:
    """Validate the names of the measures."""
    return build(Spectra, params, where)
