"""Which function after a patch is which before it."""

from patchlint.model import FileImage
from patchlint.review.functions import changed_functions
from patchlint.review.timeline import FileChange, View

BODY = "{\n\tint a = x;\n\n\ta += 2;\n\ta *= 3;\n\treturn a;\n}\n"


def function(name: str, body: str = BODY) -> str:
    return f"int {name}(int x)\n{body}\n"


def change(before: str | None, after: str | None, path: str = "a.c") -> FileChange:
    old = None if before is None else View(path, before.encode())
    new = None if after is None else View(path, after.encode())
    return FileChange(FileImage(path, path, None, None, "exact"), old, new)


def pairs(*changes: FileChange) -> set[tuple[str | None, str | None]]:
    return {
        (pair.before.head.name if pair.before else None, pair.after.head.name if pair.after else None)
        for pair in changed_functions(changes)
    }


def test_only_what_differs() -> None:
    moved_down = "/* more */\n" + function("same") + function("other", BODY.replace("3", "4"))
    assert pairs(change(function("same") + function("other"), moved_down)) == {("other", "other")}


def test_new_and_removed() -> None:
    short = "{\n\treturn x;\n}\n"
    assert pairs(change(function("gone"), function("come", short))) == {("gone", None), (None, "come")}


def test_renamed_with_a_small_change() -> None:
    assert pairs(change(function("old"), function("new", BODY.replace("3", "4")))) == {("old", "new")}


def test_moved_unchanged_to_another_file_is_no_change() -> None:
    assert pairs(change(function("f"), "", "a.c"), change("", function("f"), "b.c")) == set()


def test_two_definitions_of_one_name_are_kept_apart() -> None:
    both = "#ifdef A\n{0}#else\n{1}#endif\n"
    before = both.format(function("f"), function("f", "{\n\treturn 0;\n}\n"))
    after = both.format(function("f"), function("f", "{\n\treturn 1;\n}\n"))
    (pair,) = changed_functions([change(before, after)])
    assert pair.after is not None and b"return 1" in pair.after.text


def test_new_and_deleted_files() -> None:
    assert pairs(change(None, function("f"))) == {(None, "f")}
    assert pairs(change(function("f"), None)) == {("f", None)}
