"""Ibis: the schema of a table, and expressions that it compiles. One line of JSON a step."""

import json
import os
import ibis
from ibis import _

e = os.environ
con = ibis.postgres.connect(
    host=e["PGHOST"], port=int(e["PGPORT"]), user=e["PGUSER"], password=e["PGPASSWORD"], database=e["PGDATABASE"]
)


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def step(name, expression):
    print(json.dumps({"step": name, "value": plain(expression.to_pyarrow().to_pylist())}), flush=True)


orders = con.table("orders", database="sales")
regions = con.table("regions", database="sales")
print(json.dumps({"step": "ibis schema", "value": [[name, str(kind)] for name, kind in orders.schema().items()]}))
print(json.dumps({"step": "ibis tables", "value": sorted(con.list_tables(database="sales"))}))
step("ibis rows", orders.order_by("id").limit(10).drop("payload", "uid"))
step("ibis filter", orders.filter(_.region.isin(["east", "north"]), _.qty > 10, _.note.notnull()).order_by("id").select("id", "email").limit(5))
step("ibis groups", orders.group_by("region").aggregate(n=_.count(), total=_.amount.sum(), days=_.day.nunique(), last=_.placed_at.max()).order_by("region"))
step("ibis months", orders.group_by(month=_.day.truncate("M")).aggregate(n=_.count()).order_by("month"))
step("ibis dates", orders.filter(_.day.between("2024-02-01", "2024-02-29")).group_by(year=_.day.year(), weekday=_.day.day_of_week.index()).aggregate(n=_.count()).order_by("weekday"))
step("ibis texts", orders.filter(_.note.like("note 11%")).select("id", up=_.note.upper(), part=_.email.split("@")[1], found=_.note.re_search("^note [0-9]+$")).order_by("id"))
step("ibis join", regions.left_join(orders, regions.name == orders.region).group_by("name").aggregate(n=_.id.count()).order_by("name"))
step("ibis window", orders.filter(_.id < 13).mutate(place=ibis.rank().over(ibis.window(group_by="region", order_by=ibis.desc("amount")))).select("id", "place").order_by("id"))
step("ibis cases", orders.order_by("id").limit(5).select("id", size=ibis.cases((_.amount > 50, "large"), else_="small"), said=_.note.fill_null("-"), ratio=_.ratio.round(1)))
step("ibis distinct", orders.select("region", "paid").distinct().order_by("region", "paid"))
# Without a schema it makes a temporary view to find one.
by_region = con.sql("SELECT region, count(*) AS n FROM sales.orders GROUP BY 1", schema={"region": "string", "n": "int64"})
step("ibis sql", by_region.order_by("region"))
