"""ADBC: results, parameters, schemas and objects in Arrow's form."""

import os
import adbc_driver_postgresql.dbapi as adbc

e = os.environ
uri = f"postgresql://{e['PGUSER']}:{e['PGPASSWORD']}@{e['PGHOST']}:{e['PGPORT']}/{e['PGDATABASE']}"
with adbc.connect(uri) as con, con.cursor() as cur:
    cur.execute("SELECT region, count(*) AS n FROM sales.orders GROUP BY 1 ORDER BY 1")
    print("regions", cur.fetch_arrow_table().to_pylist())
    cur.execute("SELECT id, email FROM sales.orders WHERE id = $1", (7,))
    print("one", cur.fetchall())
    print("types", [str(field.type) for field in con.adbc_get_table_schema("orders", db_schema_filter="sales")][:4])
    objects = con.adbc_get_objects(depth="tables", db_schema_filter="sales").read_all().to_pylist()
    schemas = [schema for catalog in objects for schema in catalog["catalog_db_schemas"] or []]
    print("tables", sorted(table["table_name"] for schema in schemas for table in schema["db_schema_tables"] or []))
