"""Text as mail carries it: bytes that are mostly UTF-8, kept exactly."""

from __future__ import annotations


def exact(data: bytes) -> str:
    """Decode so that :func:`raw` gives the same bytes back, whatever they are."""
    return data.decode("utf-8", "surrogateescape")


def raw(text: str) -> bytes:
    """The bytes that :func:`exact` was given."""
    return text.encode("utf-8", "surrogateescape")


def readable(text: str, charset: str = "") -> str:
    """Text fit for printing: undecodable bytes are read in ``charset``, else as Latin-1."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return decode(raw(text), charset)
    return text


def decode(data: bytes, charset: str = "") -> str:
    """Decode bytes that declare ``charset``; UTF-8 is tried first as declarations often lie."""
    for candidate in ("utf-8", charset):
        try:
            return data.decode(candidate)
        except (UnicodeDecodeError, LookupError, ValueError):
            continue
    return data.decode("latin-1")
