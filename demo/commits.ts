/** Builds commits as Iceberg writers send them, for the demo, the tests and the benchmarks. */

export interface SampleField {
  readonly id: number
  readonly name: string
  readonly type: string
  readonly required?: boolean
}

export const orderFields: readonly SampleField[] = [
  { id: 1, name: 'id', type: 'long', required: true },
  { id: 2, name: 'customer', type: 'string' },
  { id: 3, name: 'amount', type: 'decimal(12, 2)' },
  { id: 4, name: 'placed_at', type: 'timestamptz' },
]

export function schemaOf(fields: readonly SampleField[]): Record<string, unknown> {
  return { type: 'struct', fields: fields.map((field) => ({ required: false, ...field })) }
}

/** A CreateTableRequest. */
export function createTable(
  name: string,
  fields: readonly SampleField[] = orderFields,
  properties: Readonly<Record<string, string>> = {},
): string {
  return JSON.stringify({ name, schema: schemaOf(fields), properties })
}

/** The first snapshot id of samples: above 2^53, as real ones are. */
export const firstSnapshotId = 9_007_199_254_740_993n

/** Adds a snapshot to the branch main. */
export function appendSnapshot(options: {
  readonly snapshotId: bigint
  readonly parentId?: bigint | undefined
  readonly sequenceNumber: number
  readonly timestampMs: number
  /** By default a file that does not exist, so nothing of the snapshot can be read. */
  readonly manifestList?: string
}): string {
  const { snapshotId, parentId, sequenceNumber, timestampMs } = options
  const { manifestList = `file:///demo/snap-${snapshotId}.avro` } = options
  const parent = parentId === undefined ? '' : `"parent-snapshot-id":${parentId},`
  const expected = parentId === undefined ? 'null' : String(parentId)
  return `{"requirements":[{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":${expected}}],"updates":[{"action":"add-snapshot","snapshot":{"snapshot-id":${snapshotId},${parent}"sequence-number":${sequenceNumber},"timestamp-ms":${timestampMs},"manifest-list":${JSON.stringify(manifestList)},"summary":{"operation":"append"},"schema-id":0}},{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":${snapshotId}}]}`
}

export function setProperties(properties: Readonly<Record<string, string>>): string {
  return JSON.stringify({ requirements: [], updates: [{ action: 'set-properties', updates: properties }] })
}

/** Replaces the current schema, provided that it is still `currentSchemaId`. */
export function replaceSchema(fields: readonly SampleField[], currentSchemaId = 0): string {
  return JSON.stringify({
    requirements: [{ type: 'assert-current-schema-id', 'current-schema-id': currentSchemaId }],
    updates: [
      {
        action: 'add-schema',
        schema: schemaOf(fields),
        'last-column-id': Math.max(...fields.map((field) => field.id)),
      },
      { action: 'set-current-schema', 'schema-id': -1 },
    ],
  })
}

export function removeSnapshots(snapshotIds: readonly bigint[]): string {
  return `{"requirements":[],"updates":[{"action":"remove-snapshots","snapshot-ids":[${snapshotIds.join(',')}]}]}`
}
