from patchlint.callgraph import FileScan

SOURCE = b"""int first(void) { return 1; }

#define twice(x) do { \\
\tstep(x); \\
\tstep(x); \\
} while (0)

int step(int x);

/* step(0) is not called here */
static inline int
second(struct box *b, int n)
{
\tif (n)
\t\treturn step(n) + step (n + 1);
#define LOCAL(y) step(y)
\treturn step
\t\t(n);
}

static void third(void)
{
\tsecond(NULL, sizeof(int));
}
"""


def scan() -> FileScan:
    return FileScan("a.c", SOURCE)


def test_extents_of_functions_and_macros() -> None:
    found = [(one.name, one.kind, one.line, one.end_line, one.static, one.inline) for one in scan().definitions]
    assert found == [
        ("first", "function", 1, 1, False, False),
        ("twice", "macro", 3, 6, True, True),
        ("second", "function", 12, 19, True, True),
        ("LOCAL", "macro", 16, 16, True, True),
        ("third", "function", 21, 24, True, False),
    ]


def test_call_sites_with_their_owner() -> None:
    found = [(site.line, site.function) for site in scan().calls_of("step")]
    assert found == [(4, "twice"), (5, "twice"), (15, "second"), (15, "second"), (16, "LOCAL"), (17, "second")]


def test_a_definition_is_no_call_of_itself() -> None:
    assert [(site.line, site.function) for site in scan().calls_of("second")] == [(23, "third")]


def test_calls_in_a_function_leave_keywords_out() -> None:
    third = scan().defined("third")[0]
    assert [(site.line, site.name) for site in scan().calls_in(third)] == [(23, "second")]


def test_recursion_is_a_call() -> None:
    found = FileScan("a.c", b"int f(int n)\n{\n\treturn n ? f(n - 1) : 0;\n}\n")
    assert [site.line for site in found.calls_of("f")] == [3]


def test_alternatives_of_one_name_are_all_found() -> None:
    found = FileScan("a.h", b"#ifdef A\nint f(void)\n{\n}\n#else\nint f(void) { }\n#endif\n")
    assert [(one.line, one.end_line) for one in found.defined("f")] == [(2, 4), (6, 6)]


def test_an_open_body_ends_with_the_file() -> None:
    found = FileScan("a.c", b"int f(void)\n{\n\tg();\n")
    assert [(one.line, one.end_line) for one in found.definitions] == [(1, 3)]


def test_empty_and_binary_text() -> None:
    assert FileScan("a.c", b"").definitions == ()
    assert FileScan("a.c", bytes(range(256)) * 4).definitions == ()
