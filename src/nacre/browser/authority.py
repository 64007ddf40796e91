"""The certificate authority of the recording proxy: a certificate for each host that is asked for.

The authority of a crawl lives in memory, and ends with the run. The browser trusts it by the hash
of its key alone, in no certificate store (`spki_hash`). The authority of a recorder is kept in
files beside the archive, since a person imports its certificate.
"""

import hashlib
import os
import ssl
import tempfile
from base64 import b64encode
from collections import OrderedDict
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from nacre.core.clock import Clock
from nacre.errors import ConfigError
from nacre.machine.clock import SystemClock

CERTIFICATE_FILE, KEY_FILE = "ca.pem", "ca.key"
"""Names of the files of an authority that is kept."""

_MOST_HOSTS = 1000
_DAYS = 365
_LEAF_DAYS = 90
_LONGEST_NAME = 64
_DAY = timedelta(days=1)
_PIECE = 65_536


class CertificateAuthority:
    """Issues a certificate for each host, and makes the TLS contexts of the proxy.

    Contexts of the last 1,000 hosts are kept, since a new one costs about a millisecond.

    Attributes:
        certificate: Its own certificate, PEM.
        spki_hash: SHA-256 of its public key, base64, as Chromium takes it
            (`--ignore-certificate-errors-spki-list`).
    """

    def __init__(
        self,
        key: ec.EllipticCurvePrivateKey | None = None,
        certificate: x509.Certificate | None = None,
        scratch: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Take a key and its certificate, or make new ones.

        Args:
            key: Its private key; None: a new one.
            certificate: Its certificate; None: a new one for the key.
            scratch: Directory for a moment's file of each certificate; None for the system's.
            clock: The time of certificates; None: the machine's.
        """
        self._clock = clock or SystemClock()
        self._key = key or ec.generate_private_key(ec.SECP256R1())
        own = certificate or _own_certificate(self._key, _time(self._clock))
        self._own = own
        self._leaf_key = ec.generate_private_key(ec.SECP256R1())
        self._scratch = scratch
        self._contexts: OrderedDict[str, ssl.SSLContext] = OrderedDict()
        self.certificate = own.public_bytes(serialization.Encoding.PEM)
        public = self._key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.spki_hash = b64encode(hashlib.sha256(public).digest()).decode("ascii")

    @classmethod
    def open_in(cls, directory: Path) -> "CertificateAuthority":
        """Open the authority that is kept in a directory, or make one there.

        It is made again if its certificate has run out. The key is readable by its owner only.

        Raises:
            ConfigError: The files cannot be read or written, or they are not those of an authority.
        """
        key_file, certificate_file = directory / KEY_FILE, directory / CERTIFICATE_FILE
        try:
            if key_file.exists() and certificate_file.exists():
                authority = cls._load(key_file.read_bytes(), certificate_file.read_bytes())
                if authority is not None:
                    return authority
            authority = cls()
            authority.save_in(directory)
        except OSError as error:
            raise ConfigError(
                f"the authority in {directory} cannot be opened: {error.strerror or error}. "
                "Check the mode of the directory."
            ) from error
        except (ValueError, TypeError) as error:
            raise ConfigError(
                f"{certificate_file} and {key_file.name} are not those of an authority: {error}. "
                "Delete both, and import the new certificate."
            ) from error
        return authority

    @classmethod
    def _load(cls, key_text: bytes, certificate_text: bytes) -> "CertificateAuthority | None":
        key = serialization.load_pem_private_key(key_text, None)
        certificate = x509.load_pem_x509_certificate(certificate_text)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError("the key is not one of an elliptic curve")
        if key.public_key() != certificate.public_key():
            raise ValueError("key and certificate do not belong together")
        if certificate.not_valid_after_utc < _time(SystemClock()) + _DAY:
            return None
        return cls(key, certificate)

    def save_in(self, directory: Path) -> None:
        """Keep key and certificate in files.

        Raises:
            OSError: They cannot be written.
        """
        key_file = directory / KEY_FILE
        key_file.unlink(missing_ok=True)
        handle = os.open(key_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(_key_text(self._key))
        (directory / CERTIFICATE_FILE).write_bytes(self.certificate)

    def context_for(self, host: str) -> ssl.SSLContext:
        """Return the context of a server that is this host.

        Args:
            host: Name in lower case, or IP address without brackets.

        Raises:
            ValueError: No certificate can name it.
            OSError: There is no space for a file of a moment.
        """
        context = self._contexts.get(host)
        if context is None:
            context = self._make_context(host)
            self._contexts[host] = context
            if len(self._contexts) > _MOST_HOSTS:
                self._contexts.popitem(last=False)
        self._contexts.move_to_end(host)
        return context

    def delete(self) -> None:
        """Forget the contexts: the run is over."""
        self._contexts.clear()

    def _make_context(self, host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        leaf = self._issue(host).public_bytes(serialization.Encoding.PEM)
        # The standard library reads certificates and keys from files only.
        with tempfile.NamedTemporaryFile(dir=self._scratch) as file:
            file.write(_key_text(self._leaf_key) + leaf + self.certificate)
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def _issue(self, host: str) -> x509.Certificate:
        now = _time(self._clock)
        try:
            name: x509.GeneralName = x509.IPAddress(ip_address(host))
        except ValueError:
            name = x509.DNSName(host)
        usage = [ExtendedKeyUsageOID.SERVER_AUTH]
        return (
            x509.CertificateBuilder()
            .subject_name(_named(host[:_LONGEST_NAME]))
            .issuer_name(self._own.subject)
            .public_key(self._leaf_key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _DAY)
            .not_valid_after(min(now + _LEAF_DAYS * _DAY, self._own.not_valid_after_utc))
            .add_extension(x509.SubjectAlternativeName([name]), critical=False)
            .add_extension(x509.ExtendedKeyUsage(usage), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_issuer_key(self._key), critical=False)
            .sign(self._key, hashes.SHA256())
        )


def _time(clock: Clock) -> datetime:
    return datetime.fromtimestamp(clock.now(), UTC)


def _own_certificate(key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.Certificate:
    """Return the certificate of an authority, which may sign nothing but hosts."""
    name = _named(f"Nacre recorder {os.urandom(4).hex()}")
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAYS * _DAY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_CERTIFICATE_SIGNING, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


_CERTIFICATE_SIGNING = x509.KeyUsage(
    digital_signature=False, content_commitment=False, key_encipherment=False,
    data_encipherment=False, key_agreement=False, key_cert_sign=True, crl_sign=True,
    encipher_only=False, decipher_only=False,
)  # fmt: skip


def _issuer_key(key: ec.EllipticCurvePrivateKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())


def _named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _key_text(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


class ServerTls:
    """The server side of TLS over bytes: bytes that were read before the handshake are not lost."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._is_ready = False
        self.is_closed = False

    def receive(self, data: bytes) -> bytes:
        """Take received bytes; return plain text.

        Raises:
            ssl.SSLError: The peer does not speak TLS, or does not trust the certificate.
        """
        self._incoming.write(data)
        parts: list[bytes] = []
        try:
            if not self._is_ready:
                self._object.do_handshake()
                self._is_ready = True
            while part := self._object.read(_PIECE):
                parts.append(part)
            self.is_closed = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.is_closed = True
        return b"".join(parts)

    def send(self, data: bytes) -> bytes:
        """Return the bytes to send for plain text."""
        view = memoryview(data)
        while view:
            view = view[self._object.write(view) :]
        return self.outgoing()

    def outgoing(self) -> bytes:
        """Return the bytes that wait to be sent."""
        return self._outgoing.read()

    def close(self) -> bytes:
        """Return the bytes of the end."""
        with suppress(ssl.SSLError):
            self._object.unwrap()
        return self.outgoing()
