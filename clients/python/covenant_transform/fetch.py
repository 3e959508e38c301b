"""
Asks the service for a plan and opens it. Whatever goes wrong on the way is `no_plan`: a writer without a plan writes
nothing.
"""

from __future__ import annotations

import json
import os
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .keys import WriterKey
from .open_plan import LocalKeys, OpenPlan, open_plan, verified_payload
from .plan import Plan
from .refusal import TransformRefused
from .subjects import Subject, SubjectAnswer, SubjectKeys, open_subject_keys

_TIMEOUT_SECONDS = 10.0
_ANSWER_BYTES_MAX = 4 * 1024 * 1024
_READ_BYTES = 64 * 1024


def fetch_plan(
    table: Sequence[str] | str,
    *,
    url: str | None = None,
    session: str | None = None,
    headers: dict[str, str] | None = None,
    catalog: str | None = None,
    issuer: str | None = None,
    tenant: str | None = None,
    table_uuid: str | None = None,
    schema_id: int | None = None,
    keys: LocalKeys | None = None,
    timeout: float = _TIMEOUT_SECONDS,
) -> OpenPlan:
    """
    Fetches a plan for one writer.

    `table` is namespace levels and the table's name, or both as one text with dots. `url` and `session` (the secret of
    a service session) come from COVENANT_URL and COVENANT_SESSION where they are not given; `headers` replace the
    session. `keys` is for a writer that holds its keys itself. Raises TransformRefused.
    """
    base = (url if url is not None else os.environ.get("COVENANT_URL", "")).rstrip("/")
    if base == "":
        raise TransformRefused("no_plan", "there is no plan: the address of the service is not set")
    parts = tuple(table.split(".")) if isinstance(table, str) else tuple(table)
    if headers is None:
        secret = session if session is not None else os.environ.get("COVENANT_SESSION", "")
        if secret == "":
            raise TransformRefused("no_plan", "there is no plan: no session was given")
        headers = {"X-Svc-Session": secret}
    writer = WriterKey.generate()
    query = {"catalog": catalog, "schema_id": schema_id, "public_key": None if keys is not None else writer.public}
    namespace = urllib.parse.quote("\x1f".join(parts[:-1]), safe="")
    place = f"{base}/api/v1/tables/{namespace}/{urllib.parse.quote(parts[-1], safe='')}"
    asked = urllib.parse.urlencode({name: value for name, value in query.items() if value is not None})
    answer = _ask(f"{place}/transform-plan?{asked}", headers, timeout)
    jwks = _ask(f"{base}/.well-known/jwks.json", {}, timeout)
    jws = answer.get("plan")
    if not isinstance(jws, str) or not isinstance(jwks.get("keys"), list):
        raise TransformRefused("no_plan", "there is no plan: the answer of the service is not one")
    return open_plan(
        jws,
        jwks,
        issuer=issuer if issuer is not None else _origin(base),
        table=parts,
        keys=writer if keys is None else keys,
        tenant=tenant,
        table_uuid=table_uuid,
        schema_id=schema_id,
        subject_keys=SubjectKeys(_SubjectSource(base, place, headers, catalog, timeout)),
    )


@dataclass(frozen=True)
class _SubjectSource:
    """Asks for keys of subjects as the plan was asked for. The service is told references, which name nobody."""

    base: str
    place: str
    headers: dict[str, str] = field(repr=False)
    catalog: str | None
    timeout: float

    def __call__(self, plan: Plan, subjects: Sequence[Subject]) -> SubjectAnswer:
        writer = WriterKey.generate()
        kinds: dict[str, list[str]] = {}
        for kind, ref in subjects:
            kinds.setdefault(kind, []).append(ref)
        body = {
            "plan": f"{plan.policy_version}:{plan.nonce}",
            "schema_id": plan.schema_id,
            "public_key": writer.public,
            "subjects": [{"kind": kind, "refs": refs} for kind, refs in kinds.items()],
            **({} if self.catalog is None else {"catalog": self.catalog}),
        }
        why = ("subject_keys", "the keys of subjects cannot be had")
        answer = _ask(f"{self.place}/transform-subject-keys", self.headers, self.timeout, why, body)
        jwks = _ask(f"{self.base}/.well-known/jwks.json", {}, self.timeout, why)
        return open_subject_keys(plan, lambda kind: verified_payload(answer["subject_keys"], jwks, kind), writer)


@dataclass
class PlanSource:
    """
    Plans for a long write: asks again at half of a plan's life, and refuses once the rules changed in between, because
    one snapshot shows one plan. It may be sent to other processes; each then asks for itself.
    """

    table: Sequence[str] | str
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    policy_version: str | None = None
    _plan: OpenPlan | None = field(default=None, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def plan(self) -> OpenPlan:
        """A plan that may be used now. Raises TransformRefused."""
        with self._lock:
            held = self._plan
            if held is None or time.time() > (held.plan.iat + held.plan.exp) / 2:
                held = fetch_plan(self.table, **self.options)
                if self.policy_version is None:
                    self.policy_version = held.plan.policy_version
                if held.plan.policy_version != self.policy_version:
                    raise TransformRefused("no_plan", "the rules of the table changed during the write: begin again")
                self._plan = held
            return held

    def __getstate__(self) -> dict[str, Any]:
        return {"table": self.table, "options": self.options, "policy_version": self.policy_version}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the credential elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        return None


_NO_PLAN = ("no_plan", "there is no plan")


def _ask(
    url: str,
    headers: dict[str, str],
    timeout: float,
    refused: tuple[str, str] = _NO_PLAN,
    body: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Asks for an object; with `body` by POST. `refused` is the code of a refusal, and how its sentence begins."""
    why = "the service did not answer in time"
    try:
        opener = urllib.request.build_opener(_NoRedirect)
        ends = time.monotonic() + timeout
        content = None if body is None else json.dumps(body).encode()
        sent = headers if body is None else {**headers, "Content-Type": "application/json"}
        with opener.open(urllib.request.Request(url, content, sent), timeout=timeout) as answer:
            why = f"the service answered {answer.status}"
            read = b""
            while chunk := answer.read1(_READ_BYTES):
                read += chunk
                if len(read) > _ANSWER_BYTES_MAX or time.monotonic() > ends:
                    raise ValueError("too long")
            value = json.loads(read)
            if answer.status == 200 and isinstance(value, dict):
                return value
    except urllib.error.HTTPError as error:
        why = f"the service answered {error.code}"
    except Exception:  # noqa: BLE001, S110 - it may quote the credential, so that only the status is told
        pass
    raise TransformRefused(refused[0], f"{refused[1]}: {why}")


def _origin(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.netloc == "":
        raise TransformRefused("no_plan", "there is no plan: the address of the service is no URL")
    return f"{parts.scheme}://{parts.netloc}"
