"""New jobs of Heritrix's interface, and the files that clients write into jobs."""

import asyncio
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from nacre.errors import ConfigError, JobError, NacreError, Problem
from nacre.fleet.places import CLASSES, CXML, PROFILE
from nacre.fleet.reach import may_name_files
from nacre.fleet.refusals import RefusedRequestError
from nacre.machine.layout import Layout
from nacre.machine.local_files import replace_file
from nacre.ops.operation import Role
from nacre.settings.layers import profile_names
from nacre_migrate.port.actions import JobDesk
from nacre_migrate.port.conversion import TEMPLATE, config_of, convert, is_profile, note
from nacre_migrate.port.files import has_beans, may_hold_secret, text_of

_PATIENCE: Final = 60.0
_NAME: Final = 100
"""Characters of a job's name."""


class JobMaker(JobDesk):
    """Makes jobs, and writes their files."""

    async def create(self, name: str, profile: str = "") -> str:
        """Make a job from a profile, or an empty one; return the message for the user.

        Args:
            name: Its name.
            profile: A job that is a profile, or else a profile of Nacre; "" for Heritrix's stock
                configuration.

        Raises:
            ConfigError: The settings of the profile are none.
            JobError: The name is none, taken, or the profile is not known.
        """
        _require_name(name)
        if (
            profile
            and profile in self._jobs.all()
            and is_profile(self._jobs.job(profile).layout.root)
        ):
            return await self.copy(profile, name, as_profile=False)
        is_ours = profile in await asyncio.to_thread(profile_names)
        if not is_ours and profile not in {"", "default", "defaults"}:
            raise JobError(f"there is no profile {profile!r}")
        root = self._new_directory(name)
        if is_ours:
            await self._fill(root, profile)
        else:
            (root / CXML).write_text(TEMPLATE, "utf-8")
            await convert(self._parts, Layout(root), CXML, self._requester)
        await self._jobs.rescan()
        return f"Created new crawl job: {name}"

    async def _fill(self, root: Path, profile: str) -> None:
        """Put the settings of a profile of Nacre into a new directory; else it goes again."""
        try:
            await self._parts.readers.ask("make-of-profile", root, _PATIENCE, profile=profile)
        except NacreError:
            with suppress(OSError):
                await asyncio.to_thread(root.rmdir)
            raise

    def _new_directory(self, name: str) -> Path:
        root = self._jobs.directory / name
        try:
            root.mkdir(parents=True)  # the place itself is made with its first job
        except FileExistsError:
            raise JobError(f"Directory exists: {name}") from None
        except OSError as error:
            raise JobError(f"{root} cannot be made: {error.strerror}") from error
        self._parts.fleet.removals.drop(str(root))  # it was of an earlier job of this directory
        return root

    async def add(self, path: str) -> str:
        """Add a directory of Heritrix, or of Nacre, below a place; return the message.

        Raises:
            JobError: It is not a directory, is another user's, or is below no place.
        """
        places = [place.root for place in self._jobs.places]
        root = await asyncio.to_thread(_directory_below, path, places)
        layout, config = Layout(root), config_of(root)
        if config != layout.config.name:
            await convert(self._parts, layout, config, self._requester)
        self._parts.fleet.removals.drop(str(root))
        await self._jobs.rescan()
        if root not in {job.layout.root for job in self._parts.fleet.jobs}:
            raise JobError(f"Could not add job: {path!r} holds neither crawl.yaml nor {CXML}")
        return f"Added crawl job: {path!r}"

    async def copy(self, name: str, to: str, *, as_profile: bool) -> str:
        """Copy the files of a job, but no logs and nothing that was crawled.

        Raises:
            JobError: The name is none, or taken.
        """
        _require_name(to)
        source = self._jobs.job(name).layout.root
        if as_profile and not any((source / beans).is_file() for beans in (CXML, PROFILE)):
            raise JobError(f"{name} has no {CXML}, so that it cannot become a profile")
        root = self._new_directory(to)
        for file in source.iterdir():
            if file.is_symlink() or file.name.startswith((".", "job.log")):
                continue
            if file.is_file():
                shutil.copy2(file, root / file.name)
            elif file.name in {"resources", "logins"}:
                shutil.copytree(file, root / file.name, symlinks=True)
        for old, new in ((CXML, PROFILE), (PROFILE, CXML)):
            if as_profile == (new == PROFILE) and (root / old).is_file():
                (root / old).rename(root / new)
                break
        await self._jobs.rescan()
        return f"Copied {name} to {to}"

    async def write(self, layout: Layout, parts: Sequence[str], data: bytes) -> bool:
        """Write a file of a job; True for a new one. Beans become the settings of the job.

        Raises:
            JobError: It cannot be written.
        """
        path = layout.root.joinpath(*parts)
        created = not path.exists()
        try:
            path.parent.mkdir(exist_ok=True)
            if path.is_symlink() or path.parent.is_symlink():
                raise JobError(f"{path.name} is a link")
            await asyncio.to_thread(replace_file, path, data, _mode_of(path, data))
        except OSError as error:
            raise JobError(f"{path.name} cannot be written: {error.strerror}") from error
        is_beans = path.name in {CXML, CLASSES}
        if is_beans and (layout.root / CXML).is_file():
            for problem in await convert(self._parts, layout, CXML, self._requester):
                note(self._parts, layout, "SEVERE", problem)
        return created

    async def write_settings(self, layout: Layout, data: bytes) -> bool:
        """Write the settings of a job; True where it had none. Secrets stand as they were shown.

        Args:
            layout: The job.
            data: The text of `crawl.yaml`; it may have problems, which the next build tells.

        Raises:
            ConfigError: It has a secret, or a file that the user may not name.
            JobError: It is a link.
            RefusedRequestError: It is no text (400), or the job runs (409).
        """
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            reason = f"the text is not UTF-8, at byte {error.start}"
            raise RefusedRequestError(400, "bad-text", reason) from None
        if layout.config.is_symlink():
            raise JobError(f"{layout.config.name} is a link")
        created = not layout.config.exists()
        answer: dict[str, Any] = await self._parts.readers.ask(
            "put-config", layout.root, _PATIENCE, text=text,
            user=f"{self._requester.name} via console", files=self._may_name_files,
            admin=self._requester.role >= Role.ADMIN,
        )  # fmt: skip
        if answer["outcome"] == "running":
            raise RefusedRequestError(
                409, "running", "the job runs, and its file cannot be replaced: stop it first"
            )
        if answer["outcome"] == "problems":
            problems = answer["findings"]["problems"]
            raise ConfigError([
                Problem(problem["path"], problem["message"], problem["expected"], problem["sample"],
                        layout.config.name, problem["line"])
                for problem in problems
            ])  # fmt: skip
        return created

    @property
    def _may_name_files(self) -> bool:
        remote, requester = self._parts.reach.is_remote, self._requester
        return may_name_files(requester.role, is_remote=remote, places=requester.places)


def _mode_of(path: Path, data: bytes) -> int:
    """Who may read a file that is written: those of before, and a password its owner alone."""
    if has_beans(path.name) and may_hold_secret(text_of(data)):
        return 0o600
    return path.stat().st_mode & 0o666 if path.exists() else 0o666


def _directory_below(path: str, places: Sequence[Path]) -> Path:
    """The directory of a path.

    Raises:
        JobError: It is not a directory, is another user's, or is below none of the places.
    """
    root = Path(os.path.realpath(path))
    real = [Path(os.path.realpath(place)) for place in places]
    if not any(root.is_relative_to(place) and root != place for place in real):
        raise JobError(f"{path!r} lies below no directory of this console")
    if not root.is_dir() or root.stat().st_uid != os.getuid():
        raise JobError(f"Cannot add non-directory, or one of another user: {path!r}")
    return root


def _require_name(name: str) -> None:
    if "/" in name:
        raise JobError(f"Sub-directories disallowed: {name!r}")
    if not name or name.startswith((".", "-", "~")) or "~" in name or not name.isprintable():
        raise JobError(f"{name!r} is no name of a job")
    if len(name) > _NAME or "\\" in name or name == "latest":
        raise JobError(f"{name!r} is no name of a job")
