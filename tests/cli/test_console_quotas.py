import json
from pathlib import Path

from tests.cli.site import Done, nacre


def quota(folder: Path, *words: object) -> Done:
    return nacre("console", "quota", *words, "--state", folder / "state")


def test_quotas_are_set_listed_and_taken_away(tmp_path: Path):
    root = tmp_path / "图书馆"
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    assert quota(tmp_path, "list").out == "no quotas\n"
    assert "all jobs together: 2.0 TB" in quota(tmp_path, "set", "2TB").out
    done = quota(tmp_path, "set", "500 GB", root)
    assert done.code == 0
    assert "no console runs with these files" in done.err
    listed = json.loads(quota(tmp_path, "list", "--json").out)
    assert {one["path"]: one["limit"] for one in listed} == {
        "": 2_000_000_000_000, str(root): 500_000_000_000,
    }  # fmt: skip
    assert "not yet" in quota(tmp_path, "list").out
    for wrong in ("much", "-1"):
        assert quota(tmp_path, "set", "--", wrong).code == 2
    assert quota(tmp_path, "set", "1GB", tmp_path / "none").code == 2
    assert "no quota" in quota(tmp_path, "set", "0", root).out
    assert len(json.loads(quota(tmp_path, "list", "--json").out)) == 1
