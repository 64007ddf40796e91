"""Unknown classes of beans that a client sends are answered in a file of the job."""

import asyncio
from pathlib import Path

from tests.migrate.port.test_app import BEANS, port

WRITER = (
    '<bean id="warcWriter" class="org.图书馆.OurWriter">'
    '<property name="prefix" value="档案"/></bean>'
    '<bean id="loggerModule" class="org.x.OurLogs">'
    '<property name="logExtraInfo" value="true"/></bean>'
)


def test_unknown_classes_are_answered_in_a_file(tmp_path: Path) -> None:
    job = tmp_path / "crawls" / "x"

    async def story() -> None:
        async with port(tmp_path) as client:
            url = "/engine/job/x"
            await client.post("/engine", data={"action": "create", "createpath": "x"})
            beans = BEANS.replace("</beans>", f"{WRITER}</beans>").encode()
            await client.put(f"{url}/jobdir/crawler-beans.cxml", content=beans)
            refused = await client.post(url, data={"action": "build"})
            assert "problems keep x from starting" in refused.headers["nacre-message"]
            log = (await client.get(f"{url}/jobdir/job.log")).text
            answers = "org.图书馆.OurWriter=warc-writer; org.x.OurLogs=CrawlerLoggerModule"
            assert f"answer in classes.txt of the job, one CLASS=WHAT a line: {answers}" in log
            wrong = await client.put(f"{url}/jobdir/classes.txt", content=b"org.x.OurLogs\n")
            assert wrong.status_code == 201
            assert "is not an answer" in (await client.get(f"{url}/jobdir/job.log")).text
            text = answers.replace("; ", "\n").encode()
            put = await client.put(f"{url}/jobdir/classes.txt", content=text)
            assert put.status_code == 200
            built = await client.post(url, data={"action": "build"})
            assert "nacre-message" not in built.headers
            said = (job / "crawl.yaml").read_text("utf-8")
            assert "prefix: 档案" in said
            assert "log_extra_info: true" in said
            await client.post(url, data={"action": "teardown"})
            assert (await client.post(url, data={"action": "delete"})).status_code == 303
            assert not job.exists()

    asyncio.run(story())
