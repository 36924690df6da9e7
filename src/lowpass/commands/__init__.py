"""What may be typed after ``python -m lowpass``: one module for each command.

A module describes its command in ``add`` and answers in ``run``, which imports what
it needs, so that a job starts without what other commands load.
"""
