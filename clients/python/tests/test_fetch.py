"""A plan is fetched or refused: a server of the test gives every answer that a writer may meet."""

import http.server
import json
import os
import threading
import unittest
from unittest import mock

import pyarrow as pa

from covenant_transform import PlanSource, TransformRefused, fetch_plan, protect
from covenant_transform.keys import derive_scope_key
from tests.test_vectors import TENANT_KEY, VECTORS, column_of, refusal_of

SECRET = "SECRET-4f1e"
OPENS = next(each for each in VECTORS["plans"] if each.get("opens"))
PLAN = json.dumps({"plan": OPENS["jws"]}).encode()


class Server(http.server.ThreadingHTTPServer):
    """Answers the plan with `answer` and the keys with the file's."""

    answer: tuple = (200, {}, PLAN)
    asked: list

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:  # noqa: N802
        self.server.asked.append((self.path, self.headers.get("X-Svc-Session")))
        is_plan = "transform-plan" in self.path
        status, headers, body = self.server.answer if is_plan else (200, {}, json.dumps(VECTORS["jwks"]).encode())
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def local_key(plan, rule) -> bytes:
    return derive_scope_key(TENANT_KEY, plan.tenant, rule.scope, rule.method, rule.kid)


class Fetching(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Server()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        clock = mock.patch("time.time", return_value=VECTORS["now"])
        self.clock = clock.start()
        self.addCleanup(clock.stop)

    def options(self, **more: object) -> dict:
        issuer = {"issuer": VECTORS["issuer"], "keys": local_key}
        return {"url": self.server.url, "session": SECRET, **issuer, **more}

    def fetch(self, **more: object):
        return fetch_plan(VECTORS["table"], **self.options(**more))

    def test_a_plan_is_fetched_with_the_session_and_protects(self) -> None:
        plan = self.fetch()
        (path, session), (keys, without) = self.server.asked
        self.assertEqual(path.split("?")[0], "/api/v1/tables/sales/orders/transform-plan")
        self.assertEqual((session, keys, without), (SECRET, "/.well-known/jwks.json", None))
        table = pa.table({rule.name: column_of(rule.type, []) for rule in plan.plan.columns})
        self.assertEqual(protect(table, plan, now=VECTORS["now"]).num_rows, 0)

    def test_the_address_and_the_session_come_from_the_environment(self) -> None:
        environment = {"COVENANT_URL": self.server.url + "/", "COVENANT_SESSION": SECRET}
        with mock.patch.dict(os.environ, environment):
            fetch_plan(".".join(VECTORS["table"]), issuer=VECTORS["issuer"], keys=local_key)
        self.assertEqual(self.server.asked[0][1], SECRET)

    def test_without_an_address_or_a_session_there_is_no_plan(self) -> None:
        with mock.patch.dict(os.environ, clear=True):
            self.assertEqual(refusal_of(lambda: fetch_plan("a.b")), "no_plan")
            self.assertEqual(refusal_of(lambda: fetch_plan("a.b", url=self.server.url)), "no_plan")
        self.assertEqual(self.server.asked, [])

    def test_every_other_answer_is_no_plan_and_tells_no_secret(self) -> None:
        elsewhere = {"Location": f"{self.server.url}/elsewhere"}
        answers = [(status, {}, SECRET.encode()) for status in (201, 204, 400, 401, 403, 404, 409, 429, 500, 503)]
        answers += [(302, elsewhere, b""), (307, elsewhere, b""), (200, {}, b"<html>"), (200, {}, b"[]")]
        answers += [(200, {}, b"{}"), (200, {}, b'{"plan": 1}'), (200, {}, b" " * (4 * 1024 * 1024 + 1) + PLAN)]
        for answer in answers:
            with self.subTest(f"{answer[0]} {answer[2][:20]!r}"):
                self.server.answer = answer
                try:
                    self.fetch()
                    self.fail("there is a plan")
                except TransformRefused as refused:
                    self.assertEqual(refused.code, "no_plan")
                    self.assertNotIn(SECRET, str(refused) + repr(refused.__context__))
        self.assertNotIn("/elsewhere", [path for path, _ in self.server.asked])

    def test_a_server_that_does_not_answer_is_no_plan(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.assertEqual(refusal_of(self.fetch), "no_plan")

    def test_keys_that_were_wrapped_for_another_writer_are_no_key(self) -> None:
        self.assertEqual(refusal_of(lambda: self.fetch(keys=None)), "no_key")

    def test_a_source_asks_again_at_half_of_a_plans_life(self) -> None:
        source = PlanSource(VECTORS["table"], self.options())
        first = source.plan()
        self.assertIs(source.plan(), first)
        self.clock.return_value = (first.plan.iat + first.plan.exp) / 2 + 1
        self.assertIsNot(source.plan(), first)

    def test_a_source_refuses_once_the_rules_changed(self) -> None:
        source = PlanSource(VECTORS["table"], self.options(), policy_version="sha256:" + "1" * 64)
        self.assertEqual(refusal_of(source.plan), "no_plan")

    def test_a_source_that_is_sent_elsewhere_asks_for_itself_under_the_same_rules(self) -> None:
        source = PlanSource(VECTORS["table"], self.options())
        version = source.plan().plan.policy_version
        sent = PlanSource.__new__(PlanSource)
        sent.__setstate__(source.__getstate__())
        self.assertEqual(sent.policy_version, version)
        self.assertEqual(sent.plan().plan.policy_version, version)
        self.assertNotIn(SECRET, repr(source))


if __name__ == "__main__":
    unittest.main()
