"""`nacre crawl` and `nacre new`: from URLs to a job."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, Assignments, Quiet, RobotsName, ScopeName

_WHAT, _HOW, _LIMITS = "What is crawled", "How", "Limits"


def _option(*names: str, help: str, panel: str, metavar: str | None = None) -> Any:  # noqa: A002, ANN401 - as typer has it
    return typer.Option(
        *names, help=help, rich_help_panel=panel, metavar=metavar, show_default=False
    )


Urls = Annotated[list[str], typer.Argument(metavar="URL", help="Seeds.", show_default=False)]
Scope = Annotated[
    ScopeName | None,
    _option(
        "--scope", metavar="page|prefix|host|domain|site|any", panel=_WHAT,
        help="How far from the seeds: the page, its folder (prefix, the default), host, domain "
        "(subdomains too), site (registered domain), any. Embeds may come from anywhere.",
    ),
]  # fmt: skip
Profile = Annotated[
    str | None,
    _option(
        "--profile", metavar="NAME", panel=_WHAT,
        help="Begin with the settings for a kind of crawl; `nacre new --list-profiles` names them.",
    ),
]  # fmt: skip
Depth = Annotated[
    int | None,
    typer.Option(
        "--depth", metavar="N", min=0, rich_help_panel=_WHAT, show_default=False,
        help="Links followed from a seed; 0: the seeds with what they embed.",
    ),
]  # fmt: skip
Include = Annotated[
    list[str] | None,
    _option(
        "--include",
        metavar="REGEX",
        panel=_WHAT,
        help="Crawl only pages whose URL matches; of several, one must.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    _option("--exclude", metavar="REGEX", panel=_WHAT, help="Leave out pages whose URL matches."),
]
AllowNet = Annotated[
    list[str] | None,
    _option(
        "--allow-net", metavar="CIDR", panel=_WHAT, help="A private network that may be crawled."
    ),
]
Robots = Annotated[
    RobotsName | None,
    _option(
        "--robots",
        metavar="obey|ignore",
        panel=_WHAT,
        help="Obey robots.txt (the default) or ignore it.",
    ),
]
Out = Annotated[
    Path | None,
    _option(
        "--out", metavar="DIR", panel=_HOW, help="Directory of the job; else crawls/HOST-TIME."
    ),
]
Contact = Annotated[
    str | None,
    _option(
        "--contact", metavar="WHO", panel=_HOW,
        help="Web page or mail address where the owners of sites reach you.",
    ),
]  # fmt: skip
Delay = Annotated[
    str | None,
    _option(
        "--delay", metavar="SECONDS", panel=_HOW,
        help="Fixed wait between two fetches from a host; 0 for your own servers only.",
    ),
]  # fmt: skip
Parallel = Annotated[
    int | None,
    typer.Option(
        "--parallel", metavar="N", min=1, rich_help_panel=_HOW, show_default=False,
        help="Fetches at the same time; else 25.",
    ),
]  # fmt: skip
WarcPrefix = Annotated[
    str | None,
    _option("--warc-prefix", metavar="TEXT", panel=_HOW, help="First part of WARC names."),
]
MaxPages = Annotated[
    int | None,
    typer.Option(
        "--max-pages", metavar="N", min=1, rich_help_panel=_LIMITS, show_default=False,
        help="End after so many documents.",
    ),
]  # fmt: skip
MaxBytes = Annotated[
    str | None,
    _option(
        "--max-bytes",
        metavar="SIZE",
        panel=_LIMITS,
        help="End after so many bytes received, such as 500MB.",
    ),
]
MaxTime = Annotated[
    str | None,
    _option(
        "--max-time",
        metavar="TIME",
        panel=_LIMITS,
        help="End after this time: 90 (seconds), 10m, 2h.",
    ),
]


def crawl(
    urls: Urls,
    *,
    profile: Profile = None,
    scope: Scope = None,
    depth: Depth = None,
    include: Include = None,
    exclude: Exclude = None,
    allow_net: AllowNet = None,
    robots: Robots = None,
    out: Out = None,
    contact: Contact = None,
    delay: Delay = None,
    parallel: Parallel = None,
    warc_prefix: WarcPrefix = None,
    assignments: Assignments = None,
    max_pages: MaxPages = None,
    max_bytes: MaxBytes = None,
    max_time: MaxTime = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Crawl now, with sensible defaults.

    Makes an ordinary job directory, so that all other commands work on it. Ctrl-C ends cleanly;
    `nacre run DIR` goes on.
    """
    from nacre.cli.jobs import run_and_tell
    from nacre.cli.new_job import Wishes, make_job

    wishes = Wishes(
        urls=urls, profile=profile or "", scope=scope, depth=depth, include=include or (),
        exclude=exclude or (), allow_net=allow_net or (), robots=robots, contact=contact,
        delay=delay, parallel=parallel, warc_prefix=warc_prefix, assignments=assignments or (),
        max_pages=max_pages, max_bytes=max_bytes, max_time=max_time,
    )  # fmt: skip
    layout, settings = make_job(wishes, out)
    raise typer.Exit(run_and_tell(layout, settings, quiet=quiet, as_json=as_json))


def _list_profiles(wanted: bool) -> None:
    if wanted:
        from nacre.job.configuration.profiles import profiles

        output.say(output.table([(one.name, one.purpose) for one in profiles()], indent=""))
        raise typer.Exit


def new(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory to be made.", show_default=False)
    ],
    urls: Urls,
    *,
    profile: Profile = None,
    scope: Scope = None,
    depth: Depth = None,
    include: Include = None,
    exclude: Exclude = None,
    allow_net: AllowNet = None,
    robots: Robots = None,
    contact: Contact = None,
    delay: Delay = None,
    parallel: Parallel = None,
    warc_prefix: WarcPrefix = None,
    assignments: Assignments = None,
    max_pages: MaxPages = None,
    max_bytes: MaxBytes = None,
    max_time: MaxTime = None,
    list_profiles: Annotated[
        bool,
        typer.Option(
            "--list-profiles", callback=_list_profiles, is_eager=True, rich_help_panel=_WHAT,
            help="Name the profiles and end.",
        ),
    ] = False,
) -> None:  # fmt: skip
    """Write a commented job directory; `nacre run DIR` starts it."""
    from nacre.cli.new_job import Wishes, make_job

    wishes = Wishes(
        urls=urls, profile=profile or "", scope=scope, depth=depth, include=include or (),
        exclude=exclude or (), allow_net=allow_net or (), robots=robots, contact=contact,
        delay=delay, parallel=parallel, warc_prefix=warc_prefix, assignments=assignments or (),
        max_pages=max_pages, max_bytes=max_bytes, max_time=max_time,
    )  # fmt: skip
    layout, _ = make_job(wishes, directory)
    program, job = output.program(), output.typed(layout.root)
    made, settings = output.shown(layout.root), output.shown(layout.config)
    output.say(f"Made {made}: settings in {settings}, seeds beside them.")
    output.say(f"Check:  {program} check {job}")
    output.say(f"Start:  {program} run {job}")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel="Crawl")(crawl)
    app.command(rich_help_panel="Crawl")(new)
