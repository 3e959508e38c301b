"""psqlODBC by pyodbc, with whole results and with cursors (UseDeclareFetch)."""

import os

import pyodbc
from steps import main, run


def state_of(error):
    return error.args[0] if isinstance(error, pyodbc.Error) else None


def connect(declare_fetch):
    return pyodbc.connect(
        f"Driver={{PostgreSQL Unicode}};Server={os.environ['PGHOST']};Port={os.environ['PGPORT']};"
        f"Database={os.environ['PGDATABASE']};Uid={os.environ['PGUSER']};Pwd={os.environ['PGPASSWORD']};"
        f"SSLmode={os.environ.get('PGSSLMODE', 'disable')};UseDeclareFetch={declare_fetch};Fetch=100;BoolsAsChar=0",
        autocommit=False,
    )


def modes():
    for declare_fetch in (0, 1):
        connection = connect(declare_fetch)
        cursor = connection.cursor()
        name = f"UseDeclareFetch={declare_fetch}"
        run(
            f"{name} types",
            lambda: [
                list(row)
                for row in cursor.execute(
                    "select id, region, amount, qty, ratio, paid, day, created, note from sales.orders order by id limit 20"
                ).fetchall()
            ],
            state_of,
        )
        run(f"{name} all", lambda: sum(row[0] for row in cursor.execute("select id from sales.orders")), state_of)
        run(
            f"{name} parameters",
            lambda: [list(row) for row in cursor.execute("select id from sales.orders where region = ? and qty > ? order by id limit 3", "north", 10).fetchall()],
            state_of,
        )
        connection.rollback()
        run(f"{name} tables", lambda: [[row.table_schem, row.table_name, row.table_type] for row in cursor.tables(schema="sales")], state_of)
        run(f"{name} columns", lambda: [[row.column_name, row.type_name, row.nullable] for row in cursor.columns(schema="sales", table="orders")], state_of)
        run(f"{name} primary keys", lambda: [row.column_name for row in cursor.primaryKeys(schema="sales", table="orders")], state_of)
        run(f"{name} no table", lambda: cursor.execute("select * from sales.nothing").fetchall(), state_of)
        connection.rollback()
        run(f"{name} goes on", lambda: [list(row) for row in cursor.execute("select 1").fetchall()], state_of)
        connection.close()


main([modes])
