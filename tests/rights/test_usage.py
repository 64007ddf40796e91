import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.rights.usage import signal_preferences, usage_preferences


def texts(preferences) -> list[str]:
    return [preference.text for preference in preferences]


@pytest.mark.parametrize(
    ("value", "stated"),
    [
        ("train-ai=n", ["train-ai=n"]),
        ("train-ai=y, search=n", ["train-ai=y", "search=n"]),
        # The examples of the draft: neither a boolean nor a string is a preference.
        ('train-ai=y, train-ai, search=n, search="n"', []),
        ("train-ai;allow=n, train-ai=y", ["train-ai=y"]),
        ('train-ai;has;parameters="?";', []),
        ("TRAIN-AI=n", []),
        ("train-ai=n,", []),
        ("train-ai=maybe", []),
        ("train-ai=(y n)", []),
        ("train-genai=n", ["train-genai=n"]),
        ("", []),
        ("训练=n", []),
    ],
)
def test_content_usage_is_a_dictionary_of_tokens(value, stated):
    assert texts(usage_preferences(value)) == stated


@pytest.mark.parametrize(
    ("value", "stated"),
    [
        ("search=yes, ai-train=no", ["search=y", "train-ai=n"]),
        ("Search=YES,ai-input=no", ["search=y", "ai-input=n"]),
        ("search=yes,ai-train=no,use=reference", ["search=y", "train-ai=n", "use=reference"]),
        ("ai-train=no, ai-train=yes", ["train-ai=y"]),
        ("ai-train, =no, search= ", []),
        ("", []),
    ],
)
def test_content_signals_are_pairs(value, stated):
    assert texts(signal_preferences(value)) == stated


@given(st.text())
def test_the_text_of_a_preference_states_it_again(value):
    for preferences in (usage_preferences, signal_preferences):
        for preference in preferences(value):
            assert preferences(preference.text) == (preference,)
