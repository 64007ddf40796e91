"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated, Literal

import typer

JobDir = Annotated[
    Path, typer.Argument(metavar="DIR", help="Directory of the job.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Any other setting.", show_default=False),
]
ScopeName = Literal["page", "prefix", "host", "domain", "site", "any"]
RobotsName = Literal["obey", "ignore"]
