"""The documents: as Heritrix's marshallers write them."""

import json
import math

from nacre_migrate.port.answers import json_document, xml_document

TREE = {
    "name": "a<b&c\x00\ud800e",
    "none": None,
    "flag": True,
    "rate": math.nan,
    "ratio": math.inf,
    "empty": [],
    "names": ["x", {"k": 1}],
}


def test_xml():
    assert xml_document("job", TREE) == (
        "<?xml version=\"1.0\" standalone='yes'?>\n<job>\n"
        "  <name>a&lt;b&amp;ce</name>\n  <none/>\n  <flag>true</flag>\n  <rate>NaN</rate>\n"
        "  <ratio>Infinity</ratio>\n  <empty></empty>\n"
        "  <names>\n    <value>x</value>\n    <value>\n      <k>1</k>\n    </value>\n  </names>\n"
        "</job>\n\n"
    )


def test_json():
    found = json.loads(json_document(TREE))
    assert (found["rate"], found["ratio"], found["none"]) == (None, None, None)
    assert found["names"] == ["x", {"k": 1}]
