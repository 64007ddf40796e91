"""Seeds of Heritrix, in files of any encoding."""

from nacre_migrate.heritrix.convert import convert
from nacre_migrate.report import Flag
from tests.migrate.heritrix.xmltext import cxml, prop


def test_seeds_of_files_in_any_encoding(tmp_path):
    def seeds(name):
        inner = f"<bean class='x.ConfigFile'><property name='path' value='{name}'/></bean>"
        return cxml(
            "<bean id='seeds' class='org.archive.x.TextSeedModule'>"
            f"{prop('textSource', inner)}</bean>"
        )

    (tmp_path / "s.txt").write_bytes(
        "http://a.example/\r\n# caf\xe9\r\n+b.example\r\n".encode("cp1252")
    )
    file = tmp_path / "crawler-beans.cxml"
    file.write_text(seeds("s.txt"))
    draft, report = convert(file)
    assert draft.seeds == ["http://a.example/", "# café", "+b.example"]
    assert any("read as" in note.what for note in report.files)
    file.write_text(seeds("gone.txt"))
    draft, report = convert(file)
    assert draft.seeds == ["# There were no seeds: put yours here, one URL a line."]
    assert any(f.name == "ConfigFile.path" and f.flag is Flag.CHECK for f in report.findings)
