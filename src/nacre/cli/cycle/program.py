"""The reading of the command line of `nacre cycle DIR …`.

The directory comes first, then options of the rounds or the name of a step. An option that is
spelled as Nutch spells it is answered with the option of Nacre.
"""

import os
from collections.abc import Callable, Collection, Sequence
from typing import Any

import typer
from typer.models import CommandFunctionType

from nacre.cli.installing import offering, taken_yes
from nacre.cli.output import complain, is_denied
from nacre.cli.program import Command, CommandGroup, Program
from nacre.core.states import ExitCode
from nacre.errors import ConfigError, DamageError, OldLayoutError, Problem, StorageError

_NONE = ""
NUTCH = {
    "-topN": "--top",
    "-numFetchers": "--units",
    "-maxNumSegments": "--segments",
    "-adddays": "--add-days",
    "-addDays": "--add-days",
    "-expr": "--where",
    "-noFilter": "--no-filter",
    "-nofilter": "--no-filter",
    "-noNormalize": "--no-normalize",
    "-noAdditions": "--no-additions",
    "-overwrite": "--overwrite",
    "-update": "--update",
    "-threads": "--parallel",
    "-stats": "--stats",
    "-sort": "--sort",
    "-dump": "--dump",
    "-url": "--url",
    "-regex": "--regex",
    "-status": "--status",
    "-sample": "--sample",
    "-list": "--list",
    "-group": "--group",
    "-compareOrder": "--order",
    "--wait": "--until-due",
    "-wait": "--until-due",
    "-w": "--until-due",
    "--num-fetchers": "--units",
    "--num-tasks": "--tasks",
    "--num-threads": "--parallel",
    "--size-fetchlist": "--top",
    "--time-limit-fetch": "--time-limit",
    "-filter": "--filter",
    "-normalize": "--normalize",
    "-filterNormalizeAll": "--refilter",
    "-noNorm": "--no-normalize",
    "-D": "--set PATH=VALUE",
    "-get": "--url",
    "-format": _NONE,
    "-noStrict": _NONE,
    "--sitemaps-from-hostdb-frequency": "--sitemaps-from-hosts",
    "-slice": "segments slice N",
    "-sm": "--sitemaps",
    "--dedup-group": "--dedup",
    "--sitemaps-from-hostdb": "--sitemaps-from-hosts",
    "-sitemapUrls": "sitemaps FILE",
    "-dir": _NONE,
    "-force": _NONE,
    "-hostdb": _NONE,
    "--hostdbupdate": _NONE,
    "--hostdbgenerate": _NONE,
    "-i": "--index",
    "-min": "--min",
    "-retry": '--where "retries = N"',
    "-listen": _NONE,
    "-keepClientCnxOpen": _NONE,
    "-deleteGone": _NONE,
    "-crawlId": _NONE,
}
"""Options as Nutch spells them, and ours."""
_WHY_NONE = {
    "-format": "the suffix of FILE sets the format: .jsonl, .csv or .parquet",
    "-noStrict": "the scope decides, regardless of the place of a sitemap",
    "-dir": "name segments by their times; without a name all that wait are taken",
    "-force": "nothing is locked, so there is nothing to force",
    "-hostdb": "the table of hosts is always kept and always asked",
    "--hostdbupdate": "the table of hosts is always kept",
    "--hostdbgenerate": "the table of hosts is always asked",
    "-listen": "`readdb --url URL --json` answers for one URL, and `sql` for many",
    "-keepClientCnxOpen": "nothing listens here",
    "-deleteGone": "`index` always takes out pages that are gone",
    "-crawlId": "a directory is a crawl: name another directory",
}


def answer_nutch(args: Sequence[str], options: Collection[str] = ()) -> None:
    """Refuse options in the spelling of Nutch.

    Args:
        args: The arguments of a command.
        options: Its options; () where that does not matter.

    Raises:
        ConfigError: With our spelling of each.
    """
    problems = []
    for arg in args:
        if arg == "--":
            break
        name = arg.partition("=")[0]
        if name in NUTCH:
            ours = NUTCH[name]
            expected = f"`{ours}`" if ours else f"no such option: {_WHY_NONE[name]}"
            if ours.startswith("-") and options and ours.split()[0] not in options:
                expected = f"nothing here; `{ours}` is an option of other steps"
            problems.append(Problem("", f"{name} is an option of Nutch", expected))
    if problems:
        raise ConfigError(problems)


class CycleCommand(Command):
    """A step or a reader of `nacre cycle DIR`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as its base says
        """Its arguments; an option of Nutch is answered with ours."""
        answer_nutch(args, [name for param in self.params for name in param.opts])
        return list(super().parse_args(ctx, args))


class CycleGroup(CommandGroup):
    """`nacre cycle DIR`: options may follow the directory, before the name of a step."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as its base says
        """Its arguments, the directory behind the options."""
        own, further = split_arguments(self.get_params(ctx), args)
        answer_nutch(own)
        return list(super().parse_args(ctx, [*own, *taken_yes(ctx, further)]))

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as its base says
        """Run it; an extra that is missing is offered. A disk that fails stops the step."""
        # The threads that numpy starts have nothing to do and spin: 0.1 s of each command.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        try:
            needs = ("batch rounds need", "cycle")
            return offering(ctx, lambda: super(CycleGroup, self).invoke(ctx), needs)
        except StorageError as error:
            if isinstance(error, DamageError | OldLayoutError) or is_denied(error):
                raise
            complain(error, ExitCode.STOPPED)
            raise typer.Exit(ExitCode.STOPPED) from None


def split_arguments(params: Sequence[Any], args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options of a group with the directory behind them; and the command with all that follows.

    Args:
        params: Parameters of the group.
        args: Its arguments.
    """
    flags = {name for param in params for name in _flags(param)}
    options: list[str] = []
    place: list[str] = []
    at = 0
    while at < len(args):
        arg = args[at]
        if arg == "--" or not arg.startswith("-") or arg == "-":
            if place or arg == "--":
                break
            place = [arg]
            at += 1
            continue
        width = 2 if _takes_next(arg) and arg not in flags else 1
        options += args[at : at + width]
        at += width
    return [*options, *place], list(args[at:])


def _takes_next(option: str) -> bool:
    """The value of an option is the next argument: as of `--top 9`, not of `--top=9` or `-sURL`."""
    return "=" not in option if option.startswith("--") else len(option) == 2


def _flags(param: Any) -> list[str]:  # noqa: ANN401 - a parameter of Typer's
    """The names of an option that takes no value."""
    is_flag = getattr(param, "is_flag", False)
    return [*param.opts, *param.secondary_opts] if is_flag else []


class CycleProgram(Program):
    """The commands of `nacre cycle DIR`."""

    def __init__(self) -> None:
        super().__init__(cls=CycleGroup)

    def command(
        self,
        name: str | None = None,
        **more: Any,  # noqa: ANN401 - as its base has it
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """See its base."""
        return typer.Typer.command(self, name, cls=CycleCommand, **more)
