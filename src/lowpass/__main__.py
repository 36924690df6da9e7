"""The command line: jobs of the workflow, and questions about its products."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lowpass.registry import Refusal


def parser() -> argparse.ArgumentParser:
    """Describe the commands."""
    top = argparse.ArgumentParser(prog="lowpass", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    trace = commands.add_parser("trace", help="tell where a product comes from, and check it")
    trace.add_argument("what", nargs="+", metavar="FILE|KEY", help="a product, or its key")
    trace.add_argument("--json", action="store_true", help="answer in JSON")
    trace.add_argument("--diff", action="store_true", help="compare two products' parameters")
    trace.add_argument("--configfile", default=None, help="the plan to compare with")
    make = commands.add_parser("make", help="make one product (a job of the workflow)")
    make.add_argument("recipe", help="what is asked, as canonical JSON")
    make.add_argument("--code", required=True, help="fingerprint of the code as planned")
    make.add_argument("--in", dest="inputs", nargs="*", default=[])
    make.add_argument("--out", nargs="+", required=True)
    publish = commands.add_parser("publish", help="name the final products (a job)")
    publish.add_argument("--in", dest="inputs", nargs="+", required=True)
    publish.add_argument("--out", nargs="+", required=True)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a refusal is one line and the exit code 1."""
    asked = parser().parse_args(arguments)
    try:
        if asked.command == "make":
            from lowpass.jobs import run

            run(asked.recipe, asked.code, asked.inputs, asked.out)
        elif asked.command == "publish":
            from lowpass.publish import publish

            publish(asked.inputs, asked.out)
        else:
            from lowpass.trace import report

            return report(asked.what, asked.configfile, as_json=asked.json, diff=asked.diff)
    except Refusal as refusal:
        print(f"lowpass: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
