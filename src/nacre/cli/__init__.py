"""The command line.

`nacre --help` must be quick, so commands import their dependencies only when they run.
"""

from nacre.cli.process import collect_rarely


def main() -> None:
    """`nacre`."""
    collect_rarely()
    from nacre.cli.app import app
    from nacre.cli.program import late_group

    late_group(app, root=True)(prog_name="nacre")
