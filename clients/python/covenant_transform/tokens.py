"""Tokens by HMAC-SHA-256 (docs/reference/transform.md 5): not reversible, the same within a scope."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable

_BLOCK = 64
_LONG_MAX = 2**63 - 1
_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
# Two characters at a time: `base64.b32encode` takes longer than the digest.
_PAIRS = [first + second for first in _BASE32 for second in _BASE32]
_PAIR_PLACES = range(120, -1, -10)


def _hmac(key: bytes) -> Callable[[bytes], bytes]:
    """HMAC with the key's two states kept, which halves the time of `hmac.digest` for short messages."""
    padded = (hashlib.sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded))
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in padded))

    def digest(message: bytes) -> bytes:
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    return digest


def text_tokens(key: bytes) -> Callable[[str], str]:
    """`tok_` and 26 characters for a text."""
    digest = _hmac(key)

    def token(text: str) -> str:
        bits = int.from_bytes(digest(text.encode())[:16], "big") << 2
        return "tok_" + "".join([_PAIRS[bits >> at & 1023] for at in _PAIR_PLACES])

    return token


def long_tokens(key: bytes) -> Callable[[int], int]:
    """A number of 63 bits for a number."""
    digest = _hmac(key)
    return lambda number: struct.unpack_from("<Q", digest(struct.pack("<q", number)))[0] & _LONG_MAX
