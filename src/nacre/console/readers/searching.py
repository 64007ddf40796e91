"""The search of settings and rules: by name, meaning, and words of people for them (pure).

Meanings are searched in the language of the page, too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

_WORDS: Final[Mapping[str, str]] = {
    "max_hops": "depth deep levels layers clicks 深度 层级 层数 跳数",
    "regexes": "exclude exclusion block filter 排除 屏蔽 过滤",
    "delay": "speed interval pause wait 间隔 速度 等待",
    "min_delay": "speed interval pause wait 间隔 速度 等待",
    "in_flight": "parallel connections per host 并发 并行 同时",
    "parallel": "threads workers toes slots 线程 并发 并行 同时",
    "documents": "limit maximum pages 上限 页数 限制",
    "bytes": "limit maximum size 上限 大小 限制",
    "time": "limit maximum duration 上限 时长 限制",
    "policy": "robots.txt obey ignore 遵守 忽略",
}
"""Words of people for a setting, by the last part of its name."""
_COMMON: Final = frozenset(("comment", "name", "decision", "negate"))
"""Fields of every card."""


class SettingSearch:
    """A search: the text that somebody typed, and the language that they read.

    Args:
        text: The text; "" finds nothing.
        translate: Gives the text of their language for an English one.
    """

    def __init__(self, text: str, translate: Callable[[str], str]) -> None:
        self._text = text.strip().lower()
        self._translate = translate

    def finds(self, name: str, doc: str, *more: str) -> bool:
        """Whether a setting is meant.

        Args:
            name: Its name or path.
            doc: Its meaning, in English.
            more: Its other names.
        """
        said = (doc, self._translate(doc) if doc else "", *more)
        return self.names(name) or self._is_in(*said)

    def names(self, name: str) -> bool:
        """Whether a setting is meant by its name, or by a word of people for it."""
        return self._is_in(name, _WORDS.get(name.rpartition(".")[2], ""))

    def _is_in(self, *said: str) -> bool:
        return bool(self._text) and any(self._text in one.lower() for one in said)

    def in_cards(self, lists: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The lists of rules with the cards that are meant, those without one left out.

        Args:
            lists: As `cards.card_lists` has them.
        """
        found = []
        for one in lists:
            cards = [card for card in one["cards"] if self._is_meant(card)]
            if cards:
                found.append({**one, "cards": cards})
        return found

    def _is_meant(self, card: Mapping[str, Any]) -> bool:
        if self.finds(str(card["label"]), str(card["doc"]), str(card["kind"])):
            return True
        return any(self.finds(one["name"], one["doc"]) for one in _fields_of(card))

    def first_field(self, lists: Iterable[Mapping[str, Any]]) -> str:
        """The first card with a field that is meant by its name, as `LIST NUMBER`; "" for none."""
        for one in lists:
            for card in one["cards"]:
                if any(self.names(field["name"]) for field in _fields_of(card)):
                    return f"{one['path']} {card['number']}"
        return ""


def _fields_of(card: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """The fields of a card without those that all cards have."""
    return (one for one in card["fields"] if one["name"] not in _COMMON)
