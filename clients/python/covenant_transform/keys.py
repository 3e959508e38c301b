"""Keys (docs/reference/transform.md 4): scope keys of a tenant key, and scope keys that a plan brings wrapped."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_SALT = b"covenant/1"


def hkdf(key: bytes, salt: bytes, info: str, length: int) -> bytes:
    """HKDF-SHA-256 (RFC 5869)."""
    return HKDF(SHA256(), length, salt, info.encode()).derive(key)


def derive_scope_key(tenant_key: bytes, tenant: str, scope: str, method: str, kid: str) -> bytes:
    """The scope key below a tenant's key of 32 bytes."""
    return hkdf(tenant_key, _SALT, f"{tenant}|{scope}|{method}|{kid}", key_bytes(method))


def key_bytes(method: str) -> int:
    """Bytes of a scope key: two AES-256 keys for SIV, else one."""
    return 64 if method == "siv" else 32


def binding_of(tenant: str, scope: str, kid: str) -> str:
    """What ciphertext and tweak are bound to."""
    return f"covenant/1|{tenant}|{scope}|{kid}"


def from_base64url(text: str) -> bytes:
    """Raises ValueError for what is no base64url without padding."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("no base64url") from error


def to_base64url(value: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


@dataclass(frozen=True)
class WriterKey:
    """A key pair of X25519 for one request."""

    private: X25519PrivateKey
    public: str

    @staticmethod
    def generate() -> WriterKey:
        return WriterKey.of(X25519PrivateKey.generate())

    @staticmethod
    def of(private: X25519PrivateKey) -> WriterKey:
        raw = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return WriterKey(private, to_base64url(raw))

    def opener(self, epk: str, info: str) -> Callable[[bytes, str], bytes]:
        """What opens keys that were wrapped for this writer by the pair of `epk`. Both raise for what is not."""
        sender = from_base64url(epk)
        secret = self.private.exchange(X25519PublicKey.from_public_bytes(sender))
        cipher = AESGCM(hkdf(secret, sender + from_base64url(self.public), f"covenant/1|{info}", 32))
        return lambda sealed, bound: cipher.decrypt(sealed[:12], sealed[12:], bound.encode())

    def unwrap(self, epk: str, nonce: str, tenant: str, wrapped: dict[str, str]) -> bytes | None:
        """The key that was wrapped for this writer; None where it was wrapped for another, or changed."""
        try:
            bound = f"{binding_of(tenant, wrapped['scope'], wrapped['kid'])}|{wrapped['method']}"
            key = self.opener(epk, f"plan-keys|{nonce}")(from_base64url(wrapped["key"]), bound)
        except (ValueError, InvalidTag):
            return None
        return key if len(key) == key_bytes(wrapped["method"]) else None
