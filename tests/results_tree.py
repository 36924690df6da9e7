"""A small project with results of every kind, made in one process, and hands that spoil it.

Stages are real; what is drawn, judged and typeset is a stand-in of the right form, since a
trace looks at records and digests and never at what a product says.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import netCDF4
import pytest
from PIL import Image, PngImagePlugin
from pypdf import PdfWriter

from lowpass.figures.palette import PAPER
from lowpass.figures.saving import encode
from lowpass.figures.style import canvas, look
from lowpass.fingerprint import Code
from lowpass.fingerprint.inventory import FOLDER, keep
from lowpass.plan import Plan, Point
from lowpass.plan.code import inventory_of
from lowpass.plan.complete import complete
from lowpass.plan.roots import NUMERICAL
from lowpass.provenance import digest_of, parent_of, record_in
from lowpass.publish import publish
from lowpass.records import BLANK, NAME, canonical, image_digest, record_of, seal
from lowpass.rules import PUBLISHED, path_in_form
from lowpass.trace import Node, Tracer
from lowpass.whole import whole_plan

from .laboratory import ROOT, SEED, Laboratory

CONFIG = "config/paper.yaml"
TOKENS = {"generator": "gaussian", "n_tokens": 4, "d_model": 2}
EXPERIMENTS = {
    "dc-limit": {
        "why": "A figure shows it.",
        "data": TOKENS,
        "attention": {"beta": [1, 3], "depth": 4},
        "spectra": ["slem", "log10_hc_dc_ratio"],
        "replicates": 11,
    },
    "many": {
        "why": "It has more parents than fit into a record.",
        "data": TOKENS,
        "attention": {"beta": [i / 8 for i in range(18)], "depth": 1},
        "spectra": ["slem"],
        "replicates": 1,
    },
    "nile": {
        "why": "It reads a file.",
        "data": {
            "generator": "series",
            "path": "workflow/resources/nile.csv",
            "key": "year",
            "value": "flow",
        },
        "smoothing": {"study": "selection", "bandwidths": {"low": 0.5, "high": 50, "count": 9}},
    },
}


@dataclass(frozen=True)
class Tree:
    """Hold a project's folder, whose sources may be another's as long as nobody edits them."""

    root: Path
    source: Path

    @cached_property
    def plan(self) -> Plan:
        """Plan the configuration that the results were made by."""
        return whole_plan(self.source / CONFIG, CONFIG, self.source)

    @cached_property
    def planned(self) -> set[str]:
        """List the keys of the plan."""
        return {point.key for point in self.plan}

    def of(self, stage: str, slug: str = "") -> Point:
        """Find the first point of a stage whose readable name begins so."""
        return next(p for p in self.plan if p.stage == stage and p.slug.startswith(slug))

    def file(self, stage: str, slug: str = "", suffix: str = "") -> Path:
        """Find a file of such a point."""
        paths = self.of(stage, slug).paths
        return self.root / next(path for path in paths if path.endswith(suffix))

    @property
    def files(self) -> list[Path]:
        """List every product below results/, where inventories of code lie too."""
        found = (path for path in (self.root / "results").rglob("*") if path.is_file())
        return sorted(path for path in found if path.parent.name != FOLDER)

    @cached_property
    def tracer(self) -> Tracer:
        """Read the sources once; each file is looked at when it is first traced."""
        return Tracer(self.source, self.planned)

    def trace(self, path: Path) -> Node:
        """Trace one product against the sources and the plan."""
        return self.tracer.trace(path)

    def copy(self, root: Path) -> Tree:
        """Copy the results, to be edited and then traced against these same sources."""
        shutil.copytree(self.root / "results", root / "results")
        copied = Tree(root, self.source)
        vars(copied).update(plan=self.plan, planned=self.planned, tracer=self.tracer)
        return copied

    def copy_all(self, root: Path) -> Tree:
        """Copy the whole project, sources too."""
        shutil.copytree(self.root, root, dirs_exist_ok=True)
        return Tree(root, root)


def grow(root: Path) -> Tree:
    """Make the project and everything that its configuration plans."""
    unwanted = shutil.ignore_patterns("__pycache__")
    for part in ("src", "workflow/paper", "workflow/resources"):
        shutil.copytree(ROOT / part, root / part, ignore=unwanted)
    (root / CONFIG).parent.mkdir()
    (root / CONFIG).write_text(json.dumps({"seed": SEED, "experiments": EXPERIMENTS}))
    tree = Tree(root, root)
    code = Code.read(root / "src")
    laboratory = Laboratory(root, lambda recipe: inventory_of(code, recipe).fingerprint)
    laboratory.versions["python"] = ".".join(map(str, sys.version_info[:3]))
    laboratory.versions.update({name: version(name) for name in NUMERICAL})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        for point in tree.plan:
            if point.stage in ("claims", "figures", "paper"):
                stand_in(point, laboratory)
            else:
                laboratory.make(point)
            keep(inventory_of(code, point.recipe), root / "results" / FOLDER)
        finals = [p for p in tree.plan if p.stage in ("paper", "claims", "experiment", "figures")]
        publish([path for point in finals for path in point.paths], PUBLISHED)
    return tree


def stand_in(point: Point, laboratory: Laboratory) -> None:
    """Write the files of a product that says nothing, with a record that says all."""
    form = ".pdf" if point.stage == "paper" else None
    parents = [parent_of(path_in_form(parent, form)) for parent in point.parents]
    code, full = laboratory.code(point.recipe), complete(point.recipe)
    record = record_of(point.recipe, full, parents, code, laboratory.versions)
    for path in map(Path, point.paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents(path, record, point.slug))


def contents(path: Path, record: dict[str, Any], title: str) -> bytes:
    """Give a file's bytes, with its record in the place of its kind."""
    blank = {**record, "digest": BLANK}
    if path.suffix == ".json":
        return seal(json.dumps({NAME: blank, "A01": {"verdict": "holds"}}, indent=1))
    if path.suffix == ".svg":
        return seal(drawn("svg", title, canonical(blank)).decode())
    if path.suffix == ".png":
        mark = image_digest(drawn("png", title), record)
        return drawn("png", title, canonical({**record, "digest": mark}))
    return drawn("pdf", title, canonical(record))


def drawn(form: str, title: str, record: str | None = None) -> bytes:
    """Draw nothing but a title."""
    with look(PAPER):
        figure, (ax,) = canvas("column", 1.0, PAPER)
        ax.set_title(title)
    return encode(figure, form, PAPER, record)


# Hands that spoil a product.


def keeping_times(path: Path, spoil: Callable[[Path], object]) -> None:
    """Spoil a file so that its size and times give no hint."""
    before = path.stat()
    spoil(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def edit_value(path: Path) -> None:
    """Change the last value of the first variable of floats by the smallest step."""
    with netCDF4.Dataset(path, "a") as file:
        variable = next(v for v in file.variables.values() if v.dtype == "f8")
        values = variable[...]
        values.flat[-1] = values.flat[-1] * (1 + 2**-52)
        variable[...] = values


def forge(path: Path, change: Callable[[dict[str, Any]], object], *, seal_again: bool) -> None:
    """Change a record and, if asked, the digest, so that the product looks whole by itself."""
    writers = {".nc": _forge_nc, ".json": _forge_json, ".svg": _forge_svg, ".png": _forge_png}
    if path.suffix == ".pdf":
        record = record_in(path)[0]
        change(record)
        writer = PdfWriter(clone_from=path)
        writer.add_metadata({"/Subject": canonical(record)})
        writer.write(path)
        return
    writers[path.suffix](path, change)
    if seal_again:
        record, _ = record_in(path)
        _state(path, record["digest"], digest_of(path, record))


def _forge_nc(path: Path, change: Callable) -> None:
    with netCDF4.Dataset(path, "a") as file:
        record = json.loads(file.record)
        change(record)
        file.setncattr("record", canonical(record))


def _forge_json(path: Path, change: Callable) -> None:
    held = json.loads(path.read_text())
    change(held[NAME])
    path.write_text(json.dumps(held, indent=1))


def _forge_svg(path: Path, change: Callable) -> None:
    record = record_in(path)[0]
    before = escaped(canonical(record))
    change(record)
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, escaped(canonical(record))))


def escaped(text: str) -> str:
    """Write a text as XML holds it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _forge_png(path: Path, change: Callable) -> None:
    record = record_in(path)[0]
    change(record)
    note = PngImagePlugin.PngInfo()
    note.add_text("lowpass", canonical(record))
    with Image.open(path) as image:
        image.save(path, pnginfo=note)


def _state(path: Path, before: str, now: str) -> None:
    if path.suffix == ".nc":
        with netCDF4.Dataset(path, "a") as file:
            file.setncattr("digest", now)
    elif path.suffix in (".json", ".svg"):
        path.write_text(path.read_text().replace(before, now, 1))
    elif path.suffix == ".png":
        _forge_png(path, lambda record: record.update(digest=now))
