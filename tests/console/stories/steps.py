"""What people do on the pages, by what they see there."""

from playwright.sync_api import Page, expect

from tests.console.stories.running import ConsoleProcess, until

BUSY = 503
"""Status of a page whose answer takes too long now."""
FIRST = ".title .buttons"
"""Where the few actions beside the state of a job are."""


def open_job(page: Page, console: ConsoleProcess, name: str, below: str = "") -> None:
    """Open a page of a job."""
    go(page, f"{console.url}j/{console.id_of(name)}{below}")


def go(page: Page, url: str) -> int:
    """Open a page, again while the console says that the machine is too busy; its status."""
    status = BUSY

    def is_open() -> bool:
        nonlocal status
        answer = page.goto(url)
        assert answer is not None
        status = answer.status
        return status != BUSY

    until(is_open)
    return status


def act(page: Page, action: str) -> None:
    """Push the button of an action beside the title."""
    page.locator(f"{FIRST} button[data-action={action}]").click()


def shows_state(page: Page, state: str) -> None:
    """Wait until the page says, by itself, that the job is in a state."""
    expect(page.locator(".title .state").first).to_have_text(state)


def token_of(page: Page) -> str:
    """The token that every request that changes something carries."""
    found = page.locator("meta[name=nacre-token]").get_attribute("content")
    assert found
    return found


def ask(page: Page, verb: str, path: str, body: object = None) -> tuple[int, object]:
    """A request of the page's own origin, as its scripts send it: status and JSON of the answer."""
    status, answer = page.evaluate(
        """async ([verb, path, token, body]) => {
          const answer = await fetch(path, {method: verb,
            headers: {"content-type": "application/json", "x-nacre-token": token},
            body: body === null ? undefined : JSON.stringify(body)});
          const text = await answer.text();
          try { return [answer.status, JSON.parse(text)]; } catch { return [answer.status, text]; }
        }""",
        [verb, path, token_of(page), body],
    )
    return status, answer
