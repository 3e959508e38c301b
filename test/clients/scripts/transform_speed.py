"""
Times the library on distinct texts of 16 digits, by method: transform_speed.py VALUES ROUNDS. Each method is a line
`TIMES` with milliseconds. The baseline hashes each value by SHA-256, in the same rounds.
"""

import hashlib
import json
import sys
import time

import pyarrow as pa

from covenant_transform import OpenPlan, protect
from covenant_transform.plan import read_plan

values, rounds = map(int, sys.argv[1:])
texts = [str(4_000_000_000_000_000 + number * 97) for number in range(values)]
table = pa.table({"c": pa.array(texts)})
rules = {
    "hmac": {"action": "tokenize"},
    "gcm": {"action": "encrypt"},
    "siv": {"action": "encrypt"},
    "ff1": {"action": "tokenize", "alphabet": "digits"},
}


def opened(method):
    column = {"field_id": 1, "name": "c", "type": "string", "required": False, "scope": "s", "kid": "k1", "method": method}
    plan = read_plan(
        {
            "v": 1,
            "iss": "https://covenant.example",
            "tenant": "tenant",
            "table_uuid": "uuid",
            "table": ["sales", "cards"],
            "schema_id": 0,
            "policy_version": "sha256:" + "0" * 64,
            "iat": 0,
            "exp": 600,
            "nonce": "n",
            "columns": [{**column, **rules[method]}],
            "complete": True,
        }
    )
    key = bytes([7]) * (64 if method == "siv" else 32)
    return OpenPlan(plan, {rule.label: key for rule in plan.columns})


def timed(work):
    start = time.perf_counter()
    if len(work()) != values:
        raise SystemExit("not every value was done")
    return (time.perf_counter() - start) * 1000


for method in rules:
    plan = opened(method)
    taken = {"baseline_ms": [], "ms": []}
    for _ in range(rounds):
        taken["baseline_ms"].append(timed(lambda: [hashlib.sha256(text.encode()).digest() for text in texts]))
        taken["ms"].append(timed(lambda: protect(table, plan, now=0)))
    print("TIMES " + json.dumps({"method": method, **taken}), flush=True)
