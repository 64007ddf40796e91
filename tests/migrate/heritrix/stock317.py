"""The stock profile of Heritrix 3.17: that of 3.15 with the additions of 3.16 and 3.17."""

from pathlib import Path

_MODULES = "org.archive.modules."
DETECTOR = f'<bean id="botBlockDetector" class="{_MODULES}processor.BotBlockDetector"/>'
BROWSER = f"""<bean id="browser" class="org.archive.crawler.processor.BrowserProcessor">
<property name="behaviors"><list>
<bean class="{_MODULES}behaviors.ScrollDownBehavior"/>
<bean class="{_MODULES}behaviors.ExtractLinksBehavior"/>
<bean class="{_MODULES}behaviors.PaginationBehavior">
<property name="selector" value="a.下一页"/><property name="maxPages" value="5"/></bean>
</list></property></bean>"""
REPORT = """<property name="reports"><list>
<bean class="org.archive.crawler.reporting.SourceTagsReport">
<property name="includeResCode" value="true"/></bean></list></property>"""
CHAIN = '<bean id="fetchProcessors"'
FETCHED = '<ref bean="fetchHttp"/>'
SEARCHED = '<ref bean="extractorSwf"/>'
TRACKER = 'class="org.archive.crawler.reporting.StatisticsTracker" autowire="byName">'


def stock_317(samples: Path, *, browser: bool = False) -> str:
    """The text of the profile.

    Args:
        samples: The folder of the profile of 3.15.
        browser: With the processor that runs pages in a browser, a comment in the stock profile.
    """
    text = (samples / "profile-crawler-beans.cxml").read_text("utf-8")
    steps = [(CHAIN, f"{DETECTOR}\n{BROWSER if browser else ''}\n{CHAIN}")]
    steps.append((FETCHED, f'{FETCHED}\n<ref bean="botBlockDetector"/>'))
    steps.append((TRACKER, f"{TRACKER}\n{REPORT}"))
    if browser:
        steps.append((SEARCHED, f'{SEARCHED}\n<ref bean="browser"/>'))
    for old, new in steps:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text
