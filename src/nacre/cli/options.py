"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated, Literal

import typer

JobDir = Annotated[
    Path, typer.Argument(metavar="DIR", help="Directory of the job.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also what tells of the crawler's own workings.")
]
Html = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="FILE", show_default=False,
        help="Write it as one page of HTML, with plots, that prints on A4.",
    ),
]  # fmt: skip
Language = Literal["en", "zh"]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Any other setting.", show_default=False),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="A line of the seed list that is no seed stops it.")
]
ScopeName = Literal["page", "prefix", "host", "domain", "site", "any"]
RobotsName = Literal["obey", "ignore"]

Regex = Annotated[
    str,
    typer.Option("--regex", "-r", metavar="REGEX", help="Found in the URL.", show_default=False),
]
Everything = Annotated[
    bool, typer.Option("--all", help="Without --regex and --queue: all of them.")
]


def require_choice(regex: str, queue: str, *, everything: bool) -> None:
    """What cannot be taken back needs to be told which URIs it is for.

    Raises:
        ConfigError: Nothing says it.
    """
    from nacre.errors import ConfigError

    if not (regex or queue or everything):
        raise ConfigError("say which: --regex, --queue, or --all")
