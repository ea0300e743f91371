"""Images, verdicts and problems of application. That the rules are git's is test_oracle's matter."""

from __future__ import annotations

import pytest
from source_samples import MemoryTree, patch, series

from patchlint.model import FileImage
from patchlint.source import AppliedPatch, apply_patch, apply_series, blob_id

OLD = b"".join(b"line %d\n" % n for n in range(1, 21))


def replace(line: int, new: str = "changed", path: str = "f.c", index: str = "", section: str = "") -> str:
    """A diff that changes one line of OLD, with one line of context."""
    return (
        f"diff --git a/{path} b/{path}\n{index}--- a/{path}\n+++ b/{path}\n@@ -{line - 1},3 +{line - 1},3 @@{section}\n"
        f" line {line - 1}\n-line {line}\n+{new}\n line {line + 1}\n"
    )


def image(applied: AppliedPatch) -> FileImage:
    (one,) = applied.images
    return one


def apply(diff: str, files: dict[str, bytes] | None = None) -> AppliedPatch:
    return apply_patch(patch(diff), {}, MemoryTree({"f.c": OLD} if files is None else files))


# --- whole files ---


def test_an_exact_image_is_whole() -> None:
    applied = apply(replace(5))
    one = image(applied)
    assert (applied.applied, one.applied, applied.problems) == ("exact", "exact", ())
    assert one.pre == OLD
    assert one.post == OLD.replace(b"line 5\n", b"changed\n")
    assert applied.after == {"f.c": one.post}
    assert (one.touched, one.pre_touched) == (((5, 5),), ((5, 5),))
    assert one.origin == (0,) * 4 + (1,) + (0,) * 15


def test_additions_touch_the_lines_around_them_before() -> None:
    one = image(apply("--- a/f.c\n+++ b/f.c\n@@ -3,2 +3,4 @@\n line 3\n+x\n+y\n line 4\n"))
    assert (one.touched, one.pre_touched) == (((4, 5),), ((3, 4),))


def test_removals_touch_the_lines_around_them_after() -> None:
    one = image(apply("--- a/f.c\n+++ b/f.c\n@@ -3,4 +3,2 @@\n line 3\n-line 4\n-line 5\n line 6\n"))
    assert (one.touched, one.pre_touched) == (((3, 4),), ((4, 5),))


def test_around_stays_within_the_file() -> None:
    one = image(apply("--- a/f.c\n+++ b/f.c\n@@ -1,2 +1,3 @@\n+x\n line 1\n line 2\n"))
    assert (one.touched, one.pre_touched) == (((1, 1),), ((1, 1),))
    one = image(apply("--- a/f.c\n+++ b/f.c\n@@ -18,3 +18,2 @@\n line 18\n line 19\n-line 20\n"))
    assert (one.touched, one.pre_touched) == (((19, 19),), ((20, 20),))


def test_an_offset_is_told() -> None:
    applied = apply(replace(7), {"f.c": b"new\n" * 3 + OLD})
    assert (applied.applied, image(applied).applied) == ("offset", "offset")
    assert image(applied).touched == ((10, 10),)


def test_new_and_deleted_files() -> None:
    created = apply("--- /dev/null\n+++ b/n.c\n@@ -0,0 +1,2 @@\n+a\n+b\n")
    assert (image(created).pre, image(created).post, image(created).touched) == (None, b"a\nb\n", ((1, 2),))
    assert image(created).origin == (1, 1)
    deleted = apply("--- a/f.c\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", {"f.c": b"a\nb\n"})
    assert (image(deleted).pre, image(deleted).post, image(deleted).pre_touched) == (b"a\nb\n", None, ((1, 2),))
    assert deleted.after == {"f.c": None}


def test_a_renamed_file_comes_from_its_old_name() -> None:
    head = "diff --git a/f.c b/g.c\nsimilarity index 90%\nrename from f.c\nrename to g.c\n"
    applied = apply(head + replace(5).split("\n", 1)[1].replace("b/f.c", "b/g.c"))
    one = image(applied)
    assert (one.path, one.pre_path, one.pre) == ("g.c", "f.c", OLD)
    assert applied.after == {"f.c": None, "g.c": one.post}


def test_a_mode_change_leaves_the_content() -> None:
    one = image(apply("diff --git a/f.c b/f.c\nold mode 100644\nnew mode 100755\n"))
    assert (one.pre, one.post, one.touched) == (OLD, OLD, ())


def test_binary_files_are_named_and_skipped() -> None:
    applied = apply("diff --git a/f.bin b/f.bin\nindex 1234567..89abcde 100644\nGIT binary patch\nliteral 1\nIcmZ\n\n")
    assert (applied.images, applied.applied) == ((), "exact")
    assert [(p.message, p.severity) for p in applied.problems] == [("f.bin: binary, not looked at", "note")]


def test_no_newline_at_the_end() -> None:
    marker = "\\ No newline at end of file\n"
    one = image(apply(f"--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-a\n{marker}+a\n", {"f.c": b"a"}))
    assert one.post == b"a\n"
    one = image(apply(f"--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-a\n+a\n{marker}", {"f.c": b"a\n"}))
    assert one.post == b"a"


# --- blobs ---


def test_the_blob_of_the_index_line_is_preferred() -> None:
    exact = b"intro\n" + OLD
    new = exact.replace(b"line 5\n", b"changed\n")
    index = f"index {blob_id(exact)[:12]}..{blob_id(new)[:12]} 100644\n"
    tree = MemoryTree({"f.c": OLD}, {blob_id(exact)[:12]: exact})
    one = image(apply_patch(patch(replace(5, index=index).replace("-4,3 +4,3", "-5,3 +5,3")), {}, tree))
    assert (one.pre, one.applied, one.blob_matches) == (exact, "exact", True)


def test_a_blob_that_does_not_fit_the_hunks_is_not_used() -> None:
    tree = MemoryTree({"f.c": OLD}, {"1234567": b"something else\n"})
    one = image(apply_patch(patch(replace(5, index="index 1234567..89abcde 100644\n")), {}, tree))
    assert (one.pre, one.blob_matches) == (OLD, False)


def test_a_named_commit_goes_before_the_blob_while_the_patch_applies_to_it() -> None:
    exact = b"intro\n" + OLD
    diff = patch(replace(5, index="index 1234567..89abcde 100644\n"))
    tree = MemoryTree({"f.c": OLD}, {"1234567": exact}, kind="commit")
    assert image(apply_patch(diff, {}, tree)).pre == OLD
    other = MemoryTree({"f.c": b"something else\n"}, {"1234567": exact}, kind="commit")
    assert image(apply_patch(diff, {}, other)).pre == exact


@pytest.mark.parametrize("blob", ["0000000000", "1111111111"])
def test_placeholder_ids_are_not_asked_for(blob: str) -> None:
    tree = MemoryTree({"f.c": OLD})
    one = image(apply_patch(patch(replace(5, index=f"index {blob}..{blob} 100644\n")), {}, tree))
    assert tree.asked == ["f.c"]
    assert one.blob_matches is None


# --- series ---


def test_patches_apply_upon_each_other_and_origins_are_kept() -> None:
    two = replace(7, "again").replace(" line 6\n", " line 6\n")
    first, second = apply_series(series(replace(5), two), MemoryTree({"f.c": OLD}))
    assert image(first).origin[4] == 1
    assert image(second).pre == image(first).post
    assert (image(second).origin[4], image(second).origin[6]) == (1, 2)


def test_later_patches_see_what_earlier_ones_created_without_any_tree() -> None:
    create = "--- /dev/null\n+++ b/n.c\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    change = "--- a/n.c\n+++ b/n.c\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    first, second = apply_series(series(create, change), None)
    assert (first.applied, second.applied) == ("exact", "exact")
    assert (image(second).post, image(second).origin) == (b"a\nc\n", (1, 2))


def test_a_path_twice_in_one_patch() -> None:
    applied = apply(replace(5) + replace(9))
    assert applied.images[1].pre == applied.images[0].post


# --- fragments ---

TWO_HUNKS = (
    "--- a/f.c\n+++ b/f.c\n"
    "@@ -10,3 +10,4 @@ int f(void)\n a\n+b\n c\n d\n"
    "@@ -30,4 +31,3 @@ int g(void)\n e\n-x\n f\n g\n"
)


def test_without_a_tree_the_hunks_are_the_image() -> None:
    applied = apply_patch(patch(TWO_HUNKS), {}, None)
    one = image(applied)
    assert (applied.applied, one.applied, applied.after) == ("fragment", "fragment", {})
    assert (one.pre, one.post) == (b"a\nc\nd\ne\nx\nf\ng\n", b"a\nb\nc\nd\ne\nf\ng\n")
    assert one.pre_fragments == ((1, 10, "int f(void)"), (4, 30, "int g(void)"))
    assert one.post_fragments == ((1, 10, "int f(void)"), (5, 31, "int g(void)"))
    assert (one.touched, one.pre_touched) == (((2, 2), (5, 6)), ((1, 2), (5, 5)))
    assert one.origin == (0, 1, 0, 0, 0, 0, 0)


def test_around_does_not_reach_into_the_next_hunk() -> None:
    diff = "--- a/f.c\n+++ b/f.c\n@@ -1,2 +1,1 @@\n a\n-b\n@@ -9,1 +8,2 @@\n+c\n d\n"
    one = image(apply_patch(patch(diff), {}, None))
    assert one.touched == ((1, 1), (2, 2))


def test_whole_files_need_no_tree() -> None:
    created = apply_patch(patch("--- /dev/null\n+++ b/n.c\n@@ -0,0 +1 @@\n+a\n"), {}, None)
    assert (created.applied, image(created).applied, image(created).post_fragments) == ("exact", "exact", ())
    deleted = apply_patch(patch("--- a/n.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"), {}, None)
    assert (deleted.applied, image(deleted).pre, image(deleted).post) == ("exact", b"a\n", None)


def test_a_bare_rename_without_a_tree_has_no_image() -> None:
    applied = apply_patch(patch("diff --git a/f.c b/g.c\nrename from f.c\nrename to g.c\n"), {}, None)
    assert (applied.images, applied.applied, applied.problems) == ((), "fragment", ())


# --- what does not apply ---


def problems(applied: AppliedPatch) -> list[str]:
    assert {p.rule for p in applied.problems} <= {"SER002"}
    return [p.message for p in applied.problems]


def test_a_rejected_hunk_is_named_with_its_line_and_shown_as_fragment() -> None:
    applied = apply(TWO_HUNKS, {"f.c": OLD})
    assert problems(applied) == ["f.c: the hunk for line 10 does not apply"]
    assert (applied.problems[0].file, applied.problems[0].line) == ("x.mbox", 9)
    assert (applied.applied, image(applied).applied, applied.after) == ("failed", "fragment", {})
    assert image(applied).post == b"a\nb\nc\nd\ne\nf\ng\n"


@pytest.mark.parametrize("head", ["--- /dev/null\n+++ b/n.c\n@@ -0,0 +1,3 @@\n+a\n", replace(5)[:-8]])
def test_a_hunk_that_the_mail_cut_short_is_shown_as_fragment(head: str) -> None:
    applied = apply(head)
    assert (applied.applied, image(applied).applied, applied.after) == ("failed", "fragment", {})
    assert "lost lines in the mail" in problems(applied)[0]


def test_the_other_files_of_the_patch_still_apply() -> None:
    applied = apply(replace(5, path="gone.c") + replace(5))
    assert (applied.applied, [i.applied for i in applied.images]) == ("failed", ["fragment", "exact"])
    assert problems(applied) == ["gone.c: not in the tree"]


def test_helpful_reasons() -> None:
    done = OLD.replace(b"line 5\n", b"changed\n")
    assert problems(apply(replace(5), {"f.c": done})) == [
        "f.c: the hunk for line 4 does not apply: the file has its result already"
    ]
    tabs = b"\tint a;\n\tint b;\n\tint c;\n"
    spaces = (
        "--- a/f.c\n+++ b/f.c\n@@ -1,3 +1,3 @@\n         int a;\n-        int b;\n+        int d;\n         int c;\n"
    )
    (text,) = problems(apply(spaces, {"f.c": tabs}))
    assert text.endswith("it fits when white space is ignored, as if a mailer had changed tabs")


def test_creating_what_exists_and_deleting_in_part() -> None:
    create = "--- /dev/null\n+++ b/f.c\n@@ -0,0 +1 @@\n+a\n"
    assert problems(apply(create)) == ["f.c: to be created, but it exists already"]
    delete = "--- a/f.c\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-line 1\n"
    assert apply(delete).applied == "failed"


def test_a_doubtful_place_is_told() -> None:
    body = b"{\n\tput();\n\treturn;\n}\n"
    files = {
        "f.c": b"int first(void)\n"
        + body
        + b"\n" * 9
        + b"int second(void)\n"
        + body
        + b"\n" * 9
        + b"int third(void)\n"
        + body
    }
    hunk = "--- a/f.c\n+++ b/f.c\n@@ -%d,3 +%d,3 @@ int third(void)\n {\n-\tput();\n+\tget();\n \treturn;\n"
    assert problems(apply(hunk % (18, 18), files)) == [
        "f.c: hunk for line 18 fits several places; applied -2 lines away in second(), but it names 'int third(void)'"
    ]
    assert problems(apply(hunk % (30, 30), files)) == []
    assert apply(hunk % (16, 16), files).applied == "exact"


@pytest.mark.parametrize(
    "path",
    ["../etc/passwd", "drivers/../../x.c", ".git/config", "a/.GIT/hooks/x", "./x.c", "x\\y.c", "C:x"],
)
@pytest.mark.parametrize("kind", ["modify", "new"])
def test_names_that_leave_the_tree_are_never_looked_up(path: str, kind: str) -> None:
    tree = MemoryTree({path: OLD})
    diff = replace(5, path=path) if kind == "modify" else f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+a\n"
    applied = apply_patch(patch(diff), {}, tree)
    assert tree.asked == []
    assert (applied.images, applied.after, applied.applied) == ((), {}, "failed")
    assert "not a name to look up" in problems(applied)[0]


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.c"])
def test_moves_out_of_and_into_the_tree_are_refused(path: str) -> None:
    for old, new in ((path, "f.c"), ("f.c", path)):
        tree = MemoryTree({"f.c": OLD, path: OLD})
        applied = apply_patch(patch(f"diff --git a/x b/x\nrename from {old}\nrename to {new}\n"), {}, tree)
        assert (tree.asked, applied.images, applied.applied) == ([], (), "failed")
