"""What jobs hold and do that gather: experiments, figures, claims, the paper."""

from __future__ import annotations

from collections.abc import Sequence

from lowpass.resources.work import Work

# Bytes of the objects around one part's arrays, with the records of its history; and the
# operations of reading, digesting and tracing it.
PART_HELD, PART_TAKEN = 1.2e5, 1.5e8
# Parts, their blocks joined, the whole, and the whole in order.
GATHERED = 4.0
# Bytes and operations of drawing a figure four times, and of typesetting a page of them.
FIGURE_HELD, FIGURE_TAKEN = 8e6, 1e10
PAGE_HELD, PAGE_TAKEN = 2e6, 5e8


def of_experiment(parts: Sequence[Work]) -> Work:
    """Estimate the gathering of an experiment's points, which is planned once more."""
    stored = sum(part.stored for part in parts)
    held = GATHERED * stored + PART_HELD * len(parts)
    return Work(held, 20.0 * stored + PART_TAKEN * len(parts), stored)


def of_figure(shown: Sequence[Work]) -> Work:
    """Estimate a drawing of what its experiments hold."""
    stored = sum(each.stored for each in shown)
    return Work(2.0 * stored + FIGURE_HELD, FIGURE_TAKEN + 20.0 * stored, 0.0)


def of_claims(judged: Sequence[Work]) -> Work:
    """Estimate the judgement of claims by experiments that are all read."""
    stored = sum(each.stored for each in judged)
    return Work(2.0 * stored, 100.0 * stored + 1e9 * len(judged), 1e4)


def of_paper(shown: Sequence[Work]) -> Work:
    """Estimate the typesetting of figures and sections."""
    stored = sum(each.stored for each in shown)
    held = 2.0 * stored + PAGE_HELD * len(shown)
    return Work(held, PAGE_TAKEN * len(shown) + 20.0 * stored, 0.0)
