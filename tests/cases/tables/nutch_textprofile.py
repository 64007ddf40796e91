"""Nutch's TextProfileSignature."""

from nacre.planner.change_detection.signatures import TextProfile, text_profile
from tests.cases.table import Row, Table, json_lines

_PREFIX = "db.signature.text_profile."


def _check(row: Row) -> str | None:
    said = {name.removeprefix(_PREFIX): value for name, value in row.get("conf", {}).items()}
    settings = TextProfile.model_validate(said)
    payload = row.get("raw_content", "").encode()
    words = row["text"].split(" ")
    texts = [row["text"], " ".join(reversed(words)) if "property" in row else row["text"]]
    found = {text_profile(text, payload, settings).hex() for text in texts}
    return None if found == {row["expected_md5_hex"]} else repr(found)


TABLE = Table("nutch_textprofile", json_lines("nutch_textprofile.jsonl"), _check)
