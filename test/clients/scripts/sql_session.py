"""
One SQL session with Spark or DuckDB: takes statements as a JSON array, or one by one as JSON on lines of standard
input, and reports each on a line. With Spark, a step may also be a file that is read or written as a table's own are:
{"table", "read"} or {"table", "write"}, with the location. With {"append", "schema", "rows"}, or {"append", "query"}, it is a frame that
is protected by the plan of the table before it is appended; "catalog" is that of the table.
"""

import atexit
import importlib
import json
import os
import sys


def spark():
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.jars", os.environ["ICEBERG_JAR"])
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.warehouse.dir", os.environ["SPARK_CONF_DIR"])
        .getOrCreate()
    )
    # Listeners tell what they have heard before the session ends.
    atexit.register(session.stop)

    def run(step):
        if isinstance(step, str):
            return [list(row) for row in session.sql(step).collect()]
        if "append" in step:
            return append_protected(session, **step)
        util = session._jvm.org.apache.iceberg.spark.Spark3Util
        files = util.loadIcebergTable(session._jsparkSession, step["table"]).io()
        if "read" in step:
            stream = files.newInputFile(step["read"]).newStream()
            stream.read()
        else:
            stream = files.newOutputFile(step["write"]).createOrOverwrite()
            stream.write(1)
        stream.close()

    return run


def append_protected(session, append, catalog, schema=None, rows=(), query=None):
    from covenant_transform import PlanSource
    from covenant_transform.spark import protect_frame

    if query is None:
        frame = session.createDataFrame([tuple(row) for row in rows], schema)
    else:
        frame = session.sql(query)
    safe, options = protect_frame(frame, PlanSource(append))
    safe.writeTo(f"{catalog}.{append}").options(**options).append()


def duckdb():
    import duckdb

    connection = duckdb.connect()
    for name in ["avro", "httpfs", "iceberg"]:
        folder = os.path.dirname(importlib.import_module("duckdb_extension_" + name).__file__)
        path = os.path.join(folder, "extensions", "v" + duckdb.__version__, name + ".duckdb_extension")
        connection.execute(f"load '{path}'")
    for statement in os.environ["ATTACH"].split(";"):
        # The extensions are loaded above, from packages.
        if not statement.strip().startswith(("INSTALL", "LOAD")) and statement.strip():
            connection.execute(statement)
    return lambda statement: connection.execute(statement).fetchall()


run = globals()[sys.argv[1]]()
statements = json.loads(sys.argv[2]) if len(sys.argv) > 2 else map(json.loads, sys.stdin)
for statement in statements:
    try:
        report = {"step": statement, "value": run(statement)}
    except Exception as error:
        report = {"step": statement, "error": type(error).__name__, "message": str(error)}
    print("\nSTEP " + json.dumps(report, default=str), flush=True)
