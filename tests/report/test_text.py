from dataclasses import replace

from report_samples import CLEAN, CONTEXT, LEAK, REVIEW

from patchlint.report.text import TextStyle, render


def test_finding_path_and_summary() -> None:
    shown = render((replace(REVIEW, findings=(LEAK,), not_analysed=(), notes=()),), CONTEXT).splitlines()
    assert shown[0] == "patch 1/2 misc: widget: find the node"
    assert shown[1] == (
        "drivers/misc/widget.c:16:3: warning: np keeps the reference that of_find_node_by_name() took "
        "when widget_probe() returns [REF001]"
    )
    assert shown[2] == "                        return -EIO;"
    assert shown[3].index("^") == 8 + 16
    steps = [line for line in shown if line[2:4] in ("1.", "2.", "3.")]
    assert steps[1] == "  2. drivers/misc/widget.c:15: widget_setup(dev) is not 0: this branch"
    assert "    when CONFIG_OF=y" in shown
    assert "    in widget_probe(), introduced by patch 1, high confidence" in shown
    assert shown[-1].endswith("1 warning, 2 patches, 3 functions")


def test_every_finding_line_is_one_editors_can_jump_to() -> None:
    places = [line for line in render((REVIEW,), CONTEXT).splitlines() if line.endswith("]")]
    assert [line.split(" ")[0] for line in places] == [
        "drivers/misc/widget.c:16:3:",
        "drivers/misc/widget.c:17:2:",
        "drivers/misc/gadget.c:40:1:",
    ]


def test_colour_only_when_asked_for() -> None:
    assert "\x1b" not in render((REVIEW,), CONTEXT)
    assert "\x1b[1;31merror:" in render((REVIEW,), CONTEXT, TextStyle(color=True))


def test_quiet_shows_findings_only() -> None:
    assert render((CLEAN,), CONTEXT, TextStyle(quiet=True)) == ""
    shown = render((REVIEW,), CONTEXT, TextStyle(quiet=True))
    assert "not analysed" not in shown and "patch 1/2" not in shown and "[REF001]" in shown


def test_what_was_not_analysed_is_said() -> None:
    shown = render((REVIEW,), CONTEXT)
    assert "not analysed: drivers/misc/widget.c:90 widget_isr(): too many paths" in shown
    assert "1 not analysed" in shown.splitlines()[-1]


def test_stats_on_request() -> None:
    assert "seconds 0.5" in render((REVIEW,), CONTEXT, TextStyle(stats=True))
