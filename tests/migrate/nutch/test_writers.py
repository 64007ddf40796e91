"""Nutch's index writers, exchanges and the mapping of its older Solr become settings."""

from typing import Any

import pytest

from nacre.config.check import load
from nacre.config.layer import Layer
from nacre.errors import ConfigError
from nacre.indexing.document_choice import DocumentChoice
from nacre.search.server_kinds import OpenSearchSettings, SolrSettings
from nacre.search.writer_kinds import CsvSettings, LocalIndexSettings, WriterSettings
from nacre.settings.settings import JobSettings
from nacre_migrate.nutch.convert import convert
from nacre_migrate.report import Flag, MigrationOutcome
from tests.migrate.nutch.conffiles import conf

ON = "protocol-http|urlfilter-regex|indexer-(solr|csv|opensearch-1x|rabbit)|exchange-jexl"
PACKAGE = "org.apache.nutch.indexwriter"


def writer(name: str, kind: str, mapping: str = "", **parameters: str) -> str:
    said = "".join(
        f'<param name="{key.replace("_", ".")}" value="{value}"/>'
        for key, value in parameters.items()
    )
    return (
        f'<writer id="{name}" class="{PACKAGE}.{kind}"><parameters>{said}</parameters>'
        f"<mapping>{mapping}</mapping></writer>\n"
    )


def writers(*parts: str) -> str:
    return f'<writers xmlns="http://lucene.apache.org/nutch">{"".join(parts)}</writers>'


def exchange(name: str, kind: str, expression: str, *names: str) -> str:
    listed = "".join(f'<writer id="{one}"/>' for one in names)
    said = expression.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f'<exchange id="{name}" class="{kind}"><writers>{listed}</writers>'
        f'<params><param name="expr" value="{said}"/></params></exchange>'
    )


JEXL = "org.apache.nutch.exchange.jexl.JexlExchange"
SOLR = writer("solr", "solr.SolrIndexWriter", url="http://h:8983/solr/x")
CSV = writer("csv", "csv.CSVIndexWriter")


def migrated(folder, site=None, **files: str) -> tuple[Any, Any, dict[str, Any]]:
    said = {"plugin.includes": ON, **(site or {})}
    draft, report = convert(conf(folder, said, stock=False, **files))
    settings = load(JobSettings, [Layer("option", draft.tree())]).settings
    return settings.cycle.index.writers, report, {one.name: one for one in report.findings}


def test_a_stock_configuration_has_the_embedded_index_alone(tmp_path):
    template = {"index-writers.xml.template": writers(SOLR)}
    made, report, found = migrated(tmp_path, **template)
    assert [type(one) for one in made] == [LocalIndexSettings]
    assert "solr" not in found
    (note,) = [one.what for one in report.files if one.name == "index-writers.xml"]
    assert "template" in note


def test_writers_with_their_parameters_and_mapping(tmp_path):
    mapping = (
        '<copy><field source="title" dest="title,search"/></copy>'
        '<rename><field source="lastModified" dest="date"/></rename>'
        '<remove><field source="segment"/></remove>'
    )
    solr = writer(
        "索引 1", "solr.SolrIndexWriter", mapping, type="http", url="http://h:8983/solr",
        collection="web", commitSize="50", weight_field="weight", auth="true", username="bot",
        password="geheim",
    )  # fmt: skip
    search = writer(
        "os", "opensearch1x.OpenSearch1xIndexWriter", host="a,b", port="9201", scheme="https",
        index="pages", max_bulk_docs="10", exponential_backoff_millis="250",
        trust_store_path="/x.jks",
    )  # fmt: skip
    sheet = writer("csv", "csv.CSVIndexWriter", fields="id,contentLength", separator=";")
    rabbit = writer("rabbit", "rabbit.RabbitIndexWriter")
    own = '<writer id="own" class="cn.library.Writer"/>'
    elastic = writer("e", "elastic.ElasticIndexWriter")
    files = {"index-writers.xml": writers(solr, search, sheet, rabbit, own, elastic)}
    made, report, found = migrated(tmp_path, **files)
    local, one, two, three = made
    assert isinstance(local, LocalIndexSettings)
    assert isinstance(one, SolrSettings)
    assert (one.name, one.url, one.batch, one.user) == (
        "___1", "http://h:8983/solr/web", 50, "bot",
    )  # fmt: skip
    assert one.copy_fields == {"boost": ("weight",), "title": ("search",)}
    assert (one.rename, one.remove) == ({"modified": "date"}, ("segment",))
    assert isinstance(two, OpenSearchSettings)
    assert two.urls == ("https://a:9201", "https://b:9201")
    assert (two.index, two.batch, two.backoff) == ("pages", 10, 0.25)
    assert isinstance(three, CsvSettings)
    assert (three.fields, three.separator) == (("id", "length"), ";")
    assert "password" in found["索引 1"].note
    assert "PEM" in found["os"].note
    assert found["csv"].outcome is MigrationOutcome.MAPPED
    assert found["rabbit"].flag is Flag.NO_EQUIVALENT
    assert found["own"].flag is Flag.CHECK
    assert "not on" in found["e"].note
    assert "geheim" not in report.text()


def given(made: tuple[WriterSettings, ...], name: str) -> str:
    (one,) = [one for one in made if one.name == name]
    with DocumentChoice(one.when, name):
        return one.when


def test_exchanges_are_conditions_and_the_default_one_is_the_rest(tmp_path):
    exchanges = "".join(
        [
            exchange("a", JEXL, "doc.getFieldValue('host')=='例子.cn'", "solr"),
            exchange("b", JEXL, "doc.getFieldValue('boost') > 2 && true", "solr", "csv"),
            exchange("default", "default", "", "csv"),
        ]
    )
    files = {
        "index-writers.xml": writers(SOLR, CSV, writer("more", "csv.CSVIndexWriter")),
        "exchanges.xml": f"<exchanges>{exchanges}</exchanges>",
    }
    made, _, found = migrated(tmp_path, **files)
    a, b = "(host = '例子.cn')", "((boost > 2) and true)"
    assert given(made, "solr") == f"{a} or {b}"
    assert given(made, "csv") == f"{b} or not coalesce({a} or {b}, false)"
    assert [one.name for one in made] == ["", "solr", "csv"]
    assert "no exchange names it" in found["more"].note
    assert found["a"].outcome is MigrationOutcome.MAPPED


def test_an_exchange_that_is_not_translated_is_named_and_its_writers_are_left_out(tmp_path):
    exchanges = "".join(
        [
            exchange("calls", JEXL, "doc.getFieldNames().size() > 1", "solr"),
            exchange("default", "default", "", "csv"),
        ]
    )
    files = {
        "index-writers.xml": writers(SOLR, CSV),
        "exchanges.xml": f"<exchanges>{exchanges}</exchanges>",
    }
    made, _, found = migrated(tmp_path, **files)
    assert [type(one) for one in made] == [LocalIndexSettings]
    assert found["calls"].flag is Flag.CHECK
    assert "exchange calls is not translated" in found["solr"].note
    assert "exchange calls is not translated" in found["csv"].note


@pytest.mark.parametrize("text", ["", exchange("x", JEXL, "true", "nobody")])
def test_exchanges_that_are_not_on_change_nothing(tmp_path, text):
    site = {"plugin.includes": "protocol-http|indexer-(solr|csv)"}
    files = {
        "index-writers.xml": writers(SOLR, CSV),
        "exchanges.xml": f"<exchanges>{text}</exchanges>",
    }
    made, _, _ = migrated(tmp_path, site, **files)
    assert [one.when for one in made] == ["", "", ""]


def test_the_mapping_of_an_older_solr(tmp_path):
    text = """<mapping><fields>
        <field dest="text" source="content"/><field dest="title" source="title"/>
        <field dest="id" source="url"/><copyField source="url" dest="url"/>
        <copyField source="title" dest="headline"/>
        </fields><uniqueKey>id</uniqueKey></mapping>"""
    site = {"solr.server.url": "http://h:8983/solr/x", "solr.commit.size": "250"}
    made, _, found = migrated(tmp_path, site, **{"solrindex-mapping.xml": text})
    solr = made[1]
    assert isinstance(solr, SolrSettings)
    assert (solr.url, solr.batch) == ("http://h:8983/solr/x", 250)
    assert (solr.rename, solr.remove) == ({"content": "text"}, ())
    assert solr.copy_fields == {"title": ("headline",)}
    assert found["solr.server.url"].outcome is MigrationOutcome.MAPPED


def test_an_older_mapping_without_a_server_says_so(tmp_path):
    text = '<mapping><field dest="key" source="url"/><uniqueKey>key</uniqueKey></mapping>'
    made, report, _ = migrated(tmp_path, **{"solrindex-mapping.xml": text})
    assert made[1].rename == {"id": "key"}
    assert made[1].remove == ("url",)
    (note,) = [one for one in report.files if one.name == "solrindex-mapping.xml"]
    assert note.check
    assert "solr.server.url" in note.what


def test_files_by_other_names_and_the_power_of_scores(tmp_path):
    site = {
        "indexer.indexwriters.file": "写.xml",
        "exchanges.exchanges.file": "../x.xml",
        "indexer.score.power": "0.25",
    }
    draft, report = convert(
        conf(tmp_path, {"plugin.includes": ON, **site}, **{"写.xml": writers(CSV)})
    )
    assert draft.settings["cycle.index.score_power"] == 0.25
    (csv,) = [one for one in report.findings if one.kind == "element"]
    assert (csv.name, csv.file) == ("csv", "写.xml")


def test_a_file_that_is_no_xml_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"index-writers\.xml"):
        migrated(tmp_path, **{"index-writers.xml": "<writers>"})
