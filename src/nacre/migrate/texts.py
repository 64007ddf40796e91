"""Texts of a configuration in any encoding: UTF-8, a byte order mark, or what it looks like."""

import re
from io import BytesIO

from nacre.job.seeding.seedcoding import UTF_8, coding_name, coding_of, decoded_lines

TO_FILL_IN = re.compile(r"%\{\w+\}|\{\{[^{}]*\}\}")
"""What a tool that makes configurations of templates was to fill in."""


def read_lines(data: bytes) -> tuple[list[str], str]:
    """The lines of a text, and its encoding as people call it; "" for UTF-8.

    Args:
        data: The text. What its bytes look like counts where they are not UTF-8.
    """
    codec = coding_of(BytesIO(data))
    file = BytesIO(data)
    if data.startswith(b"\xef\xbb\xbf"):
        file.seek(3)
    lines = list(decoded_lines(file, codec))
    return lines, "" if codec == UTF_8 else coding_name(codec)
