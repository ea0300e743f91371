"""Mailboxes to series."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchlint.mail import read_mail
from patchlint.model import PatchlintError, Series
from patchlint.series import assemble, choose

FIXTURES = Path(__file__).parents[2] / "fixtures" / "mail"
ANN = "Ann <ann@example.org>"


def diff(path: str, value: int = 1) -> str:
    return f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a = 0;\n+a = {value};\n"


def mail(subject: str, body: str = "", *, mid: str = "", irt: str = "", author: str = ANN, git: bool = False) -> str:
    headers = [f"From: {author}", f"Subject: {subject}"]
    headers += [f"Message-ID: <{mid}@example.org>"] if mid else []
    headers += [f"In-Reply-To: <{irt}@example.org>"] if irt else []
    envelope = "From 0123456789 Mon Sep 17 00:00:00 2001\n"
    return envelope + "\n".join(headers) + f"\n\nText.\n---\n{body}\n-- \n2.39.5\n\n"


def series(*mails: str) -> tuple[Series, ...]:
    return assemble(read_mail("".join(mails).encode(), "x.mbox"))


def numbers(one: Series) -> list[int]:
    return [p.n for p in one.patches]


def said(one: Series) -> list[str]:
    return [p.message for p in one.problems]


# --- one mailbox with everything in it ---


@pytest.fixture(scope="module")
def thread() -> tuple[Series, ...]:
    path = FIXTURES / "thread.mbox"
    return assemble(read_mail(path.read_bytes(), path.name))


def test_every_version_and_series_is_found(thread: tuple[Series, ...]) -> None:
    found = [(s.subject, s.version, s.total, numbers(s), s.missing) for s in thread]
    assert found == [
        ("frob: tidy up", "v1", 3, [1, 2, 3], ()),
        ("frob: tidy up", "v2", 3, [1, 2], (3,)),
        ("grob: switch on", "v1", 2, [1, 2], ()),
    ]


def test_what_is_missing_or_double_is_said(thread: tuple[Series, ...]) -> None:
    _, v2, other = thread
    assert said(v2) == [
        "patch 1/3 is here twice, with the same changes; one is left out",
        "patch 3 of 3 is missing: frob: sleep on suspend",
    ]
    assert [p.severity for p in v2.problems] == ["note", None]
    assert {p.rule for p in v2.problems} == {"SER001"}
    assert said(other) == []


def test_cover_letters_tell_titles_base_and_prerequisites(thread: tuple[Series, ...]) -> None:
    v1 = thread[0]
    assert v1.cover
    assert v1.cover_message_id == "<v1-0@example.org>"
    assert v1.announced[1] == (
        "frob: ask for the interrupt before anything else can go wrong in the set-up of the device"
    )
    assert v1.announced == tuple(p.subject for p in v1.patches)
    assert v1.base_commit == "0123456789abcdef0123456789abcdef01234567"
    assert v1.prerequisites == ("abcdef0123456789abcdef0123456789abcdef01",)


def test_replies_are_no_patches_but_their_trailers_count(thread: tuple[Series, ...]) -> None:
    v1, v2, _ = thread
    assert ("Reviewed-by", "Rita Reviewer <rita@example.org>") in v1.patches[1].trailers
    assert ("Acked-by", "Max Maintainer <max@example.org>") in v2.patches[0].trailers
    assert v1.patches[1].files[0].hunks[0].lines[4][1] == b"\terr = frob_irq(f);"


def test_the_newest_version_is_chosen_by_default(thread: tuple[Series, ...]) -> None:
    assert [(s.subject, s.version) for s in choose(thread, None)] == [
        ("frob: tidy up", "v2"),
        ("grob: switch on", "v1"),
    ]


def test_a_version_can_be_asked_for(thread: tuple[Series, ...]) -> None:
    assert [s.version for s in choose(thread, "v2")] == ["v2"]
    assert [s.subject for s in choose(thread, "1")] == ["frob: tidy up", "grob: switch on"]
    with pytest.raises(PatchlintError, match=r"--revision v7: not in the input, which has v1, v2"):
        choose(thread, "v7")
    with pytest.raises(PatchlintError, match="not a version"):
        choose(thread, "--output=x")


def test_a_cover_alone_names_what_it_announces() -> None:
    path = FIXTURES / "cover-alone.txt"
    (found,) = assemble(read_mail(path.read_bytes(), path.name))
    assert (found.total, numbers(found), found.missing, found.prefix) == (3, [], (1, 2, 3), "RFC PATCH")
    (text,) = said(found)
    assert text.startswith("3 patches announced, none present: frob: pass a mode when switching on; frob: ask")


# --- order, numbers, holes ---


def test_the_counter_orders_and_not_the_file() -> None:
    (one,) = series(*(mail(f"[PATCH {n}/3] p{n}", diff(f"{n}.c")) for n in (3, 1, 2)))
    assert [p.subject for p in one.patches] == ["p1", "p2", "p3"]
    assert (one.subject, one.total, one.missing) == ("p1", 3, ())


def test_holes_are_listed_in_ranges() -> None:
    (one,) = series(mail("[PATCH 2/9] x", diff("2.c")), mail("[PATCH 6/9] y", diff("6.c")))
    assert said(one) == ["patches 1, 3-5, 7-9 of 9 are missing"]


def test_the_same_number_with_other_changes_is_kept_and_said() -> None:
    (one,) = series(
        mail("[PATCH 1/2] x", diff("1.c")), mail("[PATCH 1/2] x", diff("1.c", 2)), mail("[PATCH 2/2] y", diff("2.c"))
    )
    assert numbers(one) == [1, 1, 2]
    assert said(one) == ["patch 1/2 is here twice, with different changes"]


def test_one_mail_from_two_lists_is_one_patch() -> None:
    twice = mail("[PATCH 1/1] x", diff("1.c"), mid="m1")
    (one,) = series(twice, twice)
    assert (numbers(one), said(one)) == ([1], [])
    (one,) = series(*[mail("[PATCH] x", diff("1.c"), mid="m1")] * 2)
    assert numbers(one) == [1]


def test_a_numbered_mail_without_a_diff_is_said() -> None:
    (one,) = series(mail("[PATCH 1/2] x"), mail("[PATCH 2/2] y", diff("2.c")))
    assert [(p.rule, p.message) for p in one.problems] == [("SER004", "patch 1/2 has no diff that can be read")]


def test_absurd_totals_are_bounded() -> None:
    (one,) = series(mail("[PATCH 1/9999] x", diff("1.c")))
    assert len(one.missing) < 3000


# --- which mails belong together ---


def test_mails_without_numbers_that_were_never_sent_are_in_file_order() -> None:
    (one,) = series(mail("[PATCH] b", diff("b.c")), mail("[PATCH] a", diff("a.c"), author="Bob <bob@example.org>"))
    assert [(p.n, p.subject) for p in one.patches] == [(1, "b"), (2, "a")]
    assert one.total == 2


def test_mails_without_numbers_that_were_sent_are_series_of_their_own() -> None:
    found = series(mail("[PATCH] b", diff("b.c"), mid="b"), mail("[PATCH] a", diff("a.c"), mid="a"))
    assert [(s.subject, s.total) for s in found] == [("b", 1), ("a", 1)]


def test_numbered_files_of_a_folder_are_a_series() -> None:
    messages = [
        m
        for name in ("p/0001-a.patch", "p/0002-b.patch", "p/v2-0001-a.patch", "q/0001-c.patch", "q/other.patch")
        for m in read_mail(mail("[PATCH] x", diff("x.c")).encode(), name)
    ]
    assert [(s.source, s.total) for s in assemble(messages)] == [
        ("p/0001-a.patch", 2),
        ("p/v2-0001-a.patch", 1),
        ("q/0001-c.patch", 1),
        ("q/other.patch", 1),
    ]


def test_authors_may_differ_within_a_thread_and_within_one_unsent_file() -> None:
    bob = "Bob <bob@example.org>"
    (one,) = series(
        mail("[PATCH 1/2] a", diff("a.c"), mid="1"), mail("[PATCH 2/2] b", diff("b.c"), mid="2", irt="1", author=bob)
    )
    assert numbers(one) == [1, 2]
    (one,) = series(mail("[PATCH 1/2] a", diff("a.c")), mail("[PATCH 2/2] b", diff("b.c"), author=bob))
    assert numbers(one) == [1, 2]


def test_patches_sent_without_threading_join_by_author() -> None:
    found = series(*(mail(f"[PATCH {n}/2] p{n}", diff(f"{n}.c"), mid=f"m{n}") for n in (1, 2)))
    assert [numbers(s) for s in found] == [[1, 2]]
    found = series(
        *(mail(f"[PATCH {n}/2] p{n}", diff(f"{n}.c"), mid=f"m{n}", author=f"A{n} <a{n}@example.org>") for n in (1, 2))
    )
    assert [numbers(s) for s in found] == [[1], [2]]


def test_two_threads_of_one_author_and_shape_are_two_series() -> None:
    def thread(name: str) -> list[str]:
        cover = mail(f"[PATCH 0/2] {name}", mid=f"{name}0")
        return [
            cover,
            *(mail(f"[PATCH {n}/2] {name}{n}", diff(f"{name}.c", n), mid=f"{name}{n}", irt=f"{name}0") for n in (1, 2)),
        ]

    found = series(*thread("a"), *thread("b"))
    assert [(s.subject, numbers(s), s.problems) for s in found] == [("a", [1, 2], ()), ("b", [1, 2], ())]
    assert len(choose(found, None)) == 2


def test_unthreaded_numbers_that_begin_anew_are_a_second_series() -> None:
    mails = [mail(f"[PATCH {n}/2] {name}{n}", diff(f"{name}.c", n), mid=f"{name}{n}") for name in "ab" for n in (1, 2)]
    assert [(s.subject, numbers(s)) for s in series(*mails)] == [("a1", [1, 2]), ("b1", [1, 2])]


def test_prefixes_keep_series_apart() -> None:
    found = series(mail("[PATCH net 1/1] a", diff("a.c")), mail("[PATCH bpf 1/1] b", diff("b.c")))
    assert [s.prefix for s in found] == ["PATCH net", "PATCH bpf"]


def test_replies_with_a_diff_on_top_are_no_patches() -> None:
    found = series(mail("[PATCH] x", diff("x.c"), mid="1"), mail("Re: [PATCH] x", diff("y.c"), mid="2", irt="1"))
    assert [[d.path for p in s.patches for d in p.files] for s in found] == [["x.c"]]


def test_a_reply_that_is_all_there_is_gets_reviewed() -> None:
    (one,) = series(mail("Re: [PATCH] x", diff("y.c"), mid="2", irt="1"))
    assert one.patches[0].files[0].path == "y.c"


def test_talk_is_no_series() -> None:
    assert series(mail("Question about x"), mail("[ANNOUNCE] y"), mail("[GIT PULL 1/2] z")) == ()


# --- versions ---


def versions(*subjects: str) -> list[str]:
    found = series(*(mail(s, diff("x.c", i), mid=f"m{i}") for i, s in enumerate(subjects)))
    return [f"{s.prefix} {s.version}" for s in found]


def test_versions_are_ordered_by_number() -> None:
    assert versions("[PATCH v10] x", "[PATCH] x", "[PATCH v2.1] x", "[PATCH v2] x") == [
        "PATCH v1", "PATCH v2", "PATCH v2.1", "PATCH v10",
    ]  # fmt: skip


def test_a_plain_posting_is_newer_than_any_rfc_and_a_resend_than_its_version() -> None:
    assert versions("[PATCH] x", "[RFC PATCH v3] x", "[PATCH RESEND] x") == [
        "RFC PATCH v3", "PATCH v1", "PATCH RESEND v1",
    ]  # fmt: skip


def test_one_newest_version_per_series() -> None:
    found = series(
        mail("[PATCH] x", diff("x.c"), mid="1"), mail("[PATCH v2] x", diff("x.c", 2), mid="2"),
        mail("[PATCH] unrelated", diff("u.c"), mid="3"),
    )  # fmt: skip
    assert [(s.subject, s.version) for s in choose(found, None)] == [("x", "v2"), ("unrelated", "v1")]


def test_another_author_with_the_same_title_is_another_series() -> None:
    found = series(
        mail("[PATCH] x", diff("x.c"), mid="1"),
        mail("[PATCH v2] x", diff("x.c", 2), mid="2", author="B <b@example.org>"),
    )
    assert len(choose(found, None)) == 2


def reroll(*, cover: bool, answers: str) -> tuple[Series, ...]:
    v1 = [mail("[PATCH 0/2] x", mid="10")] + [
        mail(f"[PATCH {n}/2] p{n}", diff(f"{n}.c"), mid=f"1{n}", irt="10") for n in (1, 2)
    ]
    v2 = [mail("[PATCH v2 2/2] p2", diff("2.c", 2), mid="22", irt=answers)]
    v2 += [mail("[PATCH v2 0/2] x", mid="20")] if cover else []
    return series(*v1, *v2)


def test_a_partial_reroll_is_filled_from_the_version_before() -> None:
    _, v2 = reroll(cover=False, answers="12")
    assert [(p.n, p.files[0].hunks[0].lines[1][1]) for p in v2.patches] == [(1, b"a = 1;"), (2, b"a = 2;")]
    assert v2.missing == ()
    assert [(p.message, p.severity) for p in v2.problems] == [
        ("patch 1/2 is taken from v1: v2 was sent in part", "note")
    ]


def test_a_version_of_its_own_is_not_filled() -> None:
    _, v2 = reroll(cover=True, answers="20")
    assert (numbers(v2), v2.missing, said(v2)) == ([2], (1,), ["patch 1 of 2 is missing"])


# --- covers with diffs ---


def test_a_cover_with_an_interdiff_adds_no_patch() -> None:
    cover = mail("[PATCH v2 0/1] x", "Interdiff against v1:\n" + diff("x.c"), mid="0")
    (one,) = series(cover, mail("[PATCH v2 1/1] x", diff("x.c"), mid="1", irt="0"))
    assert numbers(one) == [1]
    (alone,) = series(cover)
    assert (numbers(alone), alone.missing) == ([], (1,))


def test_a_cover_that_carries_the_whole_change_is_reviewed_when_it_is_alone() -> None:
    (one,) = series(mail("[PATCH 0/4] x", diff("x.c"), mid="0"))
    assert (numbers(one), one.total, one.cover) == ([1], 1, True)
    assert said(one) == ["cover letter of 4 patches, none present; its own diff is taken as the patch"]
