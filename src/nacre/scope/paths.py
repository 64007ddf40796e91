"""Paths that repeat themselves: the mark of a crawler trap."""


def path_of(url: str) -> str:
    """The path of a URL, query left out; what follows the first slash where it has no authority."""
    head = url.partition("?")[0]
    slash = head.find("/", head.find("://") + 3) if "://" in head else head.find("/")
    return head[slash:] if slash >= 0 else ""


def pathological(url: str, repetitions: int) -> bool:
    r"""A segment, or a run of segments, stands more than `repetitions` times in a row.

    The rule behind Heritrix's expression `.*?/(.*?/)\1{n,}.*`: each repetition lies between two
    slashes, so the last piece of the URL never counts. Source: Heritrix's
    PathologicalPathDecideRule.
    """
    pieces = url.split("/")[1:-1]
    count = len(pieces)
    if count <= repetitions or len(set(pieces)) == count:
        return False
    for size in range(1, count // (repetitions + 1) + 1):
        # A run of `size * repetitions` pieces that equal the one `size` later is such a repeat.
        needed = size * repetitions
        run = 0
        for index in range(count - size):
            run = run + 1 if pieces[index] == pieces[index + size] else 0
            if run >= needed:
                return True
    return False
