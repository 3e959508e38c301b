"""
Reads a model by ADOMD.NET: opens, walks cubes, reads schema datasets and statements, and prints one line of JSON.
Usage: PACKAGES FOLDER ADDRESS CATALOG USER SECRET STATEMENTS (a file with a list of texts in JSON)
"""

import json
import os
import sys

packages, folder, address, catalog, user, secret, statements = sys.argv[1:]
sys.path.insert(0, os.path.dirname(__file__))
from dotnet import open_runtime  # noqa: E402

open_runtime(packages, folder)
from System import Activator, AppDomain, Array, Object, ResolveEventHandler  # noqa: E402
from System.Runtime.Loader import AssemblyLoadContext  # noqa: E402

space = "Microsoft.AnalysisServices"
libraries = os.path.join(packages, "sempy", "lib")
context = AssemblyLoadContext("adomd", False)
context.LoadFromAssemblyPath(os.path.join(folder, "System.Runtime.dll"))
for name in [f"{space}.Runtime.Core", f"{space}.Runtime.Windows", "Microsoft.Identity.Client"]:
    context.LoadFromAssemblyPath(os.path.join(libraries, f"{name}.dll"))
client = context.LoadFromAssemblyPath(os.path.join(libraries, f"{space}.AdomdClient.dll"))
# It asks for windows, which are not there.
AppDomain.CurrentDomain.AssemblyResolve += ResolveEventHandler(lambda sender, asked: None)


def make(name, *given):
    return Activator.CreateInstance(client.GetType(f"{space}.AdomdClient.{name}"), Array[Object](list(given)))


def message(error):
    return str(error).split("\n")[0]


def rows_of(text):
    reader = make("AdomdCommand", text, connection).ExecuteReader()
    results = []
    while True:
        names = [reader.GetName(place) for place in range(reader.FieldCount)]
        types = [reader.GetFieldType(place).Name for place in range(reader.FieldCount)]
        rows = []
        while reader.Read():
            values = [reader.GetValue(place) for place in range(reader.FieldCount)]
            rows.append([None if value is None else str(value) for value in values])
        results.append({"names": names, "types": types, "rows": rows})
        if not reader.NextResult():
            break
    reader.Close()
    return results


settings = [
    ("Data Source", address),
    ("Initial Catalog", catalog),
    ("User ID", user),
    ("Password", secret),
    ("Transport Compression", "None"),
]
connection = make("AdomdConnection", ";".join(f"{key}={value}" for key, value in settings))
found = {}
try:
    connection.Open()
    found["session"] = connection.SessionID is not None
    found["cubes"] = [
        {"name": cube.Name, "measures": sorted(measure.Name for measure in cube.Measures)} for cube in connection.Cubes
    ]
    found["datasets"] = {}
    names = "DISCOVER_CSDL_METADATA DBSCHEMA_CATALOGS DBSCHEMA_COLUMNS MDSCHEMA_CUBES DISCOVER_CALC_DEPENDENCY"
    tabular = ["COLUMNS", "HIERARCHIES", "KPIS", "LEVELS", "MEASURES", "MODEL", "RELATIONSHIPS", "TABLES"]
    for name in [*names.split(), *(f"TMSCHEMA_{each}" for each in tabular)]:
        table = connection.GetSchemaDataSet(name, make("AdomdRestrictionCollection")).Tables[0]
        values = [[str(row[place]) for place in range(table.Columns.Count)] for row in table.Rows]
        found["datasets"][name] = values
    found["results"] = []
    with open(statements) as file:
        for text in json.load(file):
            try:
                found["results"].append({"tables": rows_of(text)})
            except Exception as error:
                found["results"].append({"fault": message(error)})
except Exception as error:
    found["fault"] = message(error)
finally:
    connection.Close()
print("\n" + json.dumps(found))
