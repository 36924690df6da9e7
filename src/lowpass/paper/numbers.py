"""Numbers as the paper prints them.

This module owns significant digits, powers of ten and intervals; all of the
paper's numbers pass through it, as plain Unicode that the template sets.
"""

from __future__ import annotations

import math
from typing import Any

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Smaller numbers are written with a power of ten, and so are those whose last digit
# before the point would not be significant.
SMALLEST_PLAIN = -3
LARGEST_EXACT = 8


def rounded(value: float, digits: int = 3) -> str:
    """Write a measured number, every printed digit of which is significant.

    Examples
    --------
    >>> [rounded(value) for value in (0.60634, 17189.96, -1.8388e-15, 0.0, math.inf)]
    ['0.606', '1.72×10⁴', '−1.84×10⁻¹⁵', '0', '∞']
    """
    if not math.isfinite(value):
        return signed(value, "∞" if math.isinf(value) else "undefined")
    if value == 0:
        return "0"
    mantissa, _, exponent = f"{abs(value):.{digits - 1}e}".partition("e")
    return signed(value, scaled(mantissa, int(exponent), digits - 1))


def exact(value: float) -> str:
    """Write a chosen number, such as a parameter, with as few digits as give it back.

    Examples
    --------
    >>> [exact(value) for value in (20261129, 0.5, 50.0, 1e-13, 5e-3, 100000.0)]
    ['20261129', '0.5', '50', '10⁻¹³', '0.005', '100000']
    """
    if isinstance(value, int) or not math.isfinite(value) or value == 0:
        return str(value).replace("-", "−") if isinstance(value, int) else rounded(value)
    digits = next(n for n in range(1, 18) if float(f"{value:.{n - 1}e}") == value)
    mantissa, _, exponent = f"{abs(value):.{digits - 1}e}".partition("e")
    return signed(value, scaled(mantissa, int(exponent), LARGEST_EXACT, lone_power=True))


def scaled(mantissa: str, exponent: int, largest_plain: int, *, lone_power: bool = False) -> str:
    """Write mantissa and exponent, without a power of ten where the number is plain."""
    if SMALLEST_PLAIN <= exponent <= largest_plain:
        decimals = max(len(mantissa.replace(".", "")) - 1 - exponent, 0)
        return f"{float(f'{mantissa}e{exponent}'):.{decimals}f}"
    power = "10" + str(exponent).translate(RAISED)
    return power if lone_power and mantissa == "1" else f"{mantissa}×{power}"


def signed(value: float, text: str) -> str:
    """Put the sign of a value before the text of its modulus."""
    return f"−{text}" if value < 0 else text


def antilog(log10: float, digits: int = 2) -> str:
    """Write a number given by its decimal logarithm, which floats may be too small to hold.

    Examples
    --------
    >>> antilog(-254.7784), antilog(-0.30103), antilog(-math.inf)
    ('1.7×10⁻²⁵⁵', '0.50', '0')
    """
    if not math.isfinite(log10):
        return "0" if log10 < 0 else rounded(log10)
    exponent = math.floor(log10)
    mantissa = f"{10 ** (log10 - exponent):.{digits - 1}f}"
    if float(mantissa) == 10:
        mantissa, exponent = f"{1:.{digits - 1}f}", exponent + 1
    return scaled(mantissa, exponent, digits - 1)


def interval(value: str, low: str, high: str) -> str:
    """Write a median with its interval, or alone where nothing was drawn at random.

    Examples
    --------
    >>> interval("0.61", "0.55", "0.66"), interval("1.7", "1.7", "1.7")
    ('0.61 [0.55, 0.66]', '1.7')
    """
    return value if low == high == value else f"{value} [{low}, {high}]"


def parameter(value: Any) -> str:
    """Write a parameter of any kind on one line.

    Examples
    --------
    >>> parameter([1.0, 3.0, "split"]), parameter({"low": 0.5}), parameter(True)
    ('1, 3, split', 'low 0.5', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return exact(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {parameter(each)}" for name, each in value.items())
    return ", ".join(map(parameter, value)) if isinstance(value, list) else str(value)
