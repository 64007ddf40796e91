"""Files of the replay server that run in a browser."""

from importlib.resources import files


def static_file(name: str) -> bytes:
    """One of them."""
    return (files("nacre.replay_server") / "static" / name).read_bytes()
