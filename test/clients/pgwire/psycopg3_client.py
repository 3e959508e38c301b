"""psycopg 3, text and binary: types, parameters, server-side cursors, prepared statements, COPY, errors, cancel."""

import os
import threading

import psycopg
from steps import main, run

columns = "id, region, email, amount, qty, ratio, paid, day, placed_at, created, note, uid, payload"


def state_of(error):
    return error.sqlstate if isinstance(error, psycopg.Error) else None


def connect(**options):
    return psycopg.connect("", application_name="psycopg", **options)


def types():
    for binary in (False, True):
        with connect(autocommit=True) as connection, connection.cursor(binary=binary) as cursor:
            run(
                f"types binary={binary}",
                lambda: cursor.execute(f"select {columns} from sales.orders order by id limit 20").fetchall(),
                state_of,
            )
            run(
                f"described binary={binary}",
                lambda: [[column.name, column.type_code] for column in cursor.description],
                state_of,
            )


def parameters():
    with connect(autocommit=True) as connection:
        for binary in (False, True):
            cursor = connection.cursor(binary=binary)
            query = "select id, amount from sales.orders where region = %s and qty > %s and day >= %s order by id limit 5"
            import datetime

            run(
                f"parameters binary={binary}",
                lambda: cursor.execute(query, ("north", 10, datetime.date(2024, 3, 1))).fetchall(),
                state_of,
            )
            run(
                f"a list binary={binary}",
                lambda: cursor.execute(
                    "select count(*) from sales.orders where id = any(%s)", ([1, 2, 3, 5000],)
                ).fetchall(),
                state_of,
            )
            run(
                f"null binary={binary}",
                lambda: cursor.execute("select %s::text is null, %s::int + 1", (None, 41)).fetchall(),
                state_of,
            )


def prepared():
    with connect(autocommit=True) as connection:
        def ten_times():
            return [
                connection.execute("select email from sales.orders where id = %s", (number,), prepare=True).fetchone()[0]
                for number in range(1, 11)
            ]

        run("prepared", ten_times, state_of)


def server_cursor():
    with connect() as connection, connection.cursor(name="walk") as cursor:
        cursor.itersize = 100
        run(
            "server cursor",
            lambda: sum(row[0] for row in cursor.execute("select id from sales.orders")),
            state_of,
        )


def scrollable():
    with connect() as connection:
        def forwards():
            with connection.cursor(name="forwards") as cursor:
                cursor.execute("select id from sales.orders order by id")
                return [cursor.fetchone(), cursor.fetchmany(3), len(cursor.fetchall())]

        run("cursor in pieces", forwards, state_of)


def copy():
    with connect(autocommit=True) as connection:
        def copied():
            with connection.cursor().copy(
                "copy (select id, note, payload, paid from sales.orders order by id limit 10) to stdout"
            ) as rows:
                return list(rows.rows())

        run("copy to stdout", copied, state_of)

        def csv():
            with connection.cursor().copy(
                "copy (select id, note, region from sales.orders order by id limit 10) to stdout (format csv, header)"
            ) as data:
                return b"".join(bytes(chunk) for chunk in data).decode()

        run("copy as csv", csv, state_of)

        def binary():
            with connection.cursor().copy(
                "copy (select id, amount, placed_at, note from sales.orders order by id limit 10) to stdout (format binary)"
            ) as rows:
                rows.set_types(["int8", "numeric", "timestamptz", "text"])
                return list(rows.rows())

        run("copy as binary", binary, state_of)


def errors():
    with connect(autocommit=True) as connection:
        for name, query in {
            "no table": "select * from sales.nothing",
            "no column": "select nothing from sales.orders",
            "syntax": "selec 1",
            "no cast": "select 'a'::int",
            "by zero": "select 1 / (qty - qty) from sales.orders",
        }.items():
            run(f"error: {name}", lambda: connection.execute(query).fetchall(), state_of)
        run("and it goes on", lambda: connection.execute("select 1").fetchall(), state_of)


def transactions():
    with connect() as connection:
        def failed():
            try:
                connection.execute("select nothing from sales.orders")
            except psycopg.Error:
                pass
            return connection.execute("select 1").fetchall()

        run("in a failed transaction", failed, state_of)
        connection.rollback()
        run("after rollback", lambda: connection.execute("select 1").fetchall(), state_of)
        connection.rollback()

        def saved():
            with connection.transaction():
                try:
                    with connection.transaction():
                        connection.execute("select nothing from sales.orders")
                except psycopg.Error:
                    pass
                return connection.execute("select count(*) from sales.orders").fetchall()

        run("a savepoint", saved, state_of)


def pipeline():
    with connect(autocommit=True) as connection:
        def piped():
            with connection.pipeline():
                results = [
                    connection.execute("select count(*) from sales.orders where region = %s", (region,))
                    for region in ("north", "south", "nowhere")
                ]
            return [result.fetchone() for result in results]

        run("pipeline", piped, state_of)


def cancel():
    with connect(autocommit=True) as connection:
        timer = threading.Timer(0.5, connection.cancel)
        timer.start()
        heavy = "select count(*) from sales.orders a, sales.orders b, sales.orders c, sales.orders d where a.id + b.id + c.id + d.id = 7"
        run("cancelled", lambda: connection.execute(heavy).fetchall(), state_of)
        timer.join()
        run("after the cancel", lambda: connection.execute("select 1").fetchall(), state_of)


def session():
    with connect(autocommit=True) as connection:
        for query in (
            "show application_name",
            "set application_name = 'renamed'",
            "show application_name",
            "set timezone = 'UTC'",
            "show timezone",
            "reset application_name",
            "select current_database(), current_user, session_user",
            "discard all",
        ):
            def answer():
                cursor = connection.execute(query)
                return cursor.fetchall() if cursor.description else cursor.statusmessage

            run(query, answer, state_of)


main([types, parameters, prepared, server_cursor, scrollable, copy, errors, transactions, pipeline, cancel, session])
