"""The pre-pass: length and lines stay, whatever the bytes; comments, strings and directives are no code."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from patchlint.syntax import default_dialect, parse
from patchlint.syntax.lexical import lex
from patchlint.syntax.repair import repair
from patchlint.syntax.rewrite import rewrite

WORDS = st.sampled_from(
    rb"""list_for_each( a ( ) { } ; , \" ' \\ /* */ // #else #endif typeof( goto __rcu __free(x) MACRO(x) if( else
    while do return 8021q static = asm ... : * case struct foo unsigned""".split()
    + [b"\n", b"\t", b" ", b"\n#if X\n", b"#define f(x) \\\n", b"\xff", b"\x00", b"\r\n"]
)
TEXTS = st.one_of(st.binary(max_size=300), st.lists(WORDS, max_size=60).map(b"".join))


def newlines(text: bytes) -> list[int]:
    return [at for at, byte in enumerate(text) if byte == 10]


@given(TEXTS)
@example(b"for_each_x()\n{ }")
@example(b'"a\\\nb')
@example(b"container_of(p, struct\nfoo, m)")
def test_length_and_newlines_stay(source: bytes) -> None:
    dialect = default_dialect()
    shadow = lex(source).shadow
    rewritten = rewrite(shadow, dialect).text
    repaired = repair(rewritten, dialect, lambda text: 0)
    for text in (shadow, rewritten, *((repaired.text,) if repaired is not None else ())):
        assert len(text) == len(source)
        assert newlines(text) == newlines(source)


@given(TEXTS)
def test_any_bytes_can_be_read(source: bytes) -> None:
    unit = parse(b"int f(void)\n{\n" + source, "t.c")
    for head in unit.heads:
        function = unit.function(head)
        assert 0 <= head.start < head.end <= len(unit.source)
        assert function.variants
    assert len(unit.macros) + len(unit.globals) + len(unit.tables) + len(unit.fields) >= 0


@given(TEXTS, TEXTS)
def test_any_hunks_can_be_read(first: bytes, second: bytes) -> None:
    first, second = first + b"\n", second + b"\n"
    start = first.count(b"\n") + 1
    unit = parse(first + second, "t.c", fragments=[(1, 10, "int f(void)"), (start, 500, "struct foo {")])
    for head in unit.heads:
        assert head.line in range(10, 10 + start) or head.line >= 500
        assert unit.function(head).variants


@pytest.mark.parametrize(
    "word", [b"(", b")", b"{{\n}", b"x=(a){}", b"typeof(", b"#if X\n", b"else if (a)\n", b"__free("]
)
def test_the_same_again_and_again_ends(word: bytes) -> None:
    for before in (b"", b"int f(void)\n{\n"):
        unit = parse(before + word * (4000 // len(word)) + b"\n}\n", "t.c")
        assert all(unit.function(head).variants for head in unit.heads)
        assert isinstance(unit.macros, tuple)


def test_comments_strings_and_directives_are_blank() -> None:
    source = b"a /* { */ b; // }\n\"{\"; '{';\n#define X(a) \\\n\t{ a\nc;\n"
    shadow = lex(source).shadow
    assert b"{" not in shadow and b"}" not in shadow
    assert shadow.split()[0] == b"a" and shadow.split()[-1] == b"c;"


def test_directives_are_told_with_their_text() -> None:
    found = lex(b'  # if A /* why */ && \\\n  B // so\n#define F(x) "/*" x\n').directives
    assert [(item.word, " ".join(item.rest.split())) for item in found] == [("if", "A && B"), ("define", 'F(x) "/*" x')]


def test_quote_in_a_directive_ends_with_its_line() -> None:
    shadow = lex(b"#error don't\nint x;\n").shadow
    assert shadow.strip() == b"int x;"


def test_kept_attributes_are_in_the_side_table() -> None:
    text = b"{ struct foo __rcu *p; struct bar *q __free(kfree) = g(); int z __aligned(8); }"
    rewritten = rewrite(text, default_dialect())
    assert [(item.word, item.args) for item in rewritten.marks.attributes] == [("__rcu", ""), ("__free", "kfree")]
    assert [text[item.pos : item.pos + 5] for item in rewritten.marks.attributes] == [b"__rcu", b"__fre"]
    assert b"__" not in rewritten.text


def test_attribute_word_as_a_member_stays() -> None:
    assert b"->__unused" in rewrite(b"{ p->__unused = a.__user; }", default_dialect()).text


def test_cast_and_sizeof_keep_their_types() -> None:
    text = b"{ a = (struct foo *)b; return (u32 *)c; d(sizeof(struct foo)); }"
    assert rewrite(text, default_dialect()).text == text
