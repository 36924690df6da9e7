"""The answer in words: causes first, then how many jobs of which kind; or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from lowpass.explaining.answer import Answer, Group
from lowpass.explaining.causes import ABSENT, GONE, LEFT
from lowpass.explaining.graph import PUBLISH, Task
from lowpass.explaining.words import listed
from lowpass.locking import KILLED, RUNNING, UNCLEAR
from lowpass.plan.sweep import STAGES

ORDER = (*STAGES, "experiment", "claims", "figures", "paper", PUBLISH)
# More files than this are counted instead of named.
NAMED = 3
# How a cause that is about products goes on after naming one, or several.
VERBS = {
    GONE: ("is gone, though a run had made it", "are gone, though a run had made them"),
    LEFT: (
        "was left unfinished by a run that was interrupted",
        "were left unfinished by a run that was interrupted",
    ),
    ABSENT: ("was not made yet", "were not made yet"),
}
ONLY = {"claims": "the claims", "paper": "the paper", PUBLISH: "the publication"}
RUNS = {
    RUNNING: ["a run is in progress and makes some of this, as it planned it"],
    KILLED: ["a run that was killed left its lock; add --unlock to the command of the next one"],
    UNCLEAR: [
        "a run is in progress on another machine, or left its lock when it was killed; in that "
        "case add --unlock to the command of the next one"
    ],
}


def as_text(answer: Answer, *, every: bool = False) -> str:
    """Tell what would run and why.

    Parameters
    ----------
    answer : Answer
        Of one plan.
    every : bool
        Whether to name every product.
    """
    lines: list[str] = []
    for group in answer.groups:
        lines.append(f"{sentence(group, answer.run)}: {counted(group.tasks)}")
        if every:
            lines += [f"    {path}" for task in group.tasks for path in task.outputs]
    return "\n".join([*lines, total(answer), *notes(answer)])


def sentence(group: Group, run: str) -> str:
    """Say what a cause is, with the products that it is about."""
    if group.cause not in VERBS:
        return group.cause.text
    if group.cause == LEFT and run == RUNNING:
        return f"the run in progress is just making {listed(group.paths, NAMED)}"
    return f"{listed(group.paths, NAMED)} {VERBS[group.cause][len(group.paths) > 1]}"


def counted(tasks: Sequence[Task]) -> str:
    """Count jobs by stage; experiments are named."""
    parts = []
    for stage, count in sorted(Counter(task.stage for task in tasks).items(), key=rank):
        plural = "s" if count > 1 else ""
        if stage == "experiment":
            slugs = [task.point.slug for task in tasks if task.stage == stage and task.point]
            noun = f"{count} experiments" if plural else "the experiment"
            parts.append(f"{noun} ({listed(slugs)})" if plural else f"{noun} {slugs[0]}")
        else:
            noun = f"figure{plural}" if stage == "figures" else stage
            parts.append(ONLY.get(stage, f"{count} {noun}"))
    return ", ".join(parts)


def rank(item: tuple[str, int]) -> int:
    """Order stages as the work goes through them."""
    return ORDER.index(item[0])


def total(answer: Answer) -> str:
    """Say how many jobs would run in all."""
    if answer.tasks:
        count = f"{len(answer.tasks)} of {len(answer.graph)} jobs would run"
        return f"{count}: {counted(answer.tasks)}" if len(answer.groups) > 1 else count
    if answer.unmade or answer.forgotten:
        return "nothing would run"
    products = sum(task.point is not None for task in answer.graph)
    return f"nothing would run: all {products} products are there and current"


def notes(answer: Answer) -> list[str]:
    """Say what a person should know beside: nothing of it makes a job run."""
    lines = []
    for cause, tasks in answer.forgotten.items():
        lines.append(
            f"would not run, though {cause.text}: {counted(tasks)}, since Snakemake's memory of "
            f"them (.snakemake/metadata) is gone"
        )
    if answer.forgotten:
        lines.append(
            "to make them again, put after the command of a run: "
            "--forcerun $(.venv/bin/python -m lowpass explain --forgotten)"
        )
    if answer.unmade:
        lines.append(
            f"would not be made, though missing: {listed(answer.unmade, NAMED)}; all that was made "
            f"from it is there, so only who names a file gets it: .venv/bin/snakemake FILE"
        )
    if answer.interrupted:
        files = listed(answer.interrupted, NAMED)
        lines.append(f"a run that was interrupted had begun to make {files}")
    return [*lines, *RUNS.get(answer.run, ())]


def as_json(answer: Answer) -> str:
    """Tell the same to a program."""
    number = {task: count for count, task in enumerate(answer.tasks)}
    causes = [
        {
            "kind": group.cause.kind,
            "text": sentence(group, answer.run),
            "experiments": group.experiments,
            "first": [number[task] for task in group.first],
            "jobs": [number[task] for task in group.tasks],
        }
        for group in answer.groups
    ]
    said = {
        "jobs": [job(task) for task in answer.tasks],
        "causes": causes,
        "products": sum(task.point is not None for task in answer.graph),
        "forgotten": forgotten(answer),
        "unmade": answer.unmade,
        "interrupted": answer.interrupted,
        "run": answer.run,
    }
    return json.dumps(said, indent=1)


def job(task: Task) -> dict[str, Any]:
    """Tell of one job what it makes."""
    key = task.point.key if task.point else None
    return {"stage": task.stage, "key": key, "outputs": list(task.outputs)}


def forgotten(answer: Answer) -> list[str]:
    """List a file of every product of other code that Snakemake forgot."""
    return [task.outputs[0] for tasks in answer.forgotten.values() for task in tasks]
