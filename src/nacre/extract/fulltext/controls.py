"""Buttons, lists of choices and text fields as text of a page, which the reader of text drops.

A reader sees the label of a button, the chosen option of a list and the contents of a `textarea`;
the other options appear when the list is opened. So the first are text where they stand, and the
others are found like a menu. Source: HTML, 4.10 (rendering of `button`, `input`, `select`,
`textarea`), 13.2.5.2 (a `textarea` has text alone) and 13.2.6.4.16 (what ends a list).
"""

import re
from html import unescape
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?is)<!--.*?(?:-->|\Z)"
    r"|<(script|style|template|noscript|title)\b[^<>]*>.*?(?:</\1\s*>|\Z)"
    r"|<(?P<field>textarea)\b(?P<attributes>[^<>]*)>(?P<text>.*?)(?:</textarea\s*>|\Z)"
    r"|<(?P<close>/?)(?P<name>button|select|option|input)\b(?P<rest>[^<>]*)>"
)
_CONTROL = re.compile(r"(?i)<(?:button|select|input|textarea)\b")
_LABELLED = re.compile(r"""(?i)(?:^|\s)type\s*=\s*["']?(?:submit|button|reset)\b""")
_VALUE = re.compile(r"""(?i)\svalue\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))""")
_HIDDEN = re.compile(r"(?i)(?:^|\s)hidden(?=$|[\s=/])")
_SELECTED = re.compile(r"(?i)(?:^|\s)selected(?=$|[\s=/])")
_ALL_SHOWN = re.compile(r"""(?i)(?:^|\s)(?:multiple(?=$|[\s=/])|size\s*=\s*["']?(?!1\b)\d)""")
_TAG = re.compile(r"<[^<>]*>")
_MOST = 2_000
"""Options of a page that are not shown and are kept; and characters of one."""


class PageControls(NamedTuple):
    """A page whose buttons, lists and fields are text.

    Attributes:
        markup: The page.
        options: Options that are not shown, as text.
    """

    markup: str
    options: tuple[str, ...] = ()


def with_labels(markup: str) -> PageControls:
    """Add the visible text of buttons, lists and fields to a page's text, in linear time.

    Args:
        markup: The decoded page.
    """
    if _CONTROL.search(markup) is None:
        return PageControls(markup)
    reader = _Reader(markup)
    for match in _TOKEN.finditer(markup):
        if match["field"]:
            reader.take_field(match)
        elif match["name"]:
            reader.take(match)
    return reader.finish()


class _Option(NamedTuple):
    label: str
    selected: bool


class _Reader:
    """The reading of one page."""

    def __init__(self, markup: str) -> None:
        self._markup = markup
        self._parts: list[str] = []
        self._at = 0
        self._list: re.Match[str] | None = None
        self._options: list[_Option] = []
        self._option: re.Match[str] | None = None
        self._hidden: list[str] = []

    def take(self, match: re.Match[str]) -> None:
        """Take a tag of a button, an input, a list or an option."""
        name, is_start = match["name"].lower(), not match["close"]
        if self._list is not None:
            if name == "option":
                self._end_option(match.start())
                self._option = match if is_start else None
                return
            if name == "button":
                return
            self._end_list(self._list, match.start())
            if name == "select":  # its end, or a start that is taken for it
                self._at = match.end()
                return
        if name == "select" and is_start:
            self._list = match
        elif name == "button" and not _HIDDEN.search(match["rest"]):
            self._replace(match, "")
        elif name == "input" and _LABELLED.search(match["rest"]):
            value = _VALUE.search(match["rest"])
            self._replace(match, next(filter(None, value.groups()), "") if value else "")

    def take_field(self, match: re.Match[str]) -> None:
        """Take a `textarea`, which ends a list."""
        if self._list is not None:
            self._end_list(self._list, match.start())
        if not _HIDDEN.search(match["attributes"]):
            self._replace(match, match["text"].replace("<", "&lt;"))

    def finish(self) -> PageControls:
        """Return the page; a list without an end stays as it is."""
        markup = "".join((*self._parts, self._markup[self._at :]))
        return PageControls(markup, tuple(self._hidden))

    def _replace(self, match: re.Match[str], text: str) -> None:
        self._parts += [self._markup[self._at : match.start()], f" {text} "]
        self._at = match.end()

    def _end_option(self, end: int) -> None:
        if self._option is not None:
            label = _TAG.sub(" ", self._markup[self._option.end() : end])
            text = " ".join(label.split())[:_MOST]
            selected = _SELECTED.search(self._option["rest"]) is not None
            self._options += [_Option(text, selected)] if text else []

    def _end_list(self, start: re.Match[str], end: int) -> None:
        self._end_option(end)
        options, self._options = self._options, []
        self._list = self._option = None
        chosen = [option for option in options if option.selected] or options[:1]
        visible = options if _ALL_SHOWN.search(start["rest"]) else chosen[-1:]
        if _HIDDEN.search(start["rest"]):
            options = visible = []
        self._parts += [self._markup[self._at : start.start()]]
        self._parts += [f" {option.label} " for option in visible]
        self._at = end
        hidden_labels = [unescape(option.label) for option in options if option not in visible]
        self._hidden += hidden_labels[: max(0, _MOST - len(self._hidden))]
