"""Tables that PyIceberg writes, and what PyIceberg reads in them: each line is a JSON object with one table."""

import datetime
import json
import os
import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, MonthTransform, TruncateTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)

catalog = load_catalog("lake", type="rest", uri=sys.argv[1])
catalog.create_namespace("py")
start = datetime.datetime(2024, 1, 30, 22, 15, 0, 123456)
names = ["id", "land", "amount", "kind", "at", "seen", "day", "share", "ok", "raw", "tags"]
types = [
    LongType(),
    StringType(),
    DecimalType(10, 2),
    IntegerType(),
    TimestampType(),
    TimestamptzType(),
    DateType(),
    DoubleType(),
    BooleanType(),
    BinaryType(),
    ListType(100, StringType(), element_required=False),
]
fields = [NestedField(at + 1, name, types[at], required=name == "id") for at, name in enumerate(names)]
transforms = [(2, IdentityTransform(), "land"), (1, BucketTransform(4), "id_bucket"), (5, DayTransform(), "at_day")]


def row(at):
    moment = start + datetime.timedelta(hours=at * 5)
    return {
        "id": at,
        "land": ["de", "fr", None][at % 3],
        "amount": Decimal(at) / 4 if at % 7 else None,
        "kind": at % 5,
        "at": moment,
        "seen": moment.replace(tzinfo=datetime.timezone.utc),
        "day": moment.date(),
        "share": at / 8,
        "ok": at % 2 == 0,
        "raw": bytes([at % 256, 255]),
        "tags": None if at % 11 == 0 else ["a", str(at)],
    }


def rows(table, first, last, **more):
    values = [row(at) | {name: of(at) for name, of in more.items()} for at in range(first, last)]
    schema = table.schema().as_arrow()
    return pa.Table.from_pylist([{name: value.get(name) for name in schema.names} for value in values], schema)


def create(name, partitioned, **properties):
    spec = [PartitionField(source, 1000 + at, to, named) for at, (source, to, named) in enumerate(transforms)]
    return catalog.create_table(
        f"py.{name}",
        Schema(*fields),
        partition_spec=PartitionSpec(*(spec if partitioned else [])),
        properties=properties,
    )


def history(table):
    """Renamed, widened, dropped and added columns; a new partition field; rows replaced and deleted."""
    table.append(rows(table, 0, 100))
    with table.update_schema() as update:
        update.rename_column("amount", "value")
        update.update_column("amount", DecimalType(14, 2))
        update.update_column("kind", LongType())
        update.add_column("note", StringType())
        update.delete_column("share")
    # Another column by the name of the one that was dropped.
    with table.update_schema() as update:
        update.add_column("share", StringType())
    if not table.spec().is_unpartitioned():
        with table.update_spec() as update:
            update.add_field("note", TruncateTransform(1), "note_start")
            update.add_field("day", MonthTransform(), "day_month")
            update.remove_field("land")
    more = {"value": lambda at: Decimal(at) * 1000, "note": lambda at: f"n{at}", "share": lambda at: "s"}
    table.append(rows(table, 100, 160, **more))
    table.delete("id >= 10 and id < 20")
    table.delete("land == 'fr' and kind == 2")
    table.overwrite(rows(table, 500, 510, **more), overwrite_filter="id >= 90 and id < 110")
    table.upsert(rows(table, 505, 515, **more | {"note": lambda at: "upserted"}), join_cols=["id"])
    table.delete("id == 9999")


def text(value):
    if value is None:
        return None
    if isinstance(value, list):
        return ",".join(value)
    if isinstance(value, datetime.datetime):
        utc = value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)
        return str(utc // datetime.timedelta(microseconds=1))
    if isinstance(value, bytes):
        return value.hex()
    return str(value).lower() if isinstance(value, bool) else str(value)


def report(table):
    snapshots = []
    for snapshot in table.snapshots():
        read = table.scan(snapshot_id=snapshot.snapshot_id).to_arrow().sort_by("id")
        snapshots.append(
            {
                "id": str(snapshot.snapshot_id),
                "operation": snapshot.summary.operation.value,
                "columns": read.column_names,
                "rows": [[text(value) for value in each.values()] for each in read.to_pylist()],
            }
        )
    deletes = table.inspect.delete_files().num_rows
    return {"metadata": table.metadata_location, "deletes": deletes, "snapshots": snapshots}


def partitioned():
    table = create("partitioned", True, **{"write.delete.mode": "merge-on-read"})
    history(table)
    return report(table)


def compressed():
    properties = {"write.metadata.compression-codec": "gzip", "write.parquet.row-group-limit": "16"}
    table = create("compressed", False, **properties)
    history(table)
    return report(table)


def replaced():
    """Whole partitions that are replaced."""
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "land"))
    table = catalog.create_table("py.replaced", Schema(*fields), partition_spec=spec)
    table.append(rows(table, 0, 30))
    table.dynamic_partition_overwrite(rows(table, 30, 32))
    return report(table)


def adopted():
    """Files that know no field ids: what names them is the table's name mapping."""
    table = create("adopted", False)
    plain = rows(table, 0, 50)
    bare = pa.schema([field.remove_metadata() for field in plain.schema])
    path = os.path.join(table.location().removeprefix("file:"), "adopted.parquet")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(pa.Table.from_pylist(plain.to_pylist(), bare), path)
    table.add_files(["file://" + os.path.abspath(path)])
    with table.update_schema() as update:
        update.rename_column("land", "country")
    return report(table)


def version_3():
    table = create("version_3", False, **{"format-version": "3"})
    table.append(rows(table, 0, 10))
    return report(table)


for step in [partitioned, compressed, replaced, adopted, version_3]:
    try:
        result = {"step": step.__name__, "value": step()}
    except Exception as error:
        result = {"step": step.__name__, "error": type(error).__name__, "message": str(error)}
    print("STEP " + json.dumps(result), flush=True)
