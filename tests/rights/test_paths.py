from hypothesis import example, given
from hypothesis import strategies as st

from nacre.rights.paths import is_match, request_target
from nacre.scope.robots_txt import AgentRules, RobotsRule

PATHS = st.text("/ab.%*$4B文", max_size=12)


@given(PATHS, PATHS)
@example("/a%42", "/aB")
@example("/aB", "/a%42")
@example("/a$", "/a")
@example("/a/b*", "/a/")
def test_a_pattern_matches_what_a_rule_of_robots_txt_matches(pattern, path):
    url = f"http://h.test/{path}"
    rules = AgentRules([RobotsRule(allow=False, pattern=pattern.encode(), line=b"x")])
    is_ruled = bool(rules.verdict(request_target(url)).line)
    assert is_match(pattern, url) is (is_ruled or not pattern)
