"""Prepares a recording: the job, the certificate authority, the key and the listening socket.

The directory of a recording is that of an ordinary job: replay, search, packing and checks work
on it. A directory below it has what belongs to the proxy.
"""

import os
import secrets
import socket
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import msgspec

from nacre.config.layer import Layer, assignment_layer, merge
from nacre.errors import ConfigError, JobError, Problem
from nacre.machine.layout import Layout
from nacre.machine.local_files import make_private
from nacre.messages import message
from nacre.ops.fields import LineTexts, ShortText, Typed

if TYPE_CHECKING:
    from nacre.config.check import Loaded
    from nacre.job.recording import RecordingPlan
    from nacre.settings.settings import JobSettings

_KEY_FILE: Final = "key"
_PRIVATE: Final = ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128")
_NO_SEEDS: Final = "# A recording has no seeds: `nacre record` gives it its visits."
_SETTINGS: Final[Mapping[str, object]] = {
    "scope": ["accept"],
    "robots": {"policy": "ignore", "fetch": False},
    "cookies": {"enabled": False},
    "engine": {"parallel": 1},
    "fetch": {"tls": "strict"},
    "browser": {"use": "never"},
    "chains": {"fetch": {"remove": ["extract", "render", "walls"]}},
}
"""A browser obeys no robots.txt, has its cookies, and follows its links itself."""


class RecordRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a recording.

    Attributes:
        listen: Address and port of the proxy; port 0 for a free one. Others than this machine can
            use it if the address is not a loopback address; they need the key that is printed.
        with_key: Require the key on a loopback address too.
        allow_private: Let the browser reach loopback and private networks.
        allow_net: Let the browser reach this network.
        warc_prefix: First part of WARC file names.
        assignments: Set any other setting.
    """

    listen: Annotated[ShortText, Typed("ADDRESS:PORT")] = "127.0.0.1:8089"
    with_key: bool = False
    allow_private: bool = False
    allow_net: Annotated[LineTexts, Typed("CIDR")] = ()
    warc_prefix: Annotated[ShortText | None, Typed("TEXT")] = None
    assignments: Annotated[LineTexts, Typed("PATH=VALUE", option="--set")] = ()


class Recording(NamedTuple):
    """A recording that can begin.

    Attributes:
        layout: The directories of its job.
        loaded: The settings.
        plan: Socket, authority and key.
        address: The address of the proxy, `http://ADDRESS:PORT`.
        certificate: File of the certificate to import.
    """

    layout: Layout
    loaded: "Loaded[JobSettings]"
    plan: "RecordingPlan"
    address: str
    certificate: Path


def certificate_of(directory: Path) -> Path:
    """Return the file of the certificate to import; it is made if there is none.

    Raises:
        ConfigError: It cannot be read or written.
        JobError: The directory is that of a job that is no recording.
    """
    from nacre.browser.authority import CERTIFICATE_FILE, CertificateAuthority

    _require_recording(Layout(directory))
    home = _home(directory)
    CertificateAuthority.open_in(home)
    return home / CERTIFICATE_FILE


def prepare_recording(request: RecordRequest, directory: Path) -> Recording:
    """Listen, and make the job unless it exists; without a socket nothing is written.

    Args:
        request: The options.
        directory: The directory of the job.

    Raises:
        ConfigError: An option or a setting has a problem, or the proxy cannot listen there.
        JobError: The directory is that of a job that is no recording, or it is recorded already.
    """
    from nacre.browser.authority import CERTIFICATE_FILE, CertificateAuthority
    from nacre.job.control import is_running
    from nacre.job.recording import RecordingPlan

    layout = Layout(directory)
    _require_recording(layout)
    if is_running(layout.socket):
        raise JobError(
            message(
                "ops.recording-runs",
                "{root} is recorded already; see `nacre status {root}`",
                root=layout.root,
            )
        )
    host, port = _read_address(request.listen)
    sock = _listen(host, port)
    try:
        loaded = _settings(layout, request)
        home = _home(directory)
        authority = CertificateAuthority.open_in(home)
        key = _key(home) if request.with_key or not ip_address(host).is_loopback else ""
    except BaseException:
        sock.close()
        raise
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{sock.getsockname()[1]}"
    plan = RecordingPlan(sock, authority, key)
    return Recording(layout, loaded, plan, address, home / CERTIFICATE_FILE)


def _require_recording(layout: Layout) -> None:
    """Refuse the directory of a job that crawls."""
    layout.require_path()
    if layout.config.exists() and not layout.is_recording:
        raise JobError(
            message(
                "ops.no-recording",
                "{root} is a job that crawls. Name another directory with --out for a recording.",
                root=layout.root,
            )
        )


def _home(directory: Path) -> Path:
    home = Layout(directory).recorder
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        make_private(home)
    except OSError as error:
        raise ConfigError(
            message(
                "ops.recorder-directory",
                "{home} cannot be made: {strerror}. Name another directory with --out.",
                home=home,
                strerror=error.strerror,
            )
        ) from error
    return home


def _settings(layout: Layout, request: RecordRequest) -> "Loaded[JobSettings]":
    """Return the settings of the job; a new one is written with the options.

    The options of a later recording hold for that one alone.

    Raises:
        ConfigError: With every problem.
    """
    from nacre.settings.load import load_job
    from nacre.settings.new_job import NewJob, create_job, examine_new

    if layout.config.exists():
        return load_job(layout, [*_assignments(request), *request.assignments])
    layer = assignment_layer([*_assignments(request), *request.assignments])
    if layer.problems:
        raise ConfigError(layer.problems)
    values: dict[str, Any] = merge([Layer(layer.source, dict(_SETTINGS)), layer])[0]
    new = NewJob([_NO_SEEDS], values=values)
    _, problems = examine_new(layout, new)
    if problems:
        raise ConfigError(problems)
    create_job(layout, new)
    return load_job(layout)


def _assignments(request: RecordRequest) -> list[str]:
    """Return the options that are settings, as `--set` has them."""
    networks = [*(_PRIVATE if request.allow_private else ()), *request.allow_net]
    assignments = [f"network.allow=[{', '.join(networks)}]"] if networks else []
    if request.warc_prefix is not None:
        assignments.append(f"archive.prefix={request.warc_prefix}")
    return assignments


def _read_address(text: str) -> tuple[str, int]:
    """Return address and port.

    Raises:
        ConfigError: It is none.
    """
    host, _, port = text.rpartition(":")
    host = "127.0.0.1" if host in ("", "localhost") else host.strip("[]")
    try:
        ip_address(host)
        number = int(port)
    except ValueError:
        number = -1
    if not 0 <= number <= 65535:
        wrong = message("ops.listen-address", "--listen {text}: no address and port", text=text)
        expected = message("ops.listen-form", "an IP address and a port")
        raise ConfigError([Problem("", wrong, expected, "127.0.0.1:8089")])
    return host, number


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raises:
        ConfigError: The port is in use, or the address is not one of this machine.
    """
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(128)
    except OSError as error:
        sock.close()
        raise ConfigError(
            message(
                "ops.listen-failed",
                "--listen {host}:{port}: {strerror}. Name another address or port; port 0 takes a "
                "free one.",
                host=host,
                port=port,
                strerror=error.strerror,
            )
        ) from error
    return sock


def _key(home: Path) -> str:
    """Return the key of clients, which is made once; only the owner can read it.

    Raises:
        ConfigError: It cannot be read or written.
    """
    file = home / _KEY_FILE
    try:
        if not file.exists():
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w") as opened:
                opened.write(secrets.token_urlsafe(18))
        key = file.read_text("ascii").strip()
    except (OSError, ValueError) as error:
        raise ConfigError(
            message(
                "ops.recorder-key",
                "{file} cannot be used: {error}. Delete it for a new key.",
                file=file,
                error=error,
            )
        ) from error
    if not key:
        raise ConfigError(
            message(
                "ops.recorder-key",
                "{file} cannot be used: {error}. Delete it for a new key.",
                file=file,
                error="it is empty",
            )
        )
    return key
