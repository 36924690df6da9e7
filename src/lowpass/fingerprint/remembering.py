"""Closures found before, for every process that asks for them again.

Every job asks twice which code it is, and a plan asks once for each product; the answer
takes a second as long as it is read off the sources, which seldom changed. It owns the
folder of answers: they lie under the digest of all that they were read from, and each under
the digest of what was asked. Nothing is lost where they are deleted, or cannot be written.
"""

from __future__ import annotations

import json
import secrets
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lowpass.fingerprint.index import Sources
from lowpass.records import canonical, sha256
from lowpass.writing import PART, discard

# Below the folder of the project.
FOLDER = Path(".snakemake/lowpass-code")


class Remembered:
    """Hold the answers that were found in one state of the sources.

    Parameters
    ----------
    folder : Path
        Where answers are kept; those found in other states of the sources are deleted.
    root : Path
        The folder that contains the package.
    sources : tuple of (Path, str)
        Its files, and what stands in them.
    """

    def __init__(self, folder: Path, root: Path, sources: Sources) -> None:
        # Trees are read by what this Python says of them, and by code that is a source as well.
        texts = [[path.relative_to(root).as_posix(), sha256(text)] for path, text in sources]
        self._folder = folder / sha256(canonical([sys.version, texts]))[:16]

    def ask(self, asked: Sequence[Any], find: Callable[[], Any]) -> Any:
        """Give the answer to what is asked, found before or now.

        Parameters
        ----------
        asked : sequence
            What JSON can say.
        find : callable
            Finds the answer, which JSON can say too and which is not None.
        """
        answer = self._recall(asked)
        if answer is None:
            answer = find()
            self._keep(asked, answer)
        return answer

    def _recall(self, asked: Sequence[Any]) -> Any:
        try:
            mark, _, content = self._path(asked).read_text(encoding="utf-8").partition("\n")
            return json.loads(content)["answer"] if mark == sha256(content) else None
        except (OSError, UnicodeDecodeError):
            return None

    def _keep(self, asked: Sequence[Any], answer: Any) -> None:
        content = canonical({"asked": asked, "answer": answer})
        path = self._path(asked)
        part = path.with_name(f"{path.name}.{secrets.token_hex(4)}{PART}")
        # A disk that refuses this will say so of what matters. It is not waited for either, since
        # what a power cut leaves of an answer does not have its digest.
        with suppress(OSError):
            if not self._folder.exists():
                self._forget_others()
                self._folder.mkdir(parents=True, exist_ok=True)
            part.write_text(f"{sha256(content)}\n{content}", encoding="utf-8")
            part.replace(path)
        discard(part)

    def _path(self, asked: Sequence[Any]) -> Path:
        return self._folder / f"{sha256(canonical(asked))[:24]}.json"

    def _forget_others(self) -> None:
        if self._folder.parent.exists():
            for other in self._folder.parent.iterdir():
                shutil.rmtree(other, ignore_errors=True)
