"""Files of the replay server that run in a browser."""

from nacre.replay_server.pages import static_files


def static_file(name: str) -> bytes:
    """One of them, as it is served."""
    return static_files()[name].data
