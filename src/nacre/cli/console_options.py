"""Options that several commands of `nacre console` have."""

from pathlib import Path
from typing import Annotated, Literal

import typer

PORT = 8410

State = Annotated[
    Path | None,
    typer.Option(
        "--state", metavar="DIR", show_default=False,
        help="Folder of the console's own files; default: ~/.local/state/nacre/console.",
    ),
]  # fmt: skip
Places = Annotated[
    list[str] | None,
    typer.Option(
        "--place", metavar="LABEL", show_default=False,
        help="See only the jobs of this place, by the first part of their ids; can be repeated.",
    ),
]  # fmt: skip
Directories = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[DIR ...]", show_default=False,
        help="Directories that hold jobs, or jobs; default: this directory, if it "
        "has jobs and no crawls; else crawls.",
    ),
]  # fmt: skip
Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0: a free one.")
]
Host = Annotated[
    list[str] | None,
    typer.Option(
        "--host", metavar="NAME", show_default=False,
        help="Answer under this name too; localhost, 127.0.0.1 and [::1] are known.",
    ),
]  # fmt: skip
Bind = Annotated[
    str,
    typer.Option(
        "--bind", metavar="ADDR", show_default=False,
        help="Address on which it listens, such as 192.0.2.5; default: the loopback. Another one "
        "needs users, and --tls or --behind-proxy.",
    ),
]  # fmt: skip
Tls = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        "--tls", metavar="CERT KEY", show_default=False,
        help="Files of the certificate and its key, PEM: serve HTTPS.",
    ),
]  # fmt: skip
BehindProxy = Annotated[
    str,
    typer.Option(
        "--behind-proxy", metavar="ADDR", show_default=False,
        help="Address of a proxy that speaks HTTPS to others; it needs users and --host.",
    ),
]  # fmt: skip
LocalLink = Annotated[
    bool, typer.Option("--local-link", help="Take links of `nacre console link` beside users.")
]
OpenBrowser = Annotated[bool, typer.Option("--open", help="Open it in the browser.")]
MaxRunning = Annotated[
    int | None,
    typer.Option(
        "--max-running", metavar="N", min=1, show_default=False,
        help="Jobs that run at the same time; further ones wait for their turn. Default: one for "
        "each processor.",
    ),
]  # fmt: skip
HeritrixPort = Annotated[
    int | None,
    typer.Option(
        "--heritrix", metavar="N", min=0, max=65535, show_default=False,
        help="Answer Heritrix 3's REST interface on this port too, with TLS; theirs is 8443.",
    ),
]  # fmt: skip
HeritrixAuth = Annotated[
    Literal["digest", "basic"],
    typer.Option("--heritrix-auth", metavar="digest|basic", help="How its clients log in."),
]
HeritrixRunning = Annotated[
    bool,
    typer.Option(
        "--heritrix-running",
        help="A job that is launched there crawls at once; else it waits for `unpause`.",
    ),
]
HeritrixResume = Annotated[
    bool,
    typer.Option(
        "--heritrix-resume",
        help="A launch there goes on with a run that was terminated; else it begins anew.",
    ),
]
