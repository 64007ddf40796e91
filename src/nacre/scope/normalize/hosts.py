"""Normalizers with a rule for each host: another host, another scheme, a slash at the end."""

import re
from collections.abc import Callable, Iterator

from nacre.errors import URIError
from nacre.scope.nutch.ruling import Source
from nacre.uri.javaurl import JavaURL, split_java

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.IGNORECASE)
_EXTENSION = re.compile(r"\.[^./]{1,5}\Z")


def read_hosts(source: Source, takes: Callable[[str], bool]) -> dict[str, str]:
    """`host value` lines; `#` begins a comment, and lines of another form are left out.

    Args:
        source: The rule file.
        takes: Says which values are some.
    """
    found: dict[str, str] = {}
    for _, line in source.numbered():
        words = line.split()
        # A line that begins with a blank has an empty host, which is none.
        if len(words) == 2 and line[0] not in "# \t" and takes(words[1]):
            found[words[0].lower()] = words[1]
    return found


class HostRules:
    """Values by host, and by `*.domain`, of which the most specific one holds.

    Args:
        values: By host name or pattern, lower case.
        with_apex: `*.domain` holds for the domain itself too.
    """

    def __init__(self, values: dict[str, str], *, with_apex: bool = False) -> None:
        self._values = values
        self._with_apex = with_apex

    def of(self, host: str) -> str | None:
        """The value for a host."""
        name = host.lower()
        found = self._values.get(name)
        if found is None:
            patterns = map(self._values.get, self._patterns(name))
            found = next((value for value in patterns if value is not None), None)
        return found

    def _patterns(self, name: str) -> Iterator[str]:
        if self._with_apex:
            yield f"*.{name}"
        rest = name.partition(".")[2]
        while rest:
            yield f"*.{rest}"
            rest = rest.partition(".")[2]


class Host:
    """Puts another host in the place of one; all else stays.

    Args:
        source: `host target` or `*.domain target` lines.
    """

    def __init__(self, source: Source) -> None:
        self._rules = HostRules(read_hosts(source, lambda _: True))

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        host = split_java(url).host
        target = self._rules.of(host) if host else None
        if target is None:
            return url
        start, slashes, rest = url.partition("//")
        user = rest.partition("/")[0].rpartition("@")
        place = len(start) + len(slashes) + len(user[0]) + len(user[1])
        return url[:place] + target + url[place + len(host) :]


class Protocol:
    """Puts another scheme before a host; not where a port is named.

    Args:
        source: `host scheme` or `*.domain scheme` lines; the pattern holds for the domain itself.
    """

    def __init__(self, source: Source) -> None:
        values = read_hosts(source, lambda value: _SCHEME.fullmatch(value) is not None)
        self._rules = HostRules(values, with_apex=True)

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        parts = split_java(url)
        wanted = self._rules.of(parts.host) if parts.host and parts.port < 0 else None
        if wanted is None or wanted == parts.protocol:
            return url
        return wanted + url[url.index(":") :]


class Slash:
    """Puts a slash at the end of the path, or takes it away.

    None is put behind a name with an extension, and that of the root stays.

    Args:
        source: `host +` and `host -` lines.
    """

    def __init__(self, source: Source) -> None:
        self._rules = HostRules(read_hosts(source, lambda value: value in {"+", "-"}))

    def normalize(self, url: str, scope: str) -> str:
        """See `Normalizer.normalize`."""
        parts = split_java(url)
        wanted = self._rules.of(parts.host) if parts.host else None
        if wanted is None:
            return url
        end = _path_end(url, parts)
        has = url[end - 1] == "/"
        if wanted == "-" and has and len(parts.path) > 1:
            return url[: end - 1] + url[end:]
        if wanted == "+" and not has and not _EXTENSION.search(parts.path):
            return f"{url[:end]}/{url[end:]}"
        return url


def _path_end(url: str, parts: JavaURL) -> int:
    """Where query or fragment begin."""
    if parts.authority is None:
        raise URIError(f"no host: {url[:200]!r}")
    places = [url.find("?"), url.find("#"), len(url)]
    return min(place for place in places if place >= 0)
