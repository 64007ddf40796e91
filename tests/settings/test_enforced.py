import pytest

from nacre.settings.enforced import enforce_warnings
from nacre.settings.settings import JobSettings


def warnings(*enforced: str, sheet: tuple[str, ...] = ()) -> list[str]:
    sheets = {"app": {"rights": {"enforce": list(sheet)}}} if sheet else {}
    settings = JobSettings.model_validate({"rights": {"enforce": enforced}, "sheets": sheets})
    return [str(problem) for problem in enforce_warnings(settings)]


@pytest.mark.parametrize("known", [(), ("noarchive", "train-ai=n"), ("ai-train=n",)])
def test_known_preferences_need_no_warning(known: tuple[str, ...]):
    assert warnings(*known, sheet=known) == []


def test_an_unknown_preference_has_its_place_and_the_one_that_is_meant():
    first, second = warnings("train-ai=n", "noarchiv", sheet=("trian-ai=n",))
    assert first.startswith("rights.enforce.1: noarchiv is not a known preference: no reply is")
    assert first.endswith("; did you mean `noarchive`?")
    assert second.startswith("sheets.app.rights.enforce.0: trian-ai=n is not")
    assert second.endswith("; did you mean `train-ai=n`?")


def test_a_vocabulary_that_is_not_known_is_warned_of_without_a_guess():
    (text,) = warnings("quantum=n")
    assert text.endswith("unless a site states it like this")
