"""The install of a missing extra: offered in a clone, or done at once with `--yes`."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer

from nacre.cli import output
from nacre.config.extras import (
    MissingExtraError,
    has_lock,
    install_arguments,
    require_extra,
)
from nacre.errors import ConfigError

YES = "--yes"
_DONE = "NACRE_EXTRA"
"""Variable of a command that was begun again after the install of this extra."""


def _remember(ctx: typer.Context, *, agreed: bool) -> bool:
    if agreed:
        agree(ctx)
    return agreed


Yes = Annotated[
    bool,
    typer.Option(
        YES, rich_help_panel="How", expose_value=False, callback=_remember,
        help="Install a missing extra from its lock without asking.",
    ),
]  # fmt: skip


def agree(ctx: Any) -> None:  # noqa: ANN401 - a context of Typer's
    """Install missing packages without asking."""
    ctx.meta[YES] = True


def taken_yes(ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - likewise
    """Arguments without a `--yes`, to which is agreed: it counts before the command is known.

    Args:
        ctx: The context of a group of commands.
        args: Its arguments, those of its commands included.
    """
    place = args.index(YES) if YES in args else len(args)
    if place == len(args) or "--" in args[:place]:
        return args
    agree(ctx)
    return [*args[:place], *args[place + 1 :]]


def offering(
    ctx: Any,  # noqa: ANN401 - likewise
    invoke: Callable[[], Any],
    needs: tuple[str, str],
) -> Any:  # noqa: ANN401 - as `invoke`
    """Run a command; if an extra is missing, offer its install, and run it again.

    It is offered in a clone, if the extra has a lock, and on a terminal. Otherwise the message
    contains the install command.

    Args:
        ctx: The context of the command.
        invoke: Runs it.
        needs: The subject and verb of the message, and the name of the extra.

    Raises:
        MissingExtraError: It is missing, and was not installed.
        ConfigError: Its install failed.
    """
    try:
        require_extra(*needs)
        return invoke()
    except MissingExtraError as error:
        if not has_lock(error.extra) or os.environ.get(_DONE) == error.extra:
            raise
        if not ctx.meta.get(YES) and not _ask(error):
            raise
        _install(error.extra)
        return _begin_again(error.extra)


def with_words(
    ctx: Any,  # noqa: ANN401 - likewise
    words: str,
    invoke: Callable[[], Any],
) -> Any:  # noqa: ANN401 - as `invoke`
    """Run a command that may search for words: only then it needs the library of the search."""
    return offering(ctx, invoke, ("the search for words needs", "search")) if words else invoke()


def with_parquet(
    ctx: Any,  # noqa: ANN401 - likewise
    wanted: bool,
    invoke: Callable[[], Any],
) -> Any:  # noqa: ANN401 - as `invoke`
    """Run a command that may write or read Parquet: only then it needs pyarrow, an extra."""
    return offering(ctx, invoke, ("Parquet needs", "parquet")) if wanted else invoke()


def _begin_again(extra: str) -> NoReturn:
    """Become the same command once more: modules that were looked for in vain stay unknown here."""
    os.execve(  # noqa: S606 - this interpreter, and its own arguments
        sys.executable,
        [sys.executable, "-m", "nacre", *sys.argv[1:]],
        {**os.environ, _DONE: extra},
    )


def _ask(error: MissingExtraError) -> bool:
    """Ask whether to install it; return False without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    output.tell(f"nacre: {error}")
    return typer.confirm("Install it now?", err=True)


def _install(extra: str) -> None:
    words = install_arguments(extra)
    output.tell(f"nacre: installing the extra `{extra}` from its lock ...")
    process = subprocess.run(  # noqa: S603 - pip, and a lock of ours
        [*words, "--quiet"], stdout=subprocess.DEVNULL, check=False
    )
    if process.returncode:
        raise ConfigError(f"the install failed with {process.returncode}: {shlex.join(words)}")
