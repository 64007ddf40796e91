"""Which processors of Heritrix take part, and what is inserted for those that Nacre has apart."""

from nacre_migrate.report import Flag, MigrationOutcome
from tests.migrate.heritrix.xmltext import bean, cxml, migrated, prop, rule

STOCK = ("render", "walls")
"""Entries of the stock fetch chain behind `extract`."""


def test_processors_in_no_chain_and_switched_off(tmp_path):
    chain = "<bean id='fetchProcessors' class='org.archive.modules.FetchChain'>" + prop(
        "processors", "<list><ref bean='http'/><ref bean='html'/><ref bean='css'/></list>"
    )
    gate = prop("shouldProcessRule", rule("MatchesRegexDecideRule"))
    text = cxml(
        bean("http", "FetchHTTP", timeoutSeconds="5").replace("</bean>", gate + "</bean>"),
        bean("html", "ExtractorHTML"),
        bean("css", "ExtractorCSS", enabled="false"),
        bean("js", "ExtractorJS"),
        bean("warc", "WARCWriterProcessor", prefix="NO"),
        chain + "</bean>",
    )
    said, _, found = migrated(tmp_path, text)
    assert (said.extract.extract_css, said.extract.extract_javascript) == (False, False)
    assert said.extract.extract_html
    assert said.archive.prefix == "NACRE"
    assert "in no chain" in found["warc"].note
    fetch = next(entry for entry in said.chains.fetch if entry.processor == "fetch-http")
    assert [one.rule for one in fetch.gate] == ["matches-regex"]
    assert found["http.shouldProcessRule"].outcome is MigrationOutcome.MAPPED


def test_processors_that_the_stock_chains_do_not_have(tmp_path):
    gate = prop("shouldProcessRule", rule("MatchesRegexDecideRule"))
    text = cxml(
        bean("pdf", "ExtractorPDF", maxSizeToParse="5000").replace("</bean>", gate + "</bean>"),
        bean("any", "ExtractorUniversal"),
        bean("implied", "ExtractorImpliedURI", regex="(.*)/x", format="$1/y"),
        bean("digest", "HTTPContentDigest", stripRegex="[0-9]+"),
        bean("again", "ReschedulingProcessor", rescheduleDelaySeconds="60"),
        bean("uri", "ExtractorURI", enabled="false"),
        bean("other", "ExtractorPDF"),
        bean("mapper", "HashCrawlMapper"),
    )
    said, _, found = migrated(tmp_path, text)
    fetch = {entry.label: entry for entry in said.chains.fetch}
    behind = list(fetch)[list(fetch).index("extract") + 1 :]
    assert behind == ["pdf", "other", "extract-implied-uri", "extract-universal", *STOCK]
    assert fetch["pdf"].max_size == 5000
    assert [one.rule for one in fetch["pdf"].gate] == ["matches-regex"]
    assert fetch["extract-implied-uri"].format == "$1/y"
    assert fetch["content-digest"].strip_regex == "[0-9]+"
    assert said.chains.disposition[-1].delay == 60
    assert found["pdf"].outcome is MigrationOutcome.MAPPED
    assert found["other"].outcome is found["implied.regex"].outcome is MigrationOutcome.MAPPED
    assert found["mapper"].flag is Flag.CHECK


def test_mappers_supplementary_rules_and_made_uris_in_the_order_of_the_chain(tmp_path):
    def chain(kind, *names):
        refs = "".join(f"<ref bean='{name}'/>" for name in names)
        inner = prop("processors", f"<list>{refs}</list>")
        return f"<bean id='{kind}' class='org.archive.modules.{kind}'>{inner}</bean>"

    sheet = "<map><entry key='b.format' value='$1/z'/><entry key='b.enabled' value='false'/></map>"
    text = cxml(
        bean("m", "HashCrawlMapper", localName="1", crawlerCount="4", checkUri="true"),
        bean("a", "ExtractorImpliedURI", regex="(.*)/x", format="$1/y"),
        bean("b", "ExtractorImpliedURI", regex="(.*)/u", format="$1/v", wrong="1"),
        "<bean id='s' class='org.archive.x.SupplementaryLinksScoper'>"
        + prop("supplementaryRule", rule("AcceptDecideRule"))
        + "</bean>",
        "<bean id='r' class='org.archive.ExtractorMultipleRegex'>"
        "<property name='uriRegex' value='.*'/>"
        + prop("contentRegexes", "<map><entry key='n' value='n=(.)'/></map>")
        + "<property name='template' value='http://a/${n[1]}'/></bean>",
        bean("h", "FetchHTTP"),
        bean("html", "ExtractorHTML"),
        bean("w", "WARCWriterProcessor"),
        bean("c", "CandidatesProcessor"),
        chain("FetchChain", "m", "h", "html", "b", "a", "r"),
        chain("DispositionChain", "w", "s", "c"),
        "<bean id='x' class='org.archive.spring.Sheet'>" + prop("map", sheet) + "</bean>",
    )
    said, _, found = migrated(tmp_path, text)
    fetch = {entry.label: entry for entry in said.chains.fetch}
    behind = list(fetch)[list(fetch).index("extract") + 1 :]
    assert behind == ["b", "a", "extract-multiple-regex", *STOCK]
    assert fetch["b"].format == "$1/v"
    assert fetch["extract-multiple-regex"].content_regexes == {"n": "n=(.)"}
    assert fetch["hash-crawl-mapper"].crawler_count == 4
    labels = [entry.label for entry in said.chains.disposition]
    assert labels.index("supplementary-links") == labels.index("archive") + 1
    assert said.sheets["x"] == {
        "chains.fetch.b.format": "$1/z",
        "chains.fetch.b.enabled": False,
    }
    assert found["b.wrong"].flag is Flag.CHECK
