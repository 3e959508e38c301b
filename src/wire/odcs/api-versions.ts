/** The versions of the Open Data Contract Standard that documents may have. */

/** Newest first. Documents of 2.2 are only imported: they have another structure. */
export const apiVersions = [
  'v3.2.0',
  'v3.1.0',
  'v3.0.2',
  'v3.0.1',
  'v3.0.0',
  'v2.2.2',
  'v2.2.1',
  'v2.2.0',
] as const
export type ApiVersion = (typeof apiVersions)[number]

export const writtenApiVersions = ['v3.2.0', 'v3.1.0', 'v3.0.2', 'v3.0.1', 'v3.0.0'] as const
export type WrittenApiVersion = (typeof writtenApiVersions)[number]

/** Whether a value names a version of the standard. */
export function isApiVersion(value: unknown): value is ApiVersion {
  return apiVersions.includes(value as ApiVersion)
}

/** Whether documents of this version have the structure that Covenant reads and writes. */
export function isWritten(version: ApiVersion): version is WrittenApiVersion {
  return writtenApiVersions.includes(version as WrittenApiVersion)
}

/** The versions whose JSON Schema is there; one validates all of its minor version. */
const schemaVersions = ['3.2.0', '3.1.0', '3.0.2'] as const
export type SchemaVersion = (typeof schemaVersions)[number]

/** The version whose JSON Schema validates documents of `version`. */
export function schemaVersionOf(version: WrittenApiVersion): SchemaVersion {
  return schemaVersions.find((one) => version.startsWith(`v${one.slice(0, 3)}`)) ?? '3.2.0'
}
