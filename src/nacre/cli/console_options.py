"""Options that several commands of `nacre console` have."""

from pathlib import Path
from typing import Annotated, Literal

import typer

PORT = 8410

State = Annotated[
    Path | None,
    typer.Option(
        "--state", metavar="DIR", show_default=False,
        help="Directory of the console's own files; default: ~/.local/state/nacre/console.",
    ),
]  # fmt: skip
Places = Annotated[
    list[str] | None,
    typer.Option(
        "--place", metavar="LABEL", show_default=False,
        help="Allow only the jobs of this place, the first part of their ids; can be repeated.",
    ),
]  # fmt: skip
Directories = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[DIR ...]", show_default=False,
        help="Directories with jobs, or jobs; default: this directory if it has jobs and no "
             "crawls/, otherwise crawls.",
    ),
]  # fmt: skip
Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0: a free one.")
]
Host = Annotated[
    list[str] | None,
    typer.Option(
        "--host", metavar="NAME", show_default=False,
        help="Also answer under this host name; localhost, 127.0.0.1 and [::1] are always "
             "accepted.",
    ),
]  # fmt: skip
Bind = Annotated[
    str,
    typer.Option(
        "--bind", metavar="ADDR", show_default=False,
        help="Address to listen on, such as 192.0.2.5; default: the loopback. Other addresses "
             "need users, and --tls or --behind-proxy.",
    ),
]  # fmt: skip
Tls = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        "--tls", metavar="CERT KEY", show_default=False,
        help="Serve HTTPS with this certificate and key (PEM files).",
    ),
]  # fmt: skip
BehindProxy = Annotated[
    str,
    typer.Option(
        "--behind-proxy", metavar="ADDR", show_default=False,
        help="Address of a proxy that serves HTTPS to other machines; needs users and --host.",
    ),
]  # fmt: skip
LocalLink = Annotated[
    bool,
    typer.Option(
        "--local-link", help="Accept links of `nacre console link` even if there are users."
    ),
]
OpenBrowser = Annotated[bool, typer.Option("--open", help="Open the console in the browser.")]
MaxRunning = Annotated[
    int | None,
    typer.Option(
        "--max-running", metavar="N", min=1, show_default=False,
        help="Largest number of parallel jobs; further jobs wait in a queue. Default: one for "
             "each processor.",
    ),
]  # fmt: skip
HeritrixPort = Annotated[
    int | None,
    typer.Option(
        "--heritrix", metavar="N", min=0, max=65535, show_default=False,
        help="Also answer Heritrix 3's REST interface on this port, with TLS; Heritrix uses "
             "8443.",
    ),
]  # fmt: skip
HeritrixAuth = Annotated[
    Literal["digest", "basic"],
    typer.Option(
        "--heritrix-auth", metavar="digest|basic", help="Authentication of Heritrix's clients."
    ),
]
HeritrixRunning = Annotated[
    bool,
    typer.Option(
        "--heritrix-running",
        help="A job launched through Heritrix's interface crawls at once; default: it waits "
        "for `unpause`.",
    ),
]
HeritrixResume = Annotated[
    bool,
    typer.Option(
        "--heritrix-resume",
        help="A launch through Heritrix's interface resumes a terminated run; default: it "
        "begins a new run.",
    ),
]
ReplayPort = Annotated[
    int | None,
    typer.Option(
        "--replay-port", metavar="N", min=0, max=65535, show_default=False,
        help="Port of replay, which shows captures; default: 8411, or a free port if that is in "
             "use.",
    ),
]  # fmt: skip
ReplayHost = Annotated[
    str,
    typer.Option(
        "--replay-host", metavar="NAME", show_default=False,
        help="Host name of replay behind a proxy that serves HTTPS, such as replay.example.org; "
             "it and *.NAME must lead to the port of replay.",
    ),
]  # fmt: skip
SingleHost = Annotated[
    bool,
    typer.Option(
        "--single-host",
        help="There are no names below the host name of replay (no wildcard): pages are shown "
        "without their scripts.",
    ),
]
