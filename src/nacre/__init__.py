"""Nacre, an archival web crawler.

The life of a URI, which is also the order of the folders:

1. `uri` turns text into an identity: the URL to request, its canonical key, its SURT.
2. `scope` decides ACCEPT or REJECT, and reports the rule that decided.
3. `frontier` keeps the accepted URLs, one queue per host, and returns those that are due.
4. `fetch` makes a `core.Capture`: the bytes exactly as they crossed the wire (`wire` reads them).
5. `extract` finds the outlinks, which start again at 1.
6. `archive` writes the WARC records and the index; `history` has rows of URLs, `report` logs.
7. `store` makes all of it durable in one step; `job` is where the stages meet.

For programs: `nacre.new` or `nacre.open`, then `await job.run()`; see docs/api.md. The names below
are the public ones. Each is imported when it is first asked for, so that `import nacre` costs
nothing; their types are in `__init__.pyi`.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "Alert": "nacre.core.events",
    "Captured": "nacre.core.events",
    "ConfigError": "nacre.errors",
    "CrawlURI": "nacre.core.crawluri",
    "DamageError": "nacre.errors",
    "Event": "nacre.core.events",
    "ExitStatus": "nacre.core.states",
    "Explanation": "nacre.inspect.explain.answers",
    "Imported": "nacre.job.frontier_edits",
    "Job": "nacre.job.job",
    "JobHandle": "nacre.ops.handles",
    "JobError": "nacre.errors",
    "JobSettings": "nacre.settings.settings",
    "JobState": "nacre.core.states",
    "NacreError": "nacre.errors",
    "Problem": "nacre.errors",
    "RoundsHandle": "nacre.ops.handles",
    "Session": "nacre.job.session",
    "StateChanged": "nacre.core.events",
    "StorageError": "nacre.errors",
    "URIError": "nacre.errors",
    "Visit": "nacre.core.processor",
    "check_job": "nacre.job.api",
    "delete_urls": "nacre.job.api",
    "explain_url": "nacre.job.api",
    "known_pages": "nacre.job.api",
    "new": "nacre.ops.handles",
    "new_job": "nacre.job.api",
    "open": "nacre.ops.handles",
    "open_job": "nacre.job.api",
    "page_history": "nacre.job.api",
    "read_report": "nacre.job.api",
    "recrawl_job": "nacre.job.api",
    "report_names": "nacre.job.api",
    "rounds": "nacre.ops.handles",
    "schedule_urls": "nacre.job.api",
    "waiting_urls": "nacre.job.api",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - a list; the stub has it in full


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'nacre' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
