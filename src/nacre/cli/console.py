"""`nacre console`: pages and a REST interface to see and steer jobs, and the keys of it."""

from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nacre.cli import (
    console_jobs,
    console_places,
    console_quotas,
    console_schedules,
    console_users,
    console_webhooks,
    output,
)
from nacre.cli.console_options import (
    PORT,
    BehindProxy,
    Bind,
    Directories,
    HeritrixAuth,
    HeritrixPort,
    HeritrixResume,
    HeritrixRunning,
    Host,
    LocalLink,
    MaxRunning,
    OpenBrowser,
    Places,
    Port,
    ReplayHost,
    ReplayPort,
    SingleHost,
    State,
    Tls,
)
from nacre.cli.installing import Yes, offering, taken_yes
from nacre.cli.options import AsJson
from nacre.cli.program import CommandGroup, Program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nacre.console.server import OpenedConsole
    from nacre.fleet.database import ConsoleDatabase
    from nacre.fleet.keys import KeyBook
    from nacre.fleet.places import JobPlace
    from nacre.fleet.reach import ConsoleOptions, PortOptions
    from nacre.replay_server.server import ReplayOptions

_SERVE = "serve"


class ConsoleGroup(CommandGroup):
    """`nacre console`: arguments without a command are those of `serve`."""

    _helps = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as its base says
        """Parse the arguments; without a command, insert `serve`."""
        args = taken_yes(ctx, args)
        asks_help = any(name in args for name in ctx.help_option_names)
        if not (args and args[0] in self.commands) and not (asks_help and len(args) == 1):
            args = [_SERVE, *args]
        return list(super().parse_args(ctx, args))

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - as its base says
        """Write the help, with the options of `serve`: without a command they are its own."""
        self._helps = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._helps = False

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - as its base says
        """Its parameters; in the help also those of `serve`, which have an own `--help`."""
        own = super().get_params(ctx)
        if not self._helps:
            return list(own)
        served = self.commands[_SERVE].get_params(ctx)
        return [*(param for param in served if param.name != "help"), *own]

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as its base says
        """Run it; an extra that is missing is offered."""
        needs = ("the console needs", "console")
        return offering(ctx, lambda: super(ConsoleGroup, self).invoke(ctx), needs)


console = Program(cls=ConsoleGroup)


@console.callback()
def _console() -> None:
    """See and steer jobs in a browser.

    `nacre console` serves the jobs below the folder `crawls`, `nacre console DIR` those below other
    directories; the options are those of `serve`. Jobs are separate processes, which continue when
    the console ends. If the extra `console` is missing, --yes installs it.
    """


Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the key.", show_default=False)]


@console.command()
def serve(
    directories: Directories = None,
    *,
    port: Port = PORT,
    host: Host = None,
    bind: Bind = "",
    tls: Tls = None,
    behind_proxy: BehindProxy = "",
    local_link: LocalLink = False,
    max_running: MaxRunning = None,
    heritrix: HeritrixPort = None,
    heritrix_auth: HeritrixAuth = "digest",
    heritrix_running: HeritrixRunning = False,
    heritrix_resume: HeritrixResume = False,
    replay_port: ReplayPort = None,
    replay_host: ReplayHost = "",
    single_host: SingleHost = False,
    open_browser: OpenBrowser = False,
    state: State = None,
    _: Yes = False,
) -> None:
    """Serve the pages until Ctrl-C, by default only to this machine. The default command."""
    from nacre.cli.process import run
    from nacre.console import server
    from nacre.fleet.database import state_folder
    from nacre.fleet.reach import CORES, ConsoleOptions, ConsoleReach
    from nacre.machine.clock import SystemClock
    from nacre.replay_server.beside import beside_console
    from nacre.replay_server.server import PORT as REPLAY_PORT
    from nacre.replay_server.server import ReplayOptions

    places, folder = _places(directories), state or state_folder()
    theirs = _port_options(heritrix, heritrix_auth, heritrix_running, heritrix_resume)
    reach = ConsoleReach(bind, tls, behind_proxy, tuple(host or ()), local_link)
    most = max_running or CORES
    options = ConsoleOptions(places, port, folder, reach, theirs, most)

    def opened(console: "OpenedConsole") -> None:
        _say_opened(console, places)
        if open_browser:
            typer.launch(_entry(console))

    replay_at = REPLAY_PORT if replay_port is None else replay_port
    replay = beside_console(
        ReplayOptions(replay_at, replay_host, single_host), is_fixed=replay_port is not None
    )
    run(server.serve(options, SystemClock(), opened, replay))


def _places(directories: "list[Path] | None") -> "tuple[JobPlace, ...]":
    from nacre.fleet.places import find_jobs, new_place, places_of

    if directories:
        _require_no_command(directories)
        return places_of(directories)
    usual = Path("crawls")
    here = places_of([Path()])
    # The first job is made below crawls, as `nacre crawl` makes it: later consoles find both.
    return here if not usual.is_dir() and find_jobs(here) else (new_place(usual.absolute(), ()),)


def _require_no_command(directories: "list[Path]") -> None:
    """Refuse the name of a command in the place of a directory: an option came before it."""
    from nacre.errors import JobError

    names = {group.name for group in console.registered_groups}
    names |= {command.name for command in console.registered_commands}
    for directory in directories:
        if str(directory) in names and not directory.exists():
            raise JobError(
                f"{directory} is not a directory. If you mean the command, its options come after "
                f"it: `nacre console {directory} ... --state DIR`"
            )


def _link(url: str, keys: "KeyBook") -> str:
    return f"{url}#k={keys.new_link()}"


def _entry(console: "OpenedConsole") -> str:
    """The URL that leads into a console: a link, or without links the form to log in."""
    parts = console.parts
    takes = parts.common.reach.local_link or parts.access.users.is_empty
    return _link(console.url, parts.access.keys) if takes else console.url


def _say_opened(console: "OpenedConsole", places: "tuple[JobPlace, ...]") -> None:
    from nacre.fleet.checks import reach_words
    from nacre.job.control import is_running
    from nacre.rounds.rounds_mark import rounds_run

    parts = console.parts
    entry = _entry(console)
    program = output.program()
    output.say(f"Nacre console on {entry}")
    if "#k=" in entry:
        output.say(f"  the link works once, for 5 minutes; `{program} console link` prints another")
    layouts = [job.layout for job in parts.common.fleet.jobs]
    running = sum(is_running(layout.socket) or rounds_run(layout) for layout in layouts)
    roots = ", ".join(output.format_path(place.root) for place in places)
    counted = f"{output.count(len(layouts), 'job')}, {running} running"
    output.say(f"  jobs     {roots} ({counted}), found and never touched until you say so")
    output.say(f"  replay   {console.replay}")
    if parts.standing.elsewhere is not None:
        output.say(f"  {parts.standing.elsewhere.words}:")
        output.say("           this console only shows its jobs, and takes over when that one ends")
    if console.heritrix:
        output.say(f"  heritrix {console.heritrix}")
        output.say(f"           `{program} console heritrix-key admin` makes a key for its scripts")
    if parts.common.reach.is_remote:
        output.say(f"  reached by {reach_words(parts.common.reach)}")
    else:
        output.say(
            "  only this machine can reach it. For other machines: `Remote` in console.md of"
        )
        output.say("  the documentation (nacre help docs)")


@console.command()
def check(
    directories: Directories = None,
    *,
    port: Port = PORT,
    host: Host = None,
    bind: Bind = "",
    tls: Tls = None,
    behind_proxy: BehindProxy = "",
    local_link: LocalLink = False,
    max_running: MaxRunning = None,
    heritrix: HeritrixPort = None,
    heritrix_auth: HeritrixAuth = "digest",
    heritrix_running: HeritrixRunning = False,
    heritrix_resume: HeritrixResume = False,
    replay_port: ReplayPort = None,
    replay_host: ReplayHost = "",
    single_host: SingleHost = False,
    open_browser: OpenBrowser = False,
    state: State = None,
    _: Yes = False,
) -> None:
    """Print what would be served, who could reach it and who could log in; open nothing.

    Takes the options of `nacre console`.
    """
    from nacre.fleet.database import state_folder
    from nacre.fleet.reach import CORES, ConsoleOptions, ConsoleReach
    from nacre.replay_server.server import PORT as REPLAY_PORT
    from nacre.replay_server.server import ReplayOptions
    from nacre.web.port import load_port_maker

    if heritrix is not None:
        load_port_maker()
    theirs = _port_options(heritrix, heritrix_auth, heritrix_running, heritrix_resume)
    reach = ConsoleReach(bind, tls, behind_proxy, tuple(host or ()), local_link)
    places, folder, most = _places(directories), state or state_folder(), max_running or CORES
    replay_at = REPLAY_PORT if replay_port is None else replay_port
    problems = _say_checked(
        ConsoleOptions(places, port, folder, reach, theirs, most),
        ReplayOptions(replay_at, replay_host, single_host),
        opens=open_browser,
    )
    if problems:
        raise typer.Exit(1)


def _port_options(port: int | None, auth: str, runs: bool, resumes: bool) -> "PortOptions | None":
    """The options of Heritrix's port; None if it is not served."""
    from nacre.fleet.reach import PortOptions

    return None if port is None else PortOptions(port, auth == "basic", runs, resumes)


def _say_checked(options: "ConsoleOptions", replay: "ReplayOptions", *, opens: bool) -> list[str]:
    """Print what would be served; return the problems that prevent it."""
    from nacre.fleet import checks
    from nacre.fleet.database import ConsoleDatabase, running_console
    from nacre.fleet.places import find_jobs
    from nacre.fleet.users import UserBook
    from nacre.machine.clock import SystemClock

    reach, clock, folder = options.reach, SystemClock(), options.folder
    with closing(ConsoleDatabase(folder)) as database:
        problems = checks.reach_problems(reach, UserBook(database, clock), clock.now())
        access = checks.access_words(database, reach, clock)
        keys = checks.heritrix_advice(database) if options.heritrix is not None else []
    hints = keys + ([] if problems else checks.advice(reach, folder, clock.now()))
    running = running_console(folder)
    roots = ", ".join(output.format_path(place.root) for place in options.places)
    jobs = output.count(len(find_jobs(options.places)), "job")
    output.say(f"jobs     {roots} ({jobs}; {options.max_running} run at a time)")
    output.say(f"URL      {checks.own_url(reach, options.port)}{', opened in the browser' * opens}")
    _say_replay(replay)
    if options.heritrix is not None:
        _say_port(options.heritrix)
    output.say(f"reached  by {checks.reach_words(reach)}")
    output.say("access   " + "\n         ".join(access))
    output.say(f"files    {output.format_path(folder)}")
    if running is not None:
        output.say(f"running  {running.url} (process {running.pid})")
    for hint in hints:
        output.say(f"advice   {hint}")
    for problem in problems:
        output.say(f"refused  {problem}")
    return problems


def _say_replay(options: "ReplayOptions") -> None:
    named = options.host or f"replay.localhost:{options.port}"
    without = " (pages without their scripts)" if options.is_single else ""
    output.say(f"replay   {'https' if options.host else 'http'}://{named}/{without}")
    if not options.host:
        output.say("         (Safari may not find *.localhost; other browsers do)")


def _say_port(options: "PortOptions") -> None:
    starts = "crawls at once" if options.runs_at_once else "waits for `unpause`"
    again = "resumes" if options.resumes else "starts a new crawl"
    auth = "basic" if options.basic else "digest"
    output.say(f"heritrix https://localhost:{options.port}/engine, log-in by {auth}; a launched")
    output.say(f"         job {starts}; after `terminate`, a launch {again}")


@contextmanager
def _keys(state: Path | None) -> "Iterator[tuple[Path, KeyBook]]":
    """The folder of the console's own files, and the keys in it."""
    from nacre.fleet.database import ConsoleDatabase, state_folder
    from nacre.fleet.keys import KeyBook
    from nacre.machine.clock import SystemClock

    folder = state or state_folder()
    with closing(ConsoleDatabase(folder)) as database:
        yield folder, KeyBook(database, SystemClock())


@console.command("link")
def link(state: State = None, as_json: AsJson = False) -> None:
    """Print another link to the running console; it works once, for 5 minutes."""
    from nacre.errors import JobError
    from nacre.fleet.database import running_console
    from nacre.fleet.users import UserBook
    from nacre.machine.clock import SystemClock

    with _keys(state) as (folder, keys), _database(state) as database:
        running = running_console(folder)
        if running is None:
            raise JobError("no console runs here; start it by `nacre console`")
        if not (running.local_link or UserBook(database, SystemClock()).is_empty):
            raise JobError(
                f"this console has users: log in by name and password at {running.url}; "
                "`nacre console --local-link` takes links too"
            )
        url = _link(running.url, keys)
    if as_json:
        output.say_json({"link": url})
        return
    output.say(url)


@contextmanager
def _database(state: Path | None) -> "Iterator[ConsoleDatabase]":
    from nacre.fleet.database import ConsoleDatabase, state_folder

    with closing(ConsoleDatabase(state or state_folder())) as database:
        yield database


key = Program()
console.add_typer(key, name="key")
console.add_typer(console_users.user, name="user")
console.add_typer(console_users.session, name="session")
console.add_typer(console_jobs.job, name="job")
console.add_typer(console_schedules.schedule, name="schedule")
console.add_typer(console_quotas.quota, name="quota")
console.add_typer(console_webhooks.webhook, name="webhook")
console.add_typer(console_places.place, name="place")


@key.callback()
def _key() -> None:
    """Keys of programs, which send them as `Authorization: Bearer KEY`."""


@key.command("add")
def add_key(
    name: Name,
    role: Annotated[
        Literal["viewer", "operator", "admin"],
        typer.Option(
            "--role", metavar="viewer|operator|admin",
            help="viewer: read; operator: run and edit jobs; admin: also manage keys, places "
                 "and users.",
        ),
    ] = "viewer",
    place: Places = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Create a key; it is shown once, and only its hash is stored."""
    from nacre.fleet.database import ConsoleDatabase, state_folder
    from nacre.fleet.keys import KeyBook
    from nacre.fleet.place_book import PlaceBook
    from nacre.machine.clock import SystemClock
    from nacre.ops.operation import Role, role_named

    with closing(ConsoleDatabase(state or state_folder())) as database:
        PlaceBook(database).require(place or ())
        secret = KeyBook(database, SystemClock()).add(
            name, role_named(role) or Role.VIEWER, place or ()
        )
    if as_json:
        output.say_json({"name": name, "role": role, "key": secret})
        return
    output.say(secret)


@console.command("heritrix-key")
def heritrix_key(
    name: Name,
    role: Annotated[
        Literal["viewer", "operator", "admin"],
        typer.Option("--role", metavar="viewer|operator|admin", help="Role of the key."),
    ] = "operator",
    *,
    place: Places = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the key of NAME.")] = False,
    state: State = None,
) -> None:
    """Create the key of a user name for Heritrix's interface; it replaces an earlier key.

    Scripts send it as the password of NAME. It is shown once. Its stored form is equivalent to the
    key itself, because Digest needs it. Login passwords do not work there, and this key works
    nowhere else.
    """
    from nacre.errors import JobError
    from nacre.fleet.database import ConsoleDatabase, state_folder
    from nacre.fleet.place_book import PlaceBook
    from nacre.fleet.users import HeritrixKeyBook
    from nacre.ops.operation import Role, role_named

    with closing(ConsoleDatabase(state or state_folder())) as database:
        book = HeritrixKeyBook(database)
        PlaceBook(database).require(() if remove else place or ())
        if not remove:
            output.say(book.set(name, role_named(role) or Role.VIEWER, place or ()))
        elif book.remove(name):
            output.say(f"removed {name}")
        else:
            raise JobError(f"there is no key of {name!r} for Heritrix's interface")


@key.command("list")
def list_keys(state: State = None, as_json: AsJson = False) -> None:
    """List the keys, without their secrets."""
    from nacre.core.clock import iso
    from nacre.core.message_data import to_plain

    with _keys(state) as (_, keys):
        keys_found = keys.all()
    if as_json:
        output.say_json(to_plain(keys_found))
        return
    rows = [
        (
            item.name, item.role, ", ".join(item.places) or "all", iso(item.made),
            iso(item.used) if item.used else "never",
        )
        for item in keys_found
    ]  # fmt: skip
    head = ("name", "role", "places", "made", "used")
    output.say(output.table([head, *rows]) if rows else "no keys")


@key.command("remove")
def remove_key(name: Name, state: State = None) -> None:
    """Remove a key; programs that use it are refused from now on."""
    from nacre.errors import JobError

    with _keys(state) as (_, keys):
        if not keys.remove(name):
            raise JobError(f"there is no key {name!r}; `nacre console key list` lists them")
    output.say(f"removed {name}")
