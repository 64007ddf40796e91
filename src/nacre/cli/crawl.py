"""`nacre crawl` and `nacre new`: from URLs to a job."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, Assignments, Quiet, RobotsName, ScopeName, Strict

_WHAT, _HOW, _LIMITS = "What is crawled", "How", "Limits"


def _option(*names: str, help: str, panel: str, metavar: str | None = None) -> Any:  # noqa: A002, ANN401 - as typer has it
    return typer.Option(
        *names, help=help, rich_help_panel=panel, metavar=metavar, show_default=False
    )


Urls = Annotated[
    list[str] | None,
    typer.Argument(metavar="URL", help="Seeds; or a file of seeds.", show_default=False),
]
SeedFiles = Annotated[
    list[Path] | None,
    _option(
        "--seeds", "--input-file", "-i", metavar="FILE", panel=_WHAT,
        help="File of seeds, one a line, in any encoding; `-`: standard input. Lines that are no "
        "seed are skipped and named.",
    ),
]  # fmt: skip
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
Level = Annotated[
    str | None,
    _option(
        "--level", "-l", metavar="N|inf", panel=_WHAT,
        help="The same as wget has it: `inf` and 0 are no limit.",
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
UserAgent = Annotated[
    str | None,
    _option(
        "--user-agent", "-U", metavar="TEXT", panel=_HOW,
        help="User-Agent; `{contact}` in it is filled in.",
    ),
]  # fmt: skip
Headers = Annotated[
    list[str] | None,
    _option(
        "--header", metavar="LINE", panel=_HOW,
        help="A header line of all requests, such as `Accept-Language: zh`.",
    ),
]  # fmt: skip
LoadCookies = Annotated[
    Path | None,
    _option("--load-cookies", metavar="FILE", panel=_HOW, help="Cookies, in Netscape's format."),
]
Delay = Annotated[
    str | None,
    _option(
        "--delay", "--wait", "-w", metavar="SECONDS", panel=_HOW,
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
    ctx: typer.Context,
    urls: Urls = None,
    *,
    seed_files: SeedFiles = None,
    strict: Strict = False,
    profile: Profile = None,
    scope: Scope = None,
    depth: Depth = None,
    level: Level = None,
    include: Include = None,
    exclude: Exclude = None,
    allow_net: AllowNet = None,
    robots: Robots = None,
    out: Out = None,
    contact: Contact = None,
    user_agent: UserAgent = None,
    headers: Headers = None,
    load_cookies: LoadCookies = None,
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
    from nacre.cli.new_job import make_job, wishes_of

    layout, settings = make_job(wishes_of(ctx.params), out, "--out")
    raise typer.Exit(run_and_tell(layout, settings, quiet=quiet, as_json=as_json))


def _list_profiles(wanted: bool) -> None:
    if wanted:
        from nacre.job.configuration.profiles import profiles

        output.say(output.table([(one.name, one.purpose) for one in profiles()], indent=""))
        raise typer.Exit


def new(
    ctx: typer.Context,
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory to be made.", show_default=False)
    ],
    urls: Urls = None,
    *,
    seed_files: SeedFiles = None,
    strict: Strict = False,
    profile: Profile = None,
    scope: Scope = None,
    depth: Depth = None,
    level: Level = None,
    include: Include = None,
    exclude: Exclude = None,
    allow_net: AllowNet = None,
    robots: Robots = None,
    contact: Contact = None,
    user_agent: UserAgent = None,
    headers: Headers = None,
    load_cookies: LoadCookies = None,
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
    from nacre.cli.new_job import make_job, wishes_of

    layout, _ = make_job(wishes_of(ctx.params), directory)
    program, job = output.program(), output.typed(layout.root)
    made, settings = output.shown(layout.root), output.shown(layout.config)
    output.say(f"Made {made}: settings in {settings}, seeds beside them.")
    output.say(f"Check:  {program} check {job}")
    output.say(f"Start:  {program} run {job}")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel="Crawl")(crawl)
    app.command(rich_help_panel="Crawl")(new)
