from contextlib import closing
from pathlib import Path

from nacre.console.access.database import ConsoleDatabase


def test_a_console_of_an_earlier_version_goes_on_while_a_command_opens_its_files(tmp_path: Path):
    with closing(ConsoleDatabase(tmp_path)) as earlier:
        earlier.rows("CREATE VIEW known_sessions AS SELECT hash, name, language FROM sessions")
        with closing(ConsoleDatabase(tmp_path)):
            assert earlier.rows("SELECT hash, name, language FROM known_sessions") == []
