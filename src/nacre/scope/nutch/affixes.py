"""`prefix-urlfilter.txt` and `suffix-urlfilter.txt`: how a URL begins or ends."""

from collections.abc import Mapping

from nacre.errors import Problem, URIError
from nacre.scope.nutch.ruling import Ruling, Source
from nacre.uri.javaurl import split_java


class PrefixFilter:
    """Keeps a URL that begins with one of the listed texts; none listed: rejects all.

    Args:
        source: One prefix a line; lines that begin with a space or `#` are left out.
    """

    def __init__(self, source: Source) -> None:
        self.notes: list[Problem] = []
        self._file = source.file
        self._listed: dict[str, int] = {}
        for number, line in source.numbered():
            if line and line[0] not in " #":
                self._listed.setdefault(line, number)
        self._lengths = _lengths(self._listed)

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        for length in self._lengths:
            line = self._listed.get(url[:length])
            if line is not None:
                return Ruling(passes=True, line=line, file=self._file)
        return Ruling(passes=False, file=self._file)

    def timeouts(self) -> int:
        """None: nothing here can take long."""
        return 0


class SuffixFilter:
    """Rejects (mode `+`) or keeps (mode `-`, the default) a URL with one of the listed endings.

    Args:
        source: One suffix a line. A line that begins with `+` or `-` sets the mode; an `I` in it
            means that case does not count, a `P` that only the path is looked at.
    """

    def __init__(self, source: Source) -> None:
        self.notes: list[Problem] = []
        self._file = source.file
        self._accepts_others = False
        self._ignore_case = False
        self._path_only = False
        listed: dict[str, int] = {}
        for number, raw in source.numbered():
            line = raw.strip()
            if line[:1] in {"+", "-"}:
                self._accepts_others = line[0] == "+"
                self._ignore_case = self._ignore_case or "I" in line
                self._path_only = self._path_only or "P" in line
            elif line and not line.startswith("#"):
                listed.setdefault(line, number)
        if self._ignore_case:
            listed = {suffix.lower(): line for suffix, line in reversed(listed.items())}
        self._listed = listed
        self._lengths = _lengths(listed)

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        text = url.lower() if self._ignore_case else url
        if self._path_only:
            text = _path(text)
        for length in self._lengths:
            line = self._listed.get(text[-length:])
            if line is not None:
                return Ruling(not self._accepts_others, line, self._file)
        return Ruling(self._accepts_others, file=self._file)

    def timeouts(self) -> int:
        """None: nothing here can take long."""
        return 0


def _lengths(listed: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sorted(set(map(len, listed))))


def _path(text: str) -> str:
    try:
        return split_java(text).path
    except URIError:
        return text
