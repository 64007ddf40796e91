"""`nacre profile …` and `nacre clip …`: settings to begin with, and pieces to put in."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir
from nacre.cli.program import Program

_PANEL = "Rules and settings"
_NOWHERE = Path("/nonexistent")
"""The job of a question that is about none."""

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the profile or clip.", show_default=False)
]

profile = Program()
clip = Program()


# ---- profiles


@profile.callback()
def _profile() -> None:
    """Profiles: settings for a kind of crawl, which `--profile NAME` gives to new jobs."""


@profile.command("list")
def list_profiles(as_json: AsJson = False) -> None:
    """List the profiles of the user and of Nacre."""
    from nacre.core.message_data import to_plain
    from nacre.machine.layout import Layout
    from nacre.ops.library import NoOptions, all_profiles

    profiles = all_profiles(Layout(_NOWHERE), NoOptions()).items
    if as_json:
        output.say_json(to_plain(profiles))
        return
    rows = [(item.name, item.source, item.purpose) for item in profiles]
    output.say(output.table([("name", "source", "purpose"), *rows]))


@profile.command("show")
def show_profile(name: Name, as_json: AsJson = False) -> None:
    """Print a profile as YAML; marks replace secrets."""
    from nacre.core.message_data import to_plain
    from nacre.errors import JobError
    from nacre.machine.layout import Layout
    from nacre.ops.library import NameRequest, profile_text

    details = profile_text(Layout(_NOWHERE), NameRequest(name))
    if details is None:
        raise JobError(f"there is no profile {name!r}; `nacre profile list` lists them")
    if as_json:
        output.say_json(to_plain(details))
    else:
        output.say(details.text.rstrip("\n"))


@profile.command("save")
def save_profile(
    directory: JobDir,
    name: Name,
    purpose: Annotated[
        str,
        typer.Option("--purpose", metavar="TEXT", help="Purpose, in one line."),
    ] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a profile of this name.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Save the settings of a job as a profile, without its seeds and secrets."""
    from nacre.core.message_data import to_plain
    from nacre.machine.layout import Layout
    from nacre.ops import library

    layout = Layout(directory)
    layout.require()
    request = library.ProfileWish(name, purpose or f"As {directory.resolve().name}", "", replace)
    saved = library.save_profile(layout, request)
    if as_json:
        output.say_json(to_plain(saved))
        return
    output.say(f"saved {name}; `{output.program()} new DIR URL --profile {name}` uses it")


@profile.command("remove")
def remove_profile(name: Name) -> None:
    """Remove a profile of the user; jobs that use it can no longer be started."""
    from nacre.machine.layout import Layout
    from nacre.ops.library import NameRequest, remove_profile

    remove_profile(Layout(_NOWHERE), NameRequest(name))
    output.say(f"removed {name}")


# ---- clips


@clip.callback()
def _clip() -> None:
    """Clips: named pieces of settings with parameters, to be put into the settings of jobs."""


@clip.command("list")
def list_clips(as_json: AsJson = False) -> None:
    """List the clips of the user and of Nacre."""
    from nacre.core.message_data import to_plain
    from nacre.machine.layout import Layout
    from nacre.ops.library import NoOptions, all_clips

    clips = all_clips(Layout(_NOWHERE), NoOptions()).items
    if as_json:
        output.say_json(to_plain(clips))
        return
    rows = [(item.name, item.source, item.place, item.title) for item in clips]
    output.say(output.table([("name", "source", "about", "purpose"), *rows]))


@clip.command("show")
def show_clip(name: Name, as_json: AsJson = False) -> None:
    """Print a clip as YAML, with its parameters and their defaults."""
    from nacre.editing.clips import find_clip

    item = find_clip(name)
    if as_json:
        from nacre.core.message_data import to_plain

        output.say_json(to_plain(item))
        return
    for key, parameter in item.parameters.items():
        output.say(f"# {key}={parameter.default}: {parameter.means}")
    output.say(item.text.rstrip("\n"))


@clip.command("save")
def save_clip(
    name: Name,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", show_default=False,
            help="YAML with `{{name}}` for parameters; `-`: standard input.",
        ),
    ],
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="Purpose, in one line.")
    ] = "",
    place: Annotated[
        str,
        typer.Option(
            "--place", metavar="PATH", show_default=False,
            help="Setting whose value the text is, such as scope or chains.fetch; default: "
                 "none, for whole sections.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Save a YAML file as a clip; a clip of the same name is replaced."""
    from nacre.core.message_data import to_plain
    from nacre.machine.layout import Layout
    from nacre.ops.library import ClipWish, put_clip

    saved = put_clip(Layout(_NOWHERE), ClipWish(name, title or name, _read(file), place))
    if as_json:
        output.say_json(to_plain(saved))
    else:
        output.say(f"saved {name}, about {saved.place}")


def _read(file: Path) -> str:
    from nacre.errors import JobError
    from nacre.job.edits import LONGEST
    from nacre.machine.local_files import read_ordinary

    try:
        if str(file) == "-":
            return sys.stdin.read()
        return read_ordinary(file, LONGEST).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise JobError(f"{file} cannot be read: {reason}") from None


@clip.command("remove")
def remove_clip(name: Name) -> None:
    """Remove a clip of the user; settings that contain it do not change."""
    from nacre.editing import clips

    clips.remove_clip(name)
    output.say(f"removed {name}")


@clip.command("insert")
def insert_clip(
    directory: JobDir,
    name: Name,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--value", metavar="NAME=VALUE", show_default=False,
            help="Value of a parameter; can be repeated. Other parameters have their defaults.",
        ),
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Change nothing; print what would change.")
    ] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Insert a clip into the crawl.yaml of a job that does not run; comments and order stay."""
    from nacre.cli.settings_history import difference, save, tell_saved
    from nacre.machine.layout import Layout
    from nacre.ops.library import InsertRequest, with_clip
    from nacre.ops.settings_file import SaveRequest, read_version

    layout = Layout(directory)
    layout.require()
    inserted = with_clip(layout, InsertRequest(name, _values(values or [])))
    if preview:
        lines = difference(read_version(layout).text, inserted.text, "now", "then")
        if as_json:
            output.say_json({"lines": lines})
        else:
            output.say("\n".join(lines) if lines else "nothing would change")
        return
    request = SaveRequest(text=inserted.text, etag=inserted.etag, why=f"clip {name}")
    tell_saved(layout, save(layout, request), as_json=as_json)


def _values(texts: list[str]) -> dict[str, Any]:
    """The values of parameters.

    Raises:
        ConfigError: One has no name.
    """
    from nacre.errors import ConfigError, Problem

    values = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            problem = f"--value {text!r} names no parameter"
            raise ConfigError([Problem("", problem, "NAME=VALUE", "--value seconds=10")])
        values[name.strip()] = value
    return values


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(profile, name="profile", rich_help_panel=_PANEL)
    app.add_typer(clip, name="clip", rich_help_panel=_PANEL)
