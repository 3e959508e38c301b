"""An Airflow DAG of ordinary tasks that read what they write. OpenLineage's provider reads its statements."""

from datetime import datetime

from airflow import DAG
from airflow.datasets import Dataset
from airflow.operators.bash import BashOperator
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator
from airflow.providers.openlineage.sqlparser import DatabaseInfo
from airflow.providers.sqlite.hooks.sqlite import SqliteHook


class NamedHook(SqliteHook):
    """SQLite with a name for lineage, which its hook lacks and those of servers have."""

    def get_openlineage_database_info(self, connection):
        return DatabaseInfo(scheme="sqlite", authority="warehouse", is_information_schema_cross_db=False)

    def get_openlineage_database_dialect(self, connection):
        return "sqlite"

    def get_openlineage_default_schema(self):
        return "main"


class Statement(SQLExecuteQueryOperator):
    def get_db_hook(self):
        return NamedHook(sqlite_conn_id="sqlite_default")


orders = Dataset("s3://lake/warehouse/orders")
statements = {
    "create": [
        "CREATE TABLE orders (id INT, amount INT)",
        "CREATE TABLE changes (id INT, amount INT)",
        "INSERT INTO changes VALUES (1, 2)",
    ],
    "insert_from_another": "INSERT INTO orders SELECT id, amount FROM changes",
    "update_from": "UPDATE orders SET amount = changes.amount FROM changes WHERE orders.id = changes.id",
    "insert_from_itself": "INSERT INTO orders SELECT id + 100, amount FROM orders",
    "delete_in": "DELETE FROM orders WHERE id IN (SELECT id FROM orders WHERE amount > 10)",
}

with DAG("in_place", start_date=datetime(2026, 1, 1), schedule=None) as dag:
    tasks = [
        Statement(task_id=name, conn_id="sqlite_default", sql=sql) for name, sql in statements.items()
    ]
    tasks.append(BashOperator(task_id="asset", bash_command="true", inlets=[orders], outlets=[orders]))
    for before, after in zip(tasks, tasks[1:]):
        before >> after
