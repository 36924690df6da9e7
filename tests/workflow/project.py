"""A copy of this project in a folder of its own, and the commands a person types there.

Real Snakemake, real jobs: nothing here imports the copy. What the workflow would do
is read off a dry run, as a person reads it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import yaml

from lowpass.provenance import record_in

from .environment import environment
from .warm import run_module, run_modules

ROOT = Path(__file__).parents[2]
PARTS = ("Makefile", "Snakefile", "config", "profiles", "src", "workflow")
# The paper's experiments in miniature; other entries of the smoke run are left out.
EXPERIMENTS = ("dc-limit", "counterexamples", "nile")
CONFIG = "config/paper.yaml"
PATIENCE = 600  # Seconds until a command hangs, on a busy machine.
NOTHING: Counter[str] = Counter()
Finished = subprocess.CompletedProcess


class Project:
    """Hold a project's folder.

    Parameters
    ----------
    root : Path
        The folder, which holds a copy of the project.
    within : tuple of str
        Words before every command, which say as whom or where it runs.
    """

    def __init__(self, root: Path, within: tuple[str, ...] = ()) -> None:
        self.root = root
        self.within = within

    @classmethod
    def checkout(cls, root: Path) -> Project:
        """Copy what the workflow needs, with the experiments of the smoke run as the paper's."""
        unwanted = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info")
        for part in PARTS:
            (root / part).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, root / part, ignore=unwanted)
            else:
                shutil.copy2(ROOT / part, root / part)
        smoke = yaml.safe_load((root / "config/smoke.yaml").read_text(encoding="utf-8"))
        chosen = {name: smoke["experiments"][name] for name in EXPERIMENTS}
        write_config(root / CONFIG, {**smoke, "experiments": chosen})
        return cls(root)

    def copy(self, root: Path, *, times: bool = True) -> Project:
        """Copy the folder with all that is in it; without its times, as ``cp -r`` does."""
        how = shutil.copy2 if times else shutil.copy
        shutil.copytree(self.root, root, copy_function=how, symlinks=True)
        return Project(root)

    # What a person changes.

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that stands in a file exactly once."""
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} holds {old!r} {text.count(old)} times"
        self.write(path, text.replace(old, new))

    def append(self, path: str, text: str) -> None:
        """Add a text at the end of a file."""
        self.write(path, (self.root / path).read_text(encoding="utf-8") + text)

    def write(self, path: str, text: str) -> None:
        """Write a file, which may be new."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    @property
    def config(self) -> dict[str, Any]:
        """The paper's configuration as it now stands."""
        return yaml.safe_load((self.root / CONFIG).read_text(encoding="utf-8"))

    def configure(self, **experiments: Any) -> None:
        """Replace entries of experiments: ``configure(nile={"why": "..."})``, None drops one."""
        config = self.config
        for name, change in experiments.items():
            name = name.replace("_", "-")
            if change is None:
                del config["experiments"][name]
            else:
                config["experiments"][name] = merged(config["experiments"].get(name, {}), change)
        write_config(self.root / CONFIG, config)

    def unmake(self, *chosen: Path) -> set[str]:
        """Delete products and everything that was made from them; name the files that went."""
        gone = {*chosen}
        made = {path: self._made_from(path) for path in self.products()}
        for _ in made:
            gone |= {path for path, parents in made.items() if gone & parents}
        gone |= {*self.root.glob("results/*.*")}
        for path in gone:
            path.unlink()
        return {str(path.relative_to(self.root)) for path in gone}

    def _made_from(self, path: Path) -> set[Path]:
        record, parents = record_in(path)
        if record["recipe"]["stage"] == "publish":
            return {each for each in self.products() if each != path}
        return {self.root / parent["path"] for parent in parents}

    # What a person types.

    def python(self, *arguments: str, env: Mapping[str, str] | None = None) -> Finished:
        """Run Python in the folder, on its sources, and return what came of it."""
        source = {"PYTHONPATH": str(self.root / "src"), **(env or {})}
        return self._run(list(arguments), source)

    def lowpass(self, *arguments: str) -> Finished:
        """Ask a question of the command line."""
        return self._ask("lowpass", *arguments, PYTHONPATH=str(self.root / "src"))

    def trace(self, *arguments: str) -> Finished:
        """Run ``lowpass trace``."""
        return self.lowpass("trace", *arguments)

    def snakemake(
        self, *arguments: str, env: Mapping[str, str] | None = None, cores: int = 2
    ) -> Finished:
        """Run Snakemake as a person would, and return what came of it."""
        return self._run(["-m", "snakemake", *arguments, "--cores", str(cores)], env or {})

    def start(
        self, *arguments: str, cores: int = 1, output: int | IO[str] = subprocess.PIPE
    ) -> subprocess.Popen[str]:
        """Start Snakemake with a group of processes of its own, and return while it runs."""
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *arguments, "--cores", str(cores)],
            cwd=self.root,
            env=environment({}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def ask(self, *arguments: str) -> Finished:
        """Run Snakemake where no job should start, and return what came of it."""
        return self._ask("snakemake", *arguments, "--cores", "2")

    def run(self, *arguments: str, **options: Any) -> Counter[str]:
        """Run the workflow, which must succeed, and count the jobs of each rule."""
        return jobs_in(succeeded(self.snakemake(*arguments, **options)))

    def plan(self, *arguments: str) -> Counter[str]:
        """Count the jobs of each rule that a run would start, without ``all`` and ``total``."""
        return jobs_in(self.dry(*arguments))

    def dry(self, *arguments: str) -> str:
        """Give what a dry run prints: every job with its first output and its reason."""
        return succeeded(self._ask("snakemake", "--dry-run", *arguments, "--cores", "2"))

    def explain(self, *targets: str) -> tuple[str, str]:
        """Give what ``lowpass explain`` answers in JSON, and what a dry run prints then."""
        programs = [
            ("lowpass", "explain", "--json", *targets),
            ("snakemake", "--dry-run", *targets, "--cores", "2"),
        ]
        env = environment({"PYTHONPATH": str(self.root / "src")})
        asked, dry = run_modules(programs, self.root, env, PATIENCE)
        assert asked.stderr == ""
        return asked.stdout, succeeded(dry)

    def _ask(self, module: str, *arguments: str, **env: str) -> Finished:
        """Run a module that computes nothing, and so would spend its time on imports."""
        if self.within:
            return self._run(["-m", module, *arguments], env)
        return run_module((module, *arguments), self.root, environment(env), PATIENCE)

    def _run(self, arguments: list[str], env: Mapping[str, str]) -> Finished:
        return subprocess.run(
            [*self.within, sys.executable, *arguments],
            cwd=self.root,
            env=environment(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    # What lies there.

    def products(self, stage: str = "*", suffix: str = "*") -> list[Path]:
        """List the files under results/ that bear a key."""
        return sorted(self.root.glob(f"results/{stage}/*~*.{suffix}"))

    def bytes_of(self, *names: str) -> dict[str, bytes]:
        """Read files, or every file under results/."""
        found = names or (
            str(path.relative_to(self.root)) for path in self.root.glob("results/**/*.*")
        )
        return {name: (self.root / name).read_bytes() for name in found}


def merged(old: Any, new: Any) -> Any:
    """Replace leaves of nested mappings, lists included."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    return {**old, **{name: merged(old.get(name), value) for name, value in new.items()}}


def write_config(path: Path, config: Mapping[str, Any]) -> None:
    """Write a configuration in the order of its mapping."""
    path.write_text(yaml.safe_dump(dict(config), sort_keys=False), encoding="utf-8")


def succeeded(finished: Finished) -> str:
    """Give a command's whole output, after checking that it did what it was asked."""
    assert finished.returncode == 0, (finished.stdout + finished.stderr)[-3000:]
    return finished.stdout + finished.stderr


def jobs_in(output: str) -> Counter[str]:
    """Read the table "Job stats" of a run; no table means that nothing was to do."""
    table = re.search(r"^job +count\n[- ]+\n((?:\S+ +\d+\n)+)", output, re.MULTILINE)
    rows = [line.split() for line in table[1].splitlines()] if table else []
    assert table or "Nothing to be done" in output, output
    return Counter({rule: int(count) for rule, count in rows if rule not in ("all", "total")})


def told(output: str) -> list[str]:
    """Collect the lines of an output that are ours."""
    return [line for line in output.splitlines() if line.startswith("lowpass: ")]


def outputs_in(output: str, stage: str) -> set[str]:
    """Collect the first output of every job of a stage that a run or dry run lists."""
    return set(re.findall(rf"^Job \d+: (results/{stage}/\S+)$", output, re.M))
