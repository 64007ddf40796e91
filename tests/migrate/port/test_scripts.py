"""Scripts: those of the clients are recognised, no other is, and none is run."""

import pytest

from nacre_migrate.port.scripts import Deed, RecognisedScript, recognise, refusal


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("rawOut.println( appCtx.getCurrentLaunchId() );", RecognisedScript(Deed.LAUNCH_ID)),
        ("rawOut.println(appCtx.getCurrentLaunchId());", RecognisedScript(Deed.LAUNCH_ID)),
        ('warcDir = new File( job.jobDir, "latest/warcs" )\n warcDir.eachFile {\n'
         "  rawOut.println( it );\n };", RecognisedScript(Deed.WARCS, launch="latest")),
        ("def delClos\ndelClos = { it.eachDir( delClos );\n it.eachFile {\n it.delete()\n }\n"
         " it.delete()\n}\ndelClos( job.jobDir )", RecognisedScript(Deed.DELETE)),
        ('warcDir = new File( job.jobDir, "../../etc" )\nwarcDir.eachFile {rawOut.println( it );};',
         None),
        ('warcDir=new File(job.jobDir,"../x/warcs")\nwarcDir.eachFile {rawOut.println( it );};',
         None),
        ('"rm -rf /".execute()', None),
        ("rawOut.println( appCtx.getCurrentLaunchId() ); \"ls\".execute()", None),
        ("", None),
        ("x" * 200_000, None),
    ],
)  # fmt: skip
def test_recognised(script: str, expected: RecognisedScript | None):
    assert recognise(script) == expected


@pytest.mark.parametrize(
    ("script", "instead"),
    [
        ("job.crawlController.frontier.deleteURIs('.*', 'x')", "frontier /j delete --regex"),
        ("appCtx.getBean('sheetOverlaysManager').getOrCreateSheet('x')", "nacre sheet /j add"),
        ("println 1", "nacre status /j --json"),
    ],
)
def test_others_name_what_is_to_be_used_instead(script: str, instead: str):
    assert instead in refusal(script, "/j")
