"""What a person does with GDAL on the first day: lists layers, describes one, filters it, and converts it to files."""

import json
import os
import subprocess

source = "PG:" + " ".join(
    f"{key}={os.environ[name]}"
    for key, name in [
        ("host", "PGHOST"),
        ("port", "PGPORT"),
        ("dbname", "PGDATABASE"),
        ("user", "PGUSER"),
        ("password", "PGPASSWORD"),
        ("sslmode", "PGSSLMODE"),
    ]
)
sales = f"{source} schemas=sales"
query = "select id, region, email, amount, qty, day, placed_at, paid from sales.orders where id <= 9 order by id"


def step(name, *command, is_ordered=True):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    lines = [line.rstrip(",") for line in (done.stdout + done.stderr).split("\n") if "PG:" not in line]
    # GDAL asks for a layer without an order.
    lines = lines if is_ordered else sorted(lines)
    print(json.dumps({"step": name, "value": [done.returncode, lines]}), flush=True)


def info(*words):
    return ("ogrinfo", "-ro", "-q", *words)


def converted(form, *words):
    return ("ogr2ogr", "-f", form, "/vsistdout/", *words)


step("layers", *info(sales))
step("layers of a table", *info(f"{source} tables=sales.regions"))
step("a layer's fields and count", "ogrinfo", "-ro", "-so", sales, "orders")
step("a layer's rows by attribute", *info(sales, "orders", "-where", "id < 3"))
step("a layer's row by its key", *info(sales, "orders", "-fid", "2"))
step("a query's rows", *info(source, "-sql", query))
step("a query without rows", *info(source, "-sql", "select id, email from sales.orders where false"))
step("an aggregate", *info(source, "-sql", "select region, count(*) n, sum(amount) s from sales.orders group by 1 order by 1"))
step("a query that fails", *info(source, "-sql", "select nothing from sales.orders"))
step("CSV of a query", *converted("CSV", source, "-sql", query))
step("CSV of a table", *converted("CSV", sales, "regions"), is_ordered=False)
step("GeoJSON of a layer", *converted("GeoJSON", sales, "orders", "-where", "id < 9"), is_ordered=False)
step("CSV of columns of a layer", *converted("CSV", sales, "orders", "-select", "region,qty", "-where", "qty > 45"), is_ordered=False)
