"""The rendering of templates: escaping, languages, and the numbers of a page as text.

Everything from the web is text: templates escape all that they show, and characters that control a
terminal or turn the direction of writing are shown by their numbers. No template marks a text as
safe; a test looks for it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from nacre.console.assets import Assets
from nacre.console.commands import command_text
from nacre.console.jobs.buttons import action_buttons, first_buttons
from nacre.console.logs.lines import in_words, status_words
from nacre.console.parts import HeaderParts
from nacre.core.clock import iso
from nacre.fleet.job_books import ALL_JOBS
from nacre.fleet.places import FoundJob
from nacre.fleet.requester import Requester
from nacre.fleet.snapshot import JobSnapshot
from nacre.inspect.summary.history_documents import found_in_words
from nacre.job.diagnosis import delay_diagnosis
from nacre.job.quotas import QuotaLevel
from nacre.ops.operation import Role
from nacre.report.escape import printable
from nacre.report.formatting import short, size
from nacre.uri.parse import host
from nacre.web.languages import Language, language
from nacre.web.templates import page_templates, visible

NOTHING: Final = "\N{EN DASH}"
"""The text for a number that is not known."""
TEMPLATES: Final = Path(__file__).parent / "templates"


def _plain(value: object) -> str:
    """A value of a setting or of the audit log, as YAML and JSON write it."""
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _number(value: float | None, digits: int = 0) -> str:
    return NOTHING if value is None else f"{value:,.{digits}f}"


_MOMENT: Final = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d(?:\.\d{1,6})?)Z")


_PASSED: Final = Markup('<time datetime="{}">{} {} UTC</time>')
_COMING: Final = Markup('<time data-zone datetime="{}">{} {} UTC</time>')


def _time(value: str | float | None, *, with_zone: bool = False) -> str:
    """Format a time as an element whose text a script converts to the viewer's time zone.

    Args:
        value: Seconds since the epoch, or an RFC 3339 text in UTC. Any other text, as in some logs,
            is returned unchanged; 0, "" and None mean no time.
        with_zone: The script also shows the time zone, as for a time in the future.
    """
    if not value:
        return NOTHING
    text = value if isinstance(value, str) else iso(value)
    match = _MOMENT.fullmatch(text)
    if match is None:
        return text
    # Both are digits and signs: the expression lets nothing else pass.
    form = _COMING if with_zone else _PASSED
    return form.format(text, match[1], match[2])


_SAID: Final = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC")


def _times(text: str) -> Markup:
    """A text in which each moment that was worded is an element as `time` makes it."""
    markup, at = Markup(), 0
    for match in _SAID.finditer(text):
        markup = markup + printable(text[at : match.start()]) + _time(f"{match[1]}T{match[2]}Z")
        at = match.end()
    return markup + printable(text[at:])


_CODE: Final = re.compile(r"`([^`]+)`")


def _coded(text: str) -> Markup:
    """Return a text in which each name between backticks is an element of code."""
    markup, at = Markup(), 0
    for match in _CODE.finditer(text):
        markup = markup + printable(text[at : match.start()])
        markup = markup + Markup("<code>{}</code>").format(printable(match[1]))
        at = match.end()
    return markup + printable(text[at:])


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


_BRACKETS: Final = _(" ({})")
FILTERS: Final = {
    "number": _number,
    "short": short,
    "size": size,
    "time": _time,
    "due": partial(_time, with_zone=True),
    "times": _times,
    "coded": _coded,
    "host": host,
    "plain": _plain,
}
"""Filters of all templates beside those of `page_templates`: numbers, also to three digits, bytes,
moments, those to come with their zone, hosts of URLs, texts with names of code, and values of any
type."""


@cache
def environment(name: str) -> Environment:
    """The templates in a language.

    Args:
        name: A key of `LANGUAGES`.
    """
    reader = language(name)
    templates = page_templates(TEMPLATES, reader)
    templates.filters.update(FILTERS)
    texts = reader.texts
    templates.filters["made"] = reader.text
    templates.filters["state"] = reader.state
    templates.filters["duration"] = reader.duration
    templates.filters["progress"] = reader.progress
    _install_signs(templates, texts.gettext)
    templates.globals["action_buttons"] = partial(action_buttons, texts.gettext)
    templates.globals["status_words"] = partial(status_words, texts.gettext)
    templates.globals["in_words"] = partial(in_words, texts.gettext)
    templates.globals["command_text"] = command_text
    templates.globals["first_buttons"] = first_buttons
    templates.globals["in_plain"] = _in_plain
    templates.globals["verdict_words"] = found_in_words
    templates.globals["delay_reason"] = partial(_delay_reason, reader)
    return templates


def _in_plain(path: str) -> str:
    """Return the last part of a setting's path as words: `politeness.min_delay` is "Min delay"."""
    words = path.rpartition(".")[2].replace("_", " ")
    return words[:1].upper() + words[1:]


def _delay_reason(language: Language, cause: str, most: float) -> str:
    """Why a politeness delay is as long as it is; "" if that is not known."""
    sentence = delay_diagnosis(cause, most)
    return "" if sentence is None else language.say(sentence)


def _install_signs(environment: Environment, text: Callable[[str], str]) -> None:
    """Add the signs between texts, which are wider ones in Chinese."""
    signs = {"colon": _(": "), "comma": _(", "), "semicolon": _("; "), "stop": _(". ")}
    environment.globals.update((name, text(sign)) for name, sign in signs.items())
    # A marked text is known by `{}` between its signs.
    before, _between, behind = text(_BRACKETS).partition("{}")
    environment.globals.update(open_bracket=before, close_bracket=behind)
    environment.filters["bracketed"] = lambda value: f"{before}{visible(value)}{behind}"


def render(template: str, facts: Mapping[str, Any], language: Language, assets: Assets) -> bytes:
    """A page as bytes.

    Args:
        template: Name of its template.
        facts: What the template shows, by name.
        language: Its language.
        assets: The files that pages load.
    """
    text = (
        environment(language.name)
        .get_template(template)
        .render({"language": language, "static": assets.url, **facts})
    )
    return text.encode("utf-8", "backslashreplace")


MENU: Final[Mapping[str, str]] = {
    "new": "new", "new_look": "new", "calendar": "calendar",
    "profile": "profiles", "profiles": "profiles", "clip": "profiles", "clips": "profiles",
    "admin": "admin", "webhooks": "admin",
    "account": "", "login": "", "problem": "", "acted": "", "api_guide": "", "api_operation": "",
}  # fmt: skip
"""The entry of the menu that the page of a template belongs to; "" for none, others to `jobs`."""


def menu_of(template: str) -> str:
    """The entry of the menu that the page of a template, such as `new.html`, belongs to."""
    return MENU.get(template.removesuffix(".html"), "jobs")


def header_facts(
    parts: HeaderParts, jobs: Sequence[tuple[FoundJob, JobSnapshot]], requester: Requester
) -> dict[str, object]:
    """Return the numbers of the header.

    A quota that is nearly or fully used up counts as an alert, and so does, for administrators, a
    problem of the console itself.

    Args:
        parts: The parts that the header shows.
        jobs: The jobs that the requester sees; none for an anonymous one.
        requester: The viewer of the page.
    """
    paths = {str(job.layout.root) for job, _ in jobs}
    if requester.role and not requester.places:
        paths.add(ALL_JOBS)
    alerts = sum(snapshot.overview.alerts for _, snapshot in jobs if snapshot.overview)
    quotas = parts.quotas.all().items()
    scarce = sum(quota.level != QuotaLevel.FREE for path, quota in quotas if path in paths)
    own = len(parts.troubles.all()) if requester.role >= Role.ADMIN else 0
    return {
        "running_count": sum(snapshot.is_crawling for _, snapshot in jobs),
        "alert_count": alerts + scarce + own,
    }
