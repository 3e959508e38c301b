"""
Appends the same rows with PyIceberg in clear and protected, by turns: transform_append.py create|measure ROWS TURNS SEED.
Each turn is a line `TURN` with milliseconds. The first turn of both is not counted.
"""

import json
import os
import random
import sys
import time

import pyarrow as pa
from pyiceberg.catalog import load_catalog

from covenant_transform import fetch_plan, protect
from covenant_transform.pyiceberg import protected_append

step, rows, turns, seed = sys.argv[1], *map(int, sys.argv[2:])
catalog = load_catalog(
    "covenant",
    **{
        "type": "rest",
        "uri": os.environ["CATALOG_URI"],
        "warehouse": "main",
        "header.X-Svc-Session": os.environ["COVENANT_SESSION"],
    },
)
schema = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("email", pa.string()),
        pa.field("card", pa.string()),
        pa.field("note", pa.string()),
        pa.field("country", pa.string()),
        pa.field("amount", pa.decimal128(12, 2)),
        pa.field("quantity", pa.int32()),
        pa.field("score", pa.float64()),
        pa.field("day", pa.date32()),
        pa.field("at", pa.timestamp("us", tz="UTC")),
    ]
)


def table_of(count, numbers):
    """Emails of a tenth as many people; card numbers and notes are all different."""
    ids = range(count)
    people = [numbers.randrange(max(1, count // 10)) for _ in ids]
    columns = {
        "id": pa.array(ids, pa.int64()),
        "email": [f"person.{person}@example.org" for person in people],
        "card": [f"{4_000_000_000_000_000 + number * 97}" for number in ids],
        "note": [f"order {number} of person {person}" for number, person in zip(ids, people)],
        "country": [("DE", "FR", "NL", "PL")[person % 4] for person in people],
        "amount": pa.array([number % 100_000 for number in ids], pa.int64()).cast(pa.decimal128(21, 0)).cast(
            pa.decimal128(12, 2)
        ),
        "quantity": pa.array([number % 50 for number in ids], pa.int32()),
        "score": [numbers.random() for _ in ids],
        "day": pa.array([20_000 + number % 365 for number in ids], pa.int32()).cast(pa.date32()),
        "at": pa.array([1_700_000_000_000_000 + number * 1_000 for number in ids], pa.int64()).cast(
            pa.timestamp("us", tz="UTC")
        ),
    }
    return pa.table(columns, schema=schema)


def timed(work):
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def create():
    catalog.create_namespace_if_not_exists("sales")
    metrics = {"write.metadata.metrics.column.note": "none"}
    for name in ("clear", "protected"):
        catalog.create_table(f"sales.{name}", schema=schema, properties=metrics)


def measure():
    data = table_of(rows, random.Random(seed))
    for turn in range(turns + 1):
        clear, safe = catalog.load_table("sales.clear"), catalog.load_table("sales.protected")
        works = {
            "plain_ms": lambda: clear.append(data),
            # The plan is fetched and opened within.
            "protected_ms": lambda: protected_append(safe, data),
        }
        taken = {name: timed(works[name]) for name in sorted(works, reverse=turn % 2 == 0)}
        plan = fetch_plan(safe.name())
        taken["protect_ms"] = timed(lambda: protect(data, plan))
        if turn > 0:
            print("TURN " + json.dumps(taken), flush=True)


{"create": create, "measure": measure}[step]()
