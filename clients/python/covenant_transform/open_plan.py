"""
Checks a signed plan (docs/reference/transform.md 2): signature, issuer, tenant, table, schema, time and keys, in this
order. A plan that passes is what a batch is protected by; there is no other way to one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .keys import WriterKey, from_base64url
from .plan import Plan, Rule, read_plan
from .refusal import TransformRefused, refusing
from .subjects import SubjectKeys

CLOCK_SECONDS_MAX = 60
PLAN_SECONDS_MAX = 600
PLAN_TYPE = "covenant-plan+jwt"

LocalKeys = Callable[[Plan, Rule], "bytes | None"]


@dataclass(frozen=True)
class OpenPlan:
    """A plan whose checks passed, with the keys that it needs. Its text form shows no key."""

    plan: Plan
    _keys: dict[tuple[str | None, str | None, str | None], bytes] = field(repr=False)
    subject_keys: SubjectKeys = field(default_factory=SubjectKeys, repr=False, compare=False)

    @property
    def summary(self) -> dict[str, str]:
        """What the writer puts into the summary of the snapshot that it adds."""
        return {"covenant.transform-plan": f"{self.plan.policy_version}:{self.plan.nonce}"}

    def key_of(self, rule: Rule) -> bytes:
        """The key that the plan brought for a rule. Raises TransformRefused `no_key`."""
        key = self._keys.get(rule.label)
        if key is None:
            raise TransformRefused("no_key", "its key cannot be had", rule.name)
        return key

    def check_time(self, now: float | None = None) -> None:
        """Whether the plan may be used now; asked again before each batch. Raises `clock` or `expired`."""
        check_time(self.plan, time.time() if now is None else now)


def open_plan(
    jws: str,
    jwks: dict[str, Any],
    *,
    issuer: str,
    table: Sequence[str],
    keys: WriterKey | LocalKeys,
    tenant: str | None = None,
    table_uuid: str | None = None,
    schema_id: int | None = None,
    now: float | None = None,
    subject_keys: SubjectKeys | None = None,
) -> OpenPlan:
    """
    Opens a plan.

    `table` is namespace levels, then the table's name. `keys` is the pair whose public key the request brought, or a
    function that gives a rule's scope key. `now` is the writer's clock in seconds. `subject_keys` is where the keys of
    subjects come from, where columns have such keys. Raises TransformRefused for whatever is not as expected.
    """
    forged = TransformRefused("bad_signature", "the signature of the plan does not verify")
    plan = read_plan(refusing(lambda: verified_payload(jws, jwks), forged))
    if plan.iss != issuer:
        raise TransformRefused("wrong_issuer", "the plan is of another issuer")
    if tenant is not None and plan.tenant != tenant:
        raise TransformRefused("wrong_tenant", "the plan is of another tenant")
    if plan.table != tuple(table):
        raise TransformRefused("wrong_table", "the plan is of another table")
    if table_uuid is not None and plan.table_uuid != table_uuid:
        raise TransformRefused("wrong_table", "the plan is of another table with this name")
    if schema_id is not None and plan.schema_id != schema_id:
        raise TransformRefused("wrong_schema", "the plan is of another schema of the table")
    check_time(plan, time.time() if now is None else now)
    return OpenPlan(plan, _keys_of(plan, keys), subject_keys or SubjectKeys())


def check_time(plan: Plan, now: float) -> None:
    """Raises TransformRefused `clock`, `malformed_plan` or `expired`."""
    if plan.iat > now + CLOCK_SECONDS_MAX:
        raise TransformRefused("clock", "the plan is of the future: the writer's clock is late by over 60 s")
    if plan.exp <= plan.iat or plan.exp - plan.iat > PLAN_SECONDS_MAX:
        raise TransformRefused("malformed_plan", "the plan is refused: it lives longer than 600 s")
    if now >= plan.exp:
        raise TransformRefused("expired", "the plan has expired; ask for another")


def _keys_of(plan: Plan, source: WriterKey | LocalKeys) -> dict[tuple[str | None, str | None, str | None], bytes]:
    keys = {}
    for rule in plan.columns:
        if rule.method is None or rule.action not in ("tokenize", "encrypt"):
            continue
        found = _sent_key(plan, rule, source) if isinstance(source, WriterKey) else source(plan, _keyed(rule))
        if found is None:
            raise TransformRefused("no_key", "its key cannot be had", rule.name)
        keys[rule.label] = found
    return keys


def _keyed(rule: Rule) -> Rule:
    """The rule as a writer that holds its keys derives for it: by scope, method and key id."""
    scope, method, kid = rule.label
    return replace(rule, scope=scope, method=method, kid=kid)


def _sent_key(plan: Plan, rule: Rule, writer: WriterKey) -> bytes | None:
    labels = ("scope", "method", "kid")
    wrapped = next((each for each in plan.wrapped if tuple(each[label] for label in labels) == rule.label), None)
    if plan.epk is None or wrapped is None:
        return None
    return writer.unwrap(plan.epk, plan.nonce, plan.tenant, wrapped)


def verified_payload(jws: str, jwks: dict[str, Any], kind: str = PLAN_TYPE) -> Any:
    """Of a compact JWS (RFC 7515) with EdDSA over Ed25519 (RFC 8037), and nothing else: that raises."""
    header, payload, signature = jws.split(".")
    head = json.loads(from_base64url(header))
    if head["alg"] != "EdDSA" or head["typ"] != kind or not isinstance(head["kid"], str):
        raise ValueError("another kind of JWS")
    wanted = {"kid": head["kid"], "kty": "OKP", "crv": "Ed25519"}
    jwk = next(key for key in jwks["keys"] if wanted.items() <= key.items())
    public = Ed25519PublicKey.from_public_bytes(from_base64url(jwk["x"]))
    public.verify(from_base64url(signature), f"{header}.{payload}".encode())
    return json.loads(from_base64url(payload))
