"""Tasks of reader processes for starts: what keeps a job from starting."""

from collections.abc import Mapping
from typing import Any

from nacre.errors import ConfigError, NacreError
from nacre.messages import error_text
from nacre.store.layout import Layout


def look_before_start(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Say what keeps a job from starting: problems of its settings, and space that is missing.

    Names are not looked up here, as somebody waits; the start itself does that.

    Args:
        layout: The job.
        arguments: `set`: texts `path=value`, which may not send a secret to another server.
    """
    from nacre.job.job import Job  # noqa: PLC0415 - the worker starts faster
    from nacre.settings.load import examine_job, load_job  # noqa: PLC0415
    from nacre.settings.secret_places import require_unmoved  # noqa: PLC0415

    try:
        given = [str(text) for text in arguments.get("set", ())]
        loaded = load_job(layout, given)
        saved, faults = examine_job(layout) if given else (loaded, [])
        before = saved.settings if saved is not None else None
        # Of settings that have a problem it is not known where their secrets are sent.
        require_unmoved(before, loaded.settings, strict=bool(faults), references=True)
        missing = Job(layout.root, loaded.settings).missing_space()
    except ConfigError as error:
        return {"problems": [problem._asdict() for problem in error.problems], "space": ""}
    except NacreError as error:
        return {"problems": [{"path": "", "message": error_text(error)}], "space": ""}
    return {"problems": [], "space": missing}
