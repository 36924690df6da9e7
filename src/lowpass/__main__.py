"""The command line: jobs of the workflow, and questions about its products."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from gc import freeze
from typing import TYPE_CHECKING, NoReturn

from lowpass.commands import describe, explain, gc, make, publish, resources, trace, verify
from lowpass.ending import line_of
from lowpass.loading import import_from_source

if TYPE_CHECKING:
    from lowpass.registry import Refusal

# What shells give for a program that was ended by Ctrl-C.
INTERRUPTED = 130
COMMANDS = {
    "trace": trace,
    "verify": verify,
    "explain": explain,
    "gc": gc,
    "resources": resources,
    "describe": describe,
    "make": make,
    "publish": publish,
}


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
    from lowpass.writing import refusal_of

    try:
        asked = parser().parse_args(arguments)
        return COMMANDS[asked.command].run(asked)
    except Refusal as refusal:
        return say(refusal)
    except BrokenPipeError:  # The reader, such as head, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as fault:
        return say(refusal_of(fault))
    except KeyboardInterrupt:
        say("interrupted. Run again to go on; what was finished is kept.")
        return INTERRUPTED


def say(refusal: Refusal | str) -> int:
    """Print one line, and give the exit code of a refusal."""
    line = line_of(refusal)
    try:
        print(line, file=sys.stderr)
    except OSError:  # The log of a job lies on the full disk too; the terminal does not.
        print(line, flush=True)
    return 1


if __name__ == "__main__":
    import_from_source()
    status = main()
    # The process ends here; to look once more for garbage would take a third of a second.
    freeze()
    sys.exit(status)
