"""Show 5: `nacre filter` gives exactly the expected signs for every sample rule file of Nutch."""

import subprocess
import sys

import pytest

from tests.cases.table import cases_folder
from tests.cases.tables.nutch_regex_filter import pairs


@pytest.mark.cases
def test_signs_of_every_rule_file():
    folder = cases_folder() / "nutch_regex_filter"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent; name the tables' folder with NACRE_CASES")
    found = list(pairs(folder))
    assert len(found) >= 7
    for rules, urls in found:
        expected = [line for line in urls.read_bytes().splitlines() if line[:1] in {b"+", b"-"}]
        stdin = b"".join(line[1:] + b"\n" for line in expected)
        command = [sys.executable, "-m", "nacre", "filter", "--rules", str(rules)]
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=True)
        assert done.stdout.splitlines() == expected, rules.name
