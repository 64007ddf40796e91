"""Lists of replacements: each can be read, and a second go over what it made changes nothing."""

import json
from collections.abc import Iterator
from pathlib import Path

from nacre.scope.normalize.rule_files import RegexNormalizer, Replacement
from tests.cases.table import Row, Table, json_lines


def _load(folder: Path) -> Iterator[Row]:
    lists = json.loads((folder / "nutch_regex_normalize_rules.json").read_text("utf-8"))
    rows = list(json_lines("nutch_normalize.jsonl")(folder))
    for name, rules in lists.items():
        made = [row["expected"] for row in rows if row.get("rules_ref", "").endswith(f"#{name}")]
        yield {"id": name, "rules": rules, "made": made}


def _check(row: Row) -> str | None:
    regex = RegexNormalizer(
        Replacement(rule["pattern"], rule["substitution"]) for rule in row["rules"]
    )
    again = {url: regex.normalize(url, "default") for url in row["made"]}
    changed = {url: text for url, text in again.items() if url != text}
    return f"{changed}" if changed else None


TABLE = Table("nutch_regex_normalize_rules", _load, _check)
