"""Protects Spark's data frames, by `mapInArrow`: the executors protect, and each asks for plans of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from .fetch import PlanSource
from .protect import protect

_OPTION = "snapshot-property."


def protect_frame(frame: DataFrame, source: PlanSource) -> tuple[DataFrame, dict[str, str]]:
    """
    Protects a frame.

    Returns the protected frame, and the write options that show the plan in the snapshot's summary, for
    `writeTo(…).options(…)`. Raises TransformRefused where there is no plan now; a refusal on an executor fails the job,
    so that nothing is committed.
    """
    plan = source.plan()

    def protect_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield protect(batch, source.plan())

    options: dict[str, Any] = {_OPTION + name: value for name, value in plan.summary.items()}
    return frame.mapInArrow(protect_partition, frame.schema), options
