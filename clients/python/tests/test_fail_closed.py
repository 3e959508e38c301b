"""
The cases in which a writer must write nothing, one by one. `test/transform/fail-closed.test.ts` has the same cases by the
same names for the TypeScript library. Each ends in one refusal that shows no value.
"""

import os
import socket
import threading
import traceback
import unittest
from collections.abc import Callable
from unittest import mock

import pyarrow as pa

from covenant_transform import PlanSource, TransformRefused, fetch_plan, open_plan, protect
from tests.test_fetch import Server, local_key
from tests.test_vectors import VECTORS, WRITER, open_rules

CANARY = "CANARY-3b6f"
NOW = VECTORS["now"]
KEYED = {"scope": "sensitive.email", "kid": "k1"}
HMAC = {"action": "tokenize", "method": "hmac", **KEYED}
FF1 = {"action": "tokenize", "method": "ff1", "alphabet": "digits", **KEYED}


def rule(action: dict, **more: object) -> dict:
    return {"field_id": 1, "name": "c", "type": "string", "required": False, **action, **more}


def protected(column: list, *rules: dict, **more: list) -> pa.Table:
    return protect(pa.table({"c": pa.array(column, pa.string()), **more}), open_rules(list(rules)), now=NOW)


def vector(name: str, **more: object) -> None:
    """Opens the plan of the vector file with this name."""
    [found] = [each for each in VECTORS["plans"] if each["name"] == name]
    expected = {name: VECTORS[name] for name in ("issuer", "tenant", "table", "table_uuid", "schema_id", "now")}
    open_plan(found["jws"], VECTORS["jwks"], **{"keys": WRITER, **expected, **more})


class FailClosed(unittest.TestCase):
    def refuses(self, code: str, step: Callable[[], object]) -> None:
        try:
            step()
        except TransformRefused as refused:
            self.assertEqual(refused.code, code)
            told = "".join(traceback.format_exception_only(refused)) + repr(refused.__context__)
            self.assertNotIn("CANARY", told)
            return
        self.fail("nothing was refused")

    def server(self, *answer: object) -> Server:
        server = Server()
        if answer:
            server.answer = answer
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def fetch(self, url: str, **more: object) -> object:
        options = {"session": CANARY, "issuer": VECTORS["issuer"], "keys": local_key}
        return fetch_plan(VECTORS["table"], url=url, **{**options, **more})

    def test_no_address_in_the_environment(self) -> None:
        with mock.patch.dict(os.environ, {"COVENANT_SESSION": CANARY}, clear=True):
            self.refuses("no_plan", lambda: fetch_plan(VECTORS["table"]))

    def test_no_answer(self) -> None:
        with socket.socket() as unheard:
            unheard.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unheard.getsockname()[1]}"
            self.refuses("no_plan", lambda: self.fetch(url))

    def test_no_answer_in_time(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            self.refuses("no_plan", lambda: self.fetch(url, timeout=0.05))

    def test_an_answer_of_4xx(self) -> None:
        self.refuses("no_plan", lambda: self.fetch(self.server(403, {}, CANARY.encode()).url))

    def test_an_answer_of_5xx(self) -> None:
        self.refuses("no_plan", lambda: self.fetch(self.server(503, {}, CANARY.encode()).url))

    def test_a_bad_signature(self) -> None:
        self.refuses("bad_signature", lambda: vector("a payload that was changed"))

    def test_the_key_of_another_signer(self) -> None:
        self.refuses("bad_signature", lambda: vector("another key"))

    def test_a_wrong_issuer(self) -> None:
        self.refuses("wrong_issuer", lambda: vector("another issuer"))

    def test_a_wrong_tenant(self) -> None:
        self.refuses("wrong_tenant", lambda: vector("another tenant"))

    def test_a_plan_that_is_replayed_for_another_table(self) -> None:
        self.refuses("wrong_table", lambda: vector("another table"))

    def test_a_wrong_table_uuid(self) -> None:
        self.refuses("wrong_table", lambda: vector("another table uuid"))

    def test_a_wrong_schema(self) -> None:
        self.refuses("wrong_schema", lambda: vector("another schema"))

    def test_an_expired_plan(self) -> None:
        self.refuses("expired", lambda: vector("expired"))

    def test_a_cached_plan_at_its_end_without_the_service(self) -> None:
        server = self.server()
        options = {"url": server.url, "session": CANARY, "issuer": VECTORS["issuer"], "keys": local_key}
        source = PlanSource(VECTORS["table"], options)
        with mock.patch("time.time", return_value=NOW) as clock:
            plan = source.plan()
            server.shutdown()
            server.server_close()
            self.assertIs(source.plan(), plan)
            clock.return_value = plan.plan.exp
            self.refuses("no_plan", source.plan)
            self.refuses("expired", lambda: protect(pa.table({"c": [CANARY]}), plan))

    def test_a_clock_that_is_off_by_over_a_minute(self) -> None:
        self.refuses("clock", lambda: vector("a clock that is late"))

    def test_an_unknown_action(self) -> None:
        self.refuses("malformed_plan", lambda: open_rules([rule({"action": "hide"})]))

    def test_an_unknown_method(self) -> None:
        self.refuses("malformed_plan", lambda: open_rules([rule({**HMAC, "method": "rot13"})]))

    def test_an_unknown_mask(self) -> None:
        self.refuses("malformed_plan", lambda: open_rules([rule({"action": "mask", "mask": "rot13"})]))

    def test_an_unknown_type(self) -> None:
        self.refuses("malformed_plan", lambda: open_rules([rule(HMAC, type="text")]))

    def test_a_nested_column(self) -> None:
        self.refuses("malformed_plan", lambda: open_rules([rule({"action": "redact"}, type="struct")]))

    def test_a_plan_that_does_not_list_every_column(self) -> None:
        self.refuses("malformed_plan", lambda: vector("not complete"))

    def test_no_key(self) -> None:
        self.refuses("no_key", lambda: vector("no keys"))

    def test_a_key_that_was_changed(self) -> None:
        self.refuses("no_key", lambda: vector("a key that was changed"))

    def test_an_unknown_key(self) -> None:
        self.refuses("no_key", lambda: vector("opens", keys=lambda _plan, _rule: None))

    def test_a_value_outside_the_domain(self) -> None:
        self.refuses("outside_domain", lambda: protected([CANARY], rule(FF1)))

    def test_null_in_a_required_column(self) -> None:
        redact = rule({"action": "redact"}, required=True)
        self.refuses("null_in_required", lambda: protected([CANARY, None], redact))

    def test_text_that_is_no_unicode(self) -> None:
        column = pa.array([CANARY.encode() + b"\xed\xa0\xbd"]).view(pa.string())
        self.refuses("wrong_type", lambda: protect(pa.table({"c": column}), open_rules([rule(HMAC)]), now=NOW))

    def test_a_column_that_the_plan_does_not_know(self) -> None:
        self.refuses("unknown_column", lambda: protected(["a"], rule(HMAC), more=[CANARY]))

    def test_a_required_column_that_is_missing(self) -> None:
        kept = rule({"action": "keep"}, name="d", field_id=2, required=True)
        self.refuses("missing_column", lambda: protected([CANARY], rule(HMAC), kept))

    def test_a_value_that_was_protected_before(self) -> None:
        self.refuses("already_protected", lambda: protected(["tok_" + CANARY], rule(HMAC)))

    def test_an_exception_on_the_way(self) -> None:
        with mock.patch("covenant_transform.protect.text_tokens", side_effect=ValueError(CANARY)):
            self.refuses("failed", lambda: protected(["a"], rule(HMAC)))

    def test_half_of_a_batch(self) -> None:
        table = pa.table({"c": ["a"], "d": [CANARY]})
        plan = open_rules([rule(HMAC), rule(FF1, name="d", field_id=2)])
        self.refuses("outside_domain", lambda: protect(table, plan, now=NOW))
        self.assertEqual(table.to_pydict(), {"c": ["a"], "d": [CANARY]})


if __name__ == "__main__":
    unittest.main()
