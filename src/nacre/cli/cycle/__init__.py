"""`nacre cycle DIR`: batch rounds on the command line. It is imported when it is used.

`commands.py` is the program, whose command line `program.py` reads. `opening.py` has the options
that all commands share; `running.py` runs rounds; `steps.py`, `readers.py` and `segments.py` are
the commands after the directory; `texts.py` and `display.py` render results.
"""
