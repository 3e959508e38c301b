"""
What a person does in pgAdmin on the first day, by the calls that its pages make: adds a server, opens the tree down to
the columns, looks at each tab, runs statements in the query tool and pages through a table's rows.
Prints a line of JSON for each step. OIDs differ between servers, so only names and values are printed.
"""

import json
import os
import re
import sys

import requests

session = requests.Session()
page = os.environ["PGADMIN_URL"]


def call(method, path, **options):
    answer = session.request(method, page + path, timeout=60, **options)
    body = answer.json() if "json" in answer.headers.get("content-type", "") else answer.text
    if answer.status_code >= 400:
        raise RuntimeError(f"{answer.status_code} of {path.split('/')[1:4]}: {str(body)[:400]}")
    return body


def step(name, work):
    try:
        print(json.dumps({"step": name, "value": work()}, default=str), flush=True)
    except Exception as error:  # Each step stands alone.
        print(json.dumps({"step": name, "error": f"{type(error).__name__}: {error}"[:600]}), flush=True)


login = session.get(page + "/login").text
token = re.search(r'"csrfToken": *"([^"]+)"', login).group(1)
session.headers["X-pgA-CSRFToken"] = token
session.post(
    page + "/authenticate/login",
    data={
        "email": os.environ["PGADMIN_SETUP_EMAIL"],
        "password": os.environ["PGADMIN_SETUP_PASSWORD"],
        "csrf_token": token,
    },
)
at = {}


def add_server():
    added = call(
        "POST",
        "/browser/server/obj/1/",
        json={
            "name": f"{os.environ['PGUSER']} {os.environ['PGPORT']}",
            "gid": 1,
            "host": os.environ["PGHOST"],
            "port": int(os.environ["PGPORT"]),
            "db": os.environ["PGDATABASE"],
            "username": os.environ["PGUSER"],
            "connection_params": [
                {"name": "sslmode", "keyword": "sslmode", "value": os.environ["PGSSLMODE"]},
                {"name": "connect_timeout", "keyword": "connect_timeout", "value": 10},
            ],
        },
    )
    at["sid"] = added["node"]["_id"]
    return added["node"]["_type"]


def connect():
    answer = call(
        "POST", f"/browser/server/connect/1/{at['sid']}", data={"password": os.environ["PGPASSWORD"]}
    )
    return [answer["success"], answer["data"]["connected"], answer["data"]["type"]]


def databases():
    found = call("GET", f"/browser/database/nodes/1/{at['sid']}/")["data"]
    mine = [each for each in found if each["label"] == os.environ["PGDATABASE"]]
    at["did"] = mine[0]["_id"]
    return len(mine)


def open_database():
    return call("POST", f"/browser/database/connect/1/{at['sid']}/{at['did']}")["success"]


def schemas():
    found = call("GET", f"/browser/schema/nodes/1/{at['sid']}/{at['did']}/")["data"]
    at["scid"] = next(each["_id"] for each in found if each["label"] == "sales")
    return sorted(each["label"] for each in found)


def below(kind, *more):
    return f"/browser/{kind}/1/{at['sid']}/{at['did']}/" + "".join(f"{at[each]}/" for each in more)


def tables():
    found = call("GET", below("table/nodes", "scid"))["data"]
    at["tid"] = next(each["_id"] for each in found if each["label"] == "orders")
    return sorted(each["label"] for each in found)


def columns():
    return [each["label"] for each in call("GET", below("column/nodes", "scid", "tid"))["data"]]


def column_properties():
    found = call("GET", below("column/obj", "scid", "tid"))
    return [[each["name"], each["cltype"], each["attnotnull"]] for each in found]


def table_properties():
    found = call("GET", below("table/obj", "scid").rstrip("/") + f"/{at['tid']}")
    return {key: found[key] for key in ("name", "schema", "description")} | {
        "columns": [each["name"] for each in found["columns"]],
        "primary_key": [[each["column"] for each in key["columns"]] for key in found["primary_key"]],
        "foreign_key": [
            [[each["local_column"], each["referenced"]] for each in key["columns"]]
            for key in found["foreign_key"]
        ],
    }


def sql_tab(kind, *more):
    text = call("GET", below(f"{kind}/sql", *more).rstrip("/"))
    # The owner differs, and with it what is granted.
    return [line for line in str(text).split("\n") if not re.match(r"^(ALTER|GRANT|REVOKE|--|    (AUTH|OWNER))", line)]


def tab(kind, node, *more):
    return type(call("GET", below(f"{node}/{kind}", *more).rstrip("/"))).__name__


def configuration():
    found = call("GET", f"/dashboard/config/{at['sid']}")
    names = {each[1] if isinstance(each, list) else each["name"] for each in found}
    return sorted(names & {"bytea_output", "DateStyle", "statement_timeout", "TimeZone", "search_path"})


def server_properties():
    found = call("GET", f"/browser/server/obj/1/{at['sid']}")
    return [found["connected"], found["server_type"]]


def poll(transaction):
    while True:
        data = call("GET", f"/sqleditor/poll/{transaction}")["data"]
        if data["status"] != "Busy":
            break
    if data["status"] != "Success":
        return [data["status"], re.sub(r"\n.*", "", str(data.get("result")))]
    rows = data.get("result") or []
    names = [each["display_name"] if "display_name" in each else each["name"] for each in data["colinfo"] or []]
    return [names, [row if isinstance(row, list) else list(row.values()) for row in rows][:5], len(rows)]


def query(text, transaction=4_711):
    if transaction not in at:
        call(
            "POST",
            f"/sqleditor/initialize/sqleditor/{transaction}/1/{at['sid']}/{at['did']}",
            json={"user": None, "role": None, "password": None, "dbname": os.environ["PGDATABASE"]},
        )
        at[transaction] = True
    call("POST", f"/sqleditor/query_tool/start/{transaction}", json={"sql": text, "explain_plan": None})
    return poll(transaction)


def view_data(transaction=4_712):
    call(
        "POST",
        f"/sqleditor/initialize/viewdata/{transaction}/3/table/1/{at['sid']}/{at['did']}/{at['tid']}",
        json={"filter_sql": None, "server_cursor": False, "dbname": os.environ["PGDATABASE"]},
    )
    call("GET", f"/sqleditor/view_data/start/{transaction}")
    return poll(transaction)


step("add server", add_server)
step("connect", connect)
step("server properties", server_properties)
step("configuration tab", configuration)
step("databases", databases)
step("open the database", open_database)
step("database properties", lambda: call("GET", f"/browser/database/obj/1/{at['sid']}/{at['did']}")["name"] == os.environ["PGDATABASE"])
step("database sql tab", lambda: type(call("GET", f"/browser/database/sql/1/{at['sid']}/{at['did']}")).__name__)
step("database statistics tab", lambda: type(call("GET", f"/browser/database/stats/1/{at['sid']}/{at['did']}")).__name__)
step("schemas", schemas)
step("schema properties", lambda: call("GET", below("schema/obj").rstrip("/") + f"/{at['scid']}")["name"])
step("schema sql tab", lambda: sql_tab("schema", "scid"))
step("tables", tables)
step("table properties", table_properties)
step("table sql tab", lambda: sql_tab("table", "scid", "tid"))
step("table statistics tab", lambda: tab("stats", "table", "scid", "tid"))
step("table dependencies tab", lambda: tab("dependency", "table", "scid", "tid"))
step("table dependents tab", lambda: tab("dependent", "table", "scid", "tid"))
step("columns", columns)
step("column properties", column_properties)
for kind in ("index", "trigger", "rule", "partition"):
    step(f"{kind} nodes", lambda kind=kind: len(call("GET", below(f"{kind}/nodes", "scid", "tid"))["data"]))
for kind in ("view", "mview", "function", "sequence", "type", "domain", "foreign_table"):
    step(f"{kind} nodes", lambda kind=kind: len(call("GET", below(f"{kind}/nodes", "scid"))["data"]))
step("query tool", lambda: query("select id, region, email, amount, day from sales.orders order by id limit 3"))
step("query tool: error", lambda: query("select nothing from sales.orders"))
step("query tool: aggregate", lambda: query("select region, count(*), sum(amount) from sales.orders group by 1 order by 1"))
step("query tool: writes", lambda: query("select count(*) from sales.orders where note is null"))
step("view data", lambda: [view_data()[0], "rows"])
step("dashboard activity", lambda: type(call("GET", f"/dashboard/activity/{at['sid']}")).__name__)
sys.stdout.flush()
