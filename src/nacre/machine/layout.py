"""The layout of a job's directory: the path of everything in it."""

import os
import pwd
import re
from datetime import UTC, datetime
from pathlib import Path

from nacre.errors import JobError

CONFIG = "crawl.yaml"
SEEDS = "seeds.txt"
EFFECTIVE = "effective.json"
"""The settings of a run, in its directory."""

_URL = re.compile(r"([a-z][a-z0-9+]+)://(.+)", re.DOTALL)


class Layout:
    """The directory of a job.

    Attributes:
        root: The directory, absolute.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

    @property
    def config(self) -> Path:
        """`crawl.yaml`."""
        return self.root / CONFIG

    @property
    def state(self) -> Path:
        """Directory of the store, the socket and the scratch files."""
        return self.root / "state"

    @property
    def store(self) -> Path:
        """The store."""
        return self.state / "store"

    @property
    def checkpoints(self) -> Path:
        """Copies of the store to go back to; on its file system, so that files can be shared."""
        return self.state / "checkpoints"

    @property
    def edits(self) -> Path:
        """Versions of `crawl.yaml`, with the author of each."""
        return self.state / "edits"

    @property
    def scratch(self) -> Path:
        """Directory for large bodies while they are received."""
        return self.state / "scratch"

    @property
    def socket(self) -> Path:
        """The Unix socket of the running job."""
        return self.state / "control"

    @property
    def passes(self) -> Path:
        """The file with the next start of a crawl that never ends; locked by its process."""
        return self.state / "passes"

    @property
    def action(self) -> Path:
        """Files put here are taken in while the job runs."""
        return self.root / "action"

    @property
    def control(self) -> Path:
        """Directory of files that change the running job as long as they exist."""
        return self.root / "control"

    @property
    def cycle(self) -> Path:
        """Tables and journal of a batch crawl (`nacre cycle`)."""
        return self.root / "cycle"

    @property
    def index(self) -> Path:
        """Directory of the search index (`nacre index`)."""
        return self.root / "index"

    @property
    def search(self) -> Path:
        """The embedded index of words."""
        return self.index / "search"

    @property
    def recorder(self) -> Path:
        """Certificate and keys of the proxy of `nacre record`; only recordings have it."""
        return self.root / "recorder"

    @property
    def is_recording(self) -> bool:
        """Whether a proxy gives the job its visits, in place of seeds and links."""
        return self.recorder.is_dir()

    @property
    def in_rounds(self) -> bool:
        """Whether it is the directory of a batch crawl."""
        return self.cycle.is_dir()

    @property
    def was_crawled(self) -> bool:
        """Whether there is anything of a crawl, of one kind or the other."""
        return self.in_rounds or self.store.is_dir()

    def never_ran(self) -> JobError:
        """Return the error of a command that needs a run, with the command that helps."""
        if self.in_rounds:
            return JobError(
                f"{self.root} is crawled in rounds, which have no runs: `nacre cycle {self.root} "
                "readdb --stats` counts its URLs, and `readdb --url URL`, `explain URL`, `readseg` "
                "and `readhosts` in place of `readdb --stats` show more"
            )
        return JobError(f"{self.root} has not run yet; start it by `nacre run {self.root}`")

    def require_runs(self, instead: str) -> None:
        """Raise JobError when the directory is that of a batch crawl, which has no runs.

        Args:
            instead: Arguments for `nacre cycle DIR` to use instead, such as `readdb --stats`.
        """
        if self.in_rounds and not self.store.is_dir():
            raise JobError(
                f"{self.root} is crawled in rounds, which have no runs: `nacre cycle {self.root} "
                f"{instead}`"
            )

    def require_continuous(self) -> None:
        """Raise JobError when the directory is that of a batch crawl, or of a recording."""
        if self.is_recording:
            raise JobError(
                f"{self.root} is a recording: `nacre record --out {self.root}` resumes it; "
                "for a crawl choose another directory"
            )
        if self.in_rounds:
            raise JobError(
                f"{self.root} is crawled in rounds: `nacre cycle {self.root} --rounds 1` resumes "
                "it; for a continuous crawl choose another directory"
            )

    def run(self, name: str) -> Path:
        """Directory of a run."""
        return self.root / "runs" / name

    @property
    def latest(self) -> Path:
        """Link to the last run."""
        return self.root / "latest"

    @property
    def has_store(self) -> bool:
        """Whether the job has run.

        Raises:
            JobError: Its state is another user's.
        """
        self.require_access()
        return self.store.is_dir()

    def require_access(self) -> None:
        """Raise JobError when the state of the job is closed to this user."""
        try:
            facts = self.state.stat()
        except FileNotFoundError:
            return
        except OSError as error:
            raise JobError(f"{self.state} cannot be read: {error.strerror}") from error
        if os.access(self.state, os.R_OK | os.X_OK):
            return
        try:
            owner = pwd.getpwuid(facts.st_uid).pw_name
        except KeyError:
            owner = f"#{facts.st_uid}"
        raise JobError(
            f"{self.state} holds cookies and logins, and only its owner may read it: ask as "
            f"{owner}, by `sudo -u {owner} nacre …`"
        )

    def require_path(self) -> None:
        """Raise JobError if the path of the directory is not UTF-8: the store takes no other."""
        try:
            str(self.root).encode()
        except UnicodeEncodeError:
            quoted = os.fsencode(self.root).decode("utf-8", "backslashreplace")
            raise JobError(
                f"{quoted}: the name of this directory, or of one above it, is not UTF-8, which "
                "the store of a job needs. Rename it, or name another directory"
            ) from None

    def require(self) -> None:
        """Raise JobError if there is no job, or this user may not read it."""
        self.require_path()
        try:
            has_config = self.config.is_file()
        except OSError as error:
            raise JobError(f"{self.config} cannot be read: {error.strerror}") from error
        if not has_config:
            raise JobError(
                f"{self.root} is not a job: it holds no {CONFIG}; make one with `nacre new DIR URL`"
            )


def storage_folder(place: str) -> Path | None:
    """Return the directory of a storage of tables; None for an object store, `s3://bucket/folder`.

    Args:
        place: A path, or a URL.
    """
    match = _URL.fullmatch(place)
    if match and match[1] != "file":
        return None
    return Path(match[2] if match else place).absolute()


def run_name(now: float) -> str:
    """Name of a run: its start, `20261120T151100Z`."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
