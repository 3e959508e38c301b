"""
A writer with PyIceberg, pyarrow and fastavro, who has keys of the storage: reads steps as lines of JSON, each a name and
its arguments, and reports each on a line. The steps of forgers write what PyIceberg itself would not.
"""

import io
import json
import os
import random
import sys
import time
import uuid

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.table.statistics import StatisticsFile

# The documentation's own text, which makes `catalog`.
exec(os.environ["SETTINGS"])
schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("note", pa.string())])


def arrow(rows):
    return pa.Table.from_pylist([{"id": at, "note": note} for at, note in rows], schema)


def described(name):
    """What the newest snapshot of a table names."""
    table = catalog.load_table(name)
    found = {"location": table.location(), "metadata": table.metadata_location, "uuid": str(table.metadata.table_uuid)}
    snapshot = table.current_snapshot()
    if snapshot is None:
        return found
    manifests = snapshot.manifests(table.io)
    entries = [entry for manifest in manifests for entry in manifest.fetch_manifest_entry(table.io)]
    return found | {
        "list": snapshot.manifest_list,
        "manifests": [manifest.manifest_path for manifest in manifests],
        "files": [entry.data_file.file_path for entry in entries],
    }


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


def set_statistics(name, path):
    table = catalog.load_table(name)
    statistics = {
        "snapshot-id": table.current_snapshot().snapshot_id,
        "statistics-path": path,
        "file-size-in-bytes": 1,
        "file-footer-size-in-bytes": 1,
        "blob-metadata": [],
    }
    with table.update_statistics() as update:
        update.set_statistics(StatisticsFile(**statistics))


def write(files, location, content):
    with files.new_output(location).create(overwrite=True) as out:
        out.write(content)


def content(files, location):
    with files.new_input(location).open() as source:
        return source.read()


def avro(files, location):
    reader = fastavro.reader(io.BytesIO(content(files, location)))
    return reader.metadata, list(reader)


def write_avro(files, location, metadata, records):
    """Writes records by the schema and the header of the file that they came from. Returns its length."""
    out = io.BytesIO()
    header = {key: value for key, value in metadata.items() if not key.startswith("avro.")}
    fastavro.writer(out, json.loads(metadata["avro.schema"]), records, codec="deflate", metadata=header)
    write(files, location, out.getvalue())
    return len(out.getvalue())


def forge(name, victim, layer, spelling=()):
    """
    Writes, below a table's own location, a snapshot that names another table's files from one layer on: its
    `manifest-list`, its `manifests`, its `files`, or its files as equality `deletes` of the note. `spelling` replaces
    text in the first location that is the other table's. Returns the snapshot as a commit adds it.
    """
    table, other = catalog.load_table(name), catalog.load_table(victim)
    files = table.io
    snapshot_id = random.randrange(1, 2**53)
    sequence = table.metadata.last_sequence_number + 1

    def spelled(location):
        for old, new in spelling:
            location = location.replace(old, new)
        return location

    def own(kind):
        return f"{table.location()}/metadata/{kind}-{uuid.uuid4()}.avro"

    manifest_list = other.current_snapshot().manifest_list
    if layer == "manifest-list":
        manifest_list = spelled(manifest_list)
    else:
        header, manifests = avro(files, manifest_list)
        for manifest in manifests:
            manifest |= {"sequence_number": sequence, "min_sequence_number": 0, "added_snapshot_id": snapshot_id}
            if layer == "manifests":
                manifest["manifest_path"] = spelled(manifest["manifest_path"])
                continue
            inside, entries = avro(files, manifest["manifest_path"])
            for entry in entries:
                entry["data_file"]["file_path"] = spelled(entry["data_file"]["file_path"])
                if layer == "deletes":
                    entry["data_file"] |= {"content": 2, "equality_ids": [2]}
            if layer == "deletes":
                inside = dict(inside) | {"content": "deletes"}
                manifest["content"] = 1
            path = own("m")
            length = write_avro(files, path, inside, entries)
            manifest |= {"manifest_path": path, "manifest_length": length}
        if layer == "deletes":
            manifests = avro(files, table.current_snapshot().manifest_list)[1] + manifests
        manifest_list = own("snap")
        write_avro(files, manifest_list, header, manifests)
    return {
        "snapshot-id": snapshot_id,
        "sequence-number": sequence,
        "timestamp-ms": int(time.time() * 1000),
        "manifest-list": manifest_list,
        "summary": {"operation": "append"},
        "schema-id": 0,
    }


def copy_metadata(victim, folder):
    """Copies another table's metadata file below a folder, as that of a table there. Returns where it lies."""
    other = catalog.load_table(victim)
    metadata = json.loads(content(other.io, other.metadata_location))
    metadata |= {"table-uuid": str(uuid.uuid4()), "location": folder, "metadata-log": []}
    location = f"{folder}/metadata/00000-{uuid.uuid4()}.metadata.json"
    write(other.io, location, json.dumps(metadata).encode())
    return location


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
