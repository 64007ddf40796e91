"""A part of a file, as a file of its own."""

import io


def section(file: io.BufferedReader, start: int, end: int) -> io.BufferedReader:
    """The bytes from `start` up to `end`, which is where this one begins and ends."""
    return io.BufferedReader(_Section(file, start, end))


class _Section(io.RawIOBase):
    """Part of a file, as a file of its own."""

    def __init__(self, file: io.BufferedReader, start: int, end: int) -> None:
        self._file = file
        self._start = start
        self._end = end
        file.seek(start)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer, says the stub
        left = max(self._end - self._file.tell(), 0)
        data = self._file.read(min(len(buffer), left))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (self._start, self._file.tell(), self._end)[whence]
        return self._file.seek(base + offset) - self._start

    def tell(self) -> int:
        return self._file.tell() - self._start
