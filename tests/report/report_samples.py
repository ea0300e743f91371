"""A review made by hand: two patches, findings of every verdict, and hostile text in each field."""

from __future__ import annotations

from patchlint.model import (
    FileDiff,
    Finding,
    Hunk,
    NotAnalysed,
    Patch,
    PatchResult,
    Review,
    Series,
    Step,
)
from patchlint.report.context import ReportContext, RuleHelp, ToolInfo

HOSTILE = "</script><img src=x onerror=alert(1)>\x1b[31m\u202e | `x` ::error::%0A"

HUNK = Hunk(
    10,
    4,
    10,
    8,
    "static int widget_probe(struct device *dev)",
    (
        (" ", b"\tstruct device_node *np;"),
        (" ", b""),
        ("+", b'\tnp = of_find_node_by_name(NULL, "widget");'),
        ("+", b"\tif (!np)"),
        ("+", b"\t\treturn -ENODEV;"),
        ("-", b"\tdev->ready = 0;"),
        ("+", b"\tif (widget_setup(dev))"),
        ("+", b"\t\treturn -EIO;"),
        (" ", b"\treturn 0;"),
    ),
)

LATER = Hunk(
    1, 2, 1, 5, "", ((" ", b"/* widget */"), ("+", b"#include <linux/of.h>"), ("+", b""), ("+", b""), (" ", b""))
)

PATH = "drivers/misc/widget.c"

LEAK = Finding(
    rule="REF001",
    name="reference-leak",
    severity="warning",
    confidence="high",
    message="np keeps the reference that of_find_node_by_name() took when widget_probe() returns",
    file=PATH,
    line=16,
    column=3,
    function="widget_probe",
    subject="np",
    trace=(
        Step(PATH, 12, "reference taken here by of_find_node_by_name()"),
        Step(PATH, 15, "widget_setup(dev) is not 0: this branch"),
        Step(PATH, 16, "leaves the function without dropping it"),
    ),
    patch=1,
    fingerprint="0f3a",
    config=("CONFIG_OF=y",),
)
BRIEF = Finding(
    rule="RCU001",
    name="unbalanced-section",
    severity="error",
    confidence="medium",
    message="the read-side section stays open",
    file=PATH,
    line=17,
    column=2,
    function="widget_probe",
    subject="rcu",
    verdict="transient",
    patch=1,
    fixed_by=2,
    fingerprint="1b2c",
)
ELSEWHERE = Finding(
    rule="LCK001",
    name="lock-not-released",
    severity="note",
    confidence="low",
    message=f"the lock is still held {HOSTILE}",
    file="drivers/misc/gadget.c",
    line=40,
    column=1,
    function="gadget_stop",
    subject="&g->lock",
    verdict="exposed",
    patch=2,
    trace=(Step("drivers/misc/gadget.c", 33, f"taken here {HOSTILE}"), Step("drivers/misc/gadget.c", 40, "left here")),
    fingerprint="2c3d",
)

PATCHES = (
    Patch(
        n=1,
        subject="misc: widget: find the node",
        author="Ada Example <ada@example.org>",
        message_id="<1@example.org>",
        message="Find it.",
        files=(FileDiff(PATH, PATH, hunks=(HUNK,)),),
        headers=(
            ("subject", "[PATCH v2 1/2] misc: widget: find the node"),
            ("to", "list@example.org"),
            ("cc", "Bob Example <bob@example.org>, list@example.org"),
            ("date", "Mon, 2 Jun 2025 10:00:00 +0000"),
            ("references", "<0@example.org>"),
        ),
    ),
    Patch(
        n=2,
        subject=f"misc: widget: more {HOSTILE}",
        author="Ada Example <ada@example.org>",
        message_id="<2@example.org>",
        files=(FileDiff(PATH, PATH, hunks=(LATER,)),),
        headers=(("subject", "[PATCH v2 2/2] misc: widget: more"),),
    ),
)

REVIEW = Review(
    source="widget.mbox",
    series=Series("widget.mbox", f"misc: widget {HOSTILE}", "Ada Example", "v2", 2, PATCHES, cover=True),
    base_kind="commit",
    base_rev="0123456789abcdef",
    patches=tuple(PatchResult(p.n, p.subject, p.message_id, "exact", (PATH,)) for p in PATCHES),
    findings=(LEAK, BRIEF, ELSEWHERE),
    not_analysed=(NotAnalysed(PATH, "widget_isr", f"too many paths {HOSTILE}", 90),),
    notes=("reviewed without a tree",),
    stats={"functions": 3, "seconds": 0.5},
)

CLEAN = Review("clean.mbox", None, "none", "", (), (), ())

CONTEXT = ReportContext(
    ToolInfo("1.2.3", "abcd"),
    {
        "REF001": RuleHelp(
            "REF001",
            "reference-leak",
            "reference not dropped on a path that leaves the function",
            why="The object is never freed.",
            bad="np = get();\nreturn;",
            good="np = get();\nput(np);\nreturn;",
            references=("Documentation/devicetree/kernel-api.rst",),
        )
    },
)
