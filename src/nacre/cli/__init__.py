"""The command line. `nacre --help` must be quick: commands import what they need when they run."""

from nacre.cli.app import app


def main() -> None:
    """`nacre`."""
    app(prog_name="nacre")
