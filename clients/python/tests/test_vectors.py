"""The library gives what the vector file of the service says: outputs and refusals."""

import datetime
import decimal
import json
import os
import pathlib
import unittest
import uuid

import pyarrow as pa
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from covenant_transform import OpenPlan, TransformRefused, open_plan, protect
from covenant_transform.keys import WriterKey, derive_scope_key
from covenant_transform.plan import Plan, read_plan
from covenant_transform.seal import Seal

FILE = pathlib.Path(__file__).parents[3] / "test" / "transform" / "transform-vectors.json"
VECTORS = json.loads(pathlib.Path(os.environ.get("TRANSFORM_VECTORS", FILE)).read_text())
TENANT, TENANT_KEY = VECTORS["tenant"], bytes.fromhex(VECTORS["tenant_key"])
WRITER = WriterKey.of(X25519PrivateKey.from_private_bytes(bytes.fromhex(VECTORS["writer"]["private_key"])))

ARROW = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "uuid": pa.binary(16),
    "fixed[4]": pa.binary(4),
    "decimal(10,2)": pa.decimal128(10, 2),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "timestamp_ns": pa.timestamp("ns"),
    "timestamptz_ns": pa.timestamp("ns", "UTC"),
    "struct": pa.struct([("x", pa.int32())]),
}


def column_of(kind: str, values: list) -> pa.Array:
    """An Arrow column of what the file writes for a type."""
    arrow = ARROW.get(kind, pa.string())
    if kind in ("long", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"):
        return pa.array([None if value is None else int(value) for value in values], pa.int64()).cast(arrow)
    if kind == "date":
        return pa.array(values, pa.int32()).cast(arrow)
    if kind in ("binary", "fixed[4]"):
        values = [None if value is None else bytes.fromhex(value) for value in values]
    if kind == "uuid":
        values = [None if value is None else uuid.UUID(value).bytes for value in values]
    if kind.startswith("decimal"):
        values = [None if value is None else decimal.Decimal(value) for value in values]
    return pa.array(values, arrow)


def open_rules(columns: list, tenant: str = TENANT) -> OpenPlan:
    """An opened plan of rules, whose keys are derived from the file's tenant key."""
    plan: Plan = read_plan(
        {
            "v": 1,
            "iss": VECTORS["issuer"],
            "tenant": tenant,
            "table_uuid": VECTORS["table_uuid"],
            "table": VECTORS["table"],
            "schema_id": VECTORS["schema_id"],
            "policy_version": "sha256:" + "0" * 64,
            "iat": VECTORS["now"],
            "exp": VECTORS["now"] + 590,
            "nonce": "n",
            "columns": columns,
            "complete": True,
        }
    )
    keys = {
        rule.label: derive_scope_key(TENANT_KEY, tenant, rule.scope, rule.method, rule.kid)
        for rule in plan.columns
        if rule.method is not None
    }
    return OpenPlan(plan, keys)


def refusal_of(step) -> str | None:
    try:
        step()
    except TransformRefused as refused:
        return refused.code
    return None


class Vectors(unittest.TestCase):
    def test_scope_keys_are_derived_as_the_service_derives_them(self) -> None:
        for each in VECTORS["derive"]:
            with self.subTest(each["scope"], method=each["method"], kid=each["kid"]):
                key = derive_scope_key(TENANT_KEY, each["tenant"], each["scope"], each["method"], each["kid"])
                self.assertEqual(key.hex(), each["key"])

    def test_a_column_has_the_output_or_the_refusal_of_the_file(self) -> None:
        for each in VECTORS["columns"]:
            kind = each["column"]["type"]
            with self.subTest(each["name"]):

                def protected() -> pa.Array:
                    plan = open_rules([each["column"]])
                    table = pa.table({"c": column_of(kind, each["input"])})
                    return protect(table, plan, now=VECTORS["now"]).column("c").combine_chunks()

                if "refused" in each:
                    self.assertEqual(refusal_of(protected), each["refused"])
                else:
                    self.assertTrue(protected().equals(column_of(kind, each["output"])))

    def test_what_gcm_sealed_is_opened(self) -> None:
        for each in VECTORS["gcm"]:
            with self.subTest(each["sealed"]):
                key = derive_scope_key(TENANT_KEY, TENANT, each["scope"], "gcm", each["kid"])
                is_text = each["type"] == "string"
                sealed = each["sealed"] if is_text else bytes.fromhex(each["sealed"])
                opened = Seal("gcm", each["type"], TENANT, each["scope"], each["kid"], key).open(sealed)
                self.assertEqual(opened if is_text else opened.hex(), each["plain"])

    def test_a_signed_plan_opens_or_has_the_refusal_of_the_file(self) -> None:
        for each in VECTORS["plans"]:
            expected = {name: VECTORS[name] for name in ("issuer", "tenant", "table", "table_uuid", "schema_id", "now")}
            with self.subTest(each["name"]):
                found = refusal_of(lambda: open_plan(each["jws"], VECTORS["jwks"], keys=WRITER, **expected))
                self.assertEqual(found, each.get("refused"))

    def test_a_batch_has_the_output_or_the_refusal_of_the_file(self) -> None:
        for each in VECTORS["batches"]:
            kinds = {column["name"]: column["type"] for column in each["columns"]}

            def protected() -> dict:
                plan = open_rules(each["columns"])
                table = pa.table({name: column_of(kinds.get(name, "string"), v) for name, v in each["batch"].items()})
                return protect(table, plan, now=each["now"]).to_pydict()

            with self.subTest(each["name"]):
                if "refused" in each:
                    self.assertEqual(refusal_of(protected), each["refused"])
                else:
                    output = {name: column_of(kinds[name], v).to_pylist() for name, v in each["output"].items()}
                    self.assertEqual(protected(), output)


class Dates(unittest.TestCase):
    def test_every_month_of_five_thousand_years_begins_where_the_calendar_says(self) -> None:
        from covenant_transform.masks import mask_of

        to_month = mask_of("truncate-to-month", "date")
        epoch = datetime.date(1970, 1, 1).toordinal()
        for year in range(1, 5001, 7):
            for month in range(1, 13):
                first = datetime.date(year, month, 1)
                for day in (first, first + datetime.timedelta(27)):
                    self.assertEqual(to_month(day.toordinal() - epoch), first.toordinal() - epoch)


if __name__ == "__main__":
    unittest.main()
