"""Damage to files: in their bytes, in the numbers of their text, and in what a well-formed container holds."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from dragonfly_env.errors import ConfigError
from tests.fuzz.draws import nested, odd
from tests.fuzz.outcome import Outcome

_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
_EXTREMES = (
    *("0", "-1", "1", "2", "1e999", "-1e999", "NaN", "nan", "inf", "Infinity", "1e-320", "0.1"),
    *("1e15", "-0.0"),
    *("9" * 5_000, str(2**31), str(2**32), str(2**63), str(2**64), "1000000000000", "true", "null"),
    *('""', "[]"),
)
_WORDS = ("", "x", "\0", "\ud800", "é", "a" * 10_000, "../..", "nan", "[", "{", '"', "\n", ",", "=")
_MOST_BOMB_BYTES = 2**28


def refused_or_run(call: Callable[[], object]) -> Outcome:
    """What is in a file is refused with ``ConfigError`` and nothing else."""
    try:
        call()
    except ConfigError:
        return Outcome.REFUSED
    return Outcome.RUN


def in_bytes(random: Random, content: bytes, others: Sequence[bytes] = ()) -> bytes:
    """One to four changes of single bytes and stretches; sometimes the front of it with the back of another."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        at, length = random.randrange(len(data) + 1), random.choice((1, 1, 2, 4, 8, 64, 1_000))
        stretch = slice(at, at + length)
        match random.randrange(9):
            case 0 if at < len(data):
                data[at] ^= 1 << random.randrange(8)
            case 1 if at < len(data):
                data[at] = random.randrange(256)
            case 2:
                data[at:at] = random.randbytes(length)
            case 3:
                del data[stretch]
            case 4:
                data[at:at] = data[stretch]
            case 5:
                del data[at:]
            case 6:
                width = random.choice((2, 4, 8))
                value = random.choice((0, 1, -1, 2**15, 2**31 - 1, 2**31, 2**62)) % 2 ** (8 * width)
                data[at : at + width] = value.to_bytes(width, "little")
            case 7:
                data[stretch] = bytes(len(data[stretch]))
            case 8 if others:
                other = random.choice(others)
                data[at:] = other[random.randrange(len(other) + 1) :]
    return bytes(data)


def in_text(random: Random, text: str) -> str:
    """A number replaced by an extreme one, a line lost or repeated, a word cut, or deep nesting."""
    for _ in range(random.choice((1, 1, 2))):
        numbers = list(_NUMBER.finditer(text))
        lines = text.split("\n")
        at = random.randrange(len(lines))
        match random.randrange(7):
            case 0 | 1 | 2 if numbers:
                found = random.choice(numbers)
                text = text[: found.start()] + random.choice(_EXTREMES) + text[found.end() :]
            case 3:
                text = "\n".join(lines[:at] + lines[at + 1 :])
            case 4:
                text = "\n".join([*lines, lines[at]])
            case 5:
                place = random.randrange(len(text) + 1)
                text = text[:place] + random.choice(_WORDS) + text[place + random.choice((0, 0, 1, 5)) :]
            case 6:
                place, depth = random.randrange(len(text) + 1), random.choice((3, 60, 3_000))
                text = text[:place] + random.choice("[{") * depth + text[place:]
    return text


def in_value(random: Random, value: Any) -> Any:
    """A value of JSON with one thing in it changed."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        changed = dict(value)
        match random.randrange(6):
            case 0:
                del changed[key]
            case 1:
                changed[random.choice(_WORDS)] = changed[key]
            case _:
                changed[key] = in_value(random, changed[key])
        return changed
    if isinstance(value, list) and value and random.random() < 0.85:
        at = random.randrange(len(value))
        return [*value[:at], in_value(random, value[at]), *value[at + random.randrange(2) :]]
    if isinstance(value, str) and random.random() < 0.3:
        return in_text(random, value)
    return nested(random) if random.random() < 0.03 else odd(random)


def as_json(value: Any) -> bytes:
    """JSON of values that need not be any; infinities and halves of characters included."""
    try:
        text = json.dumps(value, default=repr)
    except (RecursionError, ValueError, TypeError):
        text = "[" * 3_000
    return text.encode("utf-8", "surrogatepass")


def in_archive(random: Random, content: bytes, change: Callable[[Random, str, bytes], bytes]) -> bytes:
    """A zip file written anew, well-formed, with a member changed, lost, added, renamed, twice there, or huge."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    at = random.randrange(len(members))
    name, data = members[at]
    match random.randrange(12):
        case 0:
            del members[at]
        case 1:
            members.insert(at, (random.choice(members)[0], data))
        case 2:
            members[at] = (in_text(random, name).replace("\ud800", "") or "x", data)
        case 3:
            members.append(("more", random.randbytes(100)))
        case 4:
            members[at] = (
                name,
                data + bytes(random.choice((100, _MOST_BOMB_BYTES >> random.randrange(1, 12)))),
            )
        case _:
            members[at] = (name, change(random, name, data))
    method = random.choice(
        (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method, compresslevel=1) as archive:
        names = set()
        for name, data in members:
            if name not in names:  # writing one twice warns
                names.add(name)
                archive.writestr(name[:60_000].replace("\0", "") or "x", data)
    return stream.getvalue()


_SHAPES = (
    *("()", "(0,)", "(1,)", "(1000000000000,)", "(-1,)", "(2, -3)", "(True,)", "(10**9,)", "('a',)"),
    "(" * 200,
)
_TYPES = (
    *("'<f8'", "'<f2'", "'>f4'", "'<c16'", "'|O'", "'<U5'", "'|S4'", "'<M8[ns]'", "'|b1'", "'<i8'"),
    *("'|V0'", "'<f16'"),
    *("'<U0'", "[('a', '<f4')]", "'|V99999999999'", "7", "None", "'nonsense'", "[('a', [('b', '|O')])]"),
)


def in_npy(random: Random, content: bytes) -> bytes:
    """An ``.npy`` file whose header says something else, or whose bytes are changed."""
    start = 10
    end = content.find(b"\n") + 1
    header = content[start:end].decode("latin-1")
    match random.randrange(5):
        case 0:
            header = re.sub(r"\([^)]*\)", lambda _: random.choice(_SHAPES), header, count=1)
        case 1:
            header = re.sub(r"'descr': '[^']*'", lambda _: f"'descr': {random.choice(_TYPES)}", header)
        case 2:
            header = in_text(random, header)
        case 3:
            header = header.replace("False", "True")
        case _:
            return in_bytes(random, content)
    text = header.rstrip().encode("latin-1", "replace") + b"\n"
    return content[:8] + min(len(text), 65_535).to_bytes(2, "little") + text + content[end:]


def in_array(random: Random, content: bytes) -> bytes:
    """An ``.npy`` file whose numbers are replaced by extreme ones, in place."""
    data = bytearray(content)
    start = content.find(b"\n") + 1
    patterns = (b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff", b"\x00\x00\xc0\x7f", b"\xff\xff\x7f\x7f", bytes(4))
    for _ in range(random.choice((1, 1, 3, 50))):
        if len(data) - start >= 4:
            at = start + random.randrange((len(data) - start) // 4) * 4
            data[at : at + 4] = random.choice(patterns)
    return bytes(data)
