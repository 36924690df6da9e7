"""What a trace tells: as text, as JSON, and as the difference of two products."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lowpass.trace import OK, Node

# A product with more parents than this lists only those in trouble.
LISTED = 16


def as_text(nodes: Sequence[Node]) -> str:
    """Tell the history of products as an indented list, what is shared told once."""
    lines: list[str] = []
    told: set[Path] = set()
    for node in nodes:
        _tell(node, 0, lines, told)
    every = everything(nodes)
    troubled = [each for each in every.values() if each.status != OK]
    lines.append(
        f"{len(troubled)} of {len(every)} products in trouble"
        if troubled
        else f"all {len(every)} products verified: content, key, parents, code and plan"
    )
    return "\n".join(lines)


def everything(nodes: Sequence[Node]) -> dict[Path, Node]:
    """Collect products and all they were made from, each once."""
    return {each.path: each for node in nodes for each in node.walk()}


def _tell(node: Node, depth: int, lines: list[str], told: set[Path]) -> None:
    indent = "  " * depth
    why = f": {node.why}" if node.why else ""
    lines.append(f"{indent}{shown(node.path)}  {node.status}{why}")
    if node.path in told:
        lines[-1] += "  (told above)" if node.parents else ""
        return
    told.add(node.path)
    lines += [f"{indent}  | {line}" for line in facts(node.record)]
    healthy = [each for each in node.parents if each.status == OK]
    hidden = healthy if len(node.parents) > LISTED else []
    for parent in node.parents:
        if parent not in hidden:
            _tell(parent, depth + 1, lines, told)
    if hidden:
        lines.append(f"{indent}  and {len(hidden)} parents that are ok, such as")
        _tell(hidden[0], depth + 1, lines, told)


def shown(path: Path) -> str:
    """Write a path as a person in the current folder would."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def facts(record: Mapping[str, Any]) -> list[str]:
    """List what a record says of its own product: parameters, seed, key and code."""
    if not record:
        return []
    recipe = record["recipe"]
    lines = [f"{name}: {told(value)}" for name, value in record["parameters"].items()]
    aside = {name: recipe[name] for name in ("seed", "block") if name in recipe}
    lines += [f"{name}: {value}" for name, value in aside.items()]
    if "code" in record:
        lines.append(f"key {record['key']}, code {record['code']}")
    return lines


def told(value: Any) -> str:
    """Write a parameter's value compactly, texts without quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_json(nodes: Sequence[Node]) -> str:
    """Tell the history of products as a JSON list: an answer for each, its products by path."""
    answers = [
        {
            "product": shown(node.path),
            "products": {shown(each.path): answer(each) for each in node.walk()},
        }
        for node in nodes
    ]
    return json.dumps(answers, indent=1)


def answer(node: Node) -> dict[str, Any]:
    """Tell of one product what its record says, and whether that is so."""
    return {
        "status": node.status,
        "why": node.why,
        "record": node.record,
        "parents": [shown(parent.path) for parent in node.parents],
    }


def difference(first: Node, second: Node) -> list[str]:
    """Name the parameters in which two products differ, a line each."""
    left, right = parameters(first), parameters(second)
    names = [*left, *(name for name in right if name not in left)]
    absent = ["nothing"]
    return [
        f"{name}: {', '.join(left.get(name, absent))} | {', '.join(right.get(name, absent))}"
        for name in names
        if left.get(name) != right.get(name)
    ]


def parameters(node: Node) -> dict[str, list[str]]:
    """Collect every parameter of a product's history, with all values it takes there."""
    values: dict[str, set[str]] = {}
    for each in node.walk():
        if each.record:
            recipe = each.record["recipe"]
            for name, value in flat(each.record["parameters"], recipe["stage"]):
                values.setdefault(name, set()).add(told(value))
            for name in ("seed", "code"):
                value = recipe.get(name, each.record.get(name))
                if value is not None:
                    title = name if name == "seed" else f"{recipe['stage']}.code"
                    values.setdefault(title, set()).add(told(value))
    return {name: sorted(each) for name, each in values.items()}


def flat(value: Any, name: str) -> Sequence[tuple[str, Any]]:
    """List the leaves of nested parameters under dotted names."""
    if not isinstance(value, dict):
        return [(name, value)]
    return [leaf for key, each in value.items() for leaf in flat(each, f"{name}.{key}")]
