"""The report of a real run, as `make report` writes it and a browser shows it.

Where no Chromium is, what needs one is skipped; where the environment demands it, as in
``.ci/run``, that is a failure.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

import lowpass.figures.gallery  # noqa: F401  (registers the figures)
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import NIGHT, PAPER
from lowpass.paper.quoting import VERDICTS
from lowpass.report import as_html

from .project import EXPERIMENTS, Finished, Project, environment, jobs_in, succeeded

DEMANDED = "LOWPASS_BROWSER"
BROWSER = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    *("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync"),
    *("disable-background-networking", "disable-component-update", "hide-scrollbars"),
)
# Where the app shows a picture that was opened.
FIGURE = "#app .p-3 > img"
PATIENCE = 30  # Seconds until a page that shows nothing is a failure, on a busy machine.
# A library that Snakemake puts into every report says so of itself when it is read.
KNOWN = "cdn.tailwindcss.com should not be used in production."


def make(project: Project, *arguments: str) -> Finished:
    """Type ``make`` in the project, with this interpreter in place of its .venv."""
    inherited = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    return subprocess.run(
        ["make", "LOCKED=", f"RUN={sys.executable} -m", "CORES=2", *arguments],
        cwd=project.root,
        env={k: v for k, v in environment({}).items() if k not in inherited},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def report_of(project: Project) -> Path:
    return project.root / "report" / "report.html"


@pytest.fixture(scope="module")
def reported(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Write the report of a copy of the finished run."""
    project = finished.copy(tmp_path_factory.mktemp("reported") / "project")
    before = project.bytes_of()
    said = succeeded(make(project, "report"))
    assert jobs_in(said) == {}
    assert project.bytes_of() == before
    return project


@pytest.fixture(scope="module")
def claims(reported: Project) -> dict[str, Any]:
    """Read the verdicts that the report has to show."""
    read = json.loads((reported.root / "results/claims.json").read_text(encoding="utf-8"))
    return {name: claim for name, claim in read.items() if not name.startswith("$")}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Start a browser that is installed; nothing is downloaded in its place."""
    binary = next(filter(None, map(shutil.which, BROWSER)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        absent = "there is no Chromium with its chromedriver (Debian: chromium, chromium-driver)"
        (pytest.fail if os.environ.get(DEMANDED) == "required" else pytest.skip)(absent)
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*QUIET, "window-size=1360,900"):
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with webdriver.Chrome(options=options, service=Service(driver)) as browser:
        yield browser


class Page:
    """Hold an open report, and what a person sees of it."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser

    def run(self, script: str, *arguments: Any) -> Any:
        """Ask the page itself."""
        return self.browser.execute_script(f"return {script}", *arguments)

    def shown(self, selector: str) -> list[WebElement]:
        """Find the elements that can be seen."""
        found = "[...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility())"
        return self.run(found, selector)

    def texts(self, selector: str) -> list[str]:
        """Read the text of every element that can be seen, with blanks as in prose."""
        read = "arguments[0].map(e => e.innerText.trim().replace(/\\s+/g, ' '))"
        return self.run(read, self.shown(selector))

    def one(self, selector: str) -> WebElement:
        """Wait until exactly one element can be seen."""
        self.wait(lambda _: len(self.shown(selector)) == 1)
        return self.shown(selector)[0]

    def text(self, selector: str) -> str:
        """Read the text of the one element that can be seen."""
        self.one(selector)
        return self.texts(selector)[0]

    def entry(self, selector: str, text: str) -> WebElement:
        """Find the one element that can be seen and has a text."""
        return self.shown(selector)[self.texts(selector).index(text)]

    def home(self) -> None:
        """Go back to the first page."""
        self.shown("#app nav ol a")[0].click()

    def pick(self, value: str) -> None:
        """Click the switch that leaves some claims in the table."""
        self.one(f".lp-switches label:has([value='{value}'])").click()

    def pictures(self, selector: str) -> list[str]:
        """Wait until every picture is there, wider than a pixel, and give their sources."""
        every = "[...document.querySelectorAll(arguments[0])]"
        self.wait(lambda _: self.run(f"{every}.every(e => e.naturalWidth > 1)", selector))
        return self.run(f"{every}.map(e => e.src)", selector)

    def wait(self, until: Callable[[Any], bool]) -> None:
        """Wait for what comes of a click."""
        WebDriverWait(self.browser, PATIENCE, poll_frequency=0.05).until(until)


@pytest.fixture
def page(reported: Project, chromium: webdriver.Chrome) -> Page:
    """Open the report anew, with the logs of earlier pages forgotten."""
    chromium.get("about:blank")
    for kind in ("browser", "performance"):
        chromium.get_log(kind)
    chromium.get(report_of(reported).as_uri())
    page = Page(chromium)
    page.one(".lp-claims")
    page.pictures(".lp-thumbnail img")
    return page


def plain(text: str) -> str:
    """Give a text as a browser shows it."""
    return unescape(re.sub(r"</?su[bp]>", "", as_html(text)))


def requests(browser: webdriver.Chrome) -> list[str]:
    """List what the browser asked for, wherever it lies."""
    logged = [json.loads(each["message"])["message"] for each in browser.get_log("performance")]
    sent = [each["params"] for each in logged if each["method"] == "Network.requestWillBeSent"]
    return [each["request"]["url"] for each in sent]


# Claims.


def test_every_claim_has_its_row_and_its_verdict(page, claims):
    page.pick("all")
    told = zip(page.texts(".lp-claims tbody th"), page.texts(".lp-claims .lp-verdict"), strict=True)
    assert dict(told) == {name: claim["verdict"] for name, claim in claims.items()}


def test_a_switch_counts_the_claims_it_leaves_in_the_table(page, claims):
    verdicts = {name: claim["verdict"] for name, claim in claims.items()}
    examined = {verdict: {verdict} for verdict in VERDICTS if verdict != "not examined"}
    leaves = {
        **examined,
        "examined": set(examined),
        "not examined": {"not examined"},
        "all": set(VERDICTS),
    }
    for word, kept in leaves.items():
        wanted = [name for name, verdict in verdicts.items() if verdict in kept]
        value = word.replace(" ", "-")
        page.pick(value)
        assert page.texts(".lp-claims tbody th") == wanted
        assert page.text(f".lp-switches label:has([value='{value}']) b") == str(len(wanted))


def test_the_first_look_is_at_what_was_examined(page, claims):
    examined = [name for name, claim in claims.items() if claim["verdict"] != "not examined"]
    assert page.texts(".lp-claims tbody th") == examined != []


def test_a_claim_opens_to_what_it_says(page, claims):
    name, claim = next((n, c) for n, c in claims.items() if c["verdict"] == "conditional")
    row = f".lp-claims tbody tr:nth-child({list(claims).index(name) + 1})"
    said = f"{row} details p:first-of-type"
    assert page.shown(said) == []
    assert page.text(f"{row} .lp-condition") == f"Condition: {plain(claim['condition'])}"
    page.one(f"{row} summary").click()
    assert page.text(said) == plain(claim["says"])


# Figures.


def drawn() -> dict[str, dict[str, Any]]:
    """Give the facts of every figure that the finished run has."""
    facts = {name: FIGURES.facts(name) for name in FIGURES}
    return {n: f for n, f in facts.items() if set(f["experiments"]) <= set(EXPERIMENTS)}


def test_every_figure_has_a_thumbnail(page):
    assert sorted(page.texts(".lp-thumbnail")) == sorted(drawn())
    assert len(page.shown(".lp-thumbnail img")) == len(drawn())


def test_a_thumbnail_opens_its_figure_with_caption_reason_and_key(page, reported):
    small = dict(zip(page.texts(".lp-thumbnail"), page.pictures(".lp-thumbnail img"), strict=True))
    for name, facts in drawn().items():
        page.entry(".lp-thumbnail", name).click()
        page.one(FIGURE)
        assert page.pictures(FIGURE) == [small[name]]
        (picture,) = reported.root.glob(f"results/figures/{name}~*[0-9a-f].svg")
        beside = page.text("#app nav div > ul")
        assert plain(facts["caption"]) in beside
        assert f"make trace KEY={picture.name.partition('~')[2].partition('.')[0]}" in beside
        if facts["section"] in EXPERIMENTS:
            assert reported.config["experiments"][facts["section"]]["why"] in beside
        page.home()
        page.one(".lp-claims")


def test_a_category_lists_the_figures_of_its_section(page):
    for section in {facts["section"] for facts in drawn().values()}:
        page.entry("#app nav ul a", section).click()
        names = page.texts("#app nav tbody td:first-child")
        assert names == sorted(n for n, f in drawn().items() if f["section"] == section)
        page.shown("#app nav tbody a")[0].click()
        page.one(FIGURE)
        page.pictures(FIGURE)
        page.home()


def test_labels_name_the_swept_parameters(page):
    page.entry("#app nav ul a", "dc-limit").click()
    heads = [head.lower() for head in page.texts("#app nav th")]
    assert heads == ["figure", "beta", "arithmetic", ""]
    assert "float32, float64, split" in page.texts("#app nav tbody td")


# What a browser complains of, asks for, and draws at night.


def test_nothing_is_complained_of_and_nothing_is_asked_for_from_elsewhere(page):
    page.pick("all")
    for each in page.shown(".lp-claims summary")[:3]:
        each.click()
    page.shown(".lp-thumbnail")[0].click()
    page.one(FIGURE)
    page.pictures(FIGURE)
    said = [each["message"] for each in page.browser.get_log("browser")]
    assert [each for each in said if KNOWN not in each] == []
    asked = requests(page.browser)
    assert len(asked) > 1
    assert {each.partition(":")[0] for each in asked} == {"file", "data"}
    assert len([each for each in asked if each.startswith("file:")]) == 1


def test_day_and_night_have_the_colours_of_the_figures(page):
    for scheme, palette in {"dark": NIGHT, "light": PAPER}.items():
        feature = [{"name": "prefers-color-scheme", "value": scheme}]
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
        colours = {
            "body": ("background-color", palette.ground),
            ".lp-claims": ("color", palette.ink),
            ".lp-claims .lp-holds .lp-verdict": ("color", palette.holds),
            ".lp-switches .lp-refuted b": ("color", palette.fails),
        }
        for selector, (what, colour) in colours.items():
            found = page.shown(selector)[0].value_of_css_property(what)
            channels = [str(int(colour[i : i + 2], 16)) for i in (1, 3, 5)]
            assert re.findall(r"\d+", found)[:3] == channels


# Without a browser.


def test_a_report_that_snakemake_cannot_time_is_written_and_says_so_in_one_line(project):
    shutil.rmtree(project.root / ".snakemake")
    done = make(project, "report")
    told = [line for line in succeeded(done).splitlines() if "lowpass:" in line]
    # Every run says besides what Snakemake does not remember of the results.
    said = [line for line in told if "does not remember the code" not in line]
    assert len(said) == 1, told
    assert said[0].startswith("lowpass: .snakemake/ no longer knows when these results were made")
    assert "Missing metadata" not in done.stdout + done.stderr
    assert report_of(project).exists()


@pytest.mark.parametrize("edited", ["results/claims/*.json", "results/figures/decay~*[0-9a-f].svg"])
def test_a_product_that_was_edited_is_not_reported(edited, project):
    (path,) = project.root.glob(edited)
    before = path.stat()
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("\n", " \n", 1), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    done = project.snakemake("--report", "report.html")
    assert done.returncode != 0
    name = path.relative_to(project.root)
    (line,) = (each for each in done.stderr.splitlines() if "lowpass:" in each)
    assert line.startswith(f"lowpass: {name}: content differs from its own record; it was edited")
    assert not (project.root / "report.html").exists()


def test_another_configuration_in_another_folder_has_its_report_in_the_same_place(project):
    asked = "ARGS=--directory elsewhere --configfile one.yaml"
    nile = project.config["experiments"]["nile"]
    project.write("one.yaml", json.dumps({"seed": 1, "experiments": {"nile": nile}}))
    said = succeeded(make(project, "report", asked))
    assert jobs_in(said)["smoothing"] == 1
    text = report_of(project).read_text(encoding="utf-8")
    assert "results/figures/nile~" in text
    assert "results/figures/decay~" not in text
