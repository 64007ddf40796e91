"""Short names of media types, as searches and facets have them (pure)."""

_OFFICE = "application/vnd.openxmlformats-officedocument."
_WORD, _EXCEL = "application/vnd.ms-word.", "application/vnd.ms-excel."
_SLIDES, _MACRO = "application/vnd.ms-powerpoint.", "macroenabled.12"
_NAMES = {
    "application/pdf": "pdf",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "application/epub+zip": "epub",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/rtf": "rtf",
    "text/rtf": "rtf",
    **dict.fromkeys((f"{_WORD}document.{_MACRO}", f"{_WORD}template.{_MACRO}"), "docx"),
    **dict.fromkeys((f"{_EXCEL}sheet.{_MACRO}", f"{_EXCEL}template.{_MACRO}"), "xlsx"),
    **dict.fromkeys(
        (f"{_SLIDES}{kind}.{_MACRO}" for kind in ("presentation", "slideshow", "template")), "pptx"
    ),
    f"{_OFFICE}wordprocessingml.template": "docx",
    f"{_OFFICE}spreadsheetml.template": "xlsx",
    f"{_OFFICE}presentationml.template": "pptx",
    f"{_OFFICE}presentationml.slideshow": "pptx",
    "application/vnd.oasis.opendocument.text-template": "odt",
    "application/vnd.oasis.opendocument.text-master": "odt",
    "application/vnd.oasis.opendocument.spreadsheet-template": "ods",
    "application/vnd.oasis.opendocument.presentation-template": "odp",
    "application/vnd.oasis.opendocument.graphics-template": "odg",
    "application/vnd.oasis.opendocument.graphics": "odg",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
}
"""Templates, shows and files with macros have the name of the documents that they are like."""


def kind_of(mime: str) -> str:
    """The short name of a media type, as `type:` takes it: `pdf`; the type itself for others."""
    return _NAMES.get(mime, mime)
