"""Import this package from its source, never from compiled files.

Python takes a compiled file for current when its source has the same size and,
to the second, the same time. A fingerprint reads the source, and a record that
names it must not come from code that was compiled before an edit.
"""

from __future__ import annotations

import sys
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from types import CodeType


class FromSource(SourceFileLoader):
    """Compile a module each time it is loaded."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source; no compiled file is read or written."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def import_from_source() -> None:
    """Load every module of this package that is not loaded yet from its source."""
    home = Path(__file__).parent

    def finder(path: str) -> FileFinder:
        if not Path(path).is_relative_to(home):
            raise ImportError(f"{path} lies outside {home}")
        return FileFinder(path, (FromSource, [".py"]))

    sys.path_hooks.insert(0, finder)
    for path in [known for known in sys.path_importer_cache if Path(known).is_relative_to(home)]:
        sys.path_importer_cache.pop(path)
