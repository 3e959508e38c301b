"""Sends a START, a COMPLETE with column lineage and a FAIL with the real OpenLineage client, and a dataset event."""

import sys
from uuid import uuid4

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import (
    DatasetEvent, InputDataset, Job, OutputDataset, Run, RunEvent, RunState, StaticDataset)
from openlineage.client.facet_v2 import column_lineage_dataset as columns, error_message_run, symlinks_dataset
from openlineage.client.transport.http import HttpConfig, HttpTransport

url, secret, catalog = sys.argv[1:]
client = OpenLineageClient(transport=HttpTransport(HttpConfig.from_dict({
    "url": url,
    "endpoint": "v1/lineage",
    "custom_headers": {"X-Svc-Session": secret},
})))
producer = "https://github.com/example/etl/v1"
job = Job(namespace="airflow", name="client.daily")
source = InputDataset(namespace="s3://lake", name="client/orders")
target = OutputDataset(namespace="s3://lake", name="client/revenue", facets={
    "columnLineage": columns.ColumnLineageDatasetFacet(fields={"total": columns.Fields(inputFields=[
        columns.InputField(namespace="s3://lake", name="client/orders", field="price")])}),
    "symlinks": symlinks_dataset.SymlinksDatasetFacet(identifiers=[
        symlinks_dataset.Identifier(namespace=catalog, name="sales.orders", type="TABLE")]),
})
run = Run(runId=str(uuid4()))
failed = Run(runId=str(uuid4()), facets={
    "errorMessage": error_message_run.ErrorMessageRunFacet(message="boom", programmingLanguage="PYTHON")})


def event(state, of, outputs):
    return RunEvent(eventType=state, eventTime="2026-03-01T10:00:00Z", producer=producer, run=of, job=job,
                    inputs=[source], outputs=outputs)


client.emit(event(RunState.START, run, []))
client.emit(event(RunState.COMPLETE, run, [target]))
client.emit(event(RunState.COMPLETE, run, [target]))
client.emit(event(RunState.FAIL, failed, []))
client.emit(DatasetEvent(eventTime="2026-03-01T10:00:00Z", producer=producer,
                         dataset=StaticDataset(namespace="s3://lake", name="client/revenue")))
print(run.runId)
