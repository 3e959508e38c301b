"""psycopg 3 and asyncpg behind a pooler in transaction mode: named statements, cancelling, and many clients of several
principals by turns. One line of JSON a step."""

import asyncio
import json
import os
import sys
import asyncpg
import psycopg

e = os.environ
PEOPLE = json.loads(e["PEOPLE"])
TURNS = 10
CLIENTS = 8


def step(name, value):
    print(json.dumps({"step": name, "value": value}), flush=True)


def login(user):
    return {"host": e["PGHOST"], "port": int(e["PGPORT"]), "user": user, "password": PEOPLE[user]}


async def reader(user, number):
    """@returns what one client saw over all of its turns, without repetition"""
    seen = set()
    # Statements without names: a name may be asked for on another connection than it was given on.
    on = await asyncpg.connect(**login(user), database=e["PGDATABASE"], statement_cache_size=0)
    for turn in range(TURNS):
        async with on.transaction():
            who = await on.fetchval("SELECT current_user")
            if user == "eve":
                rows = await on.fetch("SELECT person, salary FROM sales.payroll WHERE id = $1", 1 + turn % 4)
            else:
                rows = await on.fetch("SELECT region, email FROM sales.orders WHERE id = $1", 1 + (number + turn) % 4)
        seen |= {(who, *row.values()) for row in rows}
    await on.close()
    return seen


async def by_turns():
    people = [user for user in PEOPLE for _ in range(CLIENTS)]
    found = await asyncio.gather(*(reader(user, number) for number, user in enumerate(people)))
    for user in PEOPLE:
        rows = set().union(*(rows for who, rows in zip(people, found) if who == user))
        step(f"rows of {user}", sorted(list(row) for row in rows))


def named(user):
    """@returns the rows of statements that the server prepares, or the SQLSTATE"""
    text = "SELECT region FROM sales.orders WHERE id = %s"
    with psycopg.connect(**login(user), dbname=e["PGDATABASE"], prepare_threshold=0, autocommit=True) as one, \
            psycopg.connect(**login(user), dbname=e["PGDATABASE"], prepare_threshold=0, autocommit=True) as two:
        try:
            found = [[on.execute(text, (number,)).fetchone()[0] for on in (one, two)] for number in (2, 3, 6, 7)]
            return found
        except psycopg.Error as error:
            return error.sqlstate


def named_in_a_transaction(user):
    text = "SELECT region FROM sales.orders WHERE id = %s"
    with psycopg.connect(**login(user), dbname=e["PGDATABASE"], prepare_threshold=0) as on:
        found = [on.execute(text, (number,)).fetchone()[0] for number in (2, 3, 6, 7)]
        on.execute("DEALLOCATE ALL")
        return found


def cancelled(user):
    heavy = "SELECT count(*) FROM sales.orders a, sales.orders b, sales.orders c, sales.orders d WHERE a.id + b.id + c.id + d.id = 7"
    with psycopg.connect(**login(user), dbname=e["PGDATABASE"]) as on:
        async def both():
            running = asyncio.to_thread(on.execute, heavy)
            task = asyncio.create_task(running)
            # Until it is there, a cancel request finds nothing to end: sent until the statement is at its end.
            while not task.done():
                await asyncio.to_thread(on.cancel_safe, timeout=10)
                await asyncio.wait([task], timeout=0.1)
            return await task

        try:
            asyncio.run(both())
            return "not cancelled"
        except psycopg.Error as error:
            return error.sqlstate


if sys.argv[1] == "turns":
    asyncio.run(by_turns())
elif sys.argv[1] == "named":
    step("named", named("bob"))
elif sys.argv[1] == "transaction":
    step("named in a transaction", named_in_a_transaction("bob"))
elif sys.argv[1] == "cancel":
    step("cancelled", cancelled("ann"))
