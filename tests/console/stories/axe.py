"""axe-core: the rules of WCAG 2.2 AA that a program can check, in a page that is open."""

from functools import cache
from importlib.resources import files
from typing import Any, Final

from playwright.sync_api import Page

_TAGS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_RUN: Final = """async ([tags, rules]) => {
  const only = rules.length ? {type: "rule", values: rules} : {type: "tag", values: tags};
  const found = await axe.run(document, {runOnly: only, resultTypes: ["violations"]});
  return found.violations.map(({id, help, nodes}) => ({
    id, help, nodes: nodes.map(({html, failureSummary}) => `${html}\\n${failureSummary}`)}));
}"""


@cache
def _source() -> str:
    # Only this file of the package is used. Its text is evaluated by the debugger's protocol, so
    # that the page's policy stays as it is.
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


def violations(page: Page, *rules: str) -> list[str]:
    """What breaks a rule in a page: the rule, and the elements.

    Args:
        page: The page.
        rules: Only these rules; without any, all of WCAG 2.2 AA and the best practices.
    """
    if not page.evaluate("typeof window.axe !== 'undefined'"):
        page.evaluate(_source())
    found: list[dict[str, Any]] = page.evaluate(_RUN, [_TAGS, list(rules)])
    return [f"{one['id']}: {one['help']}\n" + "\n".join(one["nodes"][:3]) for one in found]
