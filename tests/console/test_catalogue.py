import re

import pytest

from nacre.console.catalogue import ENGLISH, language, preferred
from nacre.core.states import CRASHED, ExitStatus, JobState
from nacre.job.diagnosis import Diagnosis
from tools.catalogues import main, template, updated
from tools.message_texts import declared_messages

_PLACES = re.compile(r"%\(\w+\)s|\{[a-z]\w*[^{}]*\}")


@pytest.mark.parametrize(
    ("field", "chosen", "name"),
    [
        ("", "", "en"),
        ("de, fr;q=0.5", "", "en"),
        ("zh", "", "zh_CN"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "", "zh_CN"),
        ("en;q=0.3, zh-Hans-CN;q=0.9", "", "zh_CN"),
        ("zh;q=0, en", "", "en"),
        ("zh;q=x", "", "en"),
        (",;=,", "", "en"),
        ("zh", "en", "en"),
        ("en", "zh_CN", "zh_CN"),
        ("zh", "tlh", "zh_CN"),
    ],
)
def test_the_language_is_that_of_the_browser_or_the_chosen_one(field: str, chosen: str, name: str):
    assert preferred(field, chosen) == name


def test_a_sentence_is_said_in_a_language():
    sentence = Diagnosis("slots-busy", {"parallel": 25, "hosts": 310})
    assert language("zh_CN").say(sentence).startswith("25 个抓取槽全部在用")
    assert language("zh_CN").tag == "zh-CN"
    english = language("../../etc")
    assert (english.name, english.say(Diagnosis("ready"))) == ("en", "ready to start")


def test_each_text_is_translated_and_the_files_are_up_to_date(capsys: pytest.CaptureFixture[str]):
    assert main(check=True) == 0, capsys.readouterr().out


def test_translations_have_the_same_places():
    templates = {declared.code: declared.template for declared in declared_messages()}
    for text in updated("zh_CN", template()):
        if text.id:
            ids = (text.id,) if isinstance(text.id, str) else text.id
            ids = tuple(templates.get(one, one) for one in ids)
            strings = (text.string,) if isinstance(text.string, str) else text.string or ()
            wanted = {place for one in ids for place in _PLACES.findall(one)}
            for string in strings:
                assert set(_PLACES.findall(string)) == wanted, text.id


def test_states_have_words_in_both_languages():
    english, chinese = language(ENGLISH), language("zh_CN")
    for name in (*JobState, *ExitStatus, CRASHED, "ROUNDS", "READING", "UNREADABLE"):
        assert english.state(name) != name
        assert english.state(name) != chinese.state(name)
        assert "_" not in english.state(name)
    assert english.state("NASCENT") == "Never ran"
    assert english.state("other") == "other"
