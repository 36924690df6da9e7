"""Make one product: a job of the workflow."""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowpass.registry import Refusal


def add(commands: Any) -> None:
    """Describe the command."""
    make = commands.add_parser("make", help="make one product (a job of the workflow)")
    make.add_argument("recipe", type=recipe, help="what is asked, as canonical JSON")
    make.add_argument("--code", required=True, help="fingerprint of the code as planned")
    make.add_argument("--in", dest="inputs", nargs="*", default=[])
    make.add_argument("--out", nargs="+", required=True)


def recipe(text: str) -> str:
    """Check that a text is a recipe, which a person may have cut while pasting."""
    try:
        asked = json.loads(text)
    except json.JSONDecodeError as fault:
        raise argparse.ArgumentTypeError(f"'{text}' is not JSON ({fault.msg})") from None
    if not isinstance(asked, dict) or not {"stage", "params"} <= set(asked):
        raise argparse.ArgumentTypeError(f"'{text}' has no 'stage' and 'params'")
    return text


def run(asked: argparse.Namespace) -> int:
    """Make the product; a refusal names it."""
    # Until a job computes, it makes many objects and no garbage to look for.
    gc.disable()
    from lowpass.jobs import run
    from lowpass.registry import Refusal
    from lowpass.writing import refusal_of

    try:
        run(asked.recipe, asked.code, asked.inputs, asked.out)
    except Refusal as refusal:
        raise placed(refusal, [*asked.out, *asked.inputs]) from None
    except OSError as fault:
        raise placed(refusal_of(fault), [*asked.out, *asked.inputs]) from None
    finally:
        gc.unfreeze()
        gc.enable()
    tell_usage()
    return 0


def tell_usage() -> None:
    """Close the log with what was used; a product is no worse where there is no room for it."""
    from lowpass.usage import line, used

    with contextlib.suppress(OSError):
        print(line(used()), file=sys.stderr)


def placed(refusal: Refusal, files: Sequence[str]) -> Refusal:
    """Name a job's product in a refusal that begins with no file of the job."""
    text = str(refusal)
    return refusal if text.startswith(tuple(files)) else type(refusal)(f"{files[0]}: {text}")
