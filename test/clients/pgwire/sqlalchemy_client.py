"""SQLAlchemy over psycopg2: reflection and queries."""

import sqlalchemy
from sqlalchemy import create_engine, func, inspect, select
from steps import main, run


def state_of(error):
    original = getattr(error, "orig", None)
    return getattr(original, "pgcode", None)


engine = create_engine("postgresql+psycopg2://")


def reflection():
    inspector = inspect(engine)
    run("schemas", lambda: [name for name in inspector.get_schema_names() if not name.startswith("pg_")], state_of)
    run("tables", lambda: sorted(inspector.get_table_names("sales")), state_of)
    run(
        "columns",
        lambda: [
            [column["name"], str(column["type"]), column["nullable"]]
            for column in inspector.get_columns("orders", "sales")
        ],
        state_of,
    )
    run("primary key", lambda: inspector.get_pk_constraint("orders", "sales")["constrained_columns"], state_of)
    run("foreign keys", lambda: inspector.get_foreign_keys("orders", "sales"), state_of)
    run("indexes", lambda: inspector.get_indexes("orders", "sales"), state_of)
    run("views", lambda: inspector.get_view_names("sales"), state_of)


def queries():
    orders = sqlalchemy.Table("orders", sqlalchemy.MetaData(), schema="sales", autoload_with=engine)
    with engine.connect() as connection:
        run(
            "grouped",
            lambda: [
                list(row)
                for row in connection.execute(
                    select(orders.c.region, func.count(), func.sum(orders.c.amount))
                    .where(orders.c.paid.is_(True))
                    .group_by(orders.c.region)
                    .order_by(orders.c.region)
                )
            ],
            state_of,
        )
        run(
            "streamed",
            lambda: sum(
                row.id
                for row in connection.execution_options(stream_results=True, max_row_buffer=50).execute(
                    select(orders.c.id)
                )
            ),
            state_of,
        )


main([reflection, queries])
