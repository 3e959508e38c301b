"""LibreOffice's own driver for PostgreSQL, as Base uses it: what it lists of a database, and rows. One line of JSON a
step. Starts LibreOffice without a display, with a profile of its own, and ends it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.lang import WrappedTargetRuntimeException
from com.sun.star.sdbc import SQLException

e = os.environ


def pairs(**values):
    return tuple(PropertyValue(name, 0, value, 0) for name, value in values.items())


def office(folder):
    """@returns the process, and its context once it answers"""
    pipe = f"pipe,name=covenant{os.getpid()};urp;StarOffice.ComponentContext"
    command = ["soffice", f"-env:UserInstallation=file://{folder}", "--headless", "--invisible", "--norestore"]
    process = subprocess.Popen([*command, "--nologo", f"--accept={pipe}"], stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True)
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    while process.poll() is None:
        try:
            return process, resolver.resolve("uno:" + pipe)
        except Exception:  # it does not listen yet
            time.sleep(0.1)
    raise SystemExit("LibreOffice ended")


def rows(result, columns=None):
    """Values as text, as Base shows them; NULL as None."""
    # Lists that the driver makes by itself do not say how many columns they have.
    columns = columns or range(1, result.getMetaData().getColumnCount() + 1)
    found = []
    while result.next():
        row = []
        for column in columns:
            value = result.getString(column)
            row.append(None if result.wasNull() else value)
        found.append(row)
    return found


def step(name, action):
    try:
        line = {"step": name, "value": action()}
    except (SQLException, WrappedTargetRuntimeException) as error:
        # It tells the SQLSTATE by words alone.
        line = {"step": name, "error": error.Message.split("\n")[0][:300]}
    print(json.dumps(line), flush=True)


def steps(context):
    manager = context.ServiceManager
    driver = manager.createInstanceWithContext("org.openoffice.comp.connectivity.pq.Driver.noext", context)
    url = f"sdbc:postgresql:host={e['PGHOST']} port={e['PGPORT']} dbname={e['PGDATABASE']}"
    on = driver.connect(url, pairs(user=e["PGUSER"], password=e["PGPASSWORD"]))
    about = on.getMetaData()

    def ask(text):
        return rows(on.createStatement().executeQuery(text))

    def prepared():
        statement = on.prepareStatement("SELECT id, email FROM sales.orders WHERE region = ? AND qty > ? AND day >= ? ORDER BY id LIMIT 5")
        statement.setString(1, "east")
        statement.setInt(2, 10)
        statement.setString(3, "2024-02-01")
        return rows(statement.executeQuery())

    def described():
        meta = on.createStatement().executeQuery("SELECT * FROM sales.orders LIMIT 1").getMetaData()
        return [[meta.getColumnName(n), meta.getColumnTypeName(n), meta.getPrecision(n), meta.getScale(n)] for n in range(1, meta.getColumnCount() + 1)]

    step("sdbc types", lambda: ask("SELECT id, region, email, amount, qty, ratio, paid, day, placed_at, created, note, uid FROM sales.orders ORDER BY id LIMIT 10"))
    step("sdbc groups", lambda: ask('SELECT "region", COUNT( * ), SUM( "amount" ) FROM "sales"."orders" GROUP BY "region" ORDER BY "region" ASC'))
    step("sdbc prepared", prepared)
    step("sdbc like", lambda: ask("SELECT \"id\" FROM \"sales\".\"orders\" \"orders\" WHERE \"note\" LIKE 'note 11%' ORDER BY \"id\""))
    step("sdbc columns of a result", described)
    step("sdbc schemas", lambda: [row[0] for row in rows(about.getSchemas(), (1,)) if row[0] in ("sales", "information_schema", "pg_catalog")])
    step("sdbc tables", lambda: rows(about.getTables(None, "sales", "%", ("TABLE", "VIEW")), (2, 3, 4, 5)))
    step("sdbc columns", lambda: rows(about.getColumns(None, "sales", "orders", "%"), (2, 3, 4, 5, 6, 7, 9, 11, 12, 17, 18)))
    step("sdbc primary keys", lambda: rows(about.getPrimaryKeys(None, "sales", "orders"), (2, 3, 4, 5)))
    step("sdbc foreign keys", lambda: rows(about.getImportedKeys(None, "sales", "orders"), (2, 3, 4, 6, 7, 8)))
    step("sdbc indexes", lambda: rows(about.getIndexInfo(None, "sales", "orders", False, False), (2, 3, 4, 9)))
    # One for each role that has it, and the owner is another.
    step("sdbc privileges", lambda: sorted({row[0] for row in rows(about.getTablePrivileges(None, "sales", "regions"), (6,))}))
    step("sdbc types of the server", lambda: sorted(row[0] for row in rows(about.getTypeInfo(), (1,)) if row[0] in ("int8", "text", "numeric", "date")))
    definition = driver.getDataDefinitionByConnection(on)
    step("base tables", lambda: sorted(name for name in definition.getTables().getElementNames() if name.startswith("sales.")))
    step("base columns", lambda: list(definition.getTables().getByName("sales.orders").getColumns().getElementNames()))
    step("base keys", lambda: [
        [key.Type, key.ReferencedTable, list(key.getColumns().getElementNames())]
        for keys in [definition.getTables().getByName("sales.orders").getKeys()]
        for key in (keys.getByIndex(n) for n in range(keys.getCount()))
    ])
    step("base views", lambda: [name for name in definition.getViews().getElementNames() if name.startswith("sales.")])
    step("base users", lambda: e["PGUSER"] in definition.getUsers().getElementNames())
    step("sdbc no table", lambda: ask("SELECT * FROM sales.nothing"))
    step("sdbc goes on", lambda: ask("SELECT 1 AS one"))
    on.close()


with tempfile.TemporaryDirectory() as folder:
    process, context = office(folder)
    try:
        steps(context)
    finally:
        # The program proper is a child of a starter.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
