"""From plain Unicode to lines of type.

STIX has no subscript two: scripts and accents written in Unicode, and capital
indices as in W_V, become mathematics here, and a sentence becomes lines of a width.
Nothing is drawn.
"""

from __future__ import annotations

import re
import unicodedata

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵀᵗᴴᴸ"
SUPERSCRIPTS_SPELT = "0123456789+-=()niTtHL"
SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₗₘₙₚₛₜ"
SUBSCRIPTS_SPELT = "0123456789+-=()aeijklmnpst"
ACCENTS = "\u0302\u0303\u0304\u0307"
ACCENTS_SPELT = ("hat", "tilde", "bar", "dot")
TOKEN = re.compile(
    rf"(?P<accent>[^\W\d_][{ACCENTS}])|(?P<up>[{SUPERSCRIPTS}]+)|(?P<down>[{SUBSCRIPTS}]+)"
    r"|(?<=\w)_(?P<index>[A-Z]+)\b"
)
# Mathematics between dollars is one word, whatever spaces it has.
WORD = re.compile(r"(?:\$[^$]*\$|[^\s$])+")


def typeset(text: str) -> str:
    r"""Turn the scripts and accents of running text into mathematics.

    Examples
    --------
    >>> typeset("|λ₂|ᵗ bounds the rate")
    '|λ$_{2}$|$^{t}$ bounds the rate'
    >>> typeset("the sign of W_V")
    'the sign of W$_{V}$'
    """
    parts = re.split(r"(\$[^$]*\$)", unicodedata.normalize("NFD", text))
    # What is mathematics already stays as it is.
    parts[::2] = [TOKEN.sub(_spelt, part) for part in parts[::2]]
    return "".join(parts)


def _spelt(token: re.Match[str]) -> str:
    """Spell one token as mathematics."""
    found = token[0]
    if token["accent"]:
        return rf"$\{ACCENTS_SPELT[ACCENTS.index(found[1])]}{{{found[0]}}}$"
    if token["index"]:
        return f"$_{{{token['index']}}}$"
    if token["up"]:
        return f"$^{{{found.translate(str.maketrans(SUPERSCRIPTS, SUPERSCRIPTS_SPELT))}}}$"
    return f"$_{{{found.translate(str.maketrans(SUBSCRIPTS, SUBSCRIPTS_SPELT))}}}$"


def width(text: str, size: float, weight: str = "normal") -> float:
    """Measure a typeset text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="STIXGeneral", size=size, weight=weight)
    return text_to_path.get_text_width_height_descent(text, font, ismath="$" in text)[0]


def broken(sentence: str, size: float, room: float) -> list[str]:
    """Break a sentence into typeset lines that fit the room, in points; a word stays whole."""
    lines: list[str] = []
    for word in WORD.findall(typeset(sentence)):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
