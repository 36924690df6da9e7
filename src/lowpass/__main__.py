"""The command line: jobs of the workflow, and questions about its products."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from lowpass.commands import make, publish, trace
from lowpass.uncached import import_from_source

COMMANDS = {"trace": trace, "make": make, "publish": publish}


class Parser(argparse.ArgumentParser):
    """Read the command line, and refuse it in the manner of all refusals."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line, without the usage."""
        from lowpass.registry import Refusal

        raise Refusal(f"command line: {message}; '{self.prog} --help' says what may be asked.")


def parser() -> Parser:
    """Describe the commands."""
    top = Parser(prog="python -m lowpass", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    for command in COMMANDS.values():
        command.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a refusal is one line and the exit code 1."""
    from lowpass.registry import Refusal

    try:
        asked = parser().parse_args(arguments)
        return COMMANDS[asked.command].run(asked)
    except Refusal as refusal:
        print(f"lowpass: {' '.join(str(refusal).splitlines())}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # The reader, such as head, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    import_from_source()
    sys.exit(main())
