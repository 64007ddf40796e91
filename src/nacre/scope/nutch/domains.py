"""`domain-urlfilter.txt` and `domaindenylist-urlfilter.txt`: lists of suffixes, domains, hosts."""

from nacre.errors import Problem, URIError
from nacre.scope.nutch.ruling import Ruling, Source
from nacre.uri.domain import registry_domain, registry_suffix
from nacre.uri.idn import host_to_ascii
from nacre.uri.javaurl import split_java


class DomainFilter:
    """Keeps a URL whose public suffix, registered domain or host is listed.

    An empty list keeps everything; what is no URL is rejected.

    Args:
        source: One name a line; `#` begins a comment.
        deny: Reject what is listed, keep the rest.
    """

    def __init__(self, source: Source, *, deny: bool = False) -> None:
        self.notes: list[Problem] = []
        self._file = source.file
        self._deny = deny
        self._listed: dict[str, int] = {}
        for number, line in source.numbered():
            name = line.strip().lower()
            if name and not line.startswith("#"):
                self._listed.setdefault(_ascii(name), number)

    def judge(self, url: str) -> Ruling:
        """See `URLFilter.judge`."""
        if not self._listed:
            return Ruling(passes=True, file=self._file)
        try:
            host = _ascii(split_java(url).host.lower())
        except URIError:
            return Ruling(passes=False, file=self._file)
        for name in (registry_suffix(host), registry_domain(host), host):
            line = self._listed.get(name)
            if line is not None:
                return Ruling(not self._deny, line, self._file)
        return Ruling(self._deny, file=self._file)

    def timeouts(self) -> int:
        """None: nothing here can take long."""
        return 0


def _ascii(name: str) -> str:
    """A name as the suffix list has it; one that is none stays, and matches itself only."""
    try:
        return host_to_ascii(name)
    except URIError:
        return name
