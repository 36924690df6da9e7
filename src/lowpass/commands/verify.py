"""Compare results with the expected ones: the exit code is 1 where they do not agree."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowpass.plan import Plan, Point


def add(commands: Any) -> None:
    """Describe the command."""
    verify = commands.add_parser("verify", help="compare results with the expected ones")
    verify.add_argument("names", nargs="*", metavar="EXPERIMENT", help="or claims; all if omitted")
    verify.add_argument("--configfile", default=None, help="the configuration of the results")
    verify.add_argument("--directory", default=".", help="the folder that holds results/")
    verify.add_argument("--accept", action="store_true", help="expect what is there")


def run(asked: argparse.Namespace) -> int:
    """Compare each result, or take it over."""
    from lowpass import project
    from lowpass.fingerprint import Code
    from lowpass.trace import stale_code
    from lowpass.verify import answers, expected
    from lowpass.verify.accepting import accept, forget
    from lowpass.verify.product import Product
    from lowpass.verify.verdict import verify
    from lowpass.whole import whole_plan

    config = Path(asked.configfile) if asked.configfile else project.ROOT / project.CONFIG
    plan = whole_plan(config, asked.configfile or project.CONFIG, project.ROOT)
    points = chosen(plan, asked.names)
    products = {name: Product(point, Path(asked.directory)) for name, point in points.items()}
    folder = expected.folder_of(config)
    strays = (
        [] if asked.names else [p for p in sorted(folder.glob("*.json")) if p.stem not in points]
    )
    code = Code.read(project.ROOT / "src")

    def judge(record: dict[str, Any]) -> str:
        return stale_code(record, code, Path(asked.directory))

    if asked.accept:
        print("\n".join([*accept(products, folder, judge), *forget(strays)]))
        return 0
    found = [
        verify(name, product, folder / f"{name}.json", judge) for name, product in products.items()
    ]
    print(answers.as_text(folder, found, strays))
    return int(bool(strays) or any(not answer.level for answer in found))


def chosen(plan: Plan, names: Sequence[str]) -> dict[str, Point]:
    """Find the experiments and the claims of a plan, or those of them that are named."""
    from lowpass.registry import Refusal, did_you_mean

    claims = next(point for point in plan if point.stage == "claims")
    known = {
        **{name: plan.experiments[name] for name in sorted(plan.experiments)},
        "claims": claims,
    }
    for name in names:
        if name not in known:
            raise Refusal(
                f"command line: nothing that is expected is called '{name}'"
                f"{did_you_mean(name, known)} Known: {', '.join(known)}."
            )
    return {name: known[name] for name in names or known}
