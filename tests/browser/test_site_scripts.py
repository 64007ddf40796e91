"""Scripts of a site: read and checked at the start."""

import hashlib

import pytest

from nacre.browser.site_scripts import MAX_SCRIPTS, MAX_SIZE, load_site_scripts, make_function
from nacre.errors import ConfigError

GOOD = "// 评论\nexport default async ({ page, log }) => {\n  log(page.url);\n};\n"


def test_scripts_are_read(tmp_path):
    (tmp_path / "a.js").write_text(GOOD)
    (script,) = load_site_scripts(["a.js"], tmp_path)
    assert script == ("a.js", GOOD, hashlib.sha256(GOOD.encode()).hexdigest())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"", "0 lines"),
        (b"export default 7", "0 lines"),
        (GOOD.encode() * 2, "2 lines"),
        (b"import x from 'y';\n" + GOOD.encode(), "stands alone"),
        (b"export const a = 1;\n" + GOOD.encode(), "stands alone"),
        (GOOD.encode("gbk"), "not UTF-8"),
        (b" " * (MAX_SIZE + 1), "larger than"),
    ],
)
def test_others_are_not(tmp_path, source, message):
    (tmp_path / "a.js").write_bytes(source)
    with pytest.raises(ConfigError, match=f"(?s)browser.scripts: a.js: .*{message}"):
        load_site_scripts(["a.js"], tmp_path)


def test_all_problems_at_once(tmp_path):
    with pytest.raises(ConfigError) as error:
        load_site_scripts([f"{number}.js" for number in range(MAX_SCRIPTS + 1)], tmp_path)
    assert len(error.value.problems) == MAX_SCRIPTS + 1
    assert "No such file" in str(error.value)


@pytest.mark.parametrize(
    "source",
    [
        "export default async ({page}) => {};",
        "const a = 1;\nexport default function ({ page }) { return a; }",
        "export  default  ({page}) => 1",
    ],
)
def test_the_function_is_an_expression(source):
    text = make_function(source)
    assert "export" not in text.replace("exported", "")
    assert text.startswith("(() => {")
