from hypothesis import given
from hypothesis import strategies as st

from patchlint.callgraph import bucket_of, invert, look_up, pack, token, tokens
from patchlint.callgraph.words import CALLED, DEFINED, EXPORTED


def test_tokens_tell_calls_definitions_and_exports() -> None:
    found = tokens(b"static int probe(struct box *b)\n{\n\treturn open_box(b);\n}\nEXPORT_SYMBOL_GPL(probe);\n")
    assert token("probe", DEFINED) in found
    assert token("open_box", CALLED) in found
    assert token("open_box", DEFINED) not in found
    assert token("probe", EXPORTED) in found
    assert token("box") in found


def test_comments_strings_and_characters_are_no_code() -> None:
    found = tokens(b'/* ghost(1) */ int x; // spectre\nchar *s = "phantom(\\""; char c = \'"\'; int after;\n')
    assert not {b"ghost(", b"ghost", b"spectre", b"phantom(", b"phantom"} & found
    assert b"after" in found


def test_a_comment_without_end_swallows_the_rest() -> None:
    assert tokens(b"int a; /* int b;") == {b"int", b"a"}


def test_heads_with_attributes_and_annotations() -> None:
    source = b"""
static __printf(2, 3) void say(struct box *b, const char *fmt, ...)
{
}

int __must_check
grab(struct box *b, int (*done)(void *data))
\t__acquires(&b->lock)
{
}

int declared(struct box *b);
module_call(declared)
static void *plain(void) {
}
"""
    found = tokens(source)
    assert {b"say{", b"grab{", b"plain{"} <= found
    assert not {b"declared{", b"module_call{", b"__printf{", b"__acquires{"} & found


def test_macros_that_may_stand_for_calls() -> None:
    found = tokens(b"#define put_it(x) __put(x)\n#define drop_it put_it\n#define LIMIT 12\n")
    assert {b"put_it{", b"drop_it{"} <= found
    assert b"LIMIT{" not in found


@given(st.lists(st.frozensets(st.from_regex(rb"[A-Za-z_][a-z_]{0,3}\(?", fullmatch=True), max_size=6), max_size=40))
def test_postings_say_which_files_hold_a_token(files: list[frozenset[bytes]]) -> None:
    rows = dict(pack(invert(files)))
    for one in {one for found in files for one in found} | {b"absent_word"}:
        expected = [number for number, found in enumerate(files) if one in found]
        row = rows.get(bucket_of(one))
        assert list(look_up(row, one) if row is not None else []) == expected
