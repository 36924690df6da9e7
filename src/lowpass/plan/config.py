"""Read a configuration file, refusing what YAML would let pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lowpass.registry import Refusal
from lowpass.spec.base import build, place, shown
from lowpass.spec.config import Config

# Numbers that YAML 1.1 does not read in base 10: 010 is 8, and 1:30 is 90.
OTHER_BASE = r"[-+]?0[0-9_]|.*:"
HIDES = "'{name}' hides where a value comes from; write the value out at each place."


class OnceLoader(yaml.SafeLoader):
    """Load plain YAML: each name once and as text, no anchors, numbers in base 10."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse anchors and aliases, which would hide where a value comes from."""
        event = self.peek_event()
        if getattr(event, "anchor", None):
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            name = f"{sign}{event.anchor}"
            raise Refusal(f"line {line_of(event)}: {HIDES.format(name=name)}")
        return super().compose_node(parent, index)

    def compose_scalar_node(self, anchor: Any) -> Any:
        """Refuse a number that reads as another one."""
        node = super().compose_scalar_node(anchor)
        if node.tag.endswith((":int", ":float")) and re.match(OTHER_BASE, node.value):
            raise Refusal(
                f"line {line_of(node)}: {node.value} is {self.construct_object(node)} in YAML 1.1, "
                f"which reads it in another base; write the number in base 10."
            )
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Build a mapping, or name the two lines on which one key stands."""
        lines: dict[str, int] = {}
        for key_node, _ in node.value:
            line, key = line_of(key_node), key_node.value
            if key_node.tag.endswith(":merge"):
                raise Refusal(f"line {line}: {HIDES.format(name=key)}")
            if not key_node.tag.endswith(":str"):
                raise Refusal(
                    f"line {line}: {key if isinstance(key, str) else 'a list or mapping'} "
                    f"stands where a name belongs; names are text, so write one, or quote it."
                )
            if key in lines:
                both = f"on lines {lines[key]} and" if lines[key] < line else "on line"
                raise Refusal(
                    f"'{key}' is written twice, {both} {line}; YAML would silently keep the "
                    f"second, so rename or delete one."
                )
            lines[key] = line
        return super().construct_mapping(node, deep=deep)


def line_of(thing: Any) -> int:
    """Give the line on which an event or node begins, the first being 1."""
    return thing.start_mark.line + 1


def load(path: Path | str, name: str, command_line: Mapping[str, Any] | None = None) -> Config:
    """Read and validate a configuration.

    Parameters
    ----------
    path : Path
        The file to read.
    name : str
        How messages call it.
    command_line : mapping, optional
        Top-level values given there, which replace those of the file.

    Raises
    ------
    Refusal
        With file and key path, at the first fault.
    """
    content = read_yaml(path, name)
    if not isinstance(content, dict):
        found = "is empty" if content is None else f"holds {shown(content)} and no names"
        raise Refusal(f"{name}: {found}, so nothing would run; write 'seed:' and 'experiments:'.")
    for key, value in (command_line or {}).items():
        build(Config, {"seed": 0, "experiments": {}, key: value}, "command line")
    config = build(Config, {**content, **(command_line or {})}, name)
    if not config.experiments:
        spot = place(name, "experiments")
        raise Refusal(f"{spot}: is empty, so nothing would run; describe an experiment.")
    return config


def read_yaml(path: Path | str, name: str) -> Any:
    """Read a file as YAML.

    Raises
    ------
    Refusal
        When it cannot be read, is no YAML, or holds what a configuration does without.
    """
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), OnceLoader)
    except FileNotFoundError:
        raise Refusal(f"{name}: there is no such file; check the path.") from None
    except OSError as fault:
        raise Refusal(f"{name}: cannot be read ({fault.strerror}); check the path.") from None
    except UnicodeDecodeError as fault:
        raise Refusal(
            f"{name}: byte {fault.start} is not UTF-8 text; save the file as UTF-8."
        ) from None
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        line = f" on line {mark.line + 1}" if mark else ""
        problem = getattr(fault, "problem", None) or str(fault).splitlines()[0]
        raise Refusal(f"{name}: is not YAML{line}: {problem}; correct it there.") from None
    except Refusal as refusal:
        raise Refusal(f"{name}: {refusal}") from None
