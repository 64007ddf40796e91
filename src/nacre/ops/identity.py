"""The identity of the crawler: make and replace its keys, and write the site that publishes it."""

import errno
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from nacre.core.clock import iso
from nacre.errors import ConfigError, JobError
from nacre.fetch.identity import IdentitySettings, directory_url
from nacre.fetch.identity_keys import SigningKey, format_keys, make_key
from nacre.fetch.settings import fill_user_agent
from nacre.machine.layout import Layout
from nacre.machine.local_files import replace_file
from nacre.messages import error_text, message
from nacre.ops.fields import LineText, ShortText, Typed
from nacre.ops.identity_site import DIRECTORY_FILE, SiteFacts, site_files
from nacre.scope.robots_txt import RobotsPolicy

_DAY: Final = 86_400
_PRIVATE: Final = 0o600
Days = Annotated[int, Meta(ge=0, le=3650)]
"""Days, up to ten years."""
ValidDays = Annotated[int, Meta(ge=1, le=365)]
"""Days, up to a year."""


class IdentityPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The identity that a command is about.

    Attributes:
        job: Take key, URL and contact from the settings of this job.
        key: The file of the keys; default: that of the job.
        directory: https URL at which the keys are published; default: that of the job.
    """

    job: Annotated[Path | None, Typed("JOB")] = None
    key: Annotated[Path | None, Typed("FILE")] = None
    directory: Annotated[LineText, Typed("URL")] = ""


class PublishRequest(IdentityPlace, frozen=True, kw_only=True):
    """The options of the site of an identity.

    Attributes:
        name: Name of the crawler in robots.txt; default: that of the job, else nacre.
        contact: Mail address or URL for complaints; default: that of the job.
        purpose: What the copies are for, in a sentence or two, for the page about the crawler.
        address: An address or network that the crawler uses, such as 192.0.2.0/28; repeatable.
        valid: Days for which the site is valid; publish it again before.
    """

    name: Annotated[ShortText, Typed("NAME")] = ""
    contact: Annotated[LineText, Typed("CONTACT")] = ""
    purpose: Annotated[LineText, Typed("TEXT")] = ""
    address: Annotated[tuple[ShortText, ...], Typed("NETWORK")] = ()
    valid: Annotated[ValidDays, Typed("DAYS")] = 30


class RotateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a new key.

    Attributes:
        after: Days until the new key signs; servers that keep the keys for a day know it then.
        overlap: Days for which the old key stays valid after that, for jobs that still run.
    """

    after: Annotated[Days, Typed("DAYS")] = 1
    overlap: Annotated[Days, Typed("DAYS")] = 30


class KeyFacts(msgspec.Struct, frozen=True):
    """A key of an identity.

    Attributes:
        keyid: Its thumbprint, which each signature has.
        not_before: Time from which it signs, RFC 3339; "" for always.
        expires: Time when it ends; "" for never.
    """

    keyid: str
    not_before: str
    expires: str


class PublishResult(msgspec.Struct, frozen=True):
    """The site of an identity that was written.

    Attributes:
        directory: URL at which the keys have to be.
        files: Its files, relative to the folder.
        keys: The published keys.
        until: End of its validity, RFC 3339.
    """

    directory: str
    files: list[str]
    keys: list[KeyFacts]
    until: str


class CrawlerIdentity(msgspec.Struct, frozen=True):
    """An identity as its settings and options have it.

    Attributes:
        keys: The keys, the newest first.
        directory: URL at which they are published.
        name: Name of the crawler in robots.txt.
        contact: Contact for complaints; "" for none.
        user_agent: `fetch.user_agent`; see `fill_user_agent`.
        obeys_robots: It obeys robots.txt.
    """

    keys: list[SigningKey]
    directory: str
    name: str
    contact: str
    user_agent: str
    obeys_robots: bool


def new_key(path: Path) -> KeyFacts:
    """Make a key in a new file, which only its owner can read.

    Raises:
        JobError: The file exists, or cannot be written.
    """
    if path.exists():
        raise JobError(
            message(
                "identity.file-exists",
                "{path} exists already. To replace its key, run `nacre identity rotate {path}`",
                path=path,
            )
        )
    key = make_key()
    _write(path, [key])
    return key_facts(key)


def rotate_key(path: Path, request: RotateRequest, now: float) -> list[KeyFacts]:
    """Add a new key to a file; the old ones end after the overlap, and ended ones are removed.

    Raises:
        JobError: The file cannot be read or written.
        ConfigError: It has no keys.
    """
    begin = int(now) + request.after * _DAY
    end = begin + request.overlap * _DAY
    old = [key for key in load_keys(path) if not key.expires or key.expires > now]
    kept = [key._replace(expires=min(key.expires or end, end)) for key in old]
    keys = [make_key(begin), *kept]
    _write(path, keys)
    return [key_facts(key) for key in keys]


def load_keys(path: Path) -> list[SigningKey]:
    """Return the keys of a file.

    Raises:
        ConfigError: It cannot be read, others can read it, or it has no key.
    """
    try:
        settings = IdentitySettings.model_validate(
            {"key": {"file": str(path.absolute())}, "directory": "https://a.example"}
        )
    except ValueError as error:
        reason = _reason(error)
        raise ConfigError(
            reason if str(path.absolute()) in reason else f"{path}: {reason}"
        ) from None
    return settings.keys


def _reason(error: ValueError) -> str:
    """Return the text of the first problem."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return error_text(error)
    return error.errors()[0]["msg"].removeprefix("Value error, ")


def find_identity(place: IdentityPlace) -> CrawlerIdentity:
    """Return the identity of a job, with what the options say in its place.

    Raises:
        ConfigError: Key or URL are missing, or wrong.
    """
    from nacre.settings.load import load_job
    from nacre.settings.settings import JobSettings

    settings = load_job(Layout(place.job)).settings if place.job else JobSettings()
    keys = load_keys(place.key) if place.key else settings.identity.keys
    directory = settings.identity.directory
    if place.directory:
        try:
            directory = directory_url(place.directory)
        except ValueError as error:
            raise ConfigError(f"--directory: {error_text(error)}") from None
    if not keys or not directory:
        raise ConfigError(
            message(
                "identity.incomplete",
                "the key or its URL is missing. Name a job whose settings have both with --job, or "
                "write --key FILE --directory URL",
            )
        )
    fetch = settings.fetch
    return CrawlerIdentity(
        keys, directory, settings.robots.agent, fetch.contact, fetch.user_agent,
        settings.robots.policy == RobotsPolicy.OBEY,
    )  # fmt: skip


def publish_identity(folder: Path, request: PublishRequest, now: float) -> PublishResult:
    """Write the site that publishes an identity.

    Args:
        folder: A new or empty folder, or one that was written by this function.
        request: The options.
        now: Seconds since the epoch.

    Raises:
        ConfigError: Key, URL or contact are missing, the contact or an address is wrong, or a text
            is not UTF-8.
        JobError: The folder has other files, or cannot be written.
    """
    from nacre.settings.contact import bad_contact, is_reachable

    for option in ("name", "contact", "purpose"):
        _require_utf8(f"--{option}", getattr(request, option))
    identity = find_identity(request)
    contact = request.contact or identity.contact
    if not contact:
        raise ConfigError(
            message(
                "identity.no-contact",
                "owners of sites need a contact. Add --contact with a mail address or a URL, or "
                "`fetch.contact` to the job",
            )
        )
    if not is_reachable(contact):
        path = "--contact" if request.contact else "fetch.contact"
        raise ConfigError([bad_contact(contact, path)])
    keys = [key for key in identity.keys if not key.expires or key.expires > now]
    if not keys:
        raise ConfigError(no_valid_key())
    until = int(now) + request.valid * _DAY
    files = site_files(
        SiteFacts(
            directory=identity.directory,
            name=request.name or identity.name,
            # The requests of a job have the contact of its settings, whatever the option says.
            user_agent=fill_user_agent(
                identity.user_agent, identity.contact if request.job else contact
            ),
            obeys_robots=identity.obeys_robots,
            contact=contact,
            purpose=request.purpose,
            addresses=request.address,
            keys=keys,
            now=int(now),
            until=until,
        )
    )
    _write_site(folder, files)
    return PublishResult(
        identity.directory, sorted(files), [key_facts(key) for key in keys], iso(until)
    )


def _require_utf8(option: str, text: str) -> None:
    """Raise ConfigError if a text from the command line had other bytes than UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ConfigError(
            message(
                "identity.not-utf8",
                "{option} {text!r} is not UTF-8. Set the terminal to UTF-8, and write it again",
                option=option,
                text=text,
            )
        ) from None


def _write_site(folder: Path, files: dict[str, bytes]) -> None:
    marker = folder / DIRECTORY_FILE
    try:
        if folder.is_dir() and any(folder.iterdir()) and not marker.is_file():
            raise JobError(
                message(
                    "identity.folder-has-others",
                    "{folder} has other files. Name a new folder",
                    folder=folder,
                )
            )
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, data)
    except OSError as error:
        raise JobError(_unwritable(folder, error)) from error


def no_valid_key() -> str:
    """Return the fault of keys that have all ended."""
    return message(
        "identity.all-expired",
        "all keys have ended. Make a new one: `nacre identity rotate FILE --after 0`",
    )


def key_facts(key: SigningKey) -> KeyFacts:
    """Return the public facts of a key."""
    times = (iso(time) if time else "" for time in (key.not_before, key.expires))
    return KeyFacts(key.keyid, *times)


def _write(path: Path, keys: list[SigningKey]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, format_keys(keys).encode(), _PRIVATE)
    except OSError as error:
        raise JobError(_unwritable(path, error)) from error


def _unwritable(path: Path, error: OSError) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return message(
            "identity.disk-full",
            "cannot write {path}: the disk is full ({reason}). Free some space there, or choose "
            "another place",
            path=path,
            reason=error.strerror,
        )
    return message(
        "identity.unwritable",
        "cannot write {path}: {reason}. Choose another place, or change its mode",
        path=path,
        reason=error.strerror,
    )
