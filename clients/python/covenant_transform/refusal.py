"""The one error of the library. Its message names column and rule, never a value, so that it may be logged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class TransformRefused(Exception):
    """Nothing was protected. `code` is one of docs/reference/transform.md 1.3; `column` names the column at fault."""

    def __init__(self, code: str, message: str, column: str | None = None) -> None:
        super().__init__(message if column is None else f"column {column}: {message}")
        self.code = code
        self.sentence = message
        self.column = column

    def __reduce__(self) -> tuple[type[TransformRefused], tuple[str, str, str | None]]:
        return TransformRefused, (self.code, self.sentence, self.column)


def refusing(step: Callable[[], T], otherwise: TransformRefused, column: str | None = None) -> T:
    """
    Runs a step. A refusal of the step gets the column's name; any other error becomes `otherwise`.

    The refusal is raised outside of the handler, so that it carries neither the foreign error nor its frames: both may
    hold values.
    """
    try:
        return step()
    except TransformRefused as refused:
        found = TransformRefused(refused.code, refused.sentence, refused.column or column)
    except Exception:  # noqa: BLE001 - whatever it is, it may quote its input
        found = otherwise
    raise found
