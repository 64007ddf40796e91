"""Settings of the engine: URLs, parallel fetches, limits."""

from typing import Literal

from pydantic import field_validator

from nacre.config.component import Bytes, Component, Seconds, section, setting
from nacre.core.states import MOST_PARALLEL
from nacre.messages import message
from nacre.rights.vocabulary import read_preference
from nacre.scope.normalize.chain import AnyNormalizer


class CanonicalRule(Component):
    """One step of the canonicalisation, by name."""

    rule: str = setting(..., "Name of the rule, such as `StripSessionIDs`.")
    regex: str = setting("", "For `Regex`: what to look for.")
    format: str = setting("", "For `Regex`: what to put in its place.")


class UriSettings(Component):
    """Settings of how URLs are read, and when two count as the same."""

    max_length: int = setting(
        2083, "Longer URLs are refused.", unit="characters", ge=16, live=False, sheets=False
    )
    canonical: tuple[CanonicalRule, ...] | Literal["default", "heritrix"] = setting(
        "default",
        "Rules for the seen key only, in order: `default`, `heritrix` (its stock list), or a list.",
        live=False,
        sheets=False,
    )
    normalize: tuple[AnyNormalizer, ...] = setting(
        (),
        "Normalizers of Nutch that rewrite seeds, links and redirects before anything else.",
        live=False,
        sheets=False,
    )
    normalize_loops: int = setting(
        1,
        "Passes over the normalizers at most; they end with the first pass that changes nothing.",
        ge=1,
        le=100,
        live=False,
        sheets=False,
    )


SeedRedirects = Literal["seed", "link"]
"""What the redirect target of a seed is: see `EngineSettings.seed_redirects`."""


class EngineSettings(Component):
    """Settings of the engine: the number of parallel fetches."""

    parallel: int = setting(
        25, "Parallel fetches.", unit="fetches", ge=1, le=MOST_PARALLEL, sheets=False
    )
    pause_at_start: bool = setting(
        False,
        "Wait, paused, for `nacre resume` before the first fetch of each start.",
        sheets=False,
        live=False,
    )
    run_while_empty: bool = setting(
        False,
        "Wait for URIs when nothing is left to fetch, in place of ending: files in `action/`, "
        "`nacre frontier JOB import`. `nacre stop` and limits end the run. URIs that are added to "
        "a run that finished let it be resumed. Recrawls and batch rounds end all the same.",
        sheets=False,
    )
    follow_error_pages: bool = setting(
        False, "Follow the outlinks of pages with a status under 200 or from 400 on."
    )
    seed_redirects: SeedRedirects = setting(
        "seed",
        "The target of a seed's redirect: `seed`: a seed too, whose site is crawled; `link`: a "
        "link, which the scope decides about.",
    )
    outside_kept: int = setting(
        100_000,
        "Refused URLs remembered for `nacre explain`; 0 keeps none.",
        unit="URLs",
        ge=0,
        sheets=False,
    )
    source_tags: bool = setting(
        False, "Tag each URI with the seed that it descends from.", live=False, sheets=False
    )
    source_codes: bool = setting(
        False,
        "Count the replies of each source and host by status, for the report `source`; needs "
        "`source_tags`.",
        live=False,
        sheets=False,
    )
    scope_log: bool = setting(False, "Write every scope decision to scope.log.", sheets=False)
    scope_log_extra: bool = setting(
        False,
        "Append hop path, via, seed and host to each line of scope.log, as JSON.",
        sheets=False,
    )
    log_extra_info: bool = setting(
        False, "Append WARC name, offset and size to crawl.log, as JSON.", live=False, sheets=False
    )


class RuntimeSettings(Component):
    """A limit of running time, checked for each URI; a sheet can set it for a site."""

    after: Seconds = setting(0.0, "Time running, pauses left out; 0: no limit.", unit="s")
    action: Literal["pause", "terminate", "block"] = setting(
        "pause",
        "`pause` the crawl until `nacre resume`; `terminate` it (FINISHED_TIME_LIMIT); `block`: "
        "fetch no more of these URIs (-5004).",
    )


class LimitSettings(Component):
    """Limits after which the crawl ends by itself. 0 everywhere: no limit."""

    documents: int = setting(
        0,
        "Documents fetched, robots.txt left out.",
        unit="documents",
        ge=0,
        sheets=False,
    )
    bytes: Bytes = setting(0, "Bytes received.", unit="bytes", sheets=False)
    novel_bytes: Bytes = setting(0, "Bytes stored in full.", unit="bytes", sheets=False)
    novel_documents: int = setting(
        0, "Documents stored in full.", unit="documents", ge=0, sheets=False
    )
    time: Seconds = setting(0.0, "Time running, pauses left out.", unit="s", sheets=False)
    runtime: RuntimeSettings = section(RuntimeSettings, "Time running, for each URI.")
    warc_bytes: Bytes = setting(0, "Bytes of WARC written.", unit="bytes", sheets=False)


class RightsSettings(Component):
    """Settings of the preferences of sites about the use of their content."""

    record: bool = setting(
        default=True,
        doc="Record what sites state in robots.txt, headers, HTML and policy files.",
    )
    collect_policies: bool = setting(
        default=False,
        doc="Fetch and archive `/.well-known/tdmrep.json`, `/ai.txt`, `/llms.txt`, "
        "`/.well-known/security.txt`, `/humans.txt` and the license files that robots.txt names, "
        "once for each site (hop I).",
    )
    enforce: tuple[str, ...] = setting(
        (),
        "Preferences, such as `noarchive` or `train-ai=n`: replies for which one of them holds are "
        "not written to WARC. Empty: preferences are recorded only.",
    )

    @field_validator("enforce")
    @classmethod
    def _check_enforce(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            if read_preference(text) is None:
                raise ValueError(
                    message(
                        "settings.no-preference",
                        "{text} is no preference: write a directive such as noarchive, or a use "
                        "with y or n such as train-ai=n",
                        text=text,
                    )
                )
        return value


class WallSettings(Component):
    """Settings of replies that are no page of the site: challenges, logins, refusals."""

    stop_after: int = setting(
        20,
        "Walls in a row after which nothing more is fetched of a host, until its queue is woken. "
        "So it is, too, when more than 80 % of at least 50 replies are walls. 0: never.",
        unit="replies",
        ge=0,
    )
