"""Which of two URLs names a page: the one that redirected, or the one that it led to.

Source: Nutch, `URLUtil.chooseRepr`.
"""

from nacre.uri.domain import registry_domain
from nacre.uri.javaurl import JavaURL, split_java


def representative(source: str, target: str, *, temporary: bool) -> str:
    """The URL under which a page is shown.

    Args:
        source: The URL that redirected.
        target: Where it led to.
        temporary: The redirect may be another one tomorrow (302, 303, 307).

    Raises:
        URIError: One of them is no URL.
    """
    old, new = split_java(source), split_java(target)
    if registry_domain(old.host.lower()) != registry_domain(new.host.lower()):
        return target
    old_is_root, new_is_root = _is_root(old), _is_root(new)
    if not temporary:
        return source if old_is_root else target
    if old_is_root != new_is_root:
        return source if old_is_root else target
    if not old_is_root and old.host == new.host:
        return min((source, target), key=_path_order)
    return min((source, target), key=_labels)


def _is_root(url: JavaURL) -> bool:
    return url.file in {"", "/"}


def _path_order(text: str) -> tuple[int, int]:
    """Segments, then length, of path and query; a slash at the end begins no segment."""
    file = split_java(text).file
    return file.rstrip("/").count("/"), len(file)


def _labels(text: str) -> int:
    return split_java(text).host.count(".")
