"""Ibis: the schema of a table is what reading it gives, lists included."""

import os
import ibis

e = os.environ
con = ibis.postgres.connect(
    host=e["PGHOST"], port=int(e["PGPORT"]), user=e["PGUSER"], password=e["PGPASSWORD"], database=e["PGDATABASE"]
)
things = con.table("things", database="made")
print("schema", dict(things.schema().items()))
print("rows", things.execute().to_dict("records"))
orders = con.table("orders", database="sales")
by_region = orders.group_by("region").aggregate(n=orders.count(), total=orders.amount.sum()).order_by("region")
print("regions", by_region.execute().astype(str).to_dict("records"))
