"""
Protects columns before their bytes reach storage, by a plan that the Covenant service signs.

It changes values in memory and writes no files. A batch is protected as a whole or not at all: whatever goes wrong
raises TransformRefused, and there is no switch that turns that off. The rules of every format are in
docs/reference/transform.md of the service.
"""

from .fetch import PlanSource, fetch_plan
from .open_plan import OpenPlan, open_plan
from .protect import protect, protect_batches
from .refusal import TransformRefused

__all__ = [
    "OpenPlan",
    "PlanSource",
    "TransformRefused",
    "fetch_plan",
    "open_plan",
    "protect",
    "protect_batches",
]
