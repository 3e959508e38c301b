"""
Reads the payload of a plan (docs/reference/transform.md 2) and refuses what it does not know. Signature, binding and
time are checked in open_plan.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .masks import ACTIONS, mask_fits
from .refusal import TransformRefused

ALPHABETS = {
    "digits": "0123456789",
    "base36": "0123456789abcdefghijklmnopqrstuvwxyz",
    "base62": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
}

_SCOPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_KID = re.compile(r"[a-z0-9]{1,16}")
_PRIMITIVE = re.compile(
    r"boolean|int|long|float|double|string|date|time|uuid|binary|timestamp(tz)?(_ns)?"
    r"|decimal\([0-9]+,\s*[0-9]+\)|fixed\[[0-9]+\]"
)
_NESTED = ("struct", "list", "map", "variant", "geometry", "geography", "unknown")
_METHOD_TYPES = {
    ("tokenize", "hmac"): ("string", "long"),
    ("tokenize", "ff1"): ("string",),
    ("encrypt", "siv"): ("string", "binary"),
    ("encrypt", "gcm"): ("string", "binary"),
}
_SUBJECT_TYPES = ("string", "int", "long")
_INTEGER_MAX = 2**53 - 1


@dataclass(frozen=True)
class Rule:
    """What happens to one top-level column."""

    field_id: int
    name: str
    type: str
    required: bool
    action: str
    mask: str | None = None
    method: str | None = None
    scope: str | None = None
    kid: str | None = None
    alphabet: str | None = None
    subject_key_of: str | None = None
    subject_kind: str | None = None

    @property
    def scope_label(self) -> tuple[str | None, str | None, str | None]:
        """The scope key of the rule."""
        return (self.scope, self.method, self.kid)

    @property
    def label(self) -> tuple[str | None, str | None, str | None]:
        """Which key the plan brings for the rule: of a column with keys of subjects, the one that makes references."""
        return self.scope_label if self.subject_kind is None else (self.subject_kind, "subject", "k1")


@dataclass(frozen=True)
class Plan:
    """What the service signed."""

    iss: str
    tenant: str
    table_uuid: str
    table: tuple[str, ...]
    schema_id: int
    policy_version: str
    iat: int
    exp: int
    nonce: str
    columns: tuple[Rule, ...]
    epk: str | None
    wrapped: tuple[dict[str, str], ...]
    subjects_max: int | None = None


def read_plan(payload: Any) -> Plan:
    """Reads a payload. Raises TransformRefused `malformed_plan` for whatever this version does not know."""
    plan = _object(payload, "the payload")
    version = plan.get("v")
    if version != 1 or isinstance(version, bool):
        raise _malformed("it is of another version")
    if plan.get("complete") is not True:
        raise _malformed("it does not list every column")
    for name in ("iss", "tenant", "table_uuid", "policy_version", "nonce"):
        if not isinstance(plan.get(name), str) or plan[name] == "":
            raise _malformed(f"{name} is missing")
    for name in ("schema_id", "iat", "exp"):
        if not _is_integer(plan.get(name)):
            raise _malformed(f"{name} is missing")
    table = plan.get("table")
    if not isinstance(table, list) or len(table) < 2 or not all(isinstance(part, str) for part in table):
        raise _malformed("table is missing")
    if not isinstance(plan.get("columns"), list):
        raise _malformed("columns are missing")
    columns = tuple(_read_rule(column) for column in plan["columns"])
    for of in ("name", "field_id"):
        if len({getattr(column, of) for column in columns}) != len(columns):
            raise _malformed(f"two columns have one {of}")
    epk, wrapped = _read_keys(plan["keys"]) if "keys" in plan else (None, ())
    subjects_max = _read_subjects(columns, plan.get("subject_keys"))
    return Plan(
        iss=plan["iss"],
        tenant=plan["tenant"],
        table_uuid=plan["table_uuid"],
        table=tuple(table),
        schema_id=int(plan["schema_id"]),
        policy_version=plan["policy_version"],
        iat=int(plan["iat"]),
        exp=int(plan["exp"]),
        nonce=plan["nonce"],
        columns=columns,
        epk=epk,
        wrapped=wrapped,
        subjects_max=subjects_max,
    )


def _read_subjects(columns: tuple[Rule, ...], keys: Any) -> int | None:
    types = {column.name: column.type for column in columns}
    rules = [rule for rule in columns if rule.subject_key_of is not None]
    for rule in rules:
        if rule.subject_key_of == rule.name or types.get(rule.subject_key_of or "") not in _SUBJECT_TYPES:
            raise TransformRefused(
                "malformed_plan", "the plan is refused: its subject column is not one", rule.name
            )
    if not rules:
        return None
    most = _object(keys, "subject_keys").get("max")
    if not _is_integer(most) or most < 1:
        raise _malformed("subject_keys are not well-formed")
    return int(most)


def _read_rule(value: Any) -> Rule:
    rule = _object(value, "a column")
    name = rule.get("name")
    if not isinstance(name, str) or not _is_integer(rule.get("field_id")) or not isinstance(rule.get("required"), bool):
        raise _malformed("a column lacks name, field_id or required")
    problem = _problem_of(rule)
    if problem is not None:
        raise TransformRefused("malformed_plan", f"the plan is refused: {problem}", name)
    known = ("type", "action", "mask", "method", "scope", "kid", "alphabet")
    if rule["action"] == "encrypt":
        known += ("subject_key_of", "subject_kind")
    members = {member: rule[member] for member in known if member in rule}
    return Rule(field_id=int(rule["field_id"]), name=name, required=rule["required"], **members)


def _problem_of(rule: dict[str, Any]) -> str | None:
    """Why a rule cannot be carried out, as a sentence's end."""
    kind, action = rule.get("type"), rule.get("action")
    if not isinstance(kind, str) or not isinstance(action, str):
        return "it has no type or action"
    primitive = _PRIMITIVE.fullmatch(kind) is not None
    if not primitive and kind not in _NESTED:
        return "its type is not known"
    if action == "keep":
        return None
    if not primitive:
        return "nested columns cannot be protected"
    if action == "redact":
        return None
    if action == "mask":
        return _problem_of_mask(rule.get("mask"), kind, rule["required"])
    method = rule.get("method")
    types = _METHOD_TYPES.get((action, method)) if isinstance(method, str) else None
    if types is None:
        return "its action or method is not known"
    if kind not in types:
        return f"{action} by {method} is not defined for {kind}"
    if not _matches(_SCOPE, rule.get("scope")):
        return "its scope is not well-formed"
    if not _matches(_KID, rule.get("kid")):
        return "its key id is not well-formed"
    alphabet = rule.get("alphabet")
    if method == "ff1" and not (isinstance(alphabet, str) and alphabet in ALPHABETS):
        return "its alphabet is not known"
    of, subject_kind = rule.get("subject_key_of"), rule.get("subject_kind")
    if of is None and subject_kind is None:
        return None
    if action != "encrypt":
        return "only encrypted columns have keys of subjects"
    if not isinstance(of, str) or of == "" or not _matches(_SCOPE, subject_kind):
        return "its subject is not well-formed"
    return None


def _problem_of_mask(mask: Any, kind: str, required: bool) -> str | None:
    if not isinstance(mask, str) or mask not in ACTIONS:
        return "its mask is not known"
    if mask == "sha-256-query-local":
        return "sha-256-query-local needs a query, and there is none at rest"
    if mask == "apply-expression":
        return "apply-expression is known to SQL only"
    if not mask_fits(mask, kind):
        return f"{mask} is not defined for {kind}"
    if mask == "replace-with-null" and required:
        return "replace-with-null is not allowed where required"
    return None


def _read_keys(value: Any) -> tuple[str, tuple[dict[str, str], ...]]:
    keys = _object(value, "keys")
    if not isinstance(keys.get("epk"), str) or not isinstance(keys.get("wrapped"), list):
        raise _malformed("keys are not well-formed")
    for each in keys["wrapped"]:
        wrapped = _object(each, "a key")
        if not all(isinstance(wrapped.get(name), str) for name in ("scope", "method", "kid", "key")):
            raise _malformed("a key is not well-formed")
    return keys["epk"], tuple(keys["wrapped"])


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_integer(value: Any) -> bool:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool) and abs(value) <= _INTEGER_MAX


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _malformed(f"{what} is no object")
    return value


def _malformed(why: str) -> TransformRefused:
    return TransformRefused("malformed_plan", f"the plan is refused: {why}")
