"""Real robots.txt files, with the verdicts of Google's matcher."""

from nacre.scope.robots_txt import parse_robots
from tests.cases.table import Row, Table, json_lines
from tests.cases.tables.robots import google_is_asked, target_of


def check(row: Row) -> str | None:
    """Every probe that Google's matcher can be asked; the others are no questions for it."""
    parsed = parse_robots(row["robots"].encode("utf-8", "surrogatepass"))
    wrong = [
        f"{probe['agent']} {probe['url']}"
        for probe in row["probes"]
        if google_is_asked({**probe, "google_verdict": probe["allowed"]})
        and parsed.for_agent(probe["agent"]).verdict(target_of(probe["url"])).allowed
        is not probe["allowed"]
    ]
    return f"{len(wrong)} of {len(row['probes'])}: {wrong[:3]}" if wrong else None


TABLE = Table("robots_real", json_lines("robots_real.jsonl"), check)
