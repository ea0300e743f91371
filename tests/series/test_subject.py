"""Subject forms that occur."""

from __future__ import annotations

import pytest

from patchlint.series import parse_subject

FORMS = [
    # subject, title, prefix, version, n, total
    ("[PATCH] net: fix x", "net: fix x", "PATCH", "v1", None, None),
    ("[PATCH v3 2/7] net: fix x", "net: fix x", "PATCH", "v3", 2, 7),
    ("[PATCH net-next v2 00/11] x", "x", "PATCH net-next", "v2", 0, 11),
    ("[net-next,v3,02/11] x", "x", "net-next", "v3", 2, 11),
    ("[PATCHv4 1/2] x", "x", "PATCH", "v4", 1, 2),
    ("[PATCH-v4 1/2] x", "x", "PATCH", "v4", 1, 2),
    ("[RFCv2 1/2] x", "x", "RFC", "v2", 1, 2),
    ("[RFC PATCH 0/3] x", "x", "RFC PATCH", "v1", 0, 3),
    ("[RFC v2 PATCH 1/3] x", "x", "RFC PATCH", "v2", 1, 3),
    ("[PATCH v2.1 3/4] x", "x", "PATCH", "v2.1", 3, 4),
    ("[PATCH V2] x", "x", "PATCH", "v2", None, None),
    ("[PATCH 2 / 3] x", "x", "PATCH", "v1", 2, 3),
    ("[PATCH 02/11 v3] x", "x", "PATCH", "v3", 2, 11),
    ("[PATCH 5.10.y 1/2] x", "x", "PATCH 5.10.y", "v1", 1, 2),
    ("[PATCH 5.10 v2 1/2] x", "x", "PATCH 5.10", "v2", 1, 2),
    ("[RFC][PATCH 1/2] x", "x", "RFC PATCH", "v1", 1, 2),
    ("[PATCH] [media] x", "[media] x", "PATCH", "v1", None, None),
    ("[PATCH 1/2] [v2] x", "x", "PATCH", "v2", 1, 2),
    ("[PATCH 1 of 3] x", "x", "PATCH", "v1", 1, 3),
    ("[PATCH bpf-next,v3] x: a [b] c", "x: a [b] c", "PATCH bpf-next", "v3", None, None),
    ("net: x [PATCH]", "net: x [PATCH]", "", "v1", None, None),
    ("net: x", "net: x", "", "v1", None, None),
    ("[unclosed net: x", "[unclosed net: x", "", "v1", None, None),
    ("", "", "", "v1", None, None),
]


@pytest.mark.parametrize(("text", "title", "prefix", "version", "n", "total"), FORMS)
def test_forms(text: str, title: str, prefix: str, version: str, n: int | None, total: int | None) -> None:
    subject = parse_subject(text)
    assert subject.title == title
    assert " ".join(subject.prefix) == prefix
    assert subject.version_text == version
    assert (subject.n, subject.total) == (n, total)
    assert not subject.reply


@pytest.mark.parametrize("mark", ["Re: ", "RE: ", "re: ", "Aw: ", "Fwd: ", "Re: Re: ", "[EXT] Re: ", "Re: [EXTERNAL] "])
def test_replies(mark: str) -> None:
    subject = parse_subject(mark + "[PATCH v2 1/2] x")
    assert subject.reply
    assert (subject.title, subject.n, subject.version) == ("x", 1, (2,))


@pytest.mark.parametrize(
    "text", ["[PATCH RESEND v2] x", "[RESEND PATCH v2] x", "[PATCH v2-resend] x", "[PATCH v2 REPOST] x"]
)
def test_resends(text: str) -> None:
    subject = parse_subject(text)
    assert subject.resend
    assert (subject.version, subject.prefix) == ((2,), ("PATCH",))


def test_a_point_version_is_newer_than_the_version_it_mends() -> None:
    assert parse_subject("[PATCH v2.1] x").version > parse_subject("[PATCH v2] x").version
    assert parse_subject("[PATCH v10] x").version > parse_subject("[PATCH v9.2] x").version


def test_a_gateway_mark_alone_makes_no_reply() -> None:
    assert not parse_subject("[EXT] [PATCH 1/2] x").reply


def test_marked_and_rfc() -> None:
    assert parse_subject("[PATCH] x").marked
    assert parse_subject("[net,1/2] x").marked
    assert not parse_subject("[media] x").marked
    assert parse_subject("[RFC/PATCH] x").rfc
