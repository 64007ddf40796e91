"""The command line. `nacre --help` must be quick: commands import what they need when they run."""

from nacre.cli.process import collect_rarely


def main() -> None:
    """`nacre`."""
    collect_rarely()
    from nacre.cli.app import app
    from nacre.cli.program import late_group

    late_group(app, root=True)(prog_name="nacre")
