from dataclasses import replace

import pytest

from patchlint.model import Finding, Review
from patchlint.review.preferences import Preferences, prefer

FINDING = Finding("REF001", "leak", "warning", "high", "m", "drivers/net/a.c", 1, 1, "f", "p")


@pytest.mark.parametrize(
    ("paths", "file", "wanted"),
    [
        ((), "net/a.c", True),
        (("drivers",), "drivers/net/a.c", True),
        (("drivers/",), "drivers/net/a.c", True),
        (("drivers",), "net/a.c", False),
        (("!drivers",), "net/a.c", True),
        (("!drivers",), "drivers/a.c", False),
        (("drivers", "!drivers/net"), "drivers/net/a.c", False),
        (("!drivers", "drivers/net"), "drivers/net/a.c", True),
        (("*.c",), "drivers/net/a.h", False),
        (("drivers",), "", True),
    ],
)
def test_paths(paths: tuple[str, ...], file: str, wanted: bool) -> None:
    assert Preferences(paths=paths).speaks_of(file) is wanted


def test_the_longest_prefix_decides_the_severity() -> None:
    preferences = Preferences(severities=(("REF001", "error"), ("REF", "note")))
    assert preferences.severity(FINDING) == "error"
    assert preferences.severity(replace(FINDING, rule="REF002")) == "note"
    assert preferences.severity(replace(FINDING, rule="RCU001")) == "warning"


def test_what_a_later_patch_repairs_stays_a_note() -> None:
    transient = replace(FINDING, verdict="transient", severity="note")
    assert Preferences(severities=(("REF", "error"),)).severity(transient) == "note"


def test_a_review_is_filtered_and_changed() -> None:
    review = Review("x", None, "none", "", (), (FINDING, replace(FINDING, file="net/b.c")), ())
    shown = prefer(review, Preferences((("REF", "error"),), ("net",)))
    assert [(finding.file, finding.severity) for finding in shown.findings] == [("net/b.c", "error")]


def test_what_is_said_about_the_mail_stays() -> None:
    missing = replace(FINDING, rule="SER001", file="series.mbox", function="")
    review = Review("series.mbox", None, "none", "", (), (FINDING, missing), ())
    assert prefer(review, Preferences(paths=("net",))).findings == (missing,)
