"""Extensions: packages that add commands, a port of the console, and help for editors to Nacre.

An extension is an entry point of the group `nacre.components`, beside the rules and processors of
plug-ins. Its target is an `Extension`, and its name is that of the extra that installs it.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any, Final, NamedTuple

from nacre.config.extras import MissingExtraError, install_command
from nacre.config.registry import (
    COMPONENTS,
    PluginError,
    contract_fault,
    describe_entry,
    entry_points_of,
    load,
)
from nacre.errors import NacreError

MIGRATE: Final = "migrate"
"""The extension with the migrations and the Heritrix REST port, `nacre-migrate`."""


class Extension(NamedTuple):
    """The parts that a package adds. A place is `module:name`; it is imported when it is used.

    Attributes:
        contract: Version of the contract that it was written for (`registry.CONTRACT`).
        commands: Places of programs of Typer, by the name of the command.
        console_port: Place of a `web.port.PortMaker`; "" for none.
        reader_tasks: Places of tasks for the reader processes of the console, by name.
        editing_help: Place of a function that returns the names that another crawler has for a
            setting, by the path of the setting; "" for none.
    """

    contract: int
    commands: Mapping[str, str]
    console_port: str = ""
    reader_tasks: Mapping[str, str] = {}
    editing_help: str = ""


@cache
def find_extension(name: str) -> Extension | None:
    """Return the extension of a name; None if it is not installed. Entry points are read once.

    A plug-in may have the same name, since it offers other components in the same group.

    Raises:
        NacreError: It cannot be loaded, needs a newer Nacre, or two packages offer it; the message
            has the package.
    """
    extensions: list[tuple[EntryPoint, Extension]] = []
    errors: list[NacreError] = []
    for entry in entry_points_of(COMPONENTS):
        if entry.name != name:
            continue
        try:
            part = _load(entry)
        except NacreError as error:
            errors.append(error)
            continue
        if isinstance(part, Extension):
            extensions.append((entry, part))
    if not extensions:
        if errors:
            raise errors[0]
        return None
    entry, extension = extensions[0]
    if len(extensions) > 1:
        places = ", and ".join(describe_entry(entry) for entry, _ in extensions)
        raise NacreError(
            f"there is more than one extension {name}: {places}. Uninstall all but one"
        )
    if fault := contract_fault(extension.contract):
        raise NacreError(f"{describe_entry(entry)} {fault}")
    return extension


def require_extension(name: str, needs: str) -> Extension:
    """Return the extension of a name.

    Args:
        name: Its name, which is that of its extra.
        needs: The part of Nacre that needs it, with its verb: `nacre migrate needs`.

    Raises:
        MissingExtraError: It is not installed; the message has the command that installs it.
        NacreError: As `find_extension`.
    """
    extension = find_extension(name)
    if extension is None:
        raise MissingExtraError(needs, name)
    return extension


def load_part(name: str, place: str) -> Any:  # noqa: ANN401 - any part
    """Import a part of an extension.

    Args:
        name: The extension.
        place: The place, `module:name`.

    Raises:
        NacreError: It cannot be imported; the message has the place and the error.
    """
    return _load(EntryPoint(name, place, COMPONENTS))


def _load(entry: EntryPoint) -> Any:  # noqa: ANN401 - any part
    try:
        return load(entry)
    except PluginError as error:
        again = install_command(entry.name)
        text = (
            f"{describe_entry(entry)} {error}. Install it again, in the version of Nacre: {again}"
        )
        raise NacreError(text) from error
