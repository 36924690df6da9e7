"""All points of a configuration, and what the rules ask about them."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lowpass.graphs import GRAPHS
from lowpass.plan.fitting import DYNAMICS, compared, stated
from lowpass.plan.point import Point, slug_of
from lowpass.plan.section import canonical_section
from lowpass.plan.sweep import Cell, expand
from lowpass.registry import Refusal
from lowpass.spec.data import BLOCK, draws, reads
from lowpass.spec.inside import swept_along
from lowpass.spec.smoothing import draws as study_draws

# A command is one argument of a shell and holds 131,072 bytes; file names need some of them.
LONGEST_RECIPE = 100_000
# The parameter that a product of a stage is called by; others are called like their parent.
FIRST = {"attention": "kernel", "diffusion": "graph", "smoothing": "study"}


class Plan:
    """Expand a configuration into points.

    Parameters
    ----------
    seed : int
        Root of every random stream.
    sections : mapping
        Experiments by name.
    where : str
        How messages call the configuration.
    root : Path
        Folder of the project, which paths of data files are relative to.
    """

    def __init__(
        self, seed: int, sections: Mapping[str, Mapping[str, Any]], where: str, root: Path
    ) -> None:
        self.seed = seed
        self.root = root
        self.points: dict[str, Point] = {}
        self.experiments: dict[str, Point] = {}
        self.cells: dict[str, list[tuple[Cell, int, Point]]] = {}
        for name, section in sections.items():
            self.experiments[name] = self._experiment(name, section, f"{where}.{name}")

    def __iter__(self) -> Iterator[Point]:
        """Iterate over every point once."""
        return iter(self.points.values())

    def _experiment(self, name: str, section: Mapping[str, Any], where: str) -> Point:
        cells = expand(section, where)
        blocks = range(-(-(section.get("replicates") or 1) // BLOCK))
        self.cells[name] = [
            (cell, block, self._chain(cell, block, where)) for cell in cells for block in blocks
        ]
        params = {"name": name, "section": canonical_section(section, cells)}
        unique = {point.key: point for _, _, point in self.cells[name]}
        parents = tuple(unique[key] for key in sorted(unique))
        return self.add("experiment", name, params, parents, seed=any(map(is_drawn, parents)))

    def _chain(self, cell: Cell, block: int, where: str) -> Point:
        point = self._data(cell, block, where)
        for stage in ("attention", "diffusion", "smoothing", "spectra"):
            if stage in cell.specs:
                point = self._stage(stage, cell, point)
        return point

    def _data(self, cell: Cell, block: int, where: str) -> Point:
        spec = cell.specs["data"]
        given = spec.model_dump(exclude_defaults=True)
        if draws(spec.generator):
            slug = slug_of(spec.generator, {**given, "block": block})
            return self.add("data", slug, given, seed=True, block=block)
        if not reads(spec.generator):
            return self.add("data", slug_of(spec.generator, given), given)
        path = given["path"]
        slug = slug_of(spec.generator, {"of": Path(path).stem})
        given["sha256"] = file_digest(self.root, path, f"{where}.data.path")
        return self.add("data", slug, given, resource=path)

    def _stage(self, stage: str, cell: Cell, parent: Point) -> Point:
        spec, axes = cell.specs[stage], cell.inside.get(stage, {})
        swept = swept_along(axes)
        given = {
            name: value
            for name, value in spec.model_dump(exclude_defaults=True).items()
            if name not in swept
        }
        first = FIRST.get(stage)
        # The first of a sweep inside, which ascends, in whatever order it is written.
        slug = slug_of(swept.get(first, [getattr(spec, first)])[0], given) if first else parent.slug
        if axes:
            given["inside"] = axes
        return self.add(stage, slug, given, (parent,), seed=draws_more(stage, cell))

    def add(
        self,
        stage: str,
        slug: str,
        params: dict[str, Any],
        parents: tuple[Point, ...] = (),
        *,
        seed: bool = False,
        block: int | None = None,
        resource: str = "",
    ) -> Point:
        """Add a point, or find the one that is asked for already.

        Raises
        ------
        Refusal
            When the recipe is too long for the command of a job.
        """
        recipe: dict[str, Any] = {"stage": stage, "params": params}
        if seed:
            recipe["seed"] = self.seed
        if block is not None:
            recipe["block"] = block
        point = Point(stage, slug, recipe, parents, resource)
        length = len(point.text.encode())
        if length > LONGEST_RECIPE:
            raise Refusal(
                f"results/{stage}/{slug}: its recipe is {length} bytes long, and the command of a "
                f"job has room for {LONGEST_RECIPE}; divide the sweep between several experiments."
            )
        return self.points.setdefault(f"{stage}/{point.key}", point)

    def find(self, stage: str, name: str) -> Point:
        """Find a planned point by rule and name.

        Raises
        ------
        Refusal
            When the configuration plans no such point.
        """
        point = self.points.get(f"{stage}/{name.rpartition('~')[2]}")
        if point is None or point.name != name:
            raise Refusal(
                f"results/{stage}/{name}: no such product is planned by this configuration; "
                f"ask for a target of the workflow, such as an experiment's name."
            )
        return point


def draws_more(stage: str, cell: Cell) -> bool:
    """Say whether a stage draws anything itself, for any value of its axes."""

    def chosen(name: str) -> set[str]:
        swept = swept_along(cell.inside.get(stage, {}))
        return {*swept.get(name, [getattr(cell.specs[stage], name)])}

    if stage == "smoothing":
        return study_draws(cell.specs[stage].study)
    if stage not in DYNAMICS:
        return False
    if stage == "diffusion":
        weighed = any(GRAPHS.facts(name)["needs_weights"] for name in chosen("graph"))
        return weighed or chosen("values") != {"identity"}
    named = chosen("values") | chosen("output")
    return not compared(stated(cell.specs["data"])) or named != {"identity"}


def is_drawn(point: Point) -> bool:
    """Say whether a point, or one that it is made from, was drawn at random."""
    return "seed" in point.recipe or any(map(is_drawn, point.parents))


def file_digest(root: Path, path: str, where: str) -> str:
    """Digest a data file, so that a changed file is a changed parameter.

    Raises
    ------
    Refusal
        When the file lies elsewhere, has a name that no rule can use, or cannot be read.
    """
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise Refusal(
            f"{where}: '{path}' leads out of the project's folder, so a copy of the project would "
            f"lack it; put the file into workflow/resources/ and name it from there, or a link to "
            f"it: ln -s {shlex.quote(path)} workflow/resources/."
        )
    if set(path) & set("{}"):
        raise Refusal(
            f"{where}: '{path}' has braces, which Snakemake takes for wildcards; rename the file."
        )
    try:
        with open(root / path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        link = root / path
        whither = f", a link to '{link.readlink()}'," if link.is_symlink() else ""
        raise Refusal(
            f"{where}: '{path}'{whither} cannot be read ({fault.strerror}); "
            f"paths are relative to the project's folder, so check it there."
        ) from None
