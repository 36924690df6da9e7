"""Figure files that are the same every time and say where they come from."""

import io
import json
import xml.etree.ElementTree as ET

import matplotlib
import numpy as np
import pytest
from PIL import Image
from pypdf import PdfReader

from lowpass.figures.palette import PAPER
from lowpass.figures.saving import RECORD_KEYS, encode, save
from lowpass.figures.style import canvas
from lowpass.registry import Refusal

DESCRIPTION = ".//{http://purl.org/dc/elements/1.1/}description"
READ = {
    "svg": lambda data: ET.fromstring(data.decode()).findtext(DESCRIPTION),
    "png": lambda data: Image.open(io.BytesIO(data)).text["lowpass"],
    "pdf": lambda data: PdfReader(io.BytesIO(data)).metadata.subject,
}
CONTENT = {
    "why": 'a < b & "c" > \\d(e) — ]]>',
    "symbols": "λ₂ ‖CX‖ 𝛽 ẑ",
    "list": [1e-300, {"deep": [True, None]}],
    "long": "0123456789abcdef" * 500,
}


@pytest.mark.parametrize("form", RECORD_KEYS)
def test_saving_twice_gives_the_same_bytes(demo, palette, form):
    record = json.dumps(CONTENT)
    assert encode(demo, form, palette, record) == encode(demo, form, palette, record)


@pytest.mark.parametrize("form", RECORD_KEYS)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_record_comes_back_as_it_was(demo, palette, form, ascii_only):
    record = json.dumps(CONTENT, ensure_ascii=ascii_only)
    assert READ[form](encode(demo, form, palette, record)) == record


@pytest.mark.parametrize("form", RECORD_KEYS)
def test_a_figure_without_a_record_says_nothing(form):
    figure, _ = canvas("column", 2.4)
    data = encode(figure, form)
    assert b"Matplotlib v" not in data
    for stamp in (b"CreationDate", b"dc:date", b"Software", b"Description", b"lowpass\x00"):
        assert stamp not in data


@pytest.mark.parametrize("form", RECORD_KEYS)
def test_the_users_settings_do_not_change_the_bytes(form):
    figure, _ = canvas("column", 2.4)
    settings = {"savefig.dpi": 50, "savefig.bbox": "tight", "svg.hashsalt": "x", "pdf.fonttype": 3}
    with matplotlib.rc_context(settings):
        other = encode(figure, form)
    assert other == encode(figure, form)


def test_a_png_has_300_pixels_an_inch_and_the_ground_at_its_corner(demo, palette):
    image = Image.open(io.BytesIO(encode(demo, "png", palette)))
    ground = [int(palette.ground[i : i + 2], 16) for i in (1, 3, 5)]
    assert image.size == (2100, 750)
    assert np.asarray(image.convert("RGB"))[0, 0].tolist() == ground


def test_a_pdf_is_as_large_as_printed_and_its_text_can_be_searched(demo, palette):
    page = PdfReader(io.BytesIO(encode(demo, "pdf", palette))).pages[0]
    assert [float(v) / 72 for v in page.mediabox] == pytest.approx([0, 0, 7.0, 2.5])
    assert "Only the mean survives" in page.extract_text()


def test_the_file_name_chooses_the_format(tmp_path, demo, palette):
    for form in RECORD_KEYS:
        save(demo, tmp_path / f"demo.{form}", palette, "{}")
        assert (tmp_path / f"demo.{form}").read_bytes() == encode(demo, form, palette, "{}")


def test_refuses_a_format_without_a_place_for_the_record(tmp_path):
    figure, _ = canvas("column", 2.4)
    with pytest.raises(Refusal, match="cannot be written as 'jpg'"):
        save(figure, tmp_path / "figure.jpg", PAPER)
