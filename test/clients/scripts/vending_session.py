"""PyIceberg with vended credentials: reads steps as lines of JSON, and reports each on a line."""

import json
import os
import sys
import time

import pyarrow as pa
from pyarrow.fs import FileSelector

# The documentation's own text, which makes `catalog`.
exec(os.environ["SETTINGS"])
schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("note", pa.string())])
loaded = {}


def rows(*pairs):
    return pa.Table.from_pylist([{"id": at, "note": note} for at, note in pairs], schema)


def create(name, location):
    loaded[name] = catalog.create_table(name, schema=schema, location=location)
    return sorted(key for key in loaded[name].io.properties if key.startswith("s3."))


def load(name):
    loaded[name] = catalog.load_table(name)
    return loaded[name].io.properties.get("s3.access-key-id")


def append(name, at, note):
    loaded[name].append(rows((at, note)))


def read(name):
    return [[row["id"], row["note"]] for row in loaded[name].scan().to_arrow().sort_by("id").to_pylist()]


def files(name):
    """Every file of the table, by its location."""
    table = loaded[name]
    inspected = table.inspect.files().to_pylist()
    return [table.current_snapshot().manifest_list] + [row["file_path"] for row in inspected]


def get(name, location):
    """A file anywhere, with the credentials of the table."""
    with loaded[name].io.new_input(location).open() as stream:
        return len(stream.read())


def list_folder(name, folder):
    selector = FileSelector(folder, recursive=True)
    return [one.path for one in loaded[name].io.fs_by_scheme("s3", None).get_file_info(selector)]


def put(name, location):
    with loaded[name].io.new_output(location).create(overwrite=True) as stream:
        stream.write(b"x")


def put_slowly(name, location, seconds):
    """One file whose parts are on both sides of a pause."""
    part = b"x" * 6_000_000
    with loaded[name].io.new_output(location).create(overwrite=True) as stream:
        stream.write(part)
        time.sleep(seconds)
        stream.write(part)


def delete(name, location):
    loaded[name].io.delete(location)


for line in sys.stdin:
    step, given = json.loads(line)
    try:
        result = {"step": step, "value": globals()[step](**given)}
    except Exception as error:
        result = {"step": step, "error": type(error).__name__, "message": str(error)[:2000]}
    print("STEP " + json.dumps(result), flush=True)
