"""
The column masks of Iceberg `read-restrictions`, byte for byte as the service's `applyMask` defines them
(docs/reference/masks-and-filters.md). Dates and times are integers here: days, or units since 1970-01-01.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable
from typing import Any

ACTIONS = (
    "replace-with-null",
    "mask-to-fixed-value",
    "sha-256-query-local",
    "sha-256-global",
    "mask-alphanum",
    "truncate-to-year",
    "truncate-to-month",
    "show-last-4",
    "show-first-4",
    "apply-expression",
)

_TIMESTAMPS = ("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")
_FIXED = ("boolean", "int", "long", "float", "double", "string", "date", "time", "uuid", "binary", *_TIMESTAMPS)
_DAY_MICROS = 86_400_000_000
_PLAIN = re.compile(r"[^0-9(),.@-]", re.DOTALL)
_DIGIT = re.compile(r"[0-9]")


def mask_fits(action: str, kind: str) -> bool:
    """Whether a mask is defined for a primitive Iceberg type."""
    if action in ("replace-with-null", "apply-expression"):
        return True
    if action in ("mask-alphanum", "show-first-4", "show-last-4"):
        return kind == "string"
    if action in ("truncate-to-year", "truncate-to-month"):
        return kind == "date" or kind in _TIMESTAMPS
    if action in ("sha-256-global", "sha-256-query-local"):
        return kind in ("string", "int", "long", "binary")
    return kind in _FIXED or kind.startswith(("decimal(", "fixed["))


def mask_of(action: str, kind: str) -> Callable[[Any], Any]:
    """The function that masks one value that is not NULL. Not for masks whose result does not depend on the value."""
    if action == "mask-alphanum":
        return _mask_text
    if action == "show-first-4":
        return lambda text: text[:4] + _mask_text(text[4:])
    if action == "show-last-4":
        return lambda text: _mask_text(text[:-4]) + text[-4:]
    if action == "truncate-to-year":
        return lambda value: _truncate(value, kind, to_year=True)
    if action == "truncate-to-month":
        return lambda value: _truncate(value, kind, to_year=False)
    return _HASHES[kind]


def _mask_text(text: str) -> str:
    """ASCII digits become n, `( ) , . - @` stay, every other code point becomes x."""
    return _DIGIT.sub("n", _PLAIN.sub("x", text))


def _truncate(value: int, kind: str, to_year: bool) -> int:
    per_day = 1 if kind == "date" else _DAY_MICROS * (1000 if kind.endswith("_ns") else 1)
    year, month = _year_and_month(value // per_day)
    return _days_of(year, 1 if to_year else month) * per_day


def _year_and_month(days: int) -> tuple[int, int]:
    """The proleptic Gregorian year and month of a day, beyond the years that `datetime` knows, too."""
    # Eras of 400 years begin on 1 March, so that a leap day ends its year.
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1_460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    shifted = (5 * day + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return era * 400 + year + (1 if month <= 2 else 0), month


def _days_of(year: int, month: int) -> int:
    """Days from 1970-01-01 to the first of a month."""
    year -= 1 if month <= 2 else 0
    era, of_era = divmod(year, 400)
    day = (153 * ((month + 9) % 12) + 2) // 5
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + day - 719_468


def _digest(value: bytes) -> bytes:
    return hashlib.sha256(value).digest()


_HASHES: dict[str, Callable[[Any], Any]] = {
    "string": lambda text: hashlib.sha256(text.encode()).hexdigest(),
    "binary": _digest,
    "int": lambda number: struct.unpack_from("<i", _digest(struct.pack("<i", number)))[0],
    "long": lambda number: struct.unpack_from("<q", _digest(struct.pack("<q", number)))[0],
}
