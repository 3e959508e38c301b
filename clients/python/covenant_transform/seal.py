"""
Encryption (docs/reference/transform.md 6): AES-SIV and AES-256-GCM in the text and byte forms that lie in a table. A
form names its key, so that it can be opened after a rotation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV

from .keys import binding_of, from_base64url, hkdf, to_base64url
from .refusal import TransformRefused

_TYPE_BYTE = {"string": b"\1", "binary": b"\2"}
_FRAME_BYTE = {"siv": b"\1", "gcm": b"\2"}
_TEXT_PREFIX = {"siv": "cse1", "gcm": "cge1"}
# Of values under a subject's key, whose id follows the scope's.
_SUBJECT_FRAME_BYTE = {"siv": b"\3", "gcm": b"\4"}
_SUBJECT_TEXT_PREFIX = {"siv": "css1", "gcm": "cgs1"}
_DATA_KEY_BYTES = 16
_NONCE_BYTES = 12


@dataclass(frozen=True)
class Seal:
    """How one column is sealed and opened."""

    method: str
    type: str
    tenant: str
    scope: str
    kid: str
    key: bytes = field(repr=False)
    # The id of the subject's key; None where the key is the scope's.
    sid: str | None = None

    def seal(self, values: Sequence[Any], random: Callable[[int], bytes] = os.urandom) -> list[Any]:
        """Seals texts or byte strings. `random` is for tests only."""
        plain = (_TYPE_BYTE[self.type] + _bytes(value) for value in values)
        raw = self._by_siv(plain) if self.method == "siv" else self._by_gcm(plain, random)
        if self.type == "binary":
            prefix = self._frame()
            return [prefix + value for value in raw]
        start = self._start()
        return [start + to_base64url(value) for value in raw]

    def open(self, value: Any) -> Any:
        """Opens what this key sealed for this scope. Raises TransformRefused `not_authentic`."""
        opened = self._opened(value)
        if opened is None or opened[:1] != _TYPE_BYTE[self.type]:
            raise TransformRefused("not_authentic", "a value was not sealed by this key for this scope")
        return opened[1:].decode() if self.type == "string" else opened[1:]

    def _opened(self, value: Any) -> bytes | None:
        try:
            raw = self._raw(value)
            if self.method == "siv":
                return AESSIV(self.key).decrypt(raw, self._associated()) if len(raw) > 16 else None
            head = _DATA_KEY_BYTES + _NONCE_BYTES
            cipher = AESGCM(self._data_key(raw[:_DATA_KEY_BYTES]))
            return cipher.decrypt(raw[_DATA_KEY_BYTES:head], raw[head:], self._binding())
        except (ValueError, InvalidTag):
            return None

    def _raw(self, value: Any) -> bytes:
        if self.type == "string":
            prefix = self._start()
            if not value.startswith(prefix):
                raise ValueError("another prefix")
            return from_base64url(value[len(prefix) :])
        frame = self._frame()
        if not value.startswith(frame):
            raise ValueError("another frame")
        return value[len(frame) :]

    def _start(self) -> str:
        if self.sid is None:
            return f"{_TEXT_PREFIX[self.method]}.{self.kid}."
        return f"{_SUBJECT_TEXT_PREFIX[self.method]}.{self.kid}.{self.sid}."

    def _frame(self) -> bytes:
        named = bytes([len(self.kid)]) + self.kid.encode()
        if self.sid is None:
            return _FRAME_BYTE[self.method] + named
        return _SUBJECT_FRAME_BYTE[self.method] + named + from_base64url(self.sid)

    def _by_siv(self, plain: Iterable[bytes]) -> list[bytes]:
        cipher, associated = AESSIV(self.key), self._associated()
        return [cipher.encrypt(value, associated) for value in plain]

    def _by_gcm(self, plain: Iterable[bytes], random: Callable[[int], bytes]) -> list[bytes]:
        salt = random(_DATA_KEY_BYTES)
        cipher, binding = AESGCM(self._data_key(salt)), self._binding()
        nonces = (random(_NONCE_BYTES) for _ in iter(int, 1))
        return [salt + nonce + cipher.encrypt(nonce, value, binding) for value, nonce in zip(plain, nonces)]

    def _data_key(self, salt: bytes) -> bytes:
        return hkdf(self.key, salt, "covenant/1|gcm-data", 32)

    def _binding(self) -> bytes:
        bound = binding_of(self.tenant, self.scope, self.kid)
        return (bound if self.sid is None else f"{bound}|{self.sid}").encode()

    def _associated(self) -> list[bytes]:
        parts = ("covenant/1", self.tenant, self.scope, self.kid, *([] if self.sid is None else [self.sid]))
        return [part.encode() for part in parts]


_PROTECTED = re.compile(r"tok_|c[sg][es]1\.")


def is_protected(text: str) -> bool:
    """Whether a text is a token or ciphertext already: protected twice it is lost."""
    return _PROTECTED.match(text) is not None


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else value
