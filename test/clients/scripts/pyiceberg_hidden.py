"""Pairs of tables for error tests: they differ only in rows that a reader may not see, harmless or hostile."""

import json
import sys

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    DateType,
    DoubleType,
    ListType,
    LongType,
    NestedField,
    StringType,
)

catalog = load_catalog("lake", type="rest", uri=sys.argv[1])
catalog.create_namespace("hidden")

columns = [
    ("id", LongType(), pa.int64()),
    ("owner", StringType(), pa.string()),
    ("name", StringType(), pa.string()),
    ("n", LongType(), pa.int64()),
    ("f", DoubleType(), pa.float64()),
    ("day", DateType(), pa.date32()),
    ("words", ListType(101, StringType(), element_required=False), pa.list_(pa.string())),
    ("longs", ListType(102, LongType(), element_required=False), pa.list_(pa.int64())),
    ("floats", ListType(103, DoubleType(), element_required=False), pa.list_(pa.float64())),
]
schema = Schema(*[NestedField(at + 1, name, kind, required=False) for at, (name, kind, _) in enumerate(columns)])


def harmless(at):
    name = ["17", "23", "42"][at % 3]
    day = 19_000 + at % 5
    return [name, 1 + at % 3, 1.5 + at % 2, day, [name, "5"], [at % 3, 7], [0.5, 2.0]]


def hostile(at):
    longest = 9_223_372_036_854_775_807
    return [
        "SECRET",
        [0, longest][at % 2],
        [1e300, float("nan")][at % 2],
        2_147_483_647,
        ["17", "SECRET"],
        [1, longest],
        [1e300, float("nan")],
    ]


def is_hidden(at, size, layout):
    if layout == "mixed":
        return at % 3 == 2
    if layout == "runs":
        return at // 1024 % 2 == 1
    return at >= size // 3 * 2


def rows(size, layout, hidden):
    for at in range(size):
        hides = is_hidden(at, size, layout)
        yield [at, "eve" if hides else "bob", *(hidden if hides else harmless)(at)]


def column(values, kind):
    if kind == pa.date32():
        return pa.array(values, type=pa.int32()).cast(kind)
    return pa.array(values, type=kind)


def table(name, pieces, hidden, parts):
    ids = {column: at + 1 for at, (column, _, _) in enumerate(columns)}
    spec = PartitionSpec(
        *[PartitionField(ids[part], 1000 + at, IdentityTransform(), part) for at, part in enumerate(parts)]
    )
    # PyIceberg reads bounds as Python's dates, which end with the year 9999.
    properties = {"write.metadata.metrics.default": "counts", "write.parquet.row-group-limit": "7000"}
    made = catalog.create_table(f"hidden.{name}", schema, partition_spec=spec, properties=properties)
    for size, layout in pieces:
        values = list(zip(*rows(size, layout, hidden)))
        arrays = [column(values[at], kind) for at, (_, _, kind) in enumerate(columns)]
        made.append(pa.table(arrays, names=[name for name, _, _ in columns]))


layouts = [(30, "mixed"), (30, "sorted"), (3_000, "mixed"), (3_000, "sorted"), (20_000, "runs"), (20_000, "sorted")]
for name, pieces, parts in [
    ("plain", layouts, []),
    ("by_name", layouts[:1], ["name"]),
    ("by_both", layouts[:1], ["owner", "name"]),
]:
    for kind, hidden in [("harmless", harmless), ("hostile", hostile)]:
        table(f"{name}_{kind}", pieces, hidden, parts)
    print("STEP", json.dumps({"step": name}), flush=True)
