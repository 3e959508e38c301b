"""Runs a Dagster job whose events the OpenLineage sensor then sends, as the daemon would have it do."""

import tempfile

from dagster import DagsterInstance, build_sensor_context, job, op, repository
from openlineage.dagster.sensor import openlineage_sensor


@op
def extract():
    return 1


@op
def load(value):
    return value


@job
def daily():
    load(extract())


@repository
def lake():
    return [daily]


# The sensor reads the events of all runs, which Dagster's own default keeps in a file for each run.
events = {"module": "dagster.core.storage.event_log", "class": "ConsolidatedSqliteEventLogStorage"}
with tempfile.TemporaryDirectory() as folder:
    overrides = {"event_log_storage": {**events, "config": {"base_dir": folder}}}
    instance = DagsterInstance.local_temp(folder, overrides=overrides)
    assert daily.execute_in_process(instance=instance).success
    sensor = openlineage_sensor()
    context = build_sensor_context(instance=instance, repository_def=lake)
    sensor.evaluate_tick(context)
