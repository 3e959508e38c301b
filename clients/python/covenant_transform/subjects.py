"""
Keys of subjects (docs/reference/transform.md 9): references that name nobody, the answer of the service, and the keys of
a batch's subjects.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .keys import WriterKey, binding_of, from_base64url, key_bytes, to_base64url
from .plan import Plan, Rule
from .refusal import TransformRefused, refusing

SUBJECT_KEYS_TYPE = "covenant-subject-keys+jwt"
REF_KID = "k1"
_SID = re.compile(r"[A-Za-z0-9_-]{22}")
_CLOCK_SECONDS_MAX = 60
_ANSWER_SECONDS_MAX = 600
# Subjects whose keys a long write keeps in memory.
_KEPT_MAX = 100_000

Subject = tuple[str, str]


@dataclass(frozen=True)
class SubjectKey:
    """A column's key for one subject, and the id that values name."""

    sid: str
    key: bytes = field(repr=False)


def subject_ref(ref_key: bytes, value: str) -> str:
    """The reference of a subject: numbers are decimal text."""
    return to_base64url(hmac.digest(ref_key, value.encode(), hashlib.sha256)[:16])


@dataclass(frozen=True)
class SubjectAnswer:
    """The keys of an answer by kind, reference, scope, method and key id, and the subjects that were erased."""

    keys: dict[tuple[str, ...], SubjectKey] = field(repr=False)
    shredded: frozenset[Subject]


Ask = Callable[[Plan, Sequence[Subject]], SubjectAnswer]


class SubjectKeys:
    """The keys that a plan's batches have needed so far. Without `ask` no others can be had."""

    def __init__(self, ask: Ask | None = None) -> None:
        self._ask = ask
        self._keys: dict[tuple[str, ...], SubjectKey] = {}
        self._known: set[Subject] = set()
        self._shredded: set[Subject] = set()
        self._lock = threading.Lock()

    def ensure(self, plan: Plan, subjects: Iterable[Subject]) -> None:
        """Asks for the keys of subjects that are not known. Raises TransformRefused `subject_keys`."""
        with self._lock:
            if len(self._known) > _KEPT_MAX:
                self._keys, self._known, self._shredded = {}, set(), set()
            wanted = [subject for subject in dict.fromkeys(subjects) if subject not in self._known]
            most = plan.subjects_max or 1
            for at in range(0, len(wanted) if self._ask is not None else 0, most):
                self.add(self._ask(plan, wanted[at : at + most]))

    def add(self, answer: SubjectAnswer) -> None:
        """Keeps the keys of an answer."""
        self._keys.update(answer.keys)
        self._shredded |= answer.shredded
        self._known |= answer.shredded | {(kind, ref) for kind, ref, *_ in answer.keys}

    def key_of(self, rule: Rule, ref: str) -> SubjectKey:
        """The key of a column for a subject. Raises TransformRefused `subject_shredded` or `subject_keys`."""
        kind = rule.subject_kind or ""
        if (kind, ref) in self._shredded:
            raise TransformRefused("subject_shredded", "a row is of a subject that was erased")
        key = self._keys.get((kind, ref, *map(str, rule.scope_label)))
        if key is None:
            raise TransformRefused("subject_keys", "the key of a subject cannot be had")
        return key


def open_subject_keys(
    plan: Plan, verified: Callable[[str], Any], writer: WriterKey, now: float | None = None
) -> SubjectAnswer:
    """
    Opens the service's answer for a plan.

    `verified` gives the payload of the JWS of a type, or raises. Raises TransformRefused `subject_keys`.
    """
    at = time.time() if now is None else now
    refused = TransformRefused("subject_keys", "the keys of subjects cannot be had: the answer of the service is not one")
    return refusing(lambda: _opened(plan, verified(SUBJECT_KEYS_TYPE), writer, at), refused)


def _opened(plan: Plan, payload: Any, writer: WriterKey, now: float) -> SubjectAnswer:
    if payload["v"] != 1 or any(payload[of] != getattr(plan, of) for of in ("iss", "tenant", "table_uuid", "nonce")):
        raise ValueError("another plan")
    if payload["iat"] > now + _CLOCK_SECONDS_MAX or now >= payload["iat"] + _ANSWER_SECONDS_MAX:
        raise ValueError("another time")
    opener = writer.opener(payload["epk"], f"subject-keys|{payload['nonce']}")
    keys = {}
    for each in payload["keys"]:
        kind, ref, sid, scope, method, kid = (each[of] for of in ("kind", "ref", "sid", "scope", "method", "kid"))
        bound = f"{binding_of(plan.tenant, scope, kid)}|{sid}|{method}|{kind}|{ref}"
        key = opener(from_base64url(each["key"]), bound)
        if len(key) != key_bytes(method) or _SID.fullmatch(sid) is None:
            raise ValueError("malformed")
        keys[(kind, ref, scope, method, kid)] = SubjectKey(sid, key)
    return SubjectAnswer(keys, frozenset((each["kind"], each["ref"]) for each in payload["shredded"]))
