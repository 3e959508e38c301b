"""psycopg 3 in text and binary, psycopg2 and asyncpg: each case with values of its types. One line of JSON a step."""

import asyncio
import datetime
import json
import os
import re
import sys
import uuid
from decimal import Decimal

import asyncpg
import psycopg
import psycopg2
from psycopg.types.numeric import Float4, Float8, Int2, Int4, Int8

HOST, PORT, DATABASE, USER, PASSWORD = (
    os.environ[name] for name in ["PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGPASSWORD"]
)
plain = {
    "int2": int, "int4": int, "int8": int, "numeric": Decimal, "float4": float, "float8": float,
    "bool": lambda text: text == "true", "date": datetime.date.fromisoformat,
    "timestamp": datetime.datetime.fromisoformat, "timestamptz": datetime.datetime.fromisoformat, "uuid": uuid.UUID,
    "int4[]": lambda texts: [int(each) for each in texts], "int8[]": lambda texts: [int(each) for each in texts],
}
wrapped = {
    "int2": lambda text: Int2(int(text)), "int4": lambda text: Int4(int(text)), "int8": lambda text: Int8(int(text)),
    "float4": lambda text: Float4(float(text)), "float8": lambda text: Float8(float(text)),
}


def value_of(typed, kinds):
    kind = kinds.get(typed["type"], plain.get(typed["type"], lambda text: text))
    return None if typed["value"] is None else kind(typed["value"])


def tell(name, rows=None, error=None):
    line = {"step": name, "value": repr(rows)} if error is None else {"step": name, "error": error}
    print(json.dumps(line))


def in_psycopg(name, connection, error_class, cases, kinds, **options):
    for case in cases:
        text = re.sub(r"\$\d+", "%s", case["sql"].replace("%", "%%"))
        try:
            with connection.cursor() as cursor:
                cursor.execute(text, [value_of(each, kinds) for each in case["values"]], **options)
                tell(f"{name} {case['step']}", [[column.type_code for column in cursor.description], cursor.fetchall()])
        except error_class as error:
            tell(f"{name} {case['step']}", error=getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or str(error))


async def in_asyncpg(cases):
    connection = await asyncpg.connect(host=HOST, port=PORT, database=DATABASE, user=USER, password=PASSWORD, ssl=False)
    for case in cases:
        try:
            statement = await connection.prepare(case["sql"])
            types = [each.name for each in statement.get_parameters()]
            rows = await statement.fetch(*[value_of(each, plain) for each in case["values"]])
            tell(f"asyncpg {case['step']}", [types, [tuple(row) for row in rows]])
        except asyncpg.PostgresError as error:
            tell(f"asyncpg {case['step']}", error=error.sqlstate)
        except (asyncpg.DataError, asyncpg.InterfaceError, TypeError, ValueError) as error:
            tell(f"asyncpg {case['step']}", error=type(error).__name__)
    await connection.close()


with open(sys.argv[1], encoding="utf8") as file:
    all_cases = json.load(file)
login = {"host": HOST, "port": PORT, "dbname": DATABASE, "user": USER, "password": PASSWORD}
with psycopg.connect(**login, autocommit=True) as own:
    in_psycopg("psycopg", own, psycopg.Error, all_cases, {})
    in_psycopg("psycopg typed", own, psycopg.Error, all_cases, wrapped)
    in_psycopg("psycopg binary", own, psycopg.Error, all_cases, wrapped, binary=True)
own = psycopg2.connect(**login)
own.autocommit = True
in_psycopg("psycopg2", own, psycopg2.Error, all_cases, {})
asyncio.run(in_asyncpg(all_cases))
