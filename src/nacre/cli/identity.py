"""`nacre identity …`: the keys that sign requests, and the site that publishes them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.operations import with_options_of
from nacre.cli.options import AsJson
from nacre.cli.program import Program
from nacre.core.message_data import to_plain
from nacre.core.states import ExitCode
from nacre.ops.identity import KeyFacts, PublishRequest, RotateRequest
from nacre.ops.identity_check import CheckIdentityRequest

identity = Program()

KeyFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="File of the keys.", show_default=False)
]


@identity.callback()
def _identity() -> None:
    """Signed requests (Web Bot Auth): make keys, publish them, check and replace them."""


@identity.command("new")
def new(file: KeyFile, as_json: AsJson = False) -> None:
    """Make a key in a new file, which only its owner can read."""
    from nacre.ops.identity import new_key

    facts = new_key(file)
    if as_json:
        output.say_json(to_plain(facts))
        return
    output.say(f"{output.format_path(file)}: {facts.keyid}")
    _say_next("add these lines to crawl.yaml, then run `nacre identity publish DIR --job JOB`")
    output.say(f"identity:\n  key: {{file: {file.absolute()}}}\n  directory: https://HOST")


@identity.command("rotate")
@with_options_of(RotateRequest)
def rotate(file: KeyFile, *, options: RotateRequest, as_json: AsJson = False) -> None:
    """Add a new key to a file; old and new ones are valid together for a time.

    Publish the keys again at once. The new key signs when servers know it; jobs that run use the
    old one until they are started again.
    """
    from nacre.machine.clock import SystemClock
    from nacre.ops.identity import rotate_key

    keys = rotate_key(file, options, SystemClock().now())
    if as_json:
        output.say_json(to_plain(keys))
        return
    _say_keys(keys)
    _say_next("run `nacre identity publish DIR` and upload its files")


@identity.command("publish")
@with_options_of(PublishRequest)
def publish(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="New folder for the files.", show_default=False)
    ],
    *,
    options: PublishRequest,
    as_json: AsJson = False,
) -> None:
    """Write the files that publish an identity: put `site/` on the web server of the URL.

    They are the signed directory of the keys, a page about the crawler, its addresses as JSON, and
    a contact. `server/` has pieces of the configuration of nginx, Caddy and Apache.
    """
    from nacre.machine.clock import SystemClock
    from nacre.ops.identity import publish_identity

    result = publish_identity(folder, options, SystemClock().now())
    if as_json:
        output.say_json(to_plain(result))
        return
    for name in result.files:
        output.say(output.format_path(folder / name))
    _say_keys(result.keys)
    output.say(f"valid until {result.until}: publish again before")
    site, server = output.format_path(folder / "site"), output.format_path(folder / "server")
    _say_next(f"upload {site}/, add a piece of {server}/ to the configuration of the server of")
    place = " --job JOB" if options.job is None else f" --job {output.typed(options.job)}"
    output.say(output.to_copy(f"{result.directory}, then run `nacre identity check{place}`"))


@identity.command("check")
@with_options_of(CheckIdentityRequest)
def check(*, options: CheckIdentityRequest, as_json: AsJson = False) -> None:
    """Fetch and verify what is published, and compare the clock with the server's.

    The exit code is 0 unless a check failed.
    """
    from nacre.machine.clock import SystemClock
    from nacre.ops.identity_check import check_identity

    result = check_identity(options, SystemClock())
    if as_json:
        plain: dict[str, Any] = to_plain(result)
        output.say_json({**plain, "is_sound": result.is_sound})
    else:
        rows = [(check.name, check.outcome, output.to_copy(check.text)) for check in result.checks]
        output.say(output.table(rows, indent=""))
    raise typer.Exit(ExitCode.FINISHED if result.is_sound else ExitCode.ERROR)


def _say_next(step: str) -> None:
    output.say(output.to_copy(f"next: {step}"))


def _say_keys(keys: list[KeyFacts]) -> None:
    rows = [(key.keyid, key.not_before or "-", key.expires or "-") for key in keys]
    output.say(output.table([("key", "signs from", "ends"), *rows], indent=""))
