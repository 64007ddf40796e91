"""`nacre replay`: shows an archive in a browser."""

from typing import Annotated, Literal

import typer

from nacre.cli import output
from nacre.cli.console_options import ReplayHost, SingleHost
from nacre.cli.installing import Yes, offering
from nacre.cli.options import holding_of

Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="JOB|COLLECTION|FILE...",
        help="A job, a collection, or WARC and WACZ files; several are shown together.",
        show_default=False,
    ),
]
Port = Annotated[
    int,
    typer.Option(
        "--port", metavar="N", min=0, max=65535, help="Port on the loopback; 0 for a free port."
    ),
]
Open = Annotated[bool, typer.Option("--open", help="Open the archive in the browser.")]
With = Annotated[
    Literal["pywb"] | None,
    typer.Option(
        "--with", metavar="pywb", show_default=False,
        help="Show it by pywb, which must be installed, in place of Nacre's own replay.",
    ),
]  # fmt: skip
Cors = Annotated[
    bool,
    typer.Option(
        "--cors", help="Let pages of other origins read WACZ files, with the key of programs."
    ),
]


def replay(
    ctx: typer.Context,
    targets: Targets,
    *,
    port: Port = 8411,
    open_browser: Open = False,
    with_program: With = None,
    replay_host: ReplayHost = "",
    single_host: SingleHost = False,
    cors: Cors = False,
    _: Yes = False,
) -> None:
    """Show an archive in the browser, until Ctrl-C.

    Archived pages run on a separate origin, which reaches neither the live web nor other jobs.
    Only this machine can open them, by the printed link.
    """
    if with_program == "pywb":
        from nacre.ops.replay import run_pywb

        raise typer.Exit(run_pywb(targets, port, output.tell))

    # Large indexes are read once, here; what is no archive is refused before an extra is offered.
    holding_of(targets)
    options = (port, replay_host, single_host, cors)
    needs = ("replay needs", "console")
    offering(ctx, lambda: _serve(targets, options, opens=open_browser), needs)


def _serve(targets: list[str], options: tuple[int, str, bool, bool], *, opens: bool) -> None:
    from nacre.cli.process import run
    from nacre.machine.clock import SystemClock
    from nacre.replay_server.server import OpenedReplay, ReplayOptions, serve

    def say_opened(opened: OpenedReplay) -> None:
        output.say(f"Nacre replay on {opened.url}")
        output.say("  the link works once, for 5 minutes; later the page asks for this key:")
        output.say(f"  key      {opened.key}")
        output.say(f"  programs {opened.programs} (Memento, CDX), with the key as Bearer token")
        output.say("  only this machine can reach it, and it never asks the live web")
        if opens and typer.launch(opened.url) != 0:
            output.tell("no browser could be opened: open the link above in one")

    run(serve(targets, ReplayOptions(*options), SystemClock(), say_opened))


COMMANDS = {"replay": replay}
