"""Writes one table with nested columns by PyIceberg, from rows of JSON. It reports the table's name."""

import json
import sys
from decimal import Decimal

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.schema import Schema
from pyiceberg.types import DecimalType, IntegerType, ListType, LongType, MapType, NestedField, StringType, StructType

url, given = sys.argv[1:]
catalog = load_catalog("lake", type="rest", uri=url)
deep = StructType(NestedField(11, "code", StringType()), NestedField(12, "n", IntegerType()))
person = StructType(NestedField(21, "name", StringType()), NestedField(22, "deep", deep))
item = StructType(NestedField(31, "sku", StringType()), NestedField(32, "price", DecimalType(12, 4)))
schema = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "s", person),
    NestedField(3, "items", ListType(41, item, element_required=False)),
    NestedField(4, "m", MapType(51, StringType(), 52, IntegerType(), value_required=False)),
    NestedField(5, "tags", ListType(61, StringType(), element_required=False)),
)


def row(each):
    items = each["items"] and [
        one and {**one, "price": None if one["price"] is None else Decimal(one["price"])} for one in each["items"]
    ]
    pairs = None if each["m"] is None else list(each["m"].items())
    return {**each, "items": items, "m": pairs}


table = catalog.create_table("n.pyiceberg", schema=schema)
table.append(pa.Table.from_pylist([row(each) for each in json.loads(given)], schema=table.schema().as_arrow()))
print("STEP " + json.dumps({"step": "written", "value": ".".join(table.name())}), flush=True)
