"""Tests data by a contract document with datacontract-cli. Writes the results of its quality rules as JSON."""

import json
import sys

from datacontract.data_contract import DataContract


def told(check):
    diagnostics = check.diagnostics or {}
    return {
        "id": check.qualityId,
        "field": check.field,
        "result": None if check.result is None else check.result.value,
        "reason": check.reason,
        "value": diagnostics.get("value"),
        "percent": diagnostics.get("percent"),
    }


run = DataContract(data_contract_file=sys.argv[1], inline_references=False).test()
print(json.dumps([told(check) for check in run.checks if check.qualityId is not None]))
