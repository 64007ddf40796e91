"""Spring XML in all its forms."""

from nacre_migrate.report import Flag
from tests.migrate.heritrix.xmltext import cxml, migrated


def test_spring_in_other_words(tmp_path):
    text = cxml(
        "<import resource='other.xml'/>",
        "<alias name='http' alias='fetcher'/>",
        "<bean id='above' abstract='true' class='org.archive.x.FetchHTTP'>"
        "<property name='timeoutSeconds' value='9'/></bean>",
        "<bean id='http' parent='above' p:soTimeoutMs='4000'/>",
        "<util:list id='dirs'><value>one</value></util:list>",
        "<bean id='w' class='org.archive.x.WARCWriterProcessor'>"
        "<property name='storePaths' ref='dirs'/></bean>",
        "<bean id='mine' class='com.acme.Thing'><property name='a' value='b'/></bean>",
        "<bean id='s' class='org.archive.x.ScriptedProcessor'>"
        "<property name='engineName' value='groovy'/></bean>",
        "<bean id='f' class='org.archive.x.Maker' factory-method='make'/>",
        "<context:component-scan base-package='a'/>",
        "<other/>",
        "<!-- <bean id='no' class='org.archive.x.FetchFTP'/> -->",
    )
    said, _, found = migrated(tmp_path, text)
    assert (said.fetch.timeout, said.fetch.silence_timeout) == (9.0, 4.0)
    assert said.archive.directories == ("one",)
    assert found["<import>"].flag is Flag.CHECK
    assert found["mine"].flag is found["mine.a"].flag is Flag.NO_EQUIVALENT
    assert found["s"].flag is Flag.NO_EQUIVALENT
    assert found["f"].flag is found["<other>"].flag is Flag.CHECK
    assert "no" not in found
