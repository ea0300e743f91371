"""The dialect is data: what is wrong with it is said in one line."""

import pytest

from patchlint.syntax import Dialect, default_dialect, parse


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "[attributes]"),
        ("[attributes]\nwords = 3", "attributes.words"),
        ("[attributes]\nwords = [1]", "attributes.words"),
        ("attributes", "="),
    ],
)
def test_malformed(text: str, part: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        Dialect.from_toml(text)
    assert part in str(caught.value)


def test_replacement_of_another_length() -> None:
    tables = "[attributes]\n[loops]\n[scopes]\n[jumps]\n[heads]\n[calls]\n"
    with pytest.raises(ValueError, match="length"):
        Dialect.from_toml(tables + 'respell = { a = "bb" }')
    with pytest.raises(ValueError, match="exclusive"):
        Dialect.from_toml(tables + "[configurations]\nexclusive = [1]")
    with pytest.raises(ValueError, match="heads"):
        Dialect.from_toml(tables.replace("[heads]\n", '[heads]\nrows = [{ match = "X" }]\n'))


def test_a_dialect_of_ones_own() -> None:
    text = """
[attributes]
words = ["my_attr"]
[loops]
names = ["each_*"]
[scopes]
names = ["inside_*"]
[jumps]
[calls]
[heads]
rows = [{ match = "OPENER", name = "my_{0}", params = "none" }]
"""
    unit = parse(
        b"OPENER(x)\n{\n\teach_y(a)\n\t\tb();\n}\nint my_attr g(void)\n{\n}\n", "t.c", dialect=Dialect.from_toml(text)
    )
    assert [head.name for head in unit.heads] == ["my_x", "g"]
    assert type(unit.function(unit.heads[0]).variants[0].body.body[0]).__name__ == "ForEach"


def test_what_is_kept_is_an_attribute() -> None:
    dialect = default_dialect()
    assert dialect.kept <= dialect.attributes | dialect.attribute_calls
