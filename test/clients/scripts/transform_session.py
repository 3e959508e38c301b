"""A PyIceberg writer with the transform: each line of standard output is a JSON object with what a step came to."""

import json
import os
import sys

import pyarrow as pa
from pyiceberg.catalog import load_catalog

from covenant_transform import fetch_plan
from covenant_transform.pyiceberg import protected_append

catalog = load_catalog(
    "covenant",
    **{
        "type": "rest",
        "uri": os.environ["CATALOG_URI"],
        "warehouse": "main",
        "header.X-Svc-Session": os.environ["COVENANT_SESSION"],
    },
)
canary = os.environ["CANARY"]
schema = pa.schema(
    [pa.field("id", pa.int64(), nullable=False), pa.field("email", pa.string()), pa.field("note", pa.string())]
)


def rows(*ids):
    emails = [f"{canary}{number}@example.org" for number in ids]
    return pa.table({"id": ids, "email": emails, "note": [f"{canary} {number}" for number in ids]}, schema=schema)


def create():
    if not catalog.namespace_exists("sales"):
        catalog.create_namespace("sales")
    properties = {"write.metadata.metrics.column.note": "none", "write.metadata.metrics.column.email": "none"}
    for name in ("sales.orders", "sales.customers", "sales.visits"):
        catalog.create_table(name, schema=schema, properties=properties)


def append_clear():
    catalog.load_table("sales.orders").append(rows(1, 2))


def append_protected():
    for name, ids in (("sales.orders", (1, 2, 2)), ("sales.customers", (2, 3))):
        protected_append(catalog.load_table(name), rows(*ids))


def append_without_service():
    address = os.environ.pop("COVENANT_URL")
    try:
        protected_append(catalog.load_table("sales.orders"), rows(9))
    finally:
        os.environ["COVENANT_URL"] = address


def append_of_another_type():
    table = catalog.load_table("sales.orders")
    protected_append(table, pa.table({"id": [9], "email": [9], "note": [canary]}))


def append_with_bounds():
    """A writer that ignores how the table is to be measured."""
    table = catalog.load_table("sales.orders")
    table.metadata.properties["write.metadata.metrics.column.note"] = "full"
    protected_append(table, rows(4))


def append_clear_with_proof():
    """A writer that shows a plan and does not carry it out."""
    table = catalog.load_table("sales.orders")
    table.metadata.properties["write.metadata.metrics.column.email"] = "full"
    plan = fetch_plan(table.name())
    table.append(rows(5), snapshot_properties=plan.summary)


def append_visits():
    protected_append(catalog.load_table("sales.visits"), rows(71, 72, 71))


def append_erased():
    protected_append(catalog.load_table("sales.visits"), rows(72, 71))


def read_visits():
    return catalog.load_table("sales.visits").scan().to_arrow().sort_by("id").to_pylist()


def read():
    return catalog.load_table("sales.orders").scan().to_arrow().sort_by("id").to_pylist()


def join():
    orders = catalog.load_table("sales.orders").scan().to_arrow()
    customers = catalog.load_table("sales.customers").scan().to_arrow().rename_columns(["customer", "email", "other"])
    return orders.join(customers, "email", join_type="inner").num_rows


for step in sys.argv[1:]:
    try:
        result = {"step": step, "value": globals()[step]()}
    except Exception as error:
        result = {"step": step, "error": type(error).__name__, "message": str(error)}
    print("STEP " + json.dumps(result), flush=True)
