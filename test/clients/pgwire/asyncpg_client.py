"""asyncpg, which takes every value in binary: types, prepared statements, cursors, COPY, cancel."""

import asyncio
import datetime
import io

import asyncpg
from steps import plain
import json

columns = "id, region, email, amount, qty, ratio, paid, day, placed_at, created, note, uid, payload"


async def step(name, action):
    try:
        line = {"step": name, "value": plain(await action())}
    except asyncpg.PostgresError as error:
        line = {"step": name, "error": error.sqlstate}
    print(json.dumps(line), flush=True)


async def rows(awaitable):
    return [list(record.values()) for record in await awaitable]


async def main():
    connection = await asyncpg.connect()
    await step("types", lambda: rows(connection.fetch(f"select {columns} from sales.orders order by id limit 20")))
    await step(
        "parameters",
        lambda: rows(
            connection.fetch(
                "select id, amount from sales.orders where region = $1 and qty > $2 and day >= $3 order by id limit 5",
                "north",
                10,
                datetime.date(2024, 3, 1),
            )
        ),
    )
    await step(
        "a list",
        lambda: connection.fetchval("select count(*) from sales.orders where id = any($1::bigint[])", [1, 2, 3, 5000]),
    )

    async def prepared():
        statement = await connection.prepare("select email from sales.orders where id = $1")
        return [await statement.fetchval(number) for number in range(1, 11)]

    await step("prepared", prepared)

    async def cursor():
        total = 0
        async with connection.transaction():
            async for record in connection.cursor("select id from sales.orders", prefetch=50):
                total += record["id"]
        return total

    await step("cursor", cursor)

    async def copied():
        out = io.BytesIO()
        await connection.copy_from_query(
            "select id, note from sales.orders order by id limit 10", output=out, format="csv"
        )
        return out.getvalue().decode()

    await step("copy", copied)
    await step("no table", lambda: connection.fetch("select * from sales.nothing"))
    await step("syntax", lambda: connection.fetch("selec 1"))

    async def late():
        try:
            await connection.fetch(
                "select count(*) from sales.orders a, sales.orders b, sales.orders c, sales.orders d where a.id + b.id + c.id + d.id = 7",
                timeout=0.5,
            )
        except asyncio.TimeoutError:
            return "timed out"

    await step("a time-out cancels", late)
    await step("and it goes on", lambda: connection.fetchval("select 1"))
    await connection.reset()
    await step("after a reset", lambda: connection.fetchval("select count(*) from sales.orders"))
    await connection.close()


asyncio.run(main())
