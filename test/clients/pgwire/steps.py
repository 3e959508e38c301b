"""What the Python clients share: named steps, each printed as one line of JSON; values in a form that every
driver's own types come to, so that two servers' answers can be compared."""

import json
import sys


def plain(value):
    """A driver's value as text and lists: dates in ISO form, decimals exact, bytes in hex."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "\\x" + bytes(value).hex()
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, (list, tuple)) or (hasattr(value, "__iter__") and not hasattr(value, "as_tuple")):
        return [plain(item) for item in value]
    return str(value)


def run(step, action, state_of):
    """Prints what `action` gives, or the SQLSTATE that it ends with."""
    try:
        line = {"step": step, "value": plain(action())}
    except Exception as error:  # the server's refusals are part of what is compared
        state = state_of(error)
        if state is None:
            raise
        line = {"step": step, "error": state}
    print(json.dumps(line), flush=True)


def main(steps):
    """Runs the steps named on the command line, else all."""
    named = sys.argv[1:]
    for step in steps:
        if not named or step.__name__ in named:
            step()
