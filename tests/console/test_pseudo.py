from hypothesis import given
from hypothesis import strategies as st

from nacre.console.catalogue import BEGIN, END, PSEUDO, PseudoTexts, language, preferred, pseudo
from nacre.messages import message


def test_a_text_is_longer_accented_and_between_marks():
    made = pseudo("All %(number)s jobs of {name}: `nacre run` <b>now</b>")
    assert made.startswith(BEGIN)
    assert made.endswith(END)
    for kept in ("%(number)s", "{name}", "`nacre run`", "<b>", "</b>"):
        assert kept in made
    assert "jobs" not in made


def test_only_texts_of_the_catalogue_are_changed():
    texts = PseudoTexts(["one", "job\0jobs"])
    assert texts.gettext("two") == "two"
    assert texts.gettext("one") == pseudo("one")
    assert [texts.ngettext("job", "jobs", n) for n in (1, 2)] == [pseudo("job"), pseudo("jobs")]


def test_who_asks_for_it_gets_it():
    assert preferred("en-XA") == PSEUDO
    assert BEGIN in language(PSEUDO).texts.gettext("Jobs")
    assert BEGIN in language(PSEUDO).text(message("a.b", "there is no job x"))


@given(st.text())
def test_no_text_is_too_odd(text: str):
    assert text.strip() == "" or pseudo(text).startswith(BEGIN)
