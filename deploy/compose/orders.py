"""Writes two orders through the gateway by PyIceberg, then tries to drop a column that a policy keeps (docs/compose.md).

Addresses and secrets are taken from the environment: COVENANT_URL, COVENANT_SECRET, STORAGE_URL, STORAGE_ACCESS_KEY and
STORAGE_SECRET_KEY.
"""

import os
from datetime import datetime, timezone
from decimal import Decimal

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import ForbiddenError

catalog = load_catalog(
    "covenant",
    **{
        "type": "rest",
        "uri": os.environ["COVENANT_URL"] + "/v1/iceberg/main",
        "warehouse": "main",
        "header.X-Svc-Session": os.environ["COVENANT_SECRET"],
        # Writers put data files into the storage themselves; here by the same keys as the service.
        "header.X-Iceberg-Access-Delegation": "",
        "s3.endpoint": os.environ["STORAGE_URL"],
        "s3.region": "us-east-1",
        "s3.access-key-id": os.environ["STORAGE_ACCESS_KEY"],
        "s3.secret-access-key": os.environ["STORAGE_SECRET_KEY"],
    },
)
schema = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("customer", pa.string()),
        pa.field("amount", pa.decimal128(12, 2)),
        pa.field("placed_at", pa.timestamp("us", tz="UTC")),
    ]
)
orders = [
    {"id": 1, "customer": "ada@example.com", "amount": Decimal("120.00"), "placed_at": datetime(2026, 1, 5, 9, 30)},
    {"id": 2, "customer": "bo@example.org", "amount": Decimal("4800.00"), "placed_at": datetime(2026, 1, 6, 8, 15)},
]
for order in orders:
    order["placed_at"] = order["placed_at"].replace(tzinfo=timezone.utc)

catalog.create_namespace_if_not_exists("sales")
table = catalog.create_table("sales.orders", schema=schema)
table.append(pa.Table.from_pylist(orders, schema=schema))
print("first commit: allowed")
try:
    with table.update_schema(allow_incompatible_changes=True) as update:
        update.delete_column("id")
    print("second commit: allowed")
except ForbiddenError as error:
    print("second commit:", error)
