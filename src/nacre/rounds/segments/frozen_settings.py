"""The settings of a segment: a frozen copy from its `generate`, for each of its units."""

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from pydantic import BaseModel, ValidationError

from nacre.config.check import Loaded
from nacre.config.secret import Secret
from nacre.errors import ConfigError, DamageError
from nacre.machine.layout import Layout
from nacre.machine.local_files import home_path
from nacre.rounds.storage import Storage
from nacre.rounds.tables.versions import SegmentState
from nacre.runs.manifest import effective, unknown_origin
from nacre.settings.settings import JobSettings

SEEDS_FILE = "seeds.txt"
"""Name of the file of seed lines, in the segment and in the scratch directory of a unit."""

_SETTINGS = "settings.json"
CONF = "conf"
"""Name of the folder in a segment with its settings, when it was generated."""
_CHANGED = "conf"
"""Key in `SegmentState.more`: name of the folder with other settings, which were set later."""
_RETRIES, _LAST_TRIES = 3, 60.0
"""Limits of the frontier's retries: a URL that fails is tried again in a later round."""


def freeze(
    layout: Layout,
    loaded: Loaded[JobSettings],
    seeds: Sequence[str],
    storage: Storage,
    segment: str,
) -> None:
    """Write the settings of all units of a segment: effective values, files, seed lines.

    Limits of a whole crawl, checkpoints and notifications are omitted, as a unit is a small part of
    the crawl. A later round retries a failed URL, so a unit makes fewer attempts. The texts of
    links are stored for the table of links, unless its settings or those of extractors exclude
    them.

    Args:
        layout: The directory of the job.
        loaded: Its settings.
        seeds: Lines of the seeds that open addresses; all lines if seeds are no rows yet.
        storage: The storage of the segment.
        segment: Its id.

    Raises:
        ConfigError: The configuration contains a secret in plain text.
    """
    settings = loaded.settings
    _require_references(settings)
    folder = f"segments/{segment}/{CONF}"
    tree = _dump(settings, layout.root)
    default = JobSettings(name=settings.name or layout.root.name, seeds=SEEDS_FILE)
    plain_sections = ("limits", "checkpoint", "alerts", "action", "traps")
    tree |= {name: default.model_dump(mode="json")[name] for name in plain_sections}
    tree |= {"name": default.name, "seeds": SEEDS_FILE}
    tree["traps"]["learn"], tree["action"]["interval"] = False, 0
    tree["engine"]["pause_at_start"] = False
    if settings.cycle.links.max_anchor and not loaded.is_given("extract.anchor_text"):
        tree["extract"]["anchor_text"] = True
    tree["archive"] |= {"directories": ["archive"], "max_total": 0}
    _without_browser(tree)
    frontier = tree["frontier"]
    frontier["recovery_log"] = False
    frontier["max_retries"] = min(frontier["max_retries"], _RETRIES)
    frontier["last_tries_within"] = min(frontier["last_tries_within"], _LAST_TRIES)
    if "${unit}" not in tree["archive"]["template"]:
        template = tree["archive"]["template"].replace("${serialno}", "${unit}-${serialno}")
        tree["archive"]["template"] = template
    _copy_files(tree, layout, storage, folder)
    storage.put(f"{folder}/{SEEDS_FILE}", "".join(f"{line}\n" for line in seeds).encode())
    storage.put(f"{folder}/{_SETTINGS}", msgspec.json.encode(tree))


def _without_browser(tree: dict[str, Any]) -> None:
    """Have units run no page in a browser, whatever the job and its sheets say."""
    tree["browser"]["use"] = "never"
    for sheet in tree["sheets"].values():
        sheet.pop("browser.use", None)
        if isinstance(sheet.get("browser"), dict):
            sheet["browser"].pop("use", None)


def _require_references(settings: JobSettings) -> None:
    """Raise ConfigError for a secret in plain text."""
    plain = [path for path, secret in _secrets(settings, "") if secret.is_plain]
    if plain:
        raise ConfigError(
            f"{plain[0]}: units of a segment read secrets where they run; write "
            "`{env: NAME}` or `{file: PATH}` instead of the text itself"
        )


def _dump(settings: JobSettings, root: Path) -> dict[str, Any]:
    """The settings as JSON, with the full paths of secrets and of files above the job.

    Secrets and files outside of the job stay out of the storage.
    """
    tree: dict[str, Any] = _with_full_paths(settings.model_dump(mode="json"), root)
    for path, secret in list(_secrets(settings, "")):
        if "file" in secret.source:
            node: Any = tree
            for name in path.split("."):
                node = node[int(name)] if isinstance(node, list) else node[name]
            node["file"] = str(root / home_path(secret.source["file"]))
    return tree


def _with_full_paths(value: Any, root: Path) -> Any:  # noqa: ANN401 - JSON
    """Values with the full paths of files above the job, `../shared/rules.txt`."""
    if isinstance(value, dict):
        return {name: _with_full_paths(item, root) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_full_paths(item, root) for item in value]
    if isinstance(value, str) and value.startswith("../") and len(value) < 255:
        return str(root / value) if "\0" not in value and (root / value).is_file() else value
    return value


def _copy_files(tree: object, layout: Layout, storage: Storage, folder: str) -> None:
    """Copy the files that settings name.

    The files are copied, as `upload` may make a hard link, and users edit these files.
    """
    for name in sorted(set(_list_files(tree, layout.root))):
        storage.put(f"{folder}/{name}", (layout.root / name).read_bytes())


OF_LIST = frozenset(("name", "scope", "seeds", "sheet_associations", "sheets", "uri"))
"""Sections that determine a list: they stay as they were."""
OF_JOB = frozenset(("cycle", "recrawl"))
"""Sections that steps take from the job, not from the segment."""
_WITHOUT_EFFECT = frozenset(
    ("action", "alerts", "browser", "checkpoint", "limits", "store", "traps")
)


def conf_name(state: SegmentState) -> str:
    """Return the name of the folder in a segment with the settings that count."""
    return str(state.more.get(_CHANGED, CONF))


def write_changed_settings(
    layout: Layout,
    loaded: Loaded[JobSettings],
    storage: Storage,
    place: tuple[str, SegmentState],
    paths: Sequence[str],
) -> SegmentState | None:
    """Write other settings of a segment that waits, as far as they do not concern its list.

    They are written to a folder of another name, and take effect when a version with the new state
    is committed: a killed command leaves the segment as it is.

    Args:
        layout: The directory of the job.
        loaded: Its settings, with the new values.
        storage: Where the segment is.
        place: Its id, and its state.
        paths: Dotted paths of the new values.

    Returns:
        The new state; None if the segment has these values.

    Raises:
        ConfigError: A setting concerns the list, or units do not use it.
        DamageError: The file of settings is damaged.
    """
    segment, state = place
    for path in paths:
        section = path.partition(".")[0]
        if section in OF_LIST:
            raise ConfigError(
                f"{path} concerns the list of {segment}, which was made by it: give the segment up "
                f"by `segments drop {segment}`, and `generate` again"
            )
        if section in _WITHOUT_EFFECT:
            raise ConfigError(f"{path} has no effect on the units of a segment")
    chosen = [path for path in paths if path.partition(".")[0] not in OF_JOB]
    if not chosen:
        return None
    conf = conf_name(state)
    before = frozen_settings(storage, segment, conf).model_dump(mode="json")
    now, tree = (
        _dump(loaded.settings, layout.root),
        msgspec.json.decode(msgspec.json.encode(before)),
    )
    for path in chosen:
        _put_value(tree, now, path.split("."))
    if tree == before:
        return None
    _require_references(JobSettings.model_validate(tree))
    changed = f"{CONF}-{secrets.token_hex(4)}"
    old, new = f"segments/{segment}/{conf}/", f"segments/{segment}/{changed}"
    for file in storage.walk(old.rstrip("/")):
        storage.copy(file.name, f"{new}/{file.name.removeprefix(old)}")
    _copy_files(tree, layout, storage, new)
    storage.put(f"{new}/{_SETTINGS}", msgspec.json.encode(tree))
    return msgspec.structs.replace(state, more={**state.more, _CHANGED: changed})


def _put_value(target: dict[str, Any], source: Mapping[str, Any], path: Sequence[str]) -> None:
    """Put the value at a path of one tree into the other."""
    for part in path[:-1]:
        target, source = target[part], source[part]
    target[path[-1]] = source[path[-1]]


def settings_hash(settings: JobSettings) -> str:
    """The sha256 of effective settings, hexadecimal, by which versions tell them apart.

    It covers only the reference of a secret, so that the secret cannot be guessed from it.

    Args:
        settings: The settings.
    """
    values = {path: entry["value"] for path, entry in effective(settings, unknown_origin).items()}
    return hashlib.sha256(msgspec.json.encode(values, order="sorted")).hexdigest()


def _secrets(value: object, path: str) -> Iterator[tuple[str, Secret]]:
    if isinstance(value, Secret):
        yield path, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _secrets(getattr(value, name), f"{path}.{name}".lstrip("."))
    elif isinstance(value, tuple | list):
        for place, item in enumerate(value):
            yield from _secrets(item, f"{path}.{place}")


def _list_files(tree: object, root: Path) -> Iterator[str]:
    """Yield the files below the job that any setting contains."""
    if isinstance(tree, Mapping):
        for value in tree.values():
            yield from _list_files(value, root)
    elif isinstance(tree, list):
        for value in tree:
            yield from _list_files(value, root)
    elif isinstance(tree, str) and 0 < len(tree) < 255 and "\0" not in tree and "\n" not in tree:
        path = Path(tree)
        if not path.is_absolute() and ".." not in path.parts and (root / path).is_file():
            yield path.as_posix()


def frozen_settings(storage: Storage, segment: str, conf: str = CONF) -> JobSettings:
    """The settings of a segment.

    Args:
        storage: The storage of the segment.
        segment: Its id.
        conf: The result of `conf_name`.

    Raises:
        DamageError: Its file of settings is damaged.
        MissingFileError: There is no such file.
    """
    name = f"segments/{segment}/{conf}/{_SETTINGS}"
    try:
        return JobSettings.model_validate(msgspec.json.decode(storage.read(name)))
    except ValueError as error:  # of msgspec, pydantic, or the encoding
        raise DamageError(
            f"{storage.place}/{name} holds no settings of a segment ({_one_line(error)}). Put it "
            f"back from a copy, or give the segment up: `segments drop {segment}`"
        ) from error


def _one_line(error: ValueError) -> str:
    """Return the message of an error in one line."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]


def placed_settings(storage: Storage, segment: str, folder: Path, conf: str) -> JobSettings:
    """The settings of a segment, their files copied into a folder of this machine.

    Args:
        storage: The storage of the segment.
        segment: Its id.
        folder: The folder of the job for the files; it is created.
        conf: The result of `conf_name`.
    """
    prefix = f"segments/{segment}/{conf}/"
    for file in storage.walk(prefix.rstrip("/")):
        target = folder / file.name.removeprefix(prefix)
        target.parent.mkdir(parents=True, exist_ok=True)
        storage.fetch(file.name, target)
    return frozen_settings(storage, segment, conf)
