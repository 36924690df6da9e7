"""What is read out of docstrings, of real entries and of awkward ones."""

from __future__ import annotations

import pytest

from lowpass.data import GENERATORS
from lowpass.describing.docstrings import markdown, parameters, summary
from lowpass.measures import MEASURES


def awkward(first, second, third, fourth=1):
    """Say one thing.

    And another thing.

    Parameters
    ----------
    first, second : (a, b) float
        Told together,
        on two lines.

        And after a blank one: still told.
    third
        Without a type.
    fourth : {"a", "b"}
    fifth : int
        The last.

    Returns
    -------
    sixth : int
        Not a parameter.
    """


def test_only_the_first_line_is_the_summary():
    assert summary(awkward) == "Say one thing."


def test_parameters_are_told_by_name():
    told = "Told together, on two lines. And after a blank one: still told."
    assert parameters(awkward) == {
        "first": told,
        "second": told,
        "third": "Without a type.",
        "fourth": "",
        "fifth": "The last.",
    }


def test_what_has_no_docstring_says_nothing():
    def silent():
        pass

    assert (summary(silent), parameters(silent)) == ("", {})


@pytest.mark.parametrize("registry", [GENERATORS, MEASURES], ids=lambda registry: registry.kind)
def test_every_entry_has_a_summary(registry):
    assert [name for name in registry if not summary(registry[name]).endswith(".")] == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (":math:`x_1` and :math:`y`", "$x_1$ and $y$"),
        ("``a`` and ``b | c``", "`a` and `b | c`"),
        ("see :func:`~lowpass.data.ring` or :class:`Card`", "see `ring` or `Card`"),
        ("`plain` and *this*", "`plain` and *this*"),
    ],
)
def test_markup_becomes_markdown(text, written):
    assert markdown(text) == written
