"""Great Expectations: a table and a query are held to expectations. One line of JSON a step."""

import json
import os
import great_expectations as gx
import great_expectations.expectations as gxe

e = os.environ
uri = f"postgresql+psycopg2://{e['PGUSER']}:{e['PGPASSWORD']}@{e['PGHOST']}:{e['PGPORT']}/{e['PGDATABASE']}"
context = gx.get_context(mode="ephemeral")
source = context.data_sources.add_postgres("lake", connection_string=uri)
# Else it makes a temporary table of each query.
source.create_temp_table = False
table = source.add_table_asset("orders", schema_name="sales", table_name="orders")
query = source.add_query_asset("east", query="SELECT id, email, amount FROM sales.orders WHERE region = 'east'")


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def step(name, asset, expectation):
    batch = asset.add_batch_definition_whole_table(name).get_batch()
    found = batch.validate(expectation, result_format="COMPLETE")
    result = {key: value for key, value in found.result.items() if not key.startswith("unexpected_index")}
    # Values come in any order; the first of the partial list are others then.
    result.pop("partial_unexpected_list", None)
    result.pop("partial_unexpected_counts", None)
    if "unexpected_list" in result:
        result["unexpected_list"] = sorted(map(str, result["unexpected_list"]))
    raised = "raised_exception': True" in str(found.exception_info)
    print(json.dumps({"step": name, "value": [bool(found.success), plain(result), raised]}), flush=True)


step("rows", table, gxe.ExpectTableRowCountToBeBetween(min_value=400, max_value=600))
step("columns", table, gxe.ExpectTableColumnsToMatchSet(column_set=["id", "email"], exact_match=False))
step("not null", table, gxe.ExpectColumnValuesToNotBeNull(column="note"))
step("unique", table, gxe.ExpectColumnValuesToBeUnique(column="id"))
step("in set", table, gxe.ExpectColumnValuesToBeInSet(column="region", value_set=["east", "west"]))
step("between", table, gxe.ExpectColumnValuesToBeBetween(column="amount", min_value=0, max_value=99.5))
step("pattern", table, gxe.ExpectColumnValuesToMatchRegex(column="email", regex=r"^user[0-9]+@example\.com$"))
step("like", table, gxe.ExpectColumnValuesToMatchLikePattern(column="email", like_pattern="%@example.com"))
step("length", table, gxe.ExpectColumnValueLengthsToBeBetween(column="region", min_value=4, max_value=4))
step("mean", table, gxe.ExpectColumnMeanToBeBetween(column="qty", min_value=-1, max_value=1))
step("sum", table, gxe.ExpectColumnSumToBeBetween(column="qty", min_value=-1, max_value=1))
step("distinct", table, gxe.ExpectColumnDistinctValuesToContainSet(column="region", value_set=["east"]))
step("median", table, gxe.ExpectColumnMedianToBeBetween(column="qty", min_value=-5, max_value=5))
step("quantiles", table, gxe.ExpectColumnQuantileValuesToBeBetween(
    column="qty", quantile_ranges={"quantiles": [0.25, 0.75], "value_ranges": [[-30, -20], [20, 30]]}))
step("pair", table, gxe.ExpectColumnPairValuesAToBeGreaterThanB(column_A="id", column_B="qty"))
step("query rows", query, gxe.ExpectTableRowCountToEqual(value=250))
step("query values", query, gxe.ExpectColumnValuesToMatchRegex(column="email", regex="^x+n+@"))
