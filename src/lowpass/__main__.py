"""The command line: jobs of the workflow, and questions about its products."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from lowpass.uncached import import_from_source

if TYPE_CHECKING:
    from lowpass.registry import Refusal


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
    trace = commands.add_parser("trace", help="tell where a product comes from, and check it")
    trace.add_argument("what", nargs="+", metavar="FILE|KEY", help="a product, or its key")
    trace.add_argument("--json", action="store_true", help="answer in JSON")
    trace.add_argument("--diff", action="store_true", help="compare two products' parameters")
    trace.add_argument("--configfile", default=None, help="the plan to compare with")
    make = commands.add_parser("make", help="make one product (a job of the workflow)")
    make.add_argument("recipe", type=recipe, help="what is asked, as canonical JSON")
    make.add_argument("--code", required=True, help="fingerprint of the code as planned")
    make.add_argument("--in", dest="inputs", nargs="*", default=[])
    make.add_argument("--out", nargs="+", required=True)
    publish = commands.add_parser("publish", help="name the final products (a job)")
    publish.add_argument("--in", dest="inputs", nargs="+", required=True)
    publish.add_argument("--out", nargs="+", required=True)
    return top


def recipe(text: str) -> str:
    """Check that a text is a recipe, which a person may have cut while pasting."""
    try:
        asked = json.loads(text)
    except json.JSONDecodeError as fault:
        raise argparse.ArgumentTypeError(f"'{text}' is not JSON ({fault.msg})") from None
    if not isinstance(asked, dict) or not {"stage", "params"} <= set(asked):
        raise argparse.ArgumentTypeError(f"'{text}' has no 'stage' and 'params'")
    return text


def placed(refusal: Refusal, files: Sequence[str]) -> Refusal:
    """Name a job's product in a refusal that begins with no file of the job."""
    text = str(refusal)
    return refusal if text.startswith(tuple(files)) else type(refusal)(f"{files[0]}: {text}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a refusal is one line and the exit code 1."""
    from lowpass.registry import Refusal

    try:
        asked = parser().parse_args(arguments)
        if asked.command == "make":
            make(asked)
        elif asked.command == "publish":
            from lowpass.publish import publish

            publish(asked.inputs, asked.out)
        else:
            return trace(asked)
    except Refusal as refusal:
        print(f"lowpass: {' '.join(str(refusal).splitlines())}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # The reader, such as head, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def make(asked: argparse.Namespace) -> None:
    """Make one product."""
    from lowpass.jobs import run
    from lowpass.registry import Refusal

    try:
        run(asked.recipe, asked.code, asked.inputs, asked.out)
    except Refusal as refusal:
        raise placed(refusal, [*asked.out, *asked.inputs]) from None


def trace(asked: argparse.Namespace) -> int:
    """Tell where products come from; the exit code is 1 where any is in trouble."""
    from lowpass import project, telling
    from lowpass.registry import Refusal
    from lowpass.trace import OK, Tracer, find

    if asked.diff and len(asked.what) != 2:
        raise Refusal(f"command line: --diff compares two products, not {len(asked.what)}.")
    found = [find(what) for what in asked.what]
    tracer = Tracer(project.ROOT, planned_keys(asked.configfile))
    if asked.diff:
        first, second = (tracer.trace(paths[0]) for paths in found)
        print("\n".join(telling.difference(first, second)) or "no parameter differs")
        return 0
    nodes = [tracer.trace(path) for paths in found for path in paths]
    tell = telling.as_json if asked.json else telling.as_text
    print(tell(nodes))
    return int(any(each.status != OK for node in nodes for each in node.walk()))


def planned_keys(configfile: str | None) -> set[str]:
    """List the keys that a configuration plans."""
    from lowpass import project
    from lowpass.whole import whole_plan

    path = Path(configfile) if configfile else project.ROOT / project.CONFIG
    plan = whole_plan(path, configfile or project.CONFIG, project.ROOT)
    return {point.key for point in plan}


if __name__ == "__main__":
    import_from_source()
    sys.exit(main())
