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
    TimestampType,
    TimestamptzType,
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
    ("at", TimestampType(), pa.timestamp("us")),
    ("seen", TimestamptzType(), pa.timestamp("us", tz="UTC")),
    ("words", ListType(101, StringType(), element_required=False), pa.list_(pa.string())),
    ("longs", ListType(102, LongType(), element_required=False), pa.list_(pa.int64())),
    ("floats", ListType(103, DoubleType(), element_required=False), pa.list_(pa.float64())),
]
schema = Schema(*[NestedField(at + 1, name, kind, required=False) for at, (name, kind, _) in enumerate(columns)])


def harmless(at):
    name = ["17", "23", "42"][at % 3]
    day = 19_000 + at % 5
    micros = day * 86_400_000_000
    return [name, 1 + at % 3, 1.5 + at % 2, day, micros, micros, [name, "5"], [at % 3, 7], [0.5, 2.0]]


def hostile(at):
    longest = 9_223_372_036_854_775_807
    later = 60_000 * 31_556_952_000_000
    return [
        "SECRET",
        [0, longest][at % 2],
        [1e300, float("nan")][at % 2],
        2_147_483_647,
        longest,
        later,
        ["17", "SECRET"],
        [1, longest],
        [1e300, float("nan")],
    ]


def table(name, size, layout, hidden, parts):
    if layout == "mixed":
        is_hidden = [at % 3 == 2 for at in range(size)]
    elif layout == "runs":
        is_hidden = [at // 1024 % 2 == 1 for at in range(size)]
    else:
        is_hidden = [at >= size // 3 * 2 for at in range(size)]
    rows = [
        [at, "eve" if is_hidden[at] else "bob", *(hidden if is_hidden[at] else harmless)(at)] for at in range(size)
    ]
    arrays = [
        pa.array([row[at] for row in rows], type=kind if "list" in str(kind) else None) for at, (_, _, kind) in enumerate(columns)
    ]
    cast = [
        array if array.type == kind else array.cast(pa.int32()).cast(kind) if kind == pa.date32() else array.cast(kind)
        for array, (_, _, kind) in zip(arrays, columns)
    ]
    by_name = {column: at + 1 for at, (column, _, _) in enumerate(columns)}
    spec = PartitionSpec(
        *[PartitionField(by_name[part], 1000 + at, IdentityTransform(), part) for at, part in enumerate(parts)]
    )
    # PyIceberg reads bounds as Python's dates, which end with the year 9999.
    properties = {"write.metadata.metrics.default": "counts"}
    if size % 2:
        properties["write.parquet.row-group-limit"] = "1000"
    made = catalog.create_table(f"hidden.{name}", schema, partition_spec=spec, properties=properties)
    made.append(pa.table(cast, names=[column for column, _, _ in columns]))


for name, size, layout, parts in [
    ("mixed_30", 30, "mixed", []),
    ("sorted_30", 30, "sorted", []),
    ("mixed_3001", 3_001, "mixed", []),
    ("sorted_3000", 3_000, "sorted", []),
    ("runs_20000", 20_000, "runs", []),
    ("sorted_20001", 20_001, "sorted", []),
    ("by_name", 30, "mixed", ["name"]),
    ("by_both", 30, "mixed", ["owner", "name"]),
]:
    for kind, hidden in [("harmless", harmless), ("hostile", hostile)]:
        table(f"{name}_{kind}", size, layout, hidden, parts)
    print("STEP", json.dumps({"step": name}), flush=True)
