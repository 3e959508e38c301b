"""Keys of subjects: the vector file's references, keys, answers and batches, and how a writer asks for them."""

import json
import threading
import traceback
import unittest
from unittest import mock

import pyarrow as pa

from covenant_transform import TransformRefused, fetch_plan, open_plan, protect
from covenant_transform.keys import derive_scope_key
from covenant_transform.open_plan import verified_payload
from covenant_transform.seal import Seal
from covenant_transform.subjects import SubjectAnswer, SubjectKey, SubjectKeys, open_subject_keys, subject_ref
from tests.test_fetch import SECRET, Handler, Server
from tests.test_vectors import TENANT, TENANT_KEY, VECTORS, WRITER, column_of, refusal_of

SUBJECTS, NOW = VECTORS["subjects"], VECTORS["now"]
KINDS = {column["name"]: column["type"] for column in SUBJECTS["columns"]}
CANARY = "CANARY-31d7"


def given_keys() -> SubjectKeys:
    """The keys of the file, as an answer brings them."""
    keys = {
        tuple(each[of] for of in ("kind", "ref", "scope", "method", "kid")): SubjectKey(
            each["sid"], bytes.fromhex(each["key"])
        )
        for each in SUBJECTS["keys"]
    }
    found = SubjectKeys()
    found.add(SubjectAnswer(keys, frozenset((each["kind"], each["ref"]) for each in SUBJECTS["shredded"])))
    return found


def opened(jws: str = SUBJECTS["plan"], subject_keys: SubjectKeys | None = None):
    of = {name: VECTORS[name] for name in ("issuer", "table", "now")}
    return open_plan(jws, VECTORS["jwks"], keys=WRITER, subject_keys=subject_keys, **of)


class SubjectVectors(unittest.TestCase):
    def test_a_value_has_the_reference_of_the_file(self) -> None:
        for each in SUBJECTS["refs"]:
            key = derive_scope_key(TENANT_KEY, TENANT, each["kind"], "subject", "k1")
            self.assertEqual(subject_ref(key, each["value"]), each["ref"])

    def test_an_answer_opens_or_is_refused(self) -> None:
        plan = opened().plan
        for each in SUBJECTS["answers"]:
            with self.subTest(each["name"]):
                verified = lambda kind, jws=each["jws"]: verified_payload(jws, VECTORS["jwks"], kind)  # noqa: E731
                found = refusal_of(lambda: open_subject_keys(plan, verified, WRITER, NOW))
                self.assertEqual(found, each.get("refused"))
        good = SUBJECTS["answers"][0]["jws"]
        answer = open_subject_keys(plan, lambda kind: verified_payload(good, VECTORS["jwks"], kind), WRITER, NOW)
        for each in SUBJECTS["keys"]:
            key = answer.keys[tuple(each[of] for of in ("kind", "ref", "scope", "method", "kid"))]
            self.assertEqual((key.sid, key.key.hex()), (each["sid"], each["key"]))

    def test_a_plan_with_subjects_opens_or_is_refused(self) -> None:
        for each in SUBJECTS["plans"]:
            with self.subTest(each["name"]):
                self.assertEqual(refusal_of(lambda jws=each["jws"]: opened(jws)), each.get("refused"))

    def test_a_batch_has_the_output_or_the_refusal_of_the_file(self) -> None:
        for each in SUBJECTS["batches"]:

            def protected(batch=each["batch"]) -> dict:
                table = pa.table({name: column_of(KINDS[name], values) for name, values in batch.items()})
                return protect(table, opened(subject_keys=given_keys()), now=NOW).to_pydict()

            with self.subTest(each["name"]):
                if "refused" in each:
                    self.assertEqual(refusal_of(protected), each["refused"])
                else:
                    output = {name: column_of(KINDS[name], v).to_pylist() for name, v in each["output"].items()}
                    self.assertEqual(protected(), output)

    def test_what_gcm_sealed_is_opened_and_what_is_sealed_here_too(self) -> None:
        for each in SUBJECTS["gcm"]:
            key, is_text = bytes.fromhex(each["key"]), each["type"] == "string"
            seal = Seal("gcm", each["type"], TENANT, each["scope"], each["kid"], key, each["sid"])
            plain = each["plain"] if is_text else bytes.fromhex(each["plain"])
            for sealed in (each["sealed"] if is_text else bytes.fromhex(each["sealed"]), *seal.seal([plain])):
                self.assertEqual(seal.open(sealed), plain)
            other = Seal("gcm", each["type"], TENANT, each["scope"], each["kid"], key, "A" * 22)
            self.assertEqual(refusal_of(lambda: other.open(seal.seal([plain])[0])), "not_authentic")

    def test_layouts_of_the_subject_column_are_one(self) -> None:
        texts = pa.array(["a", None, "a"])
        for ids in (pa.array([1, None, 1], pa.int64()), pa.array([1, None, 1], pa.int64()).dictionary_encode()):
            table = pa.table({"id": ids, "c": texts})
            safe = protect(table, opened(subject_keys=given_keys()), now=NOW).column("c").to_pylist()
            self.assertEqual([safe[0], safe[1]], [safe[2], None])

    def test_a_refusal_tells_no_value_and_no_key(self) -> None:
        keys = given_keys()
        cases = (
            {"id": pa.array([None], pa.int64()), "c": [CANARY]},
            {"id": pa.array([4], pa.int64()), "c": [CANARY]},
            {"id": pa.array([3], pa.int64()), "c": [CANARY]},
            {"id": [CANARY], "c": [CANARY]},
            {"id": pa.array([1], pa.int64()), "c": [f"css1.{CANARY}"]},
        )
        for batch in cases:
            with self.assertRaises(TransformRefused) as raised:
                protect(pa.table(batch), opened(subject_keys=keys), now=NOW)
            shown = "".join(traceback.format_exception(raised.exception)) + repr(opened(subject_keys=keys))
            self.assertNotIn(CANARY, shown)
            for each in SUBJECTS["keys"]:
                self.assertNotIn(bytes.fromhex(each["key"]), shown.encode())
                self.assertNotIn(repr(bytes.fromhex(each["key"]))[2:-1], shown)


class SubjectHandler(Handler):
    def do_POST(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted.append((self.path, self.headers.get("X-Svc-Session"), json.loads(body)))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.subject_keys)


class SubjectServer(Server):
    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = SubjectHandler
        self.answer = (200, {}, json.dumps({"plan": SUBJECTS["plan"]}).encode())
        self.posted: list = []
        self.status = 200
        self.subject_keys = json.dumps({"subject_keys": SUBJECTS["answers"][0]["jws"]}).encode()


class FetchingSubjects(unittest.TestCase):
    def setUp(self) -> None:
        self.server = SubjectServer()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        for patched in (
            mock.patch("time.time", return_value=NOW),
            mock.patch("covenant_transform.fetch.WriterKey.generate", return_value=WRITER),
        ):
            patched.start()
            self.addCleanup(patched.stop)

    def protect(self, ids: list) -> pa.Table:
        plan = fetch_plan(VECTORS["table"], url=self.server.url, session=SECRET, issuer=VECTORS["issuer"])
        return protect(pa.table({"id": pa.array(ids, pa.int64()), "c": [CANARY] * len(ids)}), plan, now=NOW)

    def test_the_keys_of_a_batch_are_asked_for_by_references_some_at_a_time(self) -> None:
        safe = self.protect([1, 2, -(2**63), 1]).column("c").to_pylist()
        self.assertEqual(safe[0], safe[3])
        refs = {each["value"]: each["ref"] for each in SUBJECTS["refs"]}
        asked = [body["subjects"] for _, _, body in self.server.posted]
        # The first answer brings the third subject's key, too; each asks for at most two.
        self.assertEqual([len(subjects[0]["refs"]) for subjects in asked], [2, 1])
        named = {ref for subjects in asked for ref in subjects[0]["refs"]}
        self.assertEqual(named, {refs["1"], refs["2"], refs["-9223372036854775808"]})
        path, session, body = self.server.posted[0]
        self.assertEqual((path, session), ("/api/v1/tables/sales/orders/transform-subject-keys", SECRET))
        self.assertEqual((body["schema_id"], body["public_key"]), (4, WRITER.public))
        self.assertNotIn(CANARY, json.dumps(self.server.posted))

    def test_keys_that_cannot_be_had_refuse_the_batch(self) -> None:
        good = self.server.subject_keys
        for status, body in (
            (500, good),
            (409, good),
            (200, b"no json"),
            (200, b"{}"),
            (200, json.dumps({"subject_keys": SUBJECTS["plan"]}).encode()),
        ):
            self.server.status, self.server.subject_keys = status, body
            with self.subTest(status, body=body[:20]), self.assertRaises(TransformRefused) as raised:
                self.protect([1])
            self.assertEqual(raised.exception.code, "subject_keys")
            shown = "".join(traceback.format_exception(raised.exception))
            self.assertNotIn(SECRET, shown)
            self.assertNotIn(CANARY, shown)

    def test_an_erased_subject_refuses_the_batch(self) -> None:
        self.assertEqual(refusal_of(lambda: self.protect([1, 3])), "subject_shredded")


if __name__ == "__main__":
    unittest.main()
