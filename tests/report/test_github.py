import re
from dataclasses import replace

from report_samples import BRIEF, CLEAN, CONTEXT, HOSTILE, LEAK, REVIEW

from patchlint.report import github


def lines(*reviews) -> list[str]:
    return github.render(reviews, CONTEXT).splitlines()


def test_one_command_per_finding_on_the_final_line() -> None:
    shown = lines(REVIEW)
    assert shown[0].startswith("::error file=drivers/misc/widget.c,line=20,col=2,title=RCU001 unbalanced-section::")
    assert shown[1].startswith(
        "::warning file=drivers/misc/widget.c,line=19,col=3,title=REF001 reference-leak::np keeps"
    )
    assert shown[2].startswith("::notice file=drivers/misc/gadget.c,line=40,col=1,")
    assert shown[3] == "patchlint: 1 error, 1 warning, 1 note"


def test_the_path_is_in_the_annotation() -> None:
    body = lines(REVIEW)[1].split("::")[2]
    assert body.split("%0A")[1:] == [
        "introduced by patch 1",
        "drivers/misc/widget.c:12: reference taken here by of_find_node_by_name()",
        "drivers/misc/widget.c:15: widget_setup(dev) is not 0: this branch",
        "drivers/misc/widget.c:16: leaves the function without dropping it",
        "with CONFIG_OF=y",
    ]


def test_ten_of_a_kind_and_the_rest_counted() -> None:
    many = replace(REVIEW, findings=(LEAK,) * 13 + (BRIEF,) * 2)
    shown = lines(many)
    assert sum(line.startswith("::warning ") for line in shown) == github.PER_KIND
    assert sum(line.startswith("::error ") for line in shown) == 2
    assert "3 more warnings not annotated (GitHub keeps 10 of a kind):" in shown
    assert sum(line.startswith("  drivers/misc/widget.c:16: REF001: ") for line in shown) == 3


def test_the_most_confident_are_annotated() -> None:
    doubtful = replace(LEAK, confidence="low", message="doubtful")
    shown = lines(replace(REVIEW, findings=(doubtful,) * 10 + (LEAK,) * 10))
    assert not any("doubtful" in line for line in shown if line.startswith("::"))


def test_no_text_can_become_a_command() -> None:
    hostile = replace(LEAK, file="a,line=1::b\n::error::x.c", message="x\n::error::y ##[error]z", function=HOSTILE)
    shown = lines(replace(REVIEW, findings=(hostile,) * 12))
    assert all(re.match(r"::warning |  a|\d|patchlint: ", line) for line in shown)
    assert not any("##[" in line for line in shown)
    assert shown[0].startswith("::warning file=a%2Cline=1%3A%3Ab %3A%3Aerror%3A%3Ax.c,line=16,")


def test_nothing_found() -> None:
    assert lines(CLEAN) == ["patchlint: no findings"]
