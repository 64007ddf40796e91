import re
from string import Formatter

from nacre.job.sentence import Sentence
from nacre.job.sentence_words import (
    BESIDE,
    DOING,
    MESSAGES,
    WORKS,
    CountedText,
    progress_words,
    words,
)


def forms(text: str | CountedText) -> list[str]:
    return [text] if isinstance(text, str) else [text.one, text.many]


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_each_message_can_be_worded():
    for code, message in MESSAGES.items():
        assert re.fullmatch(r"[a-z-]+", code)
        names = {name for text in forms(message) for name in places(text)}
        if isinstance(message, CountedText):
            names.add(message.param)
        for number in (1, 2):
            assert "{" not in words(Sentence(code, dict.fromkeys(names, number)))


def test_a_counted_text_says_nothing_that_its_plural_does_not():
    for message in MESSAGES.values():
        if isinstance(message, CountedText):
            assert places(message.one) <= places(message.many)
            assert message.one != message.many


def test_a_sentence_in_another_language():
    busy = MESSAGES["slots-busy"]
    assert isinstance(busy, CountedText)
    ready = MESSAGES["ready-hosts"]
    assert isinstance(ready, CountedText)
    texts = {busy.many: "{parallel} 忙", ready.one: "{hosts} 可用", BESIDE: "{said},{more}"}
    sentence = Sentence("slots-busy", {"parallel": 25, "hosts": 1}, (), ("ready-hosts",))
    assert words(sentence, texts.__getitem__) == "25 忙,1 可用"


def test_the_progress_of_a_step_in_words():
    fetch = {
        "step": "fetch", "done": 61, "of": 127, "unit": "urls", "phase": 0, "bytes": 3_100_000,
        "hosts": 2, "left": 250.0, "ready": 0, "units": 2,
    }  # fmt: skip
    assert progress_words(fetch) == "61/127 pages, 3.1 MB, 2 hosts, 4 min left"
    assert progress_words({**fetch, "hosts": 1, "left": None}) == "61/127 pages, 3.1 MB, 1 host"
    half = {**fetch, "left": 0.4, "ready": 1}
    assert progress_words(half) == "61/127 pages, 3.1 MB, 2 hosts, 1 of 2 units done"
    whole = progress_words({**half, "ready": 2})
    assert whole.endswith(", 2 of 2 units done, what was written is checked")
    tasks = {**fetch, "unit": "tasks", "done": 3, "of": 16, "phase": 2, "work": "select_task"}
    assert progress_words(tasks) == "looking for what is due: 3 of 16 tasks"
    assert progress_words({**tasks, "work": "other_task"}) == "3 of 16 tasks, part 2"
    texts = {"{done} of {of} tasks": "{of} 中 {done}", DOING: "{work}:{said}"}
    texts[WORKS["select_task"]] = "找"
    assert progress_words(tasks, texts.__getitem__) == "找:16 中 3"
