"""Import this package as its source stands, never as it stood when it was compiled.

Python takes a compiled file for current when its source has the same size and,
to the second, the same time. A fingerprint reads the source, and a record that
names it must not come from code that was compiled before an edit. So what is kept
here of a compiled module lies beside the digest of the very text it was compiled from.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
from contextlib import suppress
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from types import CodeType

HOME = Path(__file__).parent
PROJECT = HOME.parents[1]
# Kept with Snakemake's notes, and nowhere else: not beside the source, nor outside a project.
COMPILED = PROJECT / ".snakemake" / "lowpass-compiled"
# Bytes of a SHA-256.
LENGTH = 32


class FromSource(SourceFileLoader):
    """Compile a module, or take it as it was compiled from the same text by the same Python."""

    def get_code(self, fullname: str) -> CodeType:
        """Give the code of the source as it stands."""
        path = self.get_filename(fullname)
        source = self.get_data(path)
        told = f"{sys.version}\0{sys.flags.optimize}\0{path}\0".encode()
        text = hashlib.sha256(told + source).digest()
        kept = COMPILED / f"{fullname}.bin"
        code = recalled(kept, text)
        if code is None:
            code = self.source_to_code(source, path)
            keep(kept, text, code)
        return code


def recalled(kept: Path, text: bytes) -> CodeType | None:
    """Read what was compiled from a text; None where it is not there, or was damaged."""
    try:
        held = kept.read_bytes()
    except OSError:
        return None
    digests, compiled = held[: 2 * LENGTH], held[2 * LENGTH :]
    whole = digests == text + hashlib.sha256(compiled).digest()
    return marshal.loads(compiled) if whole else None


def keep(kept: Path, text: bytes, code: CodeType) -> None:
    """Keep what was compiled from a text, if that can be done here."""
    if not (PROJECT / "Snakefile").is_file():
        return
    compiled = marshal.dumps(code)
    part = kept.with_name(f"{kept.name}.{os.urandom(4).hex()}.part")
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(text + hashlib.sha256(compiled).digest() + compiled)
        part.replace(kept)
    with suppress(OSError):
        part.unlink()


def import_from_source() -> None:
    """Load every module of this package that is not loaded yet from its source."""

    def finder(path: str) -> FileFinder:
        if not Path(path).is_relative_to(HOME):
            raise ImportError(f"{path} lies outside {HOME}")
        return FileFinder(path, (FromSource, [".py"]))

    sys.path_hooks.insert(0, finder)
    for path in [known for known in sys.path_importer_cache if Path(known).is_relative_to(HOME)]:
        sys.path_importer_cache.pop(path)
