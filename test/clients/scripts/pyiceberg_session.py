"""One PyIceberg session: each line of standard output is a JSON object with what a step came to."""

import json
import os
import sys

import pyarrow as pa
from pyiceberg.types import StringType

# The documentation's own text, which makes `catalog`.
exec(os.environ["SETTINGS"])
schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("customer", pa.string())])
first = pa.table({"id": [1, 2], "customer": ["a", "b"]}, schema=schema)


def create(name):
    if not catalog.namespace_exists("py"):
        catalog.create_namespace("py")
    catalog.create_table(name, schema=schema)


def append(name):
    catalog.load_table(name).append(first)


def evolve(name):
    with catalog.load_table(name).update_schema() as update:
        update.add_column("note", StringType())


def drop_column(name):
    with catalog.load_table(name).update_schema() as update:
        update.delete_column("customer")


def read(name):
    return catalog.load_table(name).scan().to_arrow().sort_by("id").to_pylist()


def overwrite(name):
    catalog.load_table(name).overwrite(first.slice(0, 1))


def rename(name):
    catalog.rename_table(name, name + "_renamed")


def drop(name):
    catalog.drop_table(name)


for step in sys.argv[2:]:
    try:
        result = {"step": step, "value": globals()[step](sys.argv[1])}
    except Exception as error:
        result = {"step": step, "error": type(error).__name__, "message": str(error)}
    print("STEP " + json.dumps(result), flush=True)
