"""Tasks of reader processes for new jobs: look at one before it is made, and make it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nacre.errors import ConfigError, NacreError, Problem
from nacre.machine.layout import Layout
from nacre.messages import error_text, message

if TYPE_CHECKING:
    from nacre.settings.new_job import NewJob


def look_at_new_job(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
    """Make the dry run of a job that is not made yet; nothing is written and no name looked up.

    Args:
        layout: Where it would be.
        arguments: Those of `make_new_job`, and `urls`: the URLs of the dry run.
    """
    from nacre.inspect.explain.dry_run import DryRun  # noqa: PLC0415 - the worker starts faster
    from nacre.settings.new_job import examine_new  # noqa: PLC0415

    try:
        loaded, problems = examine_new(layout, _new(arguments))
        if loaded is None or problems:
            return {"problems": [problem._asdict() for problem in problems], "urls": []}
        run = DryRun(layout, loaded)
        urls = [str(url) for url in arguments.get("urls", ())]
        outlooks = [run.outlook(url) for url in urls]
    except NacreError as error:
        return {"problems": _problems(error), "urls": []}
    decisions = [
        {
            "url": outlook.url,
            "decision": outlook.decision,
            "rule": outlook.decider,
            "error": outlook.error,
        }
        for outlook in outlooks
    ]
    return {"problems": [], "urls": decisions}


def make_new_job(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
    """Check a new job as `nacre new` does, and write it; with a problem nothing is written.

    Args:
        layout: Where it is made.
        arguments: `seeds`: lines of a seed list; `scope`, `depth`, `include`, `exclude`, `profile`,
            `settings`: as of `nacre.job.api.new_job`; `template`: directory of a job whose
            settings it takes, "" for none; `own_seeds`: its seeds too, where none are given;
            `writes`: False for the check alone.
    """
    from nacre.ops.new_job import check_and_create  # noqa: PLC0415 - see above

    try:
        writes = bool(arguments.get("writes", True))
        result = check_and_create(layout, _new(arguments), strict=True, writes=writes)
    except NacreError as error:
        return {"problems": _problems(error), "warnings": []}
    warnings = [" ".join(str(warning).split()) for warning in result.warnings]
    return {"problems": [], "warnings": warnings}


_NO_SEEDS: Final = "# URLS HERE"
"""The seed list of a job that gets its seeds later."""


def make_of_profile(layout: Layout, arguments: Mapping[str, Any]) -> None:
    """Write a job of a profile that has no seeds yet.

    Args:
        layout: Where it is made.
        arguments: `profile`: the name of the profile.

    Raises:
        ConfigError: There is no such profile, or its settings are none.
        JobError: There is a job already, or the directory cannot be made.
    """
    from nacre.settings.layers import profile_names  # noqa: PLC0415 - see above
    from nacre.settings.new_job import NewJob, create_job, examine_new  # noqa: PLC0415

    profile = str(arguments["profile"])
    if profile not in profile_names():
        raise ConfigError(
            [
                Problem(
                    "profile",
                    message(
                        "console.no-profile", "there is no profile {profile!r}", profile=profile
                    ),
                )
            ]
        )
    _, problems = examine_new(layout, NewJob([_ANY_SEED], profile=profile))
    if problems:
        raise ConfigError(problems)
    create_job(layout, NewJob([_NO_SEEDS], profile=profile))


_ANY_SEED = "http://localhost/"
"""Stands in where none is typed: no setting depends on it."""


def new_job_fields(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
    """The settings of a job that is not made yet, as fields with their values and origins.

    Args:
        layout: Where it would be.
        arguments: Those of `make_new_job`; `section`, `search`, `paths` and `spoken`: which
            settings, as of `settings.form_tasks.fields_shown`.

    Returns:
        What `fields_shown` returns. Where the settings cannot be read the defaults are shown.
    """
    from nacre.console.settings.form_tasks import fields_shown  # noqa: PLC0415 - see above
    from nacre.settings.new_job import examine_new  # noqa: PLC0415

    seeds = [line for line in arguments["seeds"] if str(line).strip()]
    try:
        loaded, _ = examine_new(layout, _new({**arguments, "seeds": seeds or [_ANY_SEED]}))
    except NacreError:
        loaded = None
    section, search = str(arguments["section"]), str(arguments["search"])
    language = str(arguments.get("spoken", ""))
    return fields_shown(loaded, "", section, search, *arguments["paths"], language=language)


def _new(arguments: Mapping[str, Any]) -> "NewJob":
    """The job that is wanted.

    Raises:
        ConfigError: Its seeds or its scope are none, or a secret was entered.
    """
    from nacre.editing.secrets import plain_secrets_in  # noqa: PLC0415 - see above
    from nacre.scope.rules.stock import rules_for  # noqa: PLC0415 - see above
    from nacre.settings.new_job import NewJob  # noqa: PLC0415

    settings = dict(arguments.get("settings") or {})
    if secrets := plain_secrets_in(settings):
        raise ConfigError(secrets)
    if arguments.get("template"):
        settings = _as_template(Path(str(arguments["template"])), settings)
    seeds: Sequence[str] = [str(line) for line in arguments["seeds"]]
    if not seeds and arguments.get("own_seeds"):
        seeds = _seeds_of(Path(str(arguments["template"])))
    if not any(line.strip() for line in seeds):
        text = message("console.no-seeds", "there is no URL to start from")
        raise ConfigError(
            [
                Problem(
                    "seeds",
                    text,
                    message("console.url-a-line", "a URL a line"),
                    "https://example.org/",
                )
            ]
        )
    profile, scope = str(arguments.get("profile") or ""), str(arguments.get("scope") or "")
    extra = [name for name in ("depth", "include", "exclude") if arguments.get(name)]
    if profile and not scope and extra:
        text = message(
            "console.scope-of-profile",
            "the scope of the profile {profile} holds, and this would change nothing",
            profile=profile,
        )
        raise ConfigError(
            [
                Problem(name, text, message("console.scope-beside-profile", "a scope beside it"))
                for name in extra
            ]
        )
    rules = () if (profile or "scope" in settings) and not scope else rules_for(
        scope or "prefix",
        depth=arguments.get("depth"),
        include=_texts(arguments.get("include")),
        exclude=_texts(arguments.get("exclude")),
    )  # fmt: skip
    return NewJob(seeds, rules, settings, profile)


def _seeds_of(root: Path) -> Sequence[str]:
    """The lines of the seed list of a job, without its logins: what is made has no secrets of it.

    Raises:
        ConfigError: It cannot be read.
    """
    from nacre.config.seed_file import seed_lines  # noqa: PLC0415 - see above
    from nacre.settings.load import load_job  # noqa: PLC0415
    from nacre.settings.new_job import separate_logins  # noqa: PLC0415

    return separate_logins(seed_lines(load_job(Layout(root)).settings.seeds, root)).lines


def _as_template(root: Path, settings: Mapping[str, Any]) -> dict[str, object]:
    """The settings of another job without what is its own, and others over them.

    Raises:
        ConfigError: Its file is not YAML.
        JobError: It cannot be read.
    """
    from nacre.config.document import read_yaml  # noqa: PLC0415 - see above
    from nacre.config.layer import Layer, merge  # noqa: PLC0415
    from nacre.ops.library import profile_of  # noqa: PLC0415

    text = profile_of(Layout(root))
    merged, _ = merge([read_yaml(text, "template"), Layer("option", dict(settings))])
    return dict(merged)


def _texts(values: Sequence[object] | None) -> list[str]:
    return [str(value) for value in values or ()]


def _problems(error: NacreError) -> list[dict[str, object]]:
    if isinstance(error, ConfigError) and error.problems:
        return [problem._asdict() for problem in error.problems]
    return [Problem("", error_text(error))._asdict()]
