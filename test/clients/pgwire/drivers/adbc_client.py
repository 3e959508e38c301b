"""ADBC: results by COPY and without, parameters of each type, schemas, objects and statistics in Arrow's form. One line
of JSON a step."""

import datetime
import decimal
import json
import os
import adbc_driver_postgresql
import adbc_driver_postgresql.dbapi as adbc

e = os.environ
uri = f"postgresql://{e['PGUSER']}:{e['PGPASSWORD']}@{e['PGHOST']}:{e['PGPORT']}/{e['PGDATABASE']}"
columns = "id, region, email, amount, qty, ratio, paid, day, placed_at, created, note, uid, payload"


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def step(name, action):
    try:
        line = {"step": name, "value": plain(action())}
    except adbc.Error as error:
        if not error.sqlstate:
            raise
        line = {"step": name, "error": error.sqlstate}
        con.rollback()
    print(json.dumps(line), flush=True)


def arrow(cur):
    table = cur.fetch_arrow_table()
    return [[[field.name, str(field.type)] for field in table.schema], [list(row.values()) for row in table.to_pylist()]]


with adbc.connect(uri) as con:
    for copy in ("true", "false"):
        with con.cursor(adbc_stmt_kwargs={adbc_driver_postgresql.StatementOptions.USE_COPY.value: copy}) as cur:

            def ask(text, values=None):
                cur.execute(text, values)
                return arrow(cur)

            kind = "by COPY" if copy == "true" else "plain"
            step(f"adbc {kind} types", lambda: ask(f"SELECT {columns} FROM sales.orders ORDER BY id LIMIT 10"))
            step(f"adbc {kind} all", lambda: [len(rows[1]) for rows in [ask("SELECT id, email FROM sales.orders")]])
            step(f"adbc {kind} groups", lambda: ask("SELECT region, count(*) AS n, sum(amount) AS total FROM sales.orders GROUP BY 1 ORDER BY 1"))
            step(f"adbc {kind} nothing", lambda: ask("SELECT id FROM sales.orders WHERE false"))
            step(f"adbc {kind} array", lambda: ask("SELECT region, array_agg(id ORDER BY id) AS ids FROM sales.orders WHERE id < 10 GROUP BY 1 ORDER BY 1"))
            step(f"adbc {kind} interval", lambda: ask("SELECT placed_at - timestamptz '2024-01-01 00:00+00' AS since FROM sales.orders ORDER BY id LIMIT 3"))
            step(f"adbc {kind} no table", lambda: ask("SELECT * FROM sales.nothing"))
            step(f"adbc {kind} no function", lambda: ask("SELECT nothing(id) FROM sales.orders"))
            step(f"adbc {kind} after an error", lambda: ask("SELECT 1 AS one"))

    with con.cursor() as cur:

        def bound(text, *values):
            cur.execute(text, values)
            return cur.fetchall()

        step("adbc number", lambda: bound("SELECT id, email FROM sales.orders WHERE id = $1", 7))
        step("adbc text", lambda: bound("SELECT count(*) FROM sales.orders WHERE region = $1 AND note LIKE $2", "east", "note 1%"))
        step("adbc boolean and float", lambda: bound("SELECT count(*) FROM sales.orders WHERE paid = $1 AND ratio > $2", True, 60.5))
        step("adbc date", lambda: bound("SELECT count(*) FROM sales.orders WHERE day >= $1", datetime.date(2024, 6, 1)))
        step("adbc time", lambda: bound("SELECT count(*) FROM sales.orders WHERE placed_at < $1", datetime.datetime(2024, 1, 3, tzinfo=datetime.timezone.utc)))
        step("adbc local time", lambda: bound("SELECT count(*) FROM sales.orders WHERE created < $1", datetime.datetime(2024, 1, 1, 5)))
        step("adbc decimal", lambda: bound("SELECT count(*) FROM sales.orders WHERE amount < $1", decimal.Decimal("50.25")))
        step("adbc bytes", lambda: bound("SELECT id FROM sales.orders WHERE payload = $1", b"\0\0\0\x0b"))
        step("adbc date_trunc", lambda: bound("SELECT date_trunc($1, day), count(*) FROM sales.orders GROUP BY 1 ORDER BY 1 LIMIT 2", "month"))

    def schema(table):
        return [[field.name, str(field.type), field.nullable] for field in con.adbc_get_table_schema(table, db_schema_filter="sales")]

    def objects(depth):
        found = []
        for catalog in con.adbc_get_objects(depth=depth, db_schema_filter="sales").read_all().to_pylist():
            for one in catalog["catalog_db_schemas"] or []:
                tables = sorted(one["db_schema_tables"] or [], key=lambda table: table["table_name"])
                for table in tables:
                    names = [
                        [c["column_name"], c["ordinal_position"], c["remarks"], c["xdbc_type_name"], c["xdbc_nullable"]]
                        for c in table["table_columns"] or []
                        # What a mask makes of its comment has a test of its own.
                        if c["column_name"] != "email"
                    ]
                    keys = [
                        [k["constraint_type"], k["constraint_column_names"]]
                        for k in table["table_constraints"] or []
                        # NOT NULL is a constraint from PostgreSQL 18 on.
                        if k["constraint_type"] in ("PRIMARY KEY", "FOREIGN KEY")
                    ]
                    found.append([one["db_schema_name"], table["table_name"], table["table_type"], names, sorted(keys)])
        return found

    step("adbc schema", lambda: [schema("orders"), schema("regions")])
    step("adbc objects", lambda: objects("tables"))
    step("adbc columns", lambda: objects("all"))
    step("adbc kinds of tables", lambda: sorted(con.adbc_get_table_types()))
    step("adbc described", lambda: [[field.name, str(field.type)] for field in con.cursor().adbc_execute_schema("SELECT id, amount, day FROM sales.orders")])
