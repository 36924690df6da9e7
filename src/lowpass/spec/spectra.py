"""Parameters of the spectra stage: which measures are taken."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import MinLen
from pydantic import AfterValidator, Field

from lowpass.measures import MEASURES
from lowpass.registry import Refusal
from lowpass.spec.base import Spec, build


def known_measure(name: str) -> str:
    """Refuse a name that no measure has."""
    MEASURES[name]
    return name


class Spectra(Spec):
    """Name the measures, each of which becomes one variable."""

    measures: Annotated[list[Annotated[str, AfterValidator(known_measure)]], MinLen(1)] = Field(
        description="one variable for each"
    )


def parse(params: dict[str, Any], where: str) -> Spectra:
    """Validate the names of the measures.

    Raises
    ------
    Refusal
        When a measure is unknown or named twice, or none is named.
    """
    try:
        spec = build(Spectra, params, where)
    except Refusal as refusal:
        # In a configuration the list of measures stands under 'spectra' itself.
        raise Refusal(str(refusal).replace(f"{where}.measures: ", f"{where}: ", 1)) from None
    for name in spec.measures:
        if spec.measures.count(name) > 1:
            raise Refusal(f"{where}: '{name}' is named twice, and is taken once; delete one.")
    return spec
