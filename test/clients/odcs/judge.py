"""Judges contract documents with datacontract-cli. Reads one JSON command a line, writes one JSON answer a line."""

import json
import sys

from datacontract.data_contract import DataContract
from datacontract.model.breaking import Perspective


def breaks(before, after, perspective):
    result = DataContract(data_contract_file=before, inline_references=False).breaking(DataContract(data_contract_file=after, inline_references=False), perspective=perspective)
    return result.is_breaking


for line in sys.stdin:
    command = json.loads(line)
    if "lint" in command:
        run = DataContract(data_contract_file=command["lint"], inline_references=False).lint()
        answer = {"result": str(run.result.value), "checks": [f"{c.name}: {c.reason}" for c in run.checks]}
    else:
        files = (command["before"], command["after"])
        answer = {p.value: breaks(*files, p) for p in (Perspective.CONSUMER, Perspective.PRODUCER)}
    print(json.dumps(answer), flush=True)
