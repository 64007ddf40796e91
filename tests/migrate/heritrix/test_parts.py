"""Writers, proxies, headers, logins and canonicalization of Heritrix."""

from nacre_migrate.report import Flag
from tests.migrate.heritrix.xmltext import cxml, migrated, prop, texts


def test_writers_proxies_headers_and_logins(tmp_path):
    login = (
        "<bean class='org.archive.modules.credential.HttpAuthenticationCredential'>"
        "<property name='password' value='hush'/></bean>"
    )
    text = cxml(
        "<bean id='w' class='org.archive.x.WARCWriterChainProcessor'>"
        "<property name='directory' value='/disk'/>"
        + prop("storePaths", texts("a", "b"))
        + prop(
            "chain", "<list><bean class='org.archive.modules.warc.MetadataRecordBuilder'/></list>"
        )
        + "</bean>",
        "<bean id='h' class='org.archive.x.FetchHTTP'><property name='httpProxyHost' value='p'/>"
        "<property name='httpProxyPort' value='3128'/>"
        "<property name='httpProxyPassword' value='hush'/>"
        + prop("acceptHeaders", texts("Accept: a", "Accept-Language: zh"))
        + "</bean>",
        "<bean id='c' class='org.archive.x.CredentialStore'>"
        + prop("credentials", f"<map><entry key='k'>{login}</entry></map>")
        + "</bean>",
    )
    said, report, found = migrated(tmp_path, text)
    assert said.archive.directories == ("/disk/a", "/disk/b")
    assert said.fetch.accept == ("Accept: a", "Accept-Language: zh")
    assert said.fetch.proxy_server.port == 3128
    assert "HttpResponse" in found["w.chain"].note
    assert found["c.credentials"].flag is Flag.CHECK
    assert "hush" not in report.text() + report.json_text()


def test_canonicalization(tmp_path):
    def policy(*inner):
        return cxml(
            "<bean id='canonicalizationPolicy' class='org.archive.x.RulesCanonicalizationPolicy'>"
            + prop("rules", "<list>" + "".join(inner) + "</list>")
            + "</bean>"
        )

    def one(name, inner=""):
        return f"<bean class='org.archive.modules.canonicalize.{name}'>{inner}</bean>"

    stock = ("LowercaseRule", "StripUserinfoRule", "StripWWWNRule", "StripSessionIDs")
    more = ("StripSessionCFIDs", "FixupQueryString")
    said, _, _ = migrated(tmp_path, policy(*map(one, stock + more)))
    assert said.uri.canonical == "heritrix"
    regex = prop("regex", "<value>(.*)x</value>") + prop("format", "<value>$1</value>")
    off = "<property name='enabled' value='false'/>"
    text = policy(one("LowercaseRule", off), one("RegexRule", regex), one("Mine"))
    said, _, found = migrated(tmp_path, text, answers={"Mine": "drop"})
    assert [(step.rule, step.regex) for step in said.uri.canonical] == [("Regex", "(.*)x")]
    assert found["Mine"].flag is Flag.NO_EQUIVALENT
