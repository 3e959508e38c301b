"""SQLAlchemy over each of its drivers: reflection, the ORM, and parameters as each driver types them."""

import asyncio
import datetime
import decimal
import os
import sys
import uuid

import sqlalchemy as sa
from sqlalchemy import case, cast, exists, func, literal, select, text, tuple_
from sqlalchemy.ext.automap import automap_base
from sqlalchemy.orm import Session, selectinload

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from steps import run  # noqa: E402


def state_of(error):
    original = getattr(error, "orig", None)
    cause = getattr(original, "__cause__", None)
    for each in (original, cause):
        state = getattr(each, "sqlstate", None) or getattr(each, "pgcode", None)
        if state is not None:
            return state
    return type(error).__name__


def steps_of(driver, connection):
    def step(name, action):
        run(f"{driver}: {name}", action, state_of)
        connection.rollback()

    def rows(statement, *more):
        return [list(row) for row in connection.execute(statement, *more)]

    metadata = sa.MetaData(schema="sales")
    step("reflect", lambda: metadata.reflect(connection) or sorted(metadata.tables))
    base = automap_base(metadata=metadata)
    base.prepare()
    order, region = base.classes.orders, base.classes.regions
    o = metadata.tables["sales.orders"]
    day = datetime.date(2024, 1, 3)
    moment = datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc)
    step("columns", lambda: [[c.name, str(c.type), c.nullable, c.primary_key] for c in o.columns])
    step("limit and offset", lambda: rows(select(o.c.id).order_by(o.c.id).limit(3).offset(2)))
    step("limit by a bound value", lambda: rows(text("select id from sales.orders order by id limit :n offset :m"), {"n": 2, "m": 1}))
    step("equal", lambda: rows(select(o.c.id, o.c.email).where(o.c.id == 7)))
    step("text", lambda: rows(select(o.c.id).where(o.c.email == "user7@example.com")))
    step("contains", lambda: rows(select(o.c.id).where(o.c.email.contains("ser1")).order_by(o.c.id).limit(4)))
    step("contains, escaped", lambda: rows(select(func.count()).where(o.c.email.contains("r%_1", autoescape=True))))
    step("startswith", lambda: rows(select(func.count()).where(o.c.region.startswith("e"))))
    step("icontains", lambda: rows(select(func.count()).where(o.c.region.icontains("AS"))))
    step("in", lambda: rows(select(func.count()).where(o.c.id.in_(list(range(400))))))
    step("in texts", lambda: rows(select(func.count()).where(o.c.region.in_(["east", "west"]))))
    step("in nothing", lambda: rows(select(func.count()).where(o.c.id.in_([]))))
    step("not in", lambda: rows(select(func.count()).where(o.c.region.not_in(["east"]))))
    step("in tuples", lambda: rows(select(o.c.id).where(tuple_(o.c.id, o.c.region).in_([(1, "south"), (2, "x")]))))
    step("any of an array", lambda: rows(select(func.count()).where(o.c.id == sa.any_(literal([1, 2, 3], sa.ARRAY(sa.BigInteger))))))
    step("numeric", lambda: rows(select(func.count()).where(o.c.amount > decimal.Decimal("40.50"))))
    step("numeric by a float", lambda: rows(select(func.count()).where(o.c.ratio > 0.5)))
    step("numeric by an integer", lambda: rows(select(func.count()).where(o.c.amount > 40)))
    step("date", lambda: rows(select(o.c.id).where(o.c.day == day).order_by(o.c.id).limit(2)))
    step("instant", lambda: rows(select(func.count()).where(o.c.placed_at >= moment)))
    step("timestamp", lambda: rows(select(func.count()).where(o.c.created >= datetime.datetime(2024, 1, 2))))
    step("interval", lambda: rows(select(func.count()).where(o.c.placed_at > moment - datetime.timedelta(hours=5))))
    step("boolean", lambda: rows(select(func.count()).where(o.c.paid.is_(True))))
    step("boolean, bound", lambda: rows(select(func.count()).where(o.c.paid == literal(True))))
    step("uuid", lambda: rows(select(o.c.id).where(o.c.uid == uuid.UUID(int=5))))
    step("bytes", lambda: rows(select(o.c.payload).where(o.c.id == 3)))
    step("null", lambda: rows(select(func.count()).where(o.c.note.is_(None))))
    step("between", lambda: rows(select(func.count()).where(o.c.day.between(day, day + datetime.timedelta(days=3)))))
    step("concat", lambda: rows(select(o.c.region + "-" + cast(o.c.qty, sa.String)).order_by(o.c.id).limit(2)))
    step("concat, bound", lambda: rows(select(literal("a") + literal("b"), func.concat("x", 1, None))))
    step("arithmetic", lambda: rows(select(o.c.qty + 1, o.c.amount * 2, o.c.id % 7).order_by(o.c.id).limit(2)))
    step("coalesce", lambda: rows(select(func.coalesce(o.c.note, "none")).order_by(o.c.id).limit(6)))
    step("case", lambda: rows(select(case((o.c.qty > 0, "plus"), (o.c.qty < 0, "minus"), else_="none")).order_by(o.c.id).limit(2)))
    step("cast of a value", lambda: rows(select(cast(literal("12"), sa.Integer), cast(literal("2024-01-02"), sa.Date))))
    step("groups", lambda: rows(select(o.c.region, func.count(), func.sum(o.c.amount)).group_by(o.c.region).having(func.count() > 1).order_by(o.c.region)))
    step("filter", lambda: rows(select(func.count().filter(o.c.paid), func.max(o.c.day))))
    step("months", lambda: rows(select(func.date_trunc("month", o.c.placed_at), func.count()).group_by(sa.literal_column("1")).order_by(sa.literal_column("1"))))
    step("extract", lambda: rows(select(sa.extract("year", o.c.day), func.count()).group_by(sa.extract("year", o.c.day))))
    step("window", lambda: rows(select(o.c.id, func.row_number().over(partition_by=o.c.region, order_by=o.c.id)).order_by(o.c.id).limit(3)))
    step("exists", lambda: rows(select(func.count()).where(exists().where(o.c.amount > 40))))
    named = select(o.c.region, func.count().label("n")).group_by(o.c.region).cte("named")
    step("with", lambda: rows(select(named).where(named.c.n > 10).order_by(named.c.region)))
    step("union", lambda: rows(sa.union(select(o.c.region), select(literal("z"))).order_by("region")))
    step("distinct on", lambda: rows(select(o.c.region, o.c.id).distinct(o.c.region).order_by(o.c.region, o.c.id)))
    step("lateral", lambda: rows(select(metadata.tables["sales.regions"].c.name, sa.literal_column("l.id")).join_from(metadata.tables["sales.regions"], select(o.c.id).where(o.c.region == metadata.tables["sales.regions"].c.name).order_by(o.c.id).limit(1).lateral("l"), sa.true()).order_by(sa.literal_column("l.id"))))
    step("stream", lambda: sum(row[0] for row in connection.execute(select(o.c.id).execution_options(stream_results=True, max_row_buffer=50))))
    step("unknown table", lambda: rows(text("select 1 from sales.nosuch")))
    step("refused", lambda: connection.execute(text("insert into sales.regions values ('x')")).rowcount)
    with Session(connection) as session:
        step("ORM get", lambda: session.get(order, 7).email)
        step("ORM page", lambda: [each.id for each in session.scalars(select(order).where(order.qty > 3).order_by(order.id).limit(3))])
        step("ORM count", lambda: session.scalar(select(func.count()).select_from(order)))
        step("ORM related", lambda: [[each.name, len(each.orders_collection)] for each in session.scalars(select(region).options(selectinload(region.orders_collection)).order_by(region.name))])
        step("ORM join", lambda: [list(row) for row in session.execute(select(order.id, region.name).join(region, order.region == region.name).order_by(order.id).limit(2))])


async def asynchronously(url):
    from sqlalchemy.ext.asyncio import create_async_engine

    engine = create_async_engine(url)
    async with engine.connect() as connection:
        await connection.run_sync(lambda inner: steps_of("asyncpg", inner))
    await engine.dispose()


login = {"username": os.environ["PGUSER"], "password": os.environ["PGPASSWORD"], "host": os.environ["PGHOST"]}
where = {"port": int(os.environ["PGPORT"]), "database": os.environ["PGDATABASE"]}
for driver in ("psycopg2", "psycopg", "asyncpg"):
    url = sa.URL.create(f"postgresql+{driver}", **login, **where)
    if driver == "asyncpg":
        asyncio.run(asynchronously(url))
    else:
        with sa.create_engine(url).connect() as connection:
            steps_of(driver, connection)
