"""An engine in memory, for tests of what lies above the store."""

from bisect import bisect_left

from nacre.store.schema import NAMES


class MemoryEngine:
    """`Engine` on dictionaries."""

    size_limit = 32 << 20

    def __init__(self):
        self.families: dict[str, dict[bytes, bytes]] = {name: {} for name in NAMES}

    def get(self, family, key):
        return self.families[family].get(key)

    def get_many(self, family, keys):
        return [self.families[family].get(key) for key in keys]

    def rows(self, family, start, stop, *, once=False):
        held = self.families[family]
        order = sorted(held)
        last = len(order) if stop is None else bisect_left(order, stop)
        return iter([(key, held[key]) for key in order[bisect_left(order, start) : last]])

    def last_key(self, family, start, stop):
        return max((key for key in self.families[family] if start <= key < stop), default=None)

    def write(self, rows):
        for family, changes in rows.items():
            held = self.families[family]
            for key, value in changes.items():
                if value is None:
                    held.pop(key, None)
                else:
                    held[key] = value
        return True

    def flush_wal(self):
        """Memory is as durable as it will get."""

    def flush(self, families):
        """Nothing to flush."""

    def checkpoint(self, path):
        raise AssertionError(f"nothing to copy to {path}")

    def close(self):
        """Nothing to give back."""
