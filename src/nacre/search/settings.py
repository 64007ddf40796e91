"""The section `cycle.index` of a configuration: what an index of words is given."""

from nacre.config.component import Bytes, Component, setting


class IndexSettings(Component):
    """An index of words (`nacre cycle DIR index`, `nacre index`)."""

    main_content: bool = setting(
        True,
        "Tell what is on every page of a site, such as menus, from the text of a page in HTML: it "
        "is found too, but counts less.",
        sheets=False,
    )
    max_content: int = setting(
        1_000_000,
        "Characters of a document that are indexed.",
        unit="characters",
        ge=1,
        sheets=False,
    )
    max_document: Bytes = setting(
        20_000_000,
        "Bytes of a document that are read for its text, its compression removed.",
        unit="bytes",
        ge=1_000,
        sheets=False,
    )
    score_power: float = setting(
        0.5,
        "The boost of a page is its score to this power (`indexer.score.power`). 0: all are equal.",
        ge=0,
        sheets=False,
    )
    noindex: bool = setting(
        True,
        "Leave out pages whose robots directives say `noindex`.",
        sheets=False,
    )
