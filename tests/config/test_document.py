from nacre.config.document import read_yaml, yaml_text


def test_lists_are_set_in_and_lines_stay_whole():
    long = "x y " * 60
    text = yaml_text({"scope": [{"rule": "reject"}, "b"], "long": long.strip(), "none": []})
    assert text.splitlines() == [
        "scope:",
        "  - rule: reject",
        "  - b",
        f"long: {long.strip()}",
        "none: []",
    ]
    assert read_yaml(text, "crawl.yaml").problems == []
