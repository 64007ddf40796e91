"""The dry run of URLs: by the saved settings of a job, or by another text."""

from collections.abc import Sequence
from contextlib import ExitStack

import msgspec

from nacre.config.check import Loaded
from nacre.console.call import Call, PageAnswer
from nacre.console.settings.file_page import form_of, frame
from nacre.console.settings.file_tasks import config_text
from nacre.console.task_answers import ask
from nacre.core.clock import iso
from nacre.editing.file_settings import changed_files, for_admins
from nacre.editing.secrets import without_secrets
from nacre.errors import ConfigError
from nacre.fleet.refusals import RefusedRequestError
from nacre.inspect.explain.dry_run import DryRun, DryRunAnswer
from nacre.inspect.view import reading
from nacre.job.edits import read_config
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.fields import LineTexts, Text
from nacre.settings.load import examine_text, load_job
from nacre.settings.settings import JobSettings
from nacre.web.decoding import lines_of
from nacre.web.workers.task import NoRequest, reader_task
from nacre.web.workers.views import CLOCK


class UrlQuestion(msgspec.Struct, frozen=True):
    """URLs for a dry run.

    Attributes:
        urls: At most 1,000; the scheme may be missing, as in a seed list.
        text: A text of `crawl.yaml` to try in addition to the saved one; null for none.
    """

    urls: LineTexts
    text: Text | None = None


class UrlTrial(msgspec.Struct, frozen=True):
    """The dry run of one URL.

    Attributes:
        now: Decision with the text of the request, or else with the saved text.
        saved: Decision with the saved text, if it differs; null if it is the same.
    """

    now: DryRunAnswer
    saved: DryRunAnswer | None = None


class UrlTrials(msgspec.Struct, frozen=True):
    """Dry runs.

    Attributes:
        items: A dry run of each URL, in their order.
        changed: How many of them the text that was sent changes.
        next: Always null: all are given.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[UrlTrial, ...]
    changed: int
    next: None
    as_of: str


class TrialRequest(UrlQuestion, frozen=True):
    """A dry run for a user.

    Attributes:
        files: The user may name files.
    """

    files: bool = False


@reader_task("dry-run")
def dry_run(layout: Layout, request: TrialRequest) -> UrlTrials:
    """Make the dry runs of URLs, with the saved settings and with a second text, if there is one.

    Raises:
        ConfigError: The text has problems, or names files that the user may not name.
    """
    saved = _outlooks(layout, load_job(layout), request.urls)
    items = tuple(UrlTrial(outlook) for outlook in saved)
    if request.text is not None:
        outlooks = _outlooks(layout, _examined(layout, request, request.text), request.urls)
        items = tuple(_compared(new, old) for new, old in zip(outlooks, saved, strict=True))
    changed = sum(item.saved is not None for item in items)
    return UrlTrials(items, changed, None, iso(CLOCK.now()))


def _examined(layout: Layout, request: TrialRequest, text: str) -> Loaded[JobSettings]:
    """Return the settings of a text.

    Raises:
        ConfigError: It has problems, or names files that the user may not name.
    """
    raw = read_config(layout.config).decode("utf-8", "replace")
    refused = [] if request.files else changed_files(without_secrets(raw).text, text)
    if refused:
        raise ConfigError([for_admins(path) for path in refused])
    loaded, problems = examine_text(layout, text)
    if problems or loaded is None:
        raise ConfigError(problems)
    return loaded


def _outlooks(
    layout: Layout, loaded: Loaded[JobSettings], urls: Sequence[str]
) -> list[DryRunAnswer]:
    dry = DryRun(layout, loaded)
    with ExitStack() as stack:
        if layout.has_store:
            dry.know(stack.enter_context(reading(layout, loaded.settings)).store)
        return [dry.outlook(url) for url in urls]


def _compared(new: DryRunAnswer, old: DryRunAnswer) -> UrlTrial:
    """Return both outlooks if they differ in more than the opinions of single rules."""
    bare = msgspec.structs.replace(new, opinions=()), msgspec.structs.replace(old, opinions=())
    return UrlTrial(new, old if bare[0] != bare[1] else None)


_PATIENCE = 60.0


MOST_URLS = 1_000
"""URLs of a dry run."""


async def show_trial(call: Call) -> UrlTrials:
    """The outlook of URLs, by the saved text or another text.

    Raises:
        RefusedRequestError: There are none, or too many (422).
        ConfigError: The text has problems.
    """
    question: UrlQuestion = call.body
    if not 0 < len(question.urls) <= MOST_URLS:
        text = message(
            "console.urls-number",
            "{number:,} URLs: send 1 to {most_urls:,}",
            number=len(question.urls),
            most_urls=MOST_URLS,
        )
        raise RefusedRequestError(422, "urls", text)
    request = TrialRequest(question.urls, question.text, call.may_name_files)
    return await ask(call, dry_run, request, _PATIENCE)


async def page(call: Call) -> PageAnswer:
    """The form for URLs."""
    facts = await frame(call, call.job(), "urls")
    fields = {"urls": call.request.query_params.get("u", "")[:2_000], "text": ""}
    return PageAnswer("settings_urls.html", {**facts, **_EMPTY, **fields})


_EMPTY = {"trials": None, "problems": (), "refused": "", "most": MOST_URLS}


async def submit(call: Call) -> PageAnswer:
    """Try the URLs of the form."""
    job, form = call.job(), await form_of(call)
    facts = await frame(call, job, "urls")
    text = form.get("text", "").replace("\r\n", "\n")
    urls = list(lines_of(form.get("urls", "")))
    page_facts = {**facts, **_EMPTY, "urls": "\n".join(urls), "text": text}
    if text.strip() and text == (await ask(call, config_text, NoRequest())).text:
        page_facts["text"] = text = ""
    if not urls:
        return PageAnswer("settings_urls.html", page_facts)
    try:
        body = UrlQuestion(tuple(urls), text or None)
        answer = await show_trial(call._replace(body=body))
    except ConfigError as error:
        return PageAnswer("settings_urls.html", {**page_facts, "problems": error.problems}, 422)
    except RefusedRequestError as error:
        return PageAnswer(
            "settings_urls.html", {**page_facts, "refused": error.message}, error.status
        )
    return PageAnswer("settings_urls.html", {**page_facts, "trials": answer})
