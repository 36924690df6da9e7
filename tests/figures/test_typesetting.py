"""Unicode that STIX can set."""

import pytest
from matplotlib.mathtext import MathTextParser

from lowpass.figures.typesetting import (
    SUBSCRIPTS,
    SUBSCRIPTS_SPELT,
    SUPERSCRIPTS,
    SUPERSCRIPTS_SPELT,
    broken,
    typeset,
    width,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|λ₂|", "|λ$_{2}$|"),
        ("n⁻¹ᵗ", "n$^{-1t}$"),
        ("S̃ and ẑ", r"$\tilde{S}$ and $\hat{z}$"),
        (r"already $\lambda_2$ and $W_V$", r"already $\lambda_2$ and $W_V$"),
        ("AXW_V and x_v", "AXW$_{V}$ and x_v"),
        ("plain", "plain"),
    ],
)
def test_scripts_and_accents_become_mathematics(text, expected):
    assert typeset(text) == expected


@pytest.mark.parametrize("script", SUPERSCRIPTS + SUBSCRIPTS)
def test_every_script_can_be_set(script):
    MathTextParser("path").parse(typeset(f"x{script}"), dpi=72)


def test_every_script_is_spelt():
    assert len(SUPERSCRIPTS) == len(SUPERSCRIPTS_SPELT)
    assert len(SUBSCRIPTS) == len(SUBSCRIPTS_SPELT)


def test_lines_fit_the_room_and_keep_the_words():
    sentence = "Only the mean survives, at the rate |λ₂| of the second eigenvalue"
    lines = broken(sentence, 8.5, 120)
    assert " ".join(lines) == typeset(sentence)
    assert max(width(line, 8.5) for line in lines) <= 120
    assert len(lines) > 1


def test_mathematics_with_spaces_is_not_broken():
    assert broken("gain $1 - \\tau \\lambda$ here", 8.5, 10)[1] == "$1 - \\tau \\lambda$"


def test_width_is_proportional_to_size():
    assert width("mean", 17) == pytest.approx(2 * width("mean", 8.5))
