"""A writer with PyIceberg: reads steps as lines of JSON, each a name and its arguments, and reports each on a line."""

import io
import json
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq

# The documentation's own text, which makes `catalog`.
exec(os.environ["SETTINGS"])
schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("note", pa.string())])


def arrow(rows):
    return pa.Table.from_pylist([{"id": at, "note": note} for at, note in rows], schema)


def described(name):
    """By what a table is registered elsewhere."""
    table = catalog.load_table(name)
    return {"metadata": table.metadata_location, "uuid": str(table.metadata.table_uuid)}


def create(name, rows=(), **properties):
    catalog.create_namespace_if_not_exists(name.split(".")[0])
    table = catalog.create_table(name, schema=schema, properties=properties)
    if rows:
        table.append(arrow(rows))
    return described(name)


def append(name, rows, branch="main"):
    catalog.load_table(name).append(arrow(rows), branch=branch)


def write_file(location, rows):
    """A file of which Iceberg knows nothing."""
    out = io.BytesIO()
    pq.write_table(arrow(rows), out)
    write(catalog.load_table(anchor).io, location, out.getvalue())


def add_files(name, files):
    catalog.load_table(name).add_files(files, check_duplicate_files=False)


def register(name, metadata):
    catalog.register_table(name, metadata)


def drop(name):
    catalog.drop_table(name)


def branch(name, called):
    table = catalog.load_table(name)
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, called).commit()


def publish(name, called):
    """Moves the main branch to where another is."""
    table = catalog.load_table(name)
    table.manage_snapshots().set_current_snapshot(ref_name=called).commit()


def expire(name):
    table = catalog.load_table(name)
    old = [one.snapshot_id for one in table.snapshots() if one != table.current_snapshot()]
    table.maintenance.expire_snapshots().by_ids(old).commit()
    return len(old)


def read(name):
    return [list(row.values()) for row in catalog.load_table(name).scan().to_arrow().sort_by("id").to_pylist()]


def write(files, location, content):
    with files.new_output(location).create(overwrite=True) as out:
        out.write(content)


# A table that gives access to the storage.
anchor = None
for line in sys.stdin:
    step, arguments = json.loads(line)
    try:
        report = {"step": step, "value": globals()[step](**arguments)}
        if step == "create":
            anchor = anchor or arguments["name"]
    except Exception as error:
        report = {"step": step, "error": type(error).__name__, "message": str(error)}
    print("STEP " + json.dumps(report, default=str), flush=True)
