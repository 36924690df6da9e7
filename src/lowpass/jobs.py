"""One job of the workflow: from a recipe to a product under its final name.

A job trusts nothing: it recomputes key and fingerprint from what it imports,
before and after computing, and gives the product its name only when both are
those it was asked for.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from lowpass.fingerprint import Code, check_asked
from lowpass.fingerprint.inventory import folder_beside, keep
from lowpass.plan import Plan
from lowpass.plan.code import code_of, inventory_of
from lowpass.plan.complete import complete
from lowpass.plan.roots import NUMERICAL, names_of, roots_of
from lowpass.progress import Progress
from lowpass.project import ROOT, TEXTS
from lowpass.provenance import Parent, parent_of, record_in
from lowpass.records import BLANK, NAME, canonical, key_of, record_of, seal, sha256
from lowpass.registry import Refusal, Registry
from lowpass.writing import put

T = TypeVar("T")

# What the loop of a stage goes over that gives all its results at once.
LOOPS = {"spectra": "measure", "smoothing": "step"}


def run(recipe_text: str, code: str, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Make one product.

    Parameters
    ----------
    recipe_text : str
        Canonical JSON of what is asked.
    code : str
        Fingerprint of the code the plan was made with.
    inputs, outputs : sequence of str
        Paths; the name of every output ends in the key.

    Raises
    ------
    Refusal
        When a parent, the code or the configuration is not what the plan knew.
    """
    recipe = json.loads(recipe_text)
    parameters = complete(recipe)
    check_code(recipe, code)
    makers: dict[str, Callable[..., None]] = {
        "experiment": make_experiment,
        "figures": make_figure,
        "claims": make_claims,
        "paper": make_paper,
    }
    make = makers.get(recipe["stage"], make_stage)
    make(Job(recipe, parameters, code, outputs), inputs)


class Job:
    """Hold one job, and give its products their records and names."""

    def __init__(
        self,
        recipe: Mapping[str, Any],
        parameters: Mapping[str, Any],
        code: str,
        outputs: Sequence[str],
    ) -> None:
        self.recipe = recipe
        self.parameters = parameters
        self.code = code
        self.outputs = [Path(output) for output in outputs]

    def record(self, parents: Sequence[Parent]) -> dict[str, Any]:
        """Compose the record, after checking that the outputs bear its key."""
        key = key_of(self.recipe, [parent["key"] for parent in parents])
        for output in self.outputs:
            if f"~{key}." not in output.name:
                raise Refusal(
                    f"{output}: this recipe and these parents have the key {key}; "
                    f"the configuration or a parent changed after the plan was made. Run again."
                )
        distributions = [*NUMERICAL, *roots_of(self.recipe).distributions]
        versions = {name: version(name) for name in distributions}
        return record_of(
            self.recipe,
            self.parameters,
            parents,
            self.code,
            {"python": ".".join(map(str, sys.version_info[:3])), **versions},
            has_table=self.outputs[0].suffix == ".nc",
        )

    def compute(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call what computes, noting from here on which entries of registries it uses."""
        Registry.asked.clear()
        # What was imported and analysed until here is no garbage, and takes long to look through.
        gc.freeze()
        gc.enable()
        return function(*arguments)

    def confirm(self) -> None:
        """Refuse to name a product whose code changed, or used more than its fingerprint covers.

        An inventory of its code comes to lie beside it, so that a later change can be named.
        """
        fresh = check_code(self.recipe, self.code)
        closure = fresh.closure(
            roots_of(self.recipe).definitions, names_of(self.recipe["stage"], self.parameters)
        )
        check_asked(closure, Registry.asked)
        if folder := folder_beside(self.outputs[0]):
            keep(inventory_of(fresh, self.recipe), folder)

    def publish(self, contents: Mapping[Path, bytes]) -> None:
        """Give files their final names, none before all are on disk and the job is confirmed."""
        put(contents, self.confirm)


def check_code(recipe: Mapping[str, Any], code: str) -> Code:
    """Refuse when the code on disk is not the code the plan was made with."""
    fresh = code_of(ROOT)
    now = inventory_of(fresh, recipe).fingerprint
    if now != code:
        raise Refusal(
            f"the code of stage '{recipe['stage']}' is {now} and not {code} as planned; "
            f"it was edited while the workflow ran. Run again."
        )
    return fresh


def watch(what: str, items: Iterable[T], total: int) -> Iterator[T]:
    """Hand on the items of a loop; where it is long, the log tells how far it has come."""
    return Progress(partial(print, file=sys.stderr, flush=True)).watch(items, what, total)


def watched(product: Any) -> Any:
    """Watch the layers of a trajectory, which are computed while they are written."""
    from lowpass.store import LAYERED, Trajectory

    if not isinstance(product, Trajectory):
        return product
    dim = next(dim for dim in LAYERED if dim in product.header.sizes)
    return product._replace(layers=watch(dim, product.layers, product.header.sizes[dim]))


def make_stage(job: Job, inputs: Sequence[str]) -> None:
    """Make a product of one stage from its parents, or from a data file."""
    from importlib import import_module

    from lowpass import store

    name = job.recipe["stage"]
    stage = getattr(import_module(f"lowpass.stages.{name}"), name)
    if name in LOOPS:
        stage = partial(stage, watch=lambda items: watch(LOOPS[name], items, len(items)))
    mark = job.parameters.get("sha256")
    if mark is not None:
        product = job.compute(stage, job.recipe, resource(inputs[0], mark))
        parents: list[Parent] = []
    else:
        parents = [parent_of(path) for path in inputs]
        product = job.compute(stage, job.recipe, *[store.read(Path(path)) for path in inputs])
    store.write(job.outputs[0], watched(product), job.record(parents), parents, job.confirm)


def resource(path: str, mark: str, root: Path = Path()) -> bytes:
    """Read what a recipe has the digest of, unless it changed since the plan was made."""
    content = (root / path).read_bytes()
    if sha256(content) != mark:
        raise Refusal(
            f"{path}: its content changed after the plan was made (sha256 {mark[:12]} was "
            f"planned, {sha256(content)[:12]} is there). Run again."
        )
    return content


def make_experiment(job: Job, inputs: Sequence[str]) -> None:
    """Gather an experiment's points, found by expanding its section again."""
    from lowpass import store
    from lowpass.stages.experiment import Part, experiment, place_of

    params = job.recipe["params"]
    name, section = params["name"], params["section"]
    plan = Plan(job.recipe.get("seed", 0), {name: section}, "recipe", ROOT)
    points = plan.experiments[name].parents
    parents = [parent_of(point.path) for point in watch("verifying point", points, len(points))]
    records = Histories()
    # Places come from what the files say of themselves, not from the plan that asked for them.
    parts = (
        Part(
            place_of(section, records.of(parent["path"])),
            records.of(parent["path"])["data.block"],
            store.read(Path(parent["path"])),
        )
        for parent in watch("gathering point", parents, len(parents))
    )
    product = job.compute(experiment, job.recipe, parts)
    store.write(job.outputs[0], product, job.record(parents), parents, job.confirm)


class Histories:
    """Collect, for a product, the parameters of everything it was made from."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Any]] = {}

    def of(self, path: str) -> dict[str, Any]:
        """Map the path of every parameter, such as ``attention.beta``, to its value."""
        if path not in self._known:
            record, parents = record_in(Path(path))
            recipe = record["recipe"]
            own = {**record["parameters"], "block": recipe.get("block", 0)}
            history = {f"{recipe['stage']}.{name}": value for name, value in own.items()}
            for parent in parents:
                history |= self.of(parent["path"])
            self._known[path] = history
        return self._known[path]


def read_experiments(inputs: Sequence[str]) -> dict[str, Any]:
    """Read experiments by name."""
    from lowpass import store

    return {Path(path).name.partition("~")[0]: store.read(Path(path)) for path in inputs}


def make_claims(job: Job, inputs: Sequence[str]) -> None:
    """Judge the claims."""
    import lowpass.claims.judges  # noqa: F401  (registers the judges)
    from lowpass.claims.judge import judge

    parents = [parent_of(path) for path in inputs]
    record = job.record(parents)
    verdicts = job.compute(judge, job.recipe, read_experiments(inputs))
    held = {NAME: {**record, "digest": BLANK}, **verdicts}
    text = json.dumps(held, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    job.publish({job.outputs[0]: seal(text)})


def make_figure(job: Job, inputs: Sequence[str]) -> None:
    """Draw a figure in every format, by day and by night."""
    import lowpass.figures.gallery  # noqa: F401  (registers the figures)
    from lowpass.figures.render import render

    parents = [parent_of(path) for path in inputs]
    record = job.record(parents)
    if Path(inputs[0]).suffix == ".json":
        shown = {"claims": json.loads(Path(inputs[0]).read_text(encoding="utf-8"))}
    else:
        shown = read_experiments(inputs)
    blank = canonical({**record, "digest": BLANK})
    forms = [path.name.partition("~")[2].partition(".")[2] for path in job.outputs]
    drawn = job.compute(render, job.recipe, shown, forms, blank)
    job.publish(dict(zip(job.outputs, drawn, strict=True)))


def make_paper(job: Job, inputs: Sequence[str]) -> None:
    """Typeset the paper."""
    import lowpass.figures.gallery  # noqa: F401  (registers the figures, whose captions it prints)
    from lowpass.paper import typeset

    parents = [parent_of(path) for path in inputs]
    record = job.record(parents)
    marks = job.recipe["params"]["sha256"]
    texts = {name: resource(f"{TEXTS}/{name}", mark, ROOT) for name, mark in marks.items()}
    content = job.compute(typeset, job.recipe, inputs, texts, canonical(record))
    job.publish({job.outputs[0]: content})
