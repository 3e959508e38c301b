"""
Writes an assembly System.Runtime 6 that forwards every type to where .NET Core 3.1 has it. The client is built for
.NET 6, of which no wheel has the runtime. Usage: PACKAGES FOLDER
"""

import glob
import os
import sys

packages, folder = sys.argv[1:]
sys.path.insert(0, os.path.dirname(__file__))
from dotnet import open_runtime  # noqa: E402

framework = open_runtime(packages, folder)
import clr  # noqa: E402
from System import Activator, AppDomain, Guid, Version  # noqa: E402
from System.Reflection import Assembly, TypeAttributes  # noqa: E402

clr.AddReference("System.Reflection.Metadata")
clr.AddReference("System.Collections.Immutable")
from System.Reflection import AssemblyFlags, AssemblyHashAlgorithm  # noqa: E402
from System.Reflection.Metadata import BlobBuilder, BlobHandle, EntityHandle, GuidHandle, StringHandle  # noqa: E402
from System.Reflection.Metadata.Ecma335 import MetadataBuilder, MetadataRootBuilder, MetadataTokens  # noqa: E402
from System.Reflection.PortableExecutable import ManagedPEBuilder, PEHeaderBuilder  # noqa: E402

core = "System.Private.CoreLib"
none = Activator.CreateInstance
builder = MetadataBuilder()
text = builder.GetOrAddString
own = Assembly.LoadFrom(os.path.join(framework, "System.Runtime.dll")).GetName()
builder.AddModule(0, text("System.Runtime.dll"), builder.GetOrAddGuid(Guid.NewGuid()), none(GuidHandle), none(GuidHandle))
builder.AddAssembly(
    text("System.Runtime"),
    Version(6, 0, 0, 0),
    none(StringHandle),
    builder.GetOrAddBlob(own.GetPublicKey()),
    AssemblyFlags.PublicKey,
    AssemblyHashAlgorithm.Sha1,
)
first = (MetadataTokens.FieldDefinitionHandle(1), MetadataTokens.MethodDefinitionHandle(1))
builder.AddTypeDefinition(TypeAttributes(0), none(StringHandle), text("<Module>"), none(EntityHandle), *first)

loaded = {each.GetName().Name: each for each in AppDomain.CurrentDomain.GetAssemblies()}
files = sorted(glob.glob(os.path.join(framework, "*.dll")), key=lambda path: (core not in path, path))
seen = set()
references = 0
for path in files:
    title = os.path.basename(path)[: -len(".dll")]
    if title == "System.Runtime":
        continue
    try:
        assembly = loaded[core] if title == core else Assembly.LoadFrom(path)
        types = [each for each in assembly.GetExportedTypes() if not each.IsNested]
    except Exception:
        # Native libraries lie beside the assemblies.
        continue
    types = [each for each in types if each.FullName not in seen and each.Assembly.FullName == assembly.FullName]
    if not types:
        continue
    name = assembly.GetName()
    token = builder.GetOrAddBlob(name.GetPublicKeyToken())
    builder.AddAssemblyReference(text(name.Name), name.Version, none(StringHandle), token, AssemblyFlags(0), none(BlobHandle))
    references += 1
    to = MetadataTokens.EntityHandle(0x23000000 + references)
    for each in types:
        seen.add(each.FullName)
        space = text(each.Namespace) if each.Namespace else none(StringHandle)
        builder.AddExportedType(TypeAttributes(0x00200000), space, text(each.Name), to, 0)

image = BlobBuilder()
ManagedPEBuilder(PEHeaderBuilder.CreateLibraryHeader(), MetadataRootBuilder(builder), BlobBuilder()).Serialize(image)
with open(os.path.join(folder, "System.Runtime.dll"), "wb") as file:
    file.write(bytes(image.ToArray()))
print(f"{len(seen)} types")
