"""Loads the .NET Core runtime of a wheel into Python. Usage: open_runtime(PACKAGES, FOLDER)"""

import json
import os


def open_runtime(packages, folder):
    """The framework's folder, with the runtime loaded."""
    from clr_loader import get_coreclr
    import pythonnet

    root = os.path.join(packages, "dotnetcore2", "bin")
    shared = os.path.join(root, "shared", "Microsoft.NETCore.App")
    [version] = os.listdir(shared)
    config = os.path.join(folder, "runtime.json")
    options = {
        "tfm": "netcoreapp3.1",
        "framework": {"name": "Microsoft.NETCore.App", "version": version},
        "configProperties": {"System.Globalization.Invariant": True},
    }
    with open(config, "w") as file:
        json.dump({"runtimeOptions": options}, file)
    pythonnet.set_runtime(get_coreclr(runtime_config=config, dotnet_root=root))
    import clr  # noqa: F401

    return os.path.join(shared, version)
