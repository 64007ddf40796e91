"""`nacre crawl` and `nacre new`: from URLs to a job."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.options import (
    AsJson,
    Assignments,
    Now,
    Quiet,
    RobotsName,
    ScopeName,
    Strict,
    clock_at,
)

if TYPE_CHECKING:
    from nacre.machine.layout import Layout
    from nacre.ops.new_job import NewJobResult
    from nacre.settings.settings import JobSettings

_WHAT, _HOW, _LIMITS = "What is crawled", "How", "Limits"


def _option(*names: str, help: str, panel: str, metavar: str | None = None) -> Any:  # noqa: A002, ANN401 - as typer has it
    return typer.Option(
        *names, help=help, rich_help_panel=panel, metavar=metavar, show_default=False
    )


Urls = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="URL", help="URLs to start from, or a file of them.", show_default=False
    ),
]
SeedFiles = Annotated[
    list[Path] | None,
    _option(
        "--seeds", "--input-file", "-i", metavar="FILE", panel=_WHAT,
        help="Read seeds from FILE, one per line, in any encoding; `-`: standard input. Invalid "
        "lines are reported and skipped.",
    ),
]  # fmt: skip
Scope = Annotated[
    ScopeName | None,
    _option(
        "--scope", metavar="page|prefix|host|domain|site|any", panel=_WHAT,
        help="How far to follow links: the page only, its folder (prefix, the default), host, "
        "domain (with subdomains), site (registered domain) or any. Embeds may come from anywhere.",
    ),
]  # fmt: skip
Profile = Annotated[
    str | None,
    _option(
        "--profile", metavar="NAME", panel=_WHAT,
        help="Use the settings for a kind of crawl; `nacre new --list-profiles` lists them.",
    ),
]  # fmt: skip
Depth = Annotated[
    int | None,
    typer.Option(
        "--depth", metavar="N", min=0, rich_help_panel=_WHAT, show_default=False,
        help="Follow links up to this depth; 0: only the seeds and their embeds.",
    ),
]  # fmt: skip
Level = Annotated[
    str | None,
    _option(
        "--level", "-l", metavar="N|inf", panel=_WHAT,
        help="Depth as in wget: `inf` or 0 for no limit.",
    ),
]  # fmt: skip
Include = Annotated[
    list[str] | None,
    _option(
        "--include",
        metavar="REGEX",
        panel=_WHAT,
        help="Crawl only pages whose URL matches; with several, one must match.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    _option(
        "--exclude", metavar="REGEX", panel=_WHAT, help="Do not crawl pages whose URL matches."
    ),
]
AllowNet = Annotated[
    list[str] | None,
    _option(
        "--allow-net", metavar="CIDR", panel=_WHAT, help="Allow a private network to be crawled."
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
        "--out", metavar="DIR", panel=_HOW, help="Directory of the job; default: crawls/HOST-TIME."
    ),
]
Contact = Annotated[
    str | None,
    _option(
        "--contact", metavar="WHO", panel=_HOW,
        help="Web page or mail address where site owners can reach you.",
    ),
]  # fmt: skip
UserAgent = Annotated[
    str | None,
    _option(
        "--user-agent", "-U", metavar="TEXT", panel=_HOW,
        help="User-Agent header; `{contact}` in it is replaced.",
    ),
]  # fmt: skip
Headers = Annotated[
    list[str] | None,
    _option(
        "--header", metavar="LINE", panel=_HOW,
        help="Add a header line to all requests, such as `Accept-Language: zh`.",
    ),
]  # fmt: skip
LoadCookies = Annotated[
    Path | None,
    _option(
        "--load-cookies",
        metavar="FILE",
        panel=_HOW,
        help="Load cookies from FILE, in Netscape's format.",
    ),
]
Delay = Annotated[
    str | None,
    _option(
        "--delay", "--wait", "-w", metavar="SECONDS", panel=_HOW,
        help="Wait this long between two fetches from a host; 0 only for your own servers.",
    ),
]  # fmt: skip
Parallel = Annotated[
    int | None,
    typer.Option(
        "--parallel", metavar="N", min=1, rich_help_panel=_HOW, show_default=False,
        help="Number of parallel fetches; default: 25.",
    ),
]  # fmt: skip
WarcPrefix = Annotated[
    str | None,
    _option("--warc-prefix", metavar="TEXT", panel=_HOW, help="First part of WARC file names."),
]
MaxPages = Annotated[
    int | None,
    typer.Option(
        "--max-pages", metavar="N", min=1, rich_help_panel=_LIMITS, show_default=False,
        help="Stop after this many documents.",
    ),
]  # fmt: skip
MaxBytes = Annotated[
    str | None,
    _option(
        "--max-bytes",
        metavar="SIZE",
        panel=_LIMITS,
        help="Stop after receiving this many bytes, such as 500MB.",
    ),
]
MaxTime = Annotated[
    str | None,
    _option(
        "--max-time",
        metavar="TIME",
        panel=_LIMITS,
        help="Stop after this time: 90 (seconds), 10m, 2h.",
    ),
]


def print_made(result: "NewJobResult") -> "tuple[Layout, JobSettings]":
    """Print the notes and warnings about a new job; return its directories and settings."""
    for note in result.notes:
        output.tell(f"nacre: {note}")
    output.warn(result.warnings)
    return result.layout, result.settings


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
    now: Now = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Crawl URLs now, with sensible defaults.

    Creates an ordinary job directory, so that all other commands work on it. Ctrl-C stops
    cleanly; `nacre run DIR` resumes.
    """
    from nacre.cli.running import run_and_summarize
    from nacre.ops.new_job import make_job, options_of

    clock = clock_at(now)
    layout, settings = print_made(make_job(options_of(ctx.params), out, "--out", clock))
    raise typer.Exit(run_and_summarize(layout, settings, clock, quiet=quiet, as_json=as_json))


def _list_profiles(is_set: bool) -> None:
    if is_set:
        from nacre.settings.layers import list_profiles

        output.say(
            output.table(
                [(profile.name, profile.purpose) for profile in list_profiles()], indent=""
            )
        )
        raise typer.Exit


def new(
    ctx: typer.Context,
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory to create.", show_default=False)
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
            help="List the profiles and exit.",
        ),
    ] = False,
) -> None:  # fmt: skip
    """Create a job directory with comments; `nacre run DIR` starts it."""
    from nacre.ops.new_job import make_job, options_of

    layout, _ = print_made(make_job(options_of(ctx.params), directory))
    program, job = output.program(), output.typed(layout.root)
    shown_root, settings = output.shown(layout.root), output.shown(layout.config)
    output.say(f"Made {shown_root}: settings in {settings}, seeds beside them.")
    output.say(f"Check:  {program} check {job}")
    output.say(f"Start:  {program} run {job}")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel="Crawl")(crawl)
    app.command(rich_help_panel="Crawl")(new)
