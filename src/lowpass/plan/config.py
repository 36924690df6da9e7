"""Read a configuration file, refusing what YAML would let pass."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lowpass.registry import Refusal
from lowpass.spec.base import build
from lowpass.spec.config import Config


class OnceLoader(yaml.SafeLoader):
    """Load plain YAML; a key that is written twice, an anchor or an alias is an error."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse aliases, which would hide where a value comes from."""
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise Refusal(
                f"line {mark.line + 1}: an alias (*name) hides where a value comes from; "
                f"write the value out."
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Build a mapping, or name the two lines on which one key stands."""
        lines: dict[Any, int] = {}
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if key in lines:
                raise Refusal(
                    f"'{key}' is written twice, on lines {lines[key]} and {line}; YAML would "
                    f"silently keep the second, so rename or delete one."
                )
            lines[key] = line
        return super().construct_mapping(node, deep=deep)


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
    try:
        with open(path, encoding="utf-8") as handle:
            content = yaml.load(handle, OnceLoader)
    except FileNotFoundError:
        raise Refusal(f"{name}: there is no such file; check the path.") from None
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        line = f" on line {mark.line + 1}" if mark else ""
        problem = getattr(fault, "problem", None) or fault
        raise Refusal(f"{name}: is not YAML{line}: {problem}; correct it there.") from None
    except Refusal as refusal:
        raise Refusal(f"{name}: {refusal}") from None
    if not isinstance(content, dict):
        raise Refusal(f"{name}: holds no mapping; write 'seed:' and 'experiments:'.")
    for key, value in (command_line or {}).items():
        build(Config, {"seed": 0, "experiments": {}, key: value}, "command line")
    config = build(Config, {**content, **(command_line or {})}, name)
    if not config.experiments:
        raise Refusal(f"{name}: experiments: is empty, so nothing would run; describe one.")
    return config
