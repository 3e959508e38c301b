"""ConnectorX by each of its protocols, and pgcli: what it completes names from, and what it runs. One line of JSON a step."""

import json
import os
import connectorx
from pgcli.pgexecute import PGExecute

e = os.environ
uri = f"postgresql://{e['PGUSER']}:{e['PGPASSWORD']}@{e['PGHOST']}:{e['PGPORT']}/{e['PGDATABASE']}"
columns = "id, region, email, amount, qty, ratio, paid, day, placed_at, created, note, uid"


def step(name, value):
    print(json.dumps({"step": name, "value": value}), flush=True)


def arrow(text, **options):
    """@returns types and rows, as text"""
    table = connectorx.read_sql(uri, text, return_type="arrow", **options)
    rows = [[None if value is None else str(value) for value in row.values()] for row in table.to_pylist()]
    return [[str(field.type) for field in table.schema], rows]


for protocol in ("binary", "csv", "cursor", "simple"):
    step(f"connectorx {protocol}", arrow(f"SELECT {columns} FROM sales.orders ORDER BY id LIMIT 10", protocol=protocol))
parted = arrow("SELECT id, email FROM sales.orders", partition_on="id", partition_num=4)
step("connectorx parted", [parted[0], sorted(parted[1], key=lambda row: int(row[0]))])
step("connectorx range", arrow("SELECT region, count(*) AS n, sum(amount)::float8 AS total FROM sales.orders GROUP BY 1 ORDER BY 1"))
step("connectorx schema", connectorx.get_meta(uri, f"SELECT {columns} FROM sales.orders").dtypes.astype(str).to_dict())


on = PGExecute(e["PGDATABASE"], e["PGUSER"], e["PGPASSWORD"], e["PGHOST"], int(e["PGPORT"]))
step("pgcli tables", sorted(row for row in on.tables() if row[0] == "sales"))
step("pgcli views", sorted(row for row in on.views() if row[0] == "sales"))
step("pgcli columns", sorted(row for row in on.table_columns() if row[0] == "sales"))
step("pgcli foreign keys", [list(row) for row in on.foreignkeys() if row[0] == "sales"])
step("pgcli schemata", "sales" in on.schemata())
step("pgcli search path", on.search_path())
step("pgcli types", len([row for row in on.datatypes() if row[0] == "sales"]))

def ran(text):
    found = []
    for title, rows, headers, status, *_ in on.run(text):
        found.append([title, headers, [list(map(str, row)) for row in rows or []], status])
    return found

step("pgcli rows", ran("SELECT id, email, amount FROM sales.orders ORDER BY id LIMIT 5"))
step("pgcli several", ran("SELECT count(*) FROM sales.orders; SELECT name FROM sales.regions ORDER BY 1"))
