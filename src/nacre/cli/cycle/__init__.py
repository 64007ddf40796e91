"""`nacre cycle DIR`: commands of batch rounds.

`commands.py` makes each command from an operation in `ops` and a view, which prints its result:
those of `steps.py`, `readers.py` and `tables.py`. `step_commands.py` has the mechanism,
`program.py` reads the command line, `running.py` runs rounds, `display.py` shows their progress.
"""
