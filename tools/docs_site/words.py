"""Words of the site's search, in English and Chinese.

Chinese is written without spaces. Its texts are indexed as pairs of neighbouring characters, as
Lucene's CJKBigramFilter does: no dictionary is needed, and each word of two or more characters is
found. `SPLIT_QUERY` is the same for the browser.
"""

import re

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_RUNS = re.compile(rf"[{_HAN}]+|(?:(?![{_HAN}])\w)+")
_IS_HAN = re.compile(rf"[{_HAN}]")


def split_words(text: str) -> list[str]:
    """Return the terms of a text for the index.

    These are the words of alphabetic scripts; of Chinese all single characters and all pairs.
    """
    terms = []
    for run in _RUNS.findall(text):
        if not _IS_HAN.match(run):
            terms.append(run)
            continue
        terms += run
        terms += (run[at : at + 2] for at in range(len(run) - 1))
    return terms


SPLIT_QUERY = r"""
var splitQuery = (query) => {
  const han = "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3fffd}";
  const runs = new RegExp(`[${han}]+|(?:(?![${han}])[\\p{L}\\p{N}_])+`, "gu");
  const isHan = new RegExp(`^[${han}]`, "u");
  return (query.match(runs) || []).flatMap((run) => {
    const characters = [...run];
    if (!isHan.test(run) || characters.length === 1) return [run];
    return characters.slice(1).map((character, at) => characters[at] + character);
  });
};
"""
"""JavaScript: a function that returns the terms of a query; of Chinese the pairs alone."""
