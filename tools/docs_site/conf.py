"""Configuration of Sphinx for the site of docs/, see `tools/docs_site/build.py`.

All fonts, scripts and styles are local: the site works without a network.
"""

import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tools.docs_site.words import SPLIT_QUERY, split_words  # noqa: E402 - after the path is set

project = "Nacre"
author = "Nacre"
language = "en"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["examples"]
myst_heading_anchors = 6
nitpicky = True
highlight_language = "text"
html_theme = "furo"
html_title = "Nacre"
html_static_path = [str(HERE / "static")]
html_css_files = ["nacre.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}


class SearchEnglishAndChinese(SearchEnglish):  # type: ignore[misc]  # Any in the environment of mypy
    """English as Sphinx searches it, and Chinese by pairs of characters."""

    js_splitter_code = SPLIT_QUERY

    def split(self, input: str) -> list[str]:  # noqa: A002 - the name of the overridden method
        """See `SearchLanguage.split`."""
        return split_words(input)


def _set_language(
    _app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: object
) -> None:
    """Declare the language of Chinese pages, for fonts and screen readers."""
    if page.startswith("zh/"):
        context["language"] = "zh-CN"


def setup(app: Sphinx) -> None:
    """See Sphinx's extension interface."""
    app.add_search_language(SearchEnglishAndChinese)
    app.connect("html-page-context", _set_language)
