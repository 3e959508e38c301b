"""What the vectors do not hold: layouts of Arrow, refusals that tell no value, and what is reversible."""

import io
import pickle
import traceback
import unittest
import uuid

import pyarrow as pa

from covenant_transform import TransformRefused, protect, protect_batches
from covenant_transform.ff1 import ff1_texts
from covenant_transform.seal import Seal
from tests.test_vectors import TENANT, VECTORS, open_rules, refusal_of

NOW = VECTORS["now"]
CANARY = "CANARY-7c1d"


def rule(name: str = "c", kind: str = "string", required: bool = False, **action: str) -> dict:
    keyed = {"scope": "sensitive.email", "kid": "k1"} if "method" in action else {}
    return {"field_id": 1, "name": name, "type": kind, "required": required, **action, **keyed}


HMAC = rule(action="tokenize", method="hmac")
SIV = rule(action="encrypt", method="siv")


def protected(column: pa.Array, *rules: dict) -> pa.ChunkedArray:
    return protect(pa.table({"c": column}), open_rules(list(rules)), now=NOW).column("c")


class Layouts(unittest.TestCase):
    def test_equal_values_of_every_layout_of_text_get_equal_tokens(self) -> None:
        texts = ["a", None, "ä€😀", "a"]
        plain = protected(pa.array(texts), HMAC).to_pylist()
        for layout in (
            pa.array(texts, pa.large_string()),
            pa.array(texts, pa.string_view()),
            pa.array(texts).dictionary_encode(),
            pa.array(texts, pa.large_string()).dictionary_encode(),
        ):
            with self.subTest(str(layout.type)):
                self.assertEqual(protected(layout, HMAC).to_pylist(), plain)
        chunks = pa.chunked_array([["a"], [None, "ä€😀", "a"]])
        self.assertEqual(protected(chunks, HMAC).to_pylist(), plain)
        sliced = pa.array(["before", *texts, "after"]).slice(1, 4)
        self.assertEqual(protected(sliced, HMAC).to_pylist(), plain)

    def test_a_large_string_stays_one_and_a_dictionary_becomes_plain(self) -> None:
        self.assertEqual(protected(pa.array(["a"], pa.large_string()), HMAC).type, pa.large_string())
        self.assertEqual(protected(pa.array(["a"]).dictionary_encode(), HMAC).type, pa.string())

    def test_batches_streams_and_empty_tables_are_protected(self) -> None:
        plan = open_rules([HMAC])
        batch = pa.record_batch({"c": ["a", "b"]})
        self.assertIsInstance(protect(batch, plan, now=NOW), pa.RecordBatch)
        self.assertEqual(protect(batch.slice(0, 0), plan, now=NOW).num_rows, 0)
        reader = pa.RecordBatchReader.from_batches(batch.schema, [batch, batch])
        self.assertEqual(refusal_of(lambda: list(protect_batches(reader, plan))), "expired")

    def test_a_uuid_of_arrows_own_type_stays_one(self) -> None:
        column = pa.array([uuid.uuid4().bytes], pa.uuid())
        fixed = protected(column, rule(kind="uuid", action="mask", mask="mask-to-fixed-value"))
        self.assertEqual((fixed.type, fixed.to_pylist()), (pa.uuid(), [uuid.UUID(int=0)]))

    def test_columns_to_keep_are_the_ones_given_nested_ones_too(self) -> None:
        nested = pa.array([{"x": [1]}, None])
        kept = protected(nested, rule(kind="struct", action="keep"))
        self.assertTrue(kept.chunk(0).equals(nested))

    def test_nothing_lies_below_a_null(self) -> None:
        for layout in (pa.array([CANARY, None]), pa.array([CANARY, None]).dictionary_encode()):
            sink = io.BytesIO()
            out = protect(pa.table({"c": layout}), open_rules([HMAC]), now=NOW)
            with pa.ipc.new_stream(sink, out.schema) as writer:
                writer.write_table(out)
            self.assertNotIn(CANARY.encode(), sink.getvalue())


class Refusals(unittest.TestCase):
    def test_data_of_another_type_than_the_plans_are_refused(self) -> None:
        for column in (pa.array([1]), pa.array([b"a"]), pa.array([["a"]]), pa.array([{"a": 1}])):
            with self.subTest(str(column.type)):
                self.assertEqual(refusal_of(lambda: protected(column, HMAC)), "wrong_type")
        broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xc3\x28")])
        self.assertEqual(refusal_of(lambda: protected(broken, HMAC)), "wrong_type")

    def test_a_field_id_that_is_not_the_plans_is_refused(self) -> None:
        field = pa.field("c", pa.string(), metadata={"PARQUET:field_id": "2"})
        table = pa.table([pa.array(["a"])], schema=pa.schema([field]))
        self.assertEqual(refusal_of(lambda: protect(table, open_rules([HMAC]), now=NOW)), "wrong_schema")

    def test_a_refusal_shows_no_value_and_no_foreign_error(self) -> None:
        ff1 = rule(action="tokenize", method="ff1", alphabet="digits")
        for column, which in (
            (pa.array([CANARY]), ff1),
            (pa.array(["tok_" + CANARY]), HMAC),
            (pa.array([CANARY.encode() + b"\xff"]).view(pa.string()), SIV),
        ):
            try:
                protected(column, which)
                self.fail("it was protected")
            except TransformRefused as refused:
                told = "".join(traceback.format_exception(refused)) + repr(refused.__context__)
                self.assertNotIn("CANARY", told)
                self.assertIsNone(refused.__context__)
                self.assertEqual(refused.column, "c")
                self.assertEqual(pickle.loads(pickle.dumps(refused)).code, refused.code)

    def test_what_is_thrown_on_the_way_is_a_refusal_without_its_words(self) -> None:
        from unittest import mock

        with mock.patch("covenant_transform.protect.text_tokens", side_effect=ValueError(CANARY)):
            try:
                protected(pa.array(["a"]), HMAC)
                self.fail("it was protected")
            except TransformRefused as refused:
                self.assertEqual((refused.code, refused.__context__), ("failed", None))
                self.assertNotIn(CANARY, str(refused))

    def test_one_bad_value_in_the_last_column_leaves_the_table_as_it_was(self) -> None:
        table = pa.table({"a": ["x"], "c": ["tok_again"]})
        plan = open_rules([{**HMAC, "name": "a", "field_id": 2}, HMAC])
        self.assertEqual(refusal_of(lambda: protect(table, plan, now=NOW)), "already_protected")
        self.assertEqual(table.to_pydict(), {"a": ["x"], "c": ["tok_again"]})

    def test_an_open_plan_shows_no_key(self) -> None:
        plan = open_rules([HMAC])
        key = plan.key_of(plan.plan.columns[0])
        self.assertNotIn(repr(key), repr(plan))
        self.assertNotIn("key=", repr(Seal("siv", "string", TENANT, "s", "k1", key)))


class Reversible(unittest.TestCase):
    def test_what_was_sealed_opens_under_its_own_key_and_no_other(self) -> None:
        for method in ("siv", "gcm"):
            for kind, value in (("string", "ä€😀"), ("string", ""), ("binary", b"\0\xff"), ("binary", b"")):
                with self.subTest(method, kind=kind):
                    key = bytes(range(64 if method == "siv" else 32))
                    seal = Seal(method, kind, TENANT, "s", "k1", key)
                    [sealed] = seal.seal([value])
                    self.assertEqual(seal.open(sealed), value)
                    for other in (
                        Seal(method, kind, TENANT, "s2", "k1", key),
                        Seal(method, kind, "other", "s", "k1", key),
                        Seal(method, kind, TENANT, "s", "k1", bytes(len(key))),
                        Seal(method, kind, TENANT, "s", "k2", key),
                    ):
                        self.assertEqual(refusal_of(lambda: other.open(sealed)), "not_authentic")
                    self.assertEqual(refusal_of(lambda: seal.open(sealed[:-1])), "not_authentic")

    def test_gcm_gives_equal_values_different_bytes(self) -> None:
        first, second = protected(pa.array(["a", "a"]), rule(action="encrypt", method="gcm")).to_pylist()
        self.assertNotEqual(first, second)

    def test_ff1_is_undone_by_its_inverse_for_every_length(self) -> None:
        for alphabet, characters in (("digits", "0123456789"), ("base36", "az09"), ("base62", "aZ09")):
            texts = [(characters * 10)[:length] for length in range(6, 41)]
            tokens = ff1_texts(bytes(32), alphabet, b"t", texts)
            self.assertEqual(ff1_texts(bytes(32), alphabet, b"t", tokens, decrypt=True), texts)
            self.assertEqual([len(token) for token in tokens], [len(text) for text in texts])


if __name__ == "__main__":
    unittest.main()
