"""When the crawler itself is short of file handles: no fault of a site."""

import errno

_NO_HANDLES = frozenset((errno.EMFILE, errno.ENFILE))


def is_starvation(error: BaseException) -> bool:
    """The process (EMFILE) or its machine (ENFILE) has no file handle left."""
    return isinstance(error, OSError) and error.errno in _NO_HANDLES
