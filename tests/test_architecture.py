"""The shape of the package, read from its syntax: layers, doors, sizes, names.

A law is a function from a module to its complaints. Each law runs over every
module of ``src/lowpass``, and over a few lines that break it.
"""

from __future__ import annotations

import ast
import graphlib
import io
import re
import subprocess
import sys
import token
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "lowpass"

# A room may use rooms of its own layer and of those below it.
LAYER = {
    room: layer
    for layer, rooms in enumerate(
        [
            "registry domains labels rounding loading project ending",
            # measures is mathematics with a label: names are known before anything is asked.
            "streams data tables rows pictures formats tensors balance masks kernels spectra eigen "
            "scaling tiled weights splits starts remedies layers frozen consensus layernorm "
            "scores shapes compact stating textbook pairs impulses "
            "smoothing studies measures "
            "graphs laplacians modes chebyshev diffusion ring fourier "
            "taylor heat_equation flows "
            "contraction normality powers diversity energy collapse gains integrators equations "
            "continuum designs matching symmetrised heat_fit gauge walk residual",
            "spec",
            "stages",
            "store writing records provenance fingerprint memory plan trace telling progress "
            "verify usage resources",
            "claims figures paper publish report whole opening describing",
            "remote jobs locking rules answering explaining garbage commands __main__ __init__",
        ]
    )
    for room in rooms.split()
}
# Who may touch files, and the calls that do.
DOORS = set(
    "loading store writing records provenance fingerprint memory plan trace verify figures paper "
    "publish report remote jobs locking explaining garbage usage resources commands "
    "__main__".split()
)
TOUCHES = set(
    "open read_text read_bytes write_text write_bytes mkdir unlink rmtree memmap fromfile tofile "
    "loadtxt savetxt genfromtxt savez savez_compressed to_netcdf open_dataset load_dataset "
    "np.load np.save numpy.load numpy.save os.replace os.remove".split()
)
SPEAKERS = {"__main__", "jobs", "trace", "commands"}
DRAWERS = {"utils", "util", "helpers", "helper", "misc", "common"}
VAGUE = re.compile(r"process|data2|do_.*|.*Manager")
# What somebody may install beside what the paper asks for, and the modules that need it.
EXTRAS = {"smoothing/regressor.py": {"scikit-learn"}}
LONGEST_FUNCTION = 30
LONGEST_MODULE = 400


@dataclass(frozen=True)
class Module:
    """One file of the package: where it lies below ``src/lowpass``, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def room(self) -> str:
        return self.path.split("/")[0].removesuffix(".py")

    @property
    def package(self) -> list[str]:
        return ["lowpass", *self.path.split("/")[:-1]]

    @cached_property
    def imports(self) -> list[str]:
        """The dotted names of what is imported anywhere in the file."""
        names = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = self.package[: len(self.package) - node.level + 1] if node.level else []
                origin = ".".join(base + ([node.module] if node.module else []))
                names += [f"{origin}.{alias.name}" for alias in node.names]
        return names

    @property
    def neighbours(self) -> set[str]:
        """The other rooms that this file imports from."""
        parts = [name.split(".") for name in self.imports]
        used = {room_of(below) for top, *below in parts if top == "lowpass"}
        return used - {self.room}

    def calls(self) -> Iterator[tuple[int, str]]:
        """Yield every call, but for those of bytes in memory."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                first = ast.unparse(node.args[0]) if node.args else ""
                if not first.startswith("io.BytesIO("):
                    yield node.lineno, ast.unparse(node.func)

    def definitions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node

    @cached_property
    def code_lines(self) -> set[int]:
        """The lines that hold code: no blanks, no comments, no docstrings."""
        silent = {token.NEWLINE, token.INDENT, token.DEDENT, token.ENDMARKER}
        silent |= {tokenize.COMMENT, tokenize.NL}
        lines: set[int] = set()
        for part in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if part.type not in silent:
                lines.update(range(part.start[0], part.end[0] + 1))
        for node in [self.tree, *self.definitions()]:
            if ast.get_docstring(node, clean=False) is not None:
                lines.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        return lines


def room_of(below: list[str]) -> str:
    """Name the room of a dotted name below ``lowpass``: its first part, or the package itself."""
    room = below[0] if below else "__init__"
    there = (SOURCE / room).is_dir() or (SOURCE / f"{room}.py").is_file()
    return room if len(below) > 1 or room in LAYER or there else "__init__"


@cache
def distributions_of(top: str) -> set[str]:
    """Name the distributions that bring an importable name, as requirements.in spells them."""
    return {name.lower().replace("_", "-") for name in packages_distributions().get(top, [])}


# The laws.


def has_a_layer(module: Module) -> list[str]:
    return [] if module.room in LAYER else [f"{module.room} stands in no layer of LAYER"]


def imports_point_downwards(module: Module) -> list[str]:
    own = LAYER.get(module.room, 0)
    return [
        f"{module.room} (layer {own}) imports {name} (layer {LAYER.get(name)})"
        for name in sorted(module.neighbours)
        if name not in LAYER or LAYER[name] > own
    ]


def only_figures_name_matplotlib(module: Module) -> list[str]:
    names = [name for name in module.imports if re.match(r"matplotlib|mpl_toolkits|pylab", name)]
    return [] if module.room == "figures" else names


def matplotlib_is_imported_inside_functions(module: Module) -> list[str]:
    top = [node for node in module.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    text = "\n".join(map(ast.unparse, top))
    return re.findall(r"^(?:import|from) matplotlib.*", text, re.MULTILINE)


def only_doors_touch_files(module: Module) -> list[str]:
    if module.room in DOORS:
        return []
    return [
        f"line {line}: {name}"
        for line, name in module.calls()
        if name in TOUCHES or name.rpartition(".")[2] in TOUCHES
    ]


def only_the_way_in_prints(module: Module) -> list[str]:
    if module.room in SPEAKERS:
        return []
    return [f"line {line}" for line, name in module.calls() if name == "print"]


def only_the_regressor_names_scikit_learn(module: Module) -> list[str]:
    names = [name for name in module.imports if name.split(".")[0] == "sklearn"]
    return [] if module.path in EXTRAS else names


def nothing_leads_to_the_regressor(module: Module) -> list[str]:
    doors = [path.removesuffix(".py").replace("/", ".") for path in EXTRAS]
    return [
        name for name in module.imports if name.startswith(tuple(f"lowpass.{d}" for d in doors))
    ]


def outside_imports_are_what_the_paper_asks_for(module: Module) -> list[str]:
    text = (ROOT / "requirements.in").read_text().lower()
    asked = set(re.findall(r"^[\w-]+", text, re.MULTILINE)) | EXTRAS.get(module.path, set())
    tops = {name.split(".")[0] for name in module.imports} - sys.stdlib_module_names - {"lowpass"}
    return [top for top in sorted(tops) if asked.isdisjoint(distributions_of(top))]


def functions_are_short(module: Module) -> list[str]:
    long = []
    for node in module.definitions():
        if not isinstance(node, ast.ClassDef):
            n_lines = len(module.code_lines & set(range(node.lineno, node.end_lineno + 1)))
            long += [f"{node.name}: {n_lines} lines of code"] * (n_lines > LONGEST_FUNCTION)
    return long


def modules_are_short(module: Module) -> list[str]:
    n_lines = module.text.count("\n")
    return [f"{n_lines} lines"] if n_lines > LONGEST_MODULE else []


def names_say_something(module: Module) -> list[str]:
    stems = set(module.path.removesuffix(".py").split("/")) & DRAWERS
    return [*stems, *(n.name for n in module.definitions() if VAGUE.fullmatch(n.name))]


def a_docstring_comes_first(module: Module) -> list[str]:
    return [] if ast.get_docstring(module.tree) else ["no docstring"]


def importing_calls_nothing(module: Module) -> list[str]:
    bare = [
        n for n in module.tree.body if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)
    ]
    return [
        f"line {node.lineno}: {ast.unparse(node)[:60]}"
        for node in bare
        if not re.fullmatch(r"[A-Z_]+\.enter", ast.unparse(node.value.func))
    ]


BROKEN = {
    has_a_layer: ("attic.py", "x = 1"),
    imports_point_downwards: ("kernels.py", "def f():\n    from lowpass.stages import data"),
    only_figures_name_matplotlib: ("stages/data.py", "def f():\n    import matplotlib.figure"),
    matplotlib_is_imported_inside_functions: ("figures/gain.py", "from matplotlib import rc"),
    only_doors_touch_files: ("kernels.py", "def f(path):\n    return path.read_text()"),
    only_the_way_in_prints: ("store.py", "def f():\n    print(1)"),
    outside_imports_are_what_the_paper_asks_for: ("data.py", "import statsmodels.api"),
    only_the_regressor_names_scikit_learn: ("data.py", "def f():\n    import sklearn.base"),
    nothing_leads_to_the_regressor: ("data.py", "from lowpass.smoothing import regressor"),
    functions_are_short: ("data.py", "def f(x):\n" + "    x += 1\n" * LONGEST_FUNCTION),
    modules_are_short: ("data.py", "x = 1\n" * (LONGEST_MODULE + 1)),
    names_say_something: ("stages/utils.py", "x = 1"),
    a_docstring_comes_first: ("data.py", "import numpy"),
    importing_calls_nothing: ("data.py", "import numpy as np\nnp.seterr(all='ignore')"),
}
MODULES = [
    Module(path.relative_to(SOURCE).as_posix(), path.read_text())
    for path in sorted(SOURCE.rglob("*.py"))
]


@pytest.mark.parametrize("law", BROKEN, ids=lambda law: law.__name__)
def test_every_module_keeps_the_law(law):
    complaints = {module.path: law(module) for module in MODULES}
    assert {path: said for path, said in complaints.items() if said} == {}


@pytest.mark.parametrize("law", BROKEN, ids=lambda law: law.__name__)
def test_a_broken_law_is_noticed(law):
    assert law(Module(*BROKEN[law])) != []


@pytest.mark.parametrize(
    ("path", "line", "rooms"),
    [
        ("data.py", "import lowpass.kernels", {"kernels"}),
        ("data.py", "from lowpass import kernels, registry", {"kernels", "registry"}),
        ("stages/data.py", "from lowpass.smoothing.bands import width", {"smoothing"}),
        ("stages/data.py", "from . import spectra", set()),
        ("stages/data.py", "from .. import spectra", {"spectra"}),
        ("stages/data.py", "from ..plan.keys import key", {"plan"}),
        ("data.py", "from lowpass import open", {"__init__"}),
    ],
)
def test_an_import_leads_to_the_room_it_names(path, line, rooms):
    assert Module(path, line).neighbours == rooms


def test_a_function_is_measured_without_its_words():
    text = 'def f(x):\n    """Say\n\n    much."""\n\n    # Why.\n    return (\n        x\n    )\n'
    assert Module("data.py", text).code_lines == {1, 7, 8, 9}


def test_no_two_rooms_need_each_other():
    rooms: dict[str, set[str]] = {}
    for module in MODULES:
        rooms.setdefault(module.room, set()).update(module.neighbours)
    order = list(graphlib.TopologicalSorter(rooms).static_order())
    assert order.index("registry") < order.index("kernels")


def test_a_plan_is_made_without_the_libraries_that_compute():
    """They would be half of the time in which Snakemake reads its rules."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import lowpass.rules; print(*sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", code, SOURCE.parent], capture_output=True, text=True, check=True
    )
    assert not {"xarray", "pandas", "netCDF4", "scipy", "matplotlib"} & {*said.stdout.split()}
