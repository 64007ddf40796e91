"""`/j/J/settings/urls`: what would become of URLs, by the saved file or another text."""

from nacre.console.api.config import ask
from nacre.console.api.settings import MOST_URLS, UrlQuestion, tried
from nacre.console.call import Call, PageAnswer
from nacre.console.decoding import lines_of
from nacre.console.pages.job_settings import form_of, frame
from nacre.console.problems import RefusedRequestError
from nacre.errors import ConfigError


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
    if text.strip() and text == (await ask(call, "config-text", job))["text"]:
        shown["text"] = text = ""
    if not urls:
        return PageAnswer("settings_urls.html", shown)
    try:
        found = await tried(call, job, UrlQuestion(tuple(urls), text or None))
    except ConfigError as error:
        return PageAnswer("settings_urls.html", {**shown, "problems": error.problems}, 422)
    except RefusedRequestError as error:
        return PageAnswer("settings_urls.html", {**shown, "refused": error.message}, error.status)
    return PageAnswer("settings_urls.html", {**shown, "trials": found})
