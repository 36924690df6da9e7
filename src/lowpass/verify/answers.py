"""What a comparison with expected results tells: levels in short, differences at length."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lowpass.telling import shown
from lowpass.verify.verdict import LEVELS, Answer, level_of

# Differences beyond this number are counted for each product.
LISTED = 40


def as_text(folder: Path, answers: Sequence[Answer], strays: Sequence[Path]) -> str:
    """Tell of every product how far it agrees, and of all of them what level was reached.

    Parameters
    ----------
    folder : Path
        Of the files of expected results.
    answers : sequence of Answer
        One for each product.
    strays : sequence of Path
        Files that expect something of what is not planned.
    """
    lines = [f"expected: {shown(folder.resolve())}"]
    for level in LEVELS:
        agreeing = [answer for answer in answers if answer.level == level]
        for why in dict.fromkeys(answer.why for answer in agreeing):
            names = ", ".join(answer.name for answer in agreeing if answer.why == why)
            lines.append(f"  {level:<8}{names}{f' ({why})' if why else ''}")
    for answer in answers:
        if not answer.level:
            lines += troubled(answer)
    lines += [
        f"  none    {stray.stem}: {stray.name} is there and no such experiment is planned; "
        f"delete it, as --accept does"
        for stray in strays
    ]
    return "\n".join([*lines, summary(answers, strays)])


def troubled(answer: Answer) -> list[str]:
    """Tell why a product reaches no level, number by number."""
    if not answer.differences:
        return [f"  none    {answer.name}: {answer.why}"]
    count = f"{len(answer.differences)} of {answer.count} numbers differ"
    lines = [f"    {difference.told}" for difference in answer.differences[:LISTED]]
    more = len(answer.differences) - LISTED
    return [
        f"  none    {answer.name}: {count} ({answer.why})",
        *lines,
        *([f"    and {more} more"] if more > 0 else []),
    ]


def summary(answers: Sequence[Answer], strays: Sequence[Path]) -> str:
    """Name the level that every product reaches."""
    failed = sum(not answer.level for answer in answers) + len(strays)
    if failed:
        return f"level reached: none, since {failed} of {len(answers) + len(strays)} do not agree"
    level = level_of(answers)
    return f"level reached: {level}, {LEVELS[level]}"
