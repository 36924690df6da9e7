"""What reached code may not use, since it hides what it reaches.

It owns four lists, each with the reason and the way out. It looks at nothing itself.
"""

from __future__ import annotations

HIDDEN = ("it can reach code that no name leads to", "import what you need and call it by its name")
ELSEWHERE = ("a result may not depend on where or when it is computed", "take it from the recipe")
UNREADABLE = ("what it reaches cannot be read", "name the code or hand the value in")
NOWHERE = ("the code behind it could not be read", "correct the import")

FORBIDDEN = {
    **dict.fromkeys(
        "builtins ctypes gc importlib inspect linecache pickle pkgutil pydoc runpy subprocess "
        "sys.modules sys._getframe traceback unittest.mock".split(),
        HIDDEN,
    ),
    **dict.fromkeys(
        "datetime.date.today datetime.datetime.now datetime.datetime.today locale os.environ "
        "os.getenv platform socket sys.argv time.time time.time_ns time.localtime "
        "time.strftime".split(),
        ELSEWHERE,
    ),
}
"""Outside places, and all that lies below them, with the reason and the way out."""

HARMLESS = frozenset(("importlib.metadata", "inspect.Parameter"))
"""Places below a forbidden one that hide nothing: versions are hashed beside the code."""

READERS = {
    "inspect.signature": ("annotations",),
    "inspect.Signature": ("annotations",),
    "inspect.get_annotations": ("annotations",),
    "inspect.getdoc": ("docstrings",),
    "typing.get_type_hints": ("annotations",),
    "pydantic.PlainSerializer": ("annotations",),
    "pydantic.TypeAdapter": ("annotations", "docstrings"),
    "pydantic.WrapSerializer": ("annotations",),
    "pydantic.validate_call": ("annotations",),
    "__annotations__": ("annotations",),
    "__signature__": ("annotations",),
    "__doc__": ("docstrings",),
    "model_json_schema": ("annotations", "docstrings"),
}
"""What makes annotations or docstrings part of a result; only the spec may use it."""

NAMES = frozenset(
    "eval exec compile globals locals vars __import__ __builtins__ __file__ __doc__ "
    "__annotations__ __loader__ __spec__".split()
)
ATTRIBUTES = frozenset("__code__ __dict__ __globals__ __subclasses__ __builtins__".split())


def verdict(place: str) -> tuple[tuple[str, ...], tuple[str, str] | None]:
    """Say what an outside place reads, and why it may not be used at all, or None."""
    steps = place.split(".")
    for length in range(len(steps), 0, -1):
        known = ".".join(steps[:length])
        if known in HARMLESS or known in READERS:
            return READERS.get(known, ()), None
        if known in FORBIDDEN:
            return (), FORBIDDEN[known]
    return (), None
