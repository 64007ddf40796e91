"""Java programs as Maven artifacts: what Maven is asked for."""

from xml.etree import ElementTree

from tools import maven

SPACE = "{http://maven.apache.org/POM/4.0.0}"


def test_a_project_needs_each_artifact():
    found = ElementTree.fromstring(maven.pom("a:b:1", "c.d:e:2.0"))
    needed = [[part.text for part in one] for one in found.iter(f"{SPACE}dependency")]
    assert needed == [["a", "b", "1"], ["c.d", "e", "2.0"]]


def test_jars_that_are_there_are_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(maven, "CACHE", tmp_path)
    monkeypatch.setattr(maven, "_bring", lambda _text, folder: folder.mkdir())
    first = maven.jars("a:b:1")
    assert maven.jars("a:b:1") == first != maven.jars("a:b:2")
    assert first.is_dir()


def test_commands_that_are_missing_are_named(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None if name == "mvn" else name)
    assert maven.missing().startswith("mvn: apt-get install maven")
    monkeypatch.setattr("shutil.which", lambda name: name)
    assert not maven.missing()
