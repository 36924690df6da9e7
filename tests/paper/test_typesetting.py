"""The typeset paper: what it prints, what it carries, and bytes that depend on nothing else."""

from __future__ import annotations

import json
import re
import shutil
import time
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure
from pypdf import PdfReader

from lowpass import store
from lowpass.claims.register import REGISTER
from lowpass.figures.names import FIGURES
from lowpass.figures.saving import encode
from lowpass.fingerprint import Code, check_asked, names_in
from lowpass.paper import typeset
from lowpass.records import BLANK, NAME, canonical, record_of, seal
from lowpass.registry import Refusal, Registry
from lowpass.whole import texts

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "workflow" / "paper"
TEXTS = texts(ROOT)
# Files of the template, as the tests call them.
FILES = {"paper": "paper.typ", "parts": "parts.typ", "limit": "sections/limit.typ"}
JUDGED = {
    "A04": {
        "verdict": "conditional",
        "as_written": 8.5429,
        "under_condition": 7.857e-16,
        "tolerance": 1e-9,
        "margin_decades": 6.1047,
        "experiments": ["trial"],
        "witness": "trial: slem at replicate 3",
        "numbers": {
            "ratio": {"value": 0.60634, "low": 0.55339, "high": 0.66206},
            "deep_share": {"value": 0.8125, "low": 0.8125, "high": 0.8125},
        },
    },
    "A07": {
        "verdict": "refuted",
        "as_written": 4.657,
        "tolerance": 1e-13,
        "margin_decades": -13.668,
        "experiments": ["trial"],
        "repaired_distance": 3.21e-16,
        # What the words of its own experiment quote.
        "numbers": {
            name: {"value": 1.0, "low": 1.0, "high": 1.0}
            for name in ("largest_gain", "reached", "share_above_one", "largest_oscillation")
        },
    },
}
SECTION = {
    "attention": {"beta": [0.5, 1.0], "depth": 40},
    "data": {"generator": "gaussian", "n_tokens": 24},
    "replicates": 7,
    "spectra": ["slem"],
}


def record(stage: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Compose a record whose key is right for its recipe."""
    recipe = {"stage": stage, "params": dict(params or {}), "seed": 7}
    return record_of(recipe, recipe["params"], [], "feedfacecafebeef", {"numpy": "2.9.1"})


class Desk:
    """Lay out what a paper is typeset from, below one folder."""

    def __init__(self, folder: Path, rng: np.random.Generator) -> None:
        self.folder = folder
        self.slem = rng.uniform(0.3, 0.9, (2, 7))
        self.inputs: list[str] = []
        self.sections: dict[str, Any] = {}

    def place(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        self.inputs.append(str(path))
        return path

    def claims(self, judged: Mapping[str, Any]) -> None:
        entries = {
            claim: {**asdict(REGISTER[claim]), "verdict": "not examined", **judged.get(claim, {})}
            for claim in REGISTER
        }
        held = {NAME: {**record("claims"), "digest": BLANK}, **entries}
        self.place("claims~0a1b2c3d4e5f.json", seal(json.dumps(held, ensure_ascii=False)))

    def experiment(self, name: str = "trial") -> None:
        dataset = xr.Dataset(
            {"slem": (("beta", "replicate"), self.slem)},
            {"beta": [0.5, 1.0], "replicate": np.arange(7)},
        )
        dataset["beta"].attrs["parameter"] = "attention.beta"
        path = self.folder / f"{name}~00112233aabb.nc"
        store.write(path, dataset, record("experiment", {"name": name, "section": SECTION}))
        self.inputs.append(str(path))
        self.sections[name] = SECTION

    def figure(self, name: str, inches: float) -> None:
        held = canonical({**record("figures", {"figure": name}), "key": "3f9a2c1b07de"})
        drawn = Figure(figsize=(inches, 2.0))
        drawn.add_subplot().plot([0, 1], [1, 0])
        self.place(f"{name}~3f9a2c1b07de.pdf", encode(drawn, "pdf", record=held))

    def typeset(self, text: str | None = None, **added: str) -> bytes:
        """Typeset, with lines added to files of the template."""
        texts = {name: (FOLDER / name).read_bytes() for name in TEXTS}
        for name, lines in added.items():
            texts[FILES[name]] += f"{lines}\n".encode()
        recipe = {
            "stage": "paper",
            "params": {
                "experiments": self.sections,
                "why": dict.fromkeys(self.sections, "Does sharper attention forget more slowly?"),
            },
            "seed": 20261129,
        }
        return typeset(recipe, self.inputs, texts, text or canonical(record("paper")))

    def read(self, **options: Any) -> PdfReader:
        path = self.folder / "paper.pdf"
        path.write_bytes(self.typeset(**options))
        return PdfReader(path)


def text_of(reader: PdfReader) -> str:
    """Extract all words, with ligatures undone and without spaces, which kerning makes unsure."""
    text = "".join(page.extract_text() for page in reader.pages)
    return re.sub(r"\s", "", unicodedata.normalize("NFKC", text))


@pytest.fixture
def desk(tmp_path, rng) -> Desk:
    return Desk(tmp_path, rng)


@pytest.fixture
def drawn(monkeypatch):
    """Register a figure for one test."""

    def register(name: str, **facts: Any) -> None:
        monkeypatch.setitem(FIGURES._things, name, typeset)
        monkeypatch.setitem(FIGURES._facts, name, facts)

    return register


@pytest.fixture
def full(desk, drawn) -> Desk:
    """Lay out claims, an experiment and two figures."""
    drawn(
        "wide", section="trial", caption="The ratio is {A04.ratio} at β = {trial.attention.beta}."
    )
    drawn("slim", section="", caption="All {counts.examined} verdicts.")
    desk.claims(JUDGED)
    desk.figure("wide", 7.0)
    desk.figure("slim", 3.35)
    desk.experiment()
    return desk


def test_every_number_is_printed_as_it_was_measured(full):
    text = text_of(full.read())
    for printed in [
        "theratiois0.606[0.553,0.662]atβ=0.5,1.",
        "All2verdicts.",
        "0.5", "8.5", "7.9×10−16", "(10−9)", "6.1decades", "−14decades", "distance3.2×10−16",
        f"Of{len(REGISTER)}statements2areexamined",
    ]:  # fmt: skip
        assert printed.lower() in text.lower(), printed


def test_every_statement_is_printed_with_its_verdict(full):
    text = text_of(full.read())
    assert text.count("notexamined") >= 3
    for claim in REGISTER:
        assert claim in text
    assert re.search(r"A07Oneattentionlayer.*repaired:OnelayerenlargesHC", text)


def test_a_figure_ends_in_its_key_and_the_appendix_says_what_made_it(full):
    text = text_of(full.read())
    assert "1.Trace:3f9a2c1b07de" in text
    for said in ["results/figures/wide~3f9a2c1b07de.pdf", "feedfacecafebeef", "numpy2.9.1",
                 "data.n_tokens24", "fromtheseed20261129"]:  # fmt: skip
        assert said in text


def test_figures_are_printed_in_the_size_they_were_drawn(full):
    """The matrix in front of a drawing scales it by one."""
    scales: list[tuple[float, float, float]] = []

    def note(operator: bytes, operands: list, matrix: list, _: list) -> None:
        if operator == b"Do":
            form = page["/Resources"]["/XObject"][operands[0]]
            width = float(form["/BBox"][2]) if form["/Subtype"] == "/Form" else 0.0
            scales.append((width, *(abs(matrix[k]) for k in (0, 3))))

    for page in full.read().pages:
        page.extract_text(visitor_operand_before=note)
    widths = {round(w * sx, 1): (round(sx, 4), round(sy, 4)) for w, sx, sy in scales}
    assert widths.get(7.0 * 72) == (1, 1), widths
    assert widths.get(round(3.35 * 72, 1)) == (1, 1), widths


def test_one_experiment_without_figure_or_claim_makes_a_paper(desk):
    desk.claims({})
    desk.experiment("sharpness")
    text = text_of(desk.read())
    assert "3sharpness" in text
    assert "Doessharperattentionforgetmoreslowly?" in text
    key = record("experiment", {"name": "sharpness", "section": SECTION})["key"]
    assert f"Parametersofsharpness;thoseleftouthavetheirdefaults.Trace:{key}" in text
    assert "Noexperimentofthisconfigurationjudgesaclaim" in text
    assert f"{np.median(desk.slem[1]):.3f}" in text


def test_a_paper_of_nothing_but_its_claims_is_typeset(desk):
    desk.claims({})
    assert "Noneofthemisexamined" in text_of(desk.read())


def test_the_record_comes_back_whole(full):
    long = {**record("paper"), "note": 'λ₂ → ‖HC‖ 𝔸 \\ ( ) < & " é ' * 400}
    assert len(canonical(long)) > 10_000
    reader = full.read(text=canonical(long))
    assert json.loads(reader.metadata.subject) == long


def test_bytes_depend_on_neither_place_nor_time(full, tmp_path, monkeypatch):
    once = full.typeset()
    elsewhere = tmp_path / "elsewhere" / "deeper"
    elsewhere.mkdir(parents=True)
    full.inputs = [shutil.copy(path, elsewhere) for path in full.inputs]
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    monkeypatch.setattr("tempfile.tempdir", None)
    time.tzset()
    try:
        again = full.typeset()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert again == once


def test_the_fingerprint_covers_the_paper_and_the_figures_its_recipe_names():
    code = Code.read(ROOT / "src")
    closure = code.closure(("lowpass.paper:typeset",), names_in(["paper", {"figures": ["decay"]}]))
    assert {"lowpass.paper.numbers:rounded", "lowpass.paper.values:compose"} <= closure.units
    assert ("figure", "decay") in closure.entries


def test_the_paper_looks_up_nothing_but_its_figures(full):
    Registry.asked.clear()
    full.typeset()
    assert Registry.asked == {("figure", "wide"), ("figure", "slim")}
    code = Code.read(ROOT / "src")
    bare = code.closure(("lowpass.paper:typeset",), names_in(["paper"]))
    with pytest.raises(Refusal, match="figure 'slim' was used, but the fingerprint does not"):
        check_asked(bare, Registry.asked)


def test_a_quote_in_a_caption_that_stands_for_nothing_is_refused(full, drawn):
    drawn("wide", section="trial", caption="The ratio is {A04.ration}.")
    with pytest.raises(Refusal, match=r"^figure 'wide': the text quotes \{A04\.ration\}"):
        full.typeset()


@pytest.mark.parametrize("name", FILES)
def test_a_quote_in_the_template_that_stands_for_nothing_is_refused_where_it_stands(name, full):
    line = len((FOLDER / FILES[name]).read_text().splitlines()) + 1
    where = re.escape(f"workflow/paper/{FILES[name]}:{line}: ")
    with pytest.raises(Refusal, match=rf"^{where}.*\{{A04\.ration\}}.* correct the template there"):
        full.typeset(**{name: '#num("A04.ration")'})


@pytest.mark.parametrize("name", FILES)
def test_a_fault_of_the_template_is_refused_with_its_line(name, full):
    line = len((FOLDER / FILES[name]).read_text().splitlines()) + 1
    where = re.escape(f"workflow/paper/{FILES[name]}:{line}: ")
    with pytest.raises(Refusal, match=rf"^{where}unknown variable: nowhere; the paper was not"):
        full.typeset(**{name: "#nowhere"})


def test_a_theme_without_a_file_is_refused_by_the_name_it_would_have(full):
    with pytest.raises(Refusal, match=r"paper\.typ:\d+: .*\(.*workflow/paper/sections/no\.typ\)"):
        full.typeset(paper='#import "sections/no.typ"')


def test_a_figure_without_a_caption_is_refused(full, drawn):
    drawn("wide", section="trial")
    with pytest.raises(Refusal, match="figure 'wide': is registered without a caption"):
        full.typeset()


def test_a_figure_that_is_not_registered_is_refused(full):
    full.figure("unheard", 3.35)
    with pytest.raises(Refusal, match="no figure is called 'unheard'"):
        full.typeset()
