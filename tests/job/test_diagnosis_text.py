import re
from string import Formatter

from nacre.job.diagnosis import Diagnosis
from nacre.job.diagnosis_text import (
    TEXTS,
    CountedText,
    diagnosis_text,
    progress_text,
)
from nacre.languages import translator
from nacre.messages import write


def forms(text: str | CountedText) -> list[str]:
    return [text] if isinstance(text, str) else [text.singular, text.many]


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_each_message_can_be_worded():
    for code, message in TEXTS.items():
        assert re.fullmatch(r"[a-z-]+", code)
        names = {name for text in forms(message) for name in places(text)}
        if isinstance(message, CountedText):
            names.add(message.param)
        for number in (1, 2):
            assert "{" not in diagnosis_text(Diagnosis(code, dict.fromkeys(names, number)))


def test_a_counted_text_says_nothing_that_its_plural_does_not():
    for message in TEXTS.values():
        if isinstance(message, CountedText):
            assert places(message.singular) <= places(message.many)
            assert message.singular != message.many


def test_a_diagnosis_in_another_language():
    diagnosis = Diagnosis("slots-busy", {"parallel": 25, "hosts": 1}, (), ("ready-hosts",))
    text = write(diagnosis_text(diagnosis), translator("zh_CN"))
    assert str(text).split("\uff1b") == ["25 个抓取槽全部在用", "1 个主机已就绪"]


def test_the_progress_of_a_step_in_words():
    fetch = {
        "step": "fetch", "done": 61, "of": 127, "unit": "urls", "phase": 0, "bytes": 3_100_000,
        "hosts": 2, "left": 250.0, "ready": 0, "units": 2,
    }  # fmt: skip
    assert progress_text(fetch) == "61/127 pages, 3.1 MB, 2 hosts, 4 min left"
    assert progress_text({**fetch, "hosts": 1, "left": None}) == "61/127 pages, 3.1 MB, 1 host"
    half = {**fetch, "left": 0.4, "ready": 1}
    assert progress_text(half) == "61/127 pages, 3.1 MB, 2 hosts, 1 of 2 units done"
    whole = progress_text({**half, "ready": 2})
    assert whole.endswith(", 2 of 2 units done, the written files are checked")
    tasks = {**fetch, "unit": "tasks", "done": 3, "of": 16, "phase": 2, "work": "select_task"}
    assert progress_text(tasks) == "looking for URLs that are due: 3 of 16 tasks"
    assert progress_text({**tasks, "work": "other_task"}) == "3 of 16 tasks, part 2"
    text = write(progress_text(tasks), translator("zh_CN"))
    assert str(text).split("\uff1a") == ["正在查找到期的网址", "16 个任务中已完成 3 个"]
