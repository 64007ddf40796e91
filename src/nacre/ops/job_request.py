"""New jobs as programs and forms request them: their settings, their dry run, and the job."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from nacre.errors import ConfigError, NacreError, Problem
from nacre.machine.layout import Layout
from nacre.messages import message

if TYPE_CHECKING:
    from nacre.config.check import Loaded
    from nacre.settings.new_job import NewJob
    from nacre.settings.settings import JobSettings

_ANY_SEED: Final = "http://localhost/"
"""Replaces missing seeds: no setting depends on it."""
_NO_SEEDS: Final = "# URLS HERE"
"""The seed list of a job that gets its seeds later."""


class NewJobRequest(msgspec.Struct, frozen=True):
    """A new job.

    Attributes:
        seeds: Lines of the seed list.
        scope: As of `nacre.new`; "" for that of the profile or the settings, else `prefix`.
        depth: Links followed from a seed; None for the default.
        include: Expressions of which one must match a URL.
        exclude: Expressions of which none may match.
        profile: Name of a profile; "" for none.
        settings: Other settings, nested as in `crawl.yaml`.
        template: Directory of a job whose settings it takes; "" for none.
        own_seeds: It takes the seeds of the template, too, if `seeds` is empty.
        writes: False to check the job only.
    """

    seeds: tuple[str, ...]
    scope: str = ""
    depth: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    profile: str = ""
    settings: dict[str, Any] = {}
    template: str = ""
    own_seeds: bool = False
    writes: bool = True


class SampleDecision(msgspec.Struct, frozen=True):
    """The dry run of a URL.

    Attributes:
        url: The URL.
        decision: `ACCEPT`, `REJECT`, or "" if it is no URL that can be crawled.
        rule: The rule that decides.
        error: Why it is no URL that can be crawled; "" where it is.
    """

    url: str
    decision: str = ""
    rule: str = ""
    error: str = ""


def create_requested(layout: Layout, request: NewJobRequest) -> tuple[str, ...]:
    """Check a new job as `nacre new` does, and write it; return warnings.

    Args:
        layout: Its directories.
        request: The job.

    Raises:
        ConfigError: With every problem; nothing is written.
    """
    from nacre.ops.new_job import check_and_create

    with _problems_only():
        result = check_and_create(layout, _new_job(request), strict=True, writes=request.writes)
    return tuple(" ".join(str(warning).split()) for warning in result.warnings)


def try_requested(
    layout: Layout, request: NewJobRequest, urls: Sequence[str]
) -> tuple[SampleDecision, ...]:
    """Make the dry run of a job that does not exist; nothing is written and no name looked up.

    Args:
        layout: Where the job would be.
        request: The job.
        urls: The URLs.

    Raises:
        ConfigError: With every problem of the job.
    """
    from nacre.inspect.explain.dry_run import DryRun
    from nacre.settings.new_job import examine_new

    with _problems_only():
        loaded, problems = examine_new(layout, _new_job(request))
        if loaded is None or problems:
            raise ConfigError(problems)
        run = DryRun(layout, loaded)
        outlooks = [run.outlook(url) for url in urls]
    return tuple(
        SampleDecision(outlook.url, outlook.decision, outlook.decider, outlook.error)
        for outlook in outlooks
    )


def load_requested(layout: Layout, request: NewJobRequest) -> "Loaded[JobSettings] | None":
    """Load the settings of a job that does not exist; None if they cannot be read.

    Args:
        layout: Where the job would be.
        request: The job; it may have no seeds.
    """
    from nacre.settings.new_job import examine_new

    seeds = tuple(line for line in request.seeds if line.strip())
    try:
        new = _new_job(msgspec.structs.replace(request, seeds=seeds or (_ANY_SEED,)))
        return examine_new(layout, new)[0]
    except NacreError:
        return None


def create_of_profile(layout: Layout, profile: str) -> None:
    """Write a job of a profile that has no seeds yet.

    Args:
        layout: Its directories.
        profile: The name of the profile.

    Raises:
        ConfigError: There is no such profile, or its settings have problems.
        JobError: There is a job already, or the directory cannot be made.
    """
    from nacre.settings.layers import profile_names
    from nacre.settings.new_job import NewJob, create_job, examine_new

    if profile not in profile_names():
        text = message("console.no-profile", "there is no profile {profile!r}", profile=profile)
        raise ConfigError([Problem("profile", text)])
    _, problems = examine_new(layout, NewJob([_ANY_SEED], profile=profile))
    if problems:
        raise ConfigError(problems)
    create_job(layout, NewJob([_NO_SEEDS], profile=profile))


@contextmanager
def _problems_only() -> Iterator[None]:
    """Turn every error into a `ConfigError` with problems."""
    try:
        yield
    except NacreError as error:
        if isinstance(error, ConfigError) and error.problems:
            raise
        raise ConfigError([Problem("", error.message)]) from error


def _new_job(request: NewJobRequest) -> "NewJob":
    """Return the job of a request.

    Raises:
        ConfigError: Its seeds or its scope are invalid, or a secret was entered.
    """
    from nacre.editing.secrets import plain_secrets_in
    from nacre.scope.rules.stock import rules_for
    from nacre.settings.new_job import NewJob

    settings: dict[str, Any] = request.settings
    if secrets := plain_secrets_in(settings):
        raise ConfigError(secrets)
    if request.template:
        settings = _settings_like(Path(request.template), settings)
    seeds: Sequence[str] = request.seeds
    if not seeds and request.own_seeds:
        seeds = _seeds_of(Path(request.template))
    if not any(line.strip() for line in seeds):
        text = message("console.no-seeds", "there is no URL to start from")
        expected = message("console.url-a-line", "a URL a line")
        raise ConfigError([Problem("seeds", text, expected, "https://example.org/")])
    _require_scope(request)
    if (request.profile or "scope" in settings) and not request.scope:
        return NewJob(seeds, (), settings, request.profile)
    rules = rules_for(
        request.scope or "prefix",
        depth=request.depth,
        include=request.include,
        exclude=request.exclude,
    )
    return NewJob(seeds, rules, settings, request.profile)


def _require_scope(request: NewJobRequest) -> None:
    """Check that the options of a scope have an effect.

    Raises:
        ConfigError: The scope is that of the profile, which ignores them.
    """
    if not request.profile or request.scope:
        return
    text = message(
        "console.scope-of-profile",
        "the scope of the profile {profile} holds, and this would change nothing",
        profile=request.profile,
    )
    expected = message("console.scope-beside-profile", "a scope with a profile")
    names = [name for name in ("depth", "include", "exclude") if getattr(request, name)]
    if names:
        raise ConfigError([Problem(name, text, expected) for name in names])


def _seeds_of(root: Path) -> Sequence[str]:
    """The lines of the seed list of a job without its logins: a new job has no secrets of another.

    Raises:
        ConfigError: It cannot be read.
    """
    from nacre.config.seed_file import seed_lines
    from nacre.settings.load import load_job
    from nacre.settings.new_job import separate_logins

    return separate_logins(seed_lines(load_job(Layout(root)).settings.seeds, root)).lines


def _settings_like(root: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of another job without its own ones, and others over them.

    Raises:
        ConfigError: Its file is not YAML.
        JobError: It cannot be read.
    """
    from nacre.config.document import read_yaml
    from nacre.config.layer import Layer, merge
    from nacre.ops.library import profile_of

    text = profile_of(Layout(root))
    merged, _ = merge([read_yaml(text, "template"), Layer("option", settings)])
    return dict(merged)
