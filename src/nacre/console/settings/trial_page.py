"""`/j/J/settings/urls` and `dry-run`: the outlook of URLs, by the saved file or another text."""

from nacre.console.call import Call, PageAnswer
from nacre.console.decoding import lines_of
from nacre.console.problems import RefusedRequestError
from nacre.console.settings import trials
from nacre.console.settings.config import ask_about
from nacre.console.settings.file_page import form_of, frame
from nacre.console.settings.trials import TrialRequest, UrlQuestion, UrlTrials
from nacre.console.task_answers import ask
from nacre.errors import ConfigError
from nacre.messages import message

_PATIENCE = 60.0


MOST_URLS = 1_000
"""URLs of a dry run."""


async def dry_run(call: Call) -> UrlTrials:
    """The outlook of URLs, by the saved text or another text.

    Raises:
        RefusedRequestError: There are none, or too many (422).
        ConfigError: The text has problems.
    """
    wanted: UrlQuestion = call.body
    if not 0 < len(wanted.urls) <= MOST_URLS:
        said = message(
            "console.urls-number",
            "{number:,} URLs: send 1 to {most_urls:,}",
            number=len(wanted.urls),
            most_urls=MOST_URLS,
        )
        raise RefusedRequestError(422, "urls", said)
    request = TrialRequest(wanted.urls, wanted.text, call.may_name_files)
    return await ask(call, trials.dry_run, request, _PATIENCE)


async def page(call: Call) -> PageAnswer:
    """The form for URLs."""
    facts = await frame(call, call.job(), "urls")
    shown = {"urls": call.request.query_params.get("u", "")[:2_000], "text": ""}
    return PageAnswer("settings_urls.html", {**facts, **_EMPTY, **shown})


_EMPTY = {"trials": None, "problems": (), "refused": "", "most": MOST_URLS}


async def submit(call: Call) -> PageAnswer:
    """Try the URLs of the form."""
    job, form = call.job(), await form_of(call)
    facts = await frame(call, job, "urls")
    text = form.get("text", "").replace("\r\n", "\n")
    urls = list(lines_of(form.get("urls", "")))
    shown = {**facts, **_EMPTY, "urls": "\n".join(urls), "text": text}
    if text.strip() and text == (await ask_about(call, "config-text", job))["text"]:
        shown["text"] = text = ""
    if not urls:
        return PageAnswer("settings_urls.html", shown)
    try:
        body = UrlQuestion(tuple(urls), text or None)
        answer = await dry_run(call._replace(body=body))
    except ConfigError as error:
        return PageAnswer("settings_urls.html", {**shown, "problems": error.problems}, 422)
    except RefusedRequestError as error:
        return PageAnswer("settings_urls.html", {**shown, "refused": error.message}, error.status)
    return PageAnswer("settings_urls.html", {**shown, "trials": answer})
