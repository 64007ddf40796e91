"""The file of a job, as faces show it: its text without secrets, and its ETag."""

import hashlib

import msgspec

from nacre.editing.secrets import without_secrets
from nacre.job.edits import read_config
from nacre.store.layout import Layout


class ConfigVersion(msgspec.Struct, frozen=True):
    """The file of a job as it can be shown.

    Attributes:
        text: Its text, with a mark in place of each secret.
        etag: Changes with each version.
    """

    text: str
    etag: str


def read_version(layout: Layout) -> ConfigVersion:
    """Read the file as it is.

    Raises:
        JobError: It cannot be read.
    """
    raw = read_config(layout.config).decode("utf-8", "replace")
    shown = without_secrets(raw).text
    # Not of the text itself, from which a short secret could be guessed.
    facts = f"{layout.config.stat().st_mtime_ns} {shown}"
    return ConfigVersion(shown, hashlib.sha256(facts.encode()).hexdigest()[:32])
