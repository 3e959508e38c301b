/** The tables and commits of the benchmarks: two sizes, and appends that keep the size of a table about constant. */

import {
  appendSnapshot,
  firstSnapshotId,
  removeSnapshots,
  type SampleField,
  schemaOf,
} from '../demo/commits.ts'
import { isJsonObject, type JsonObject, jsonObject, parseJson } from '../src/base/json.ts'
import { applyUpdates } from '../src/wire/iceberg/apply-updates.ts'
import { parseCommitRequest } from '../src/wire/iceberg/commit-request.ts'
import { createTableUpdates } from '../src/wire/iceberg/create-table.ts'

export interface TableSize {
  readonly columns: number
  readonly snapshots: number
}

export const tableSizes = {
  small: { columns: 10, snapshots: 5 },
  large: { columns: 200, snapshots: 1_000 },
} as const satisfies Record<string, TableSize>
export type TableSizeName = keyof typeof tableSizes
export const tableSizeNames = Object.keys(tableSizes) as readonly TableSizeName[]

/** A CreateTableRequest: a column `id`, a partition by day, and as many strings as the size needs. */
export function createTableBody(name: string, { columns }: TableSize): string {
  const fields: SampleField[] = [
    { id: 1, name: 'id', type: 'long', required: true },
    { id: 2, name: 'event_time', type: 'timestamptz' },
  ]
  for (let id = fields.length + 1; id <= columns; id++)
    fields.push({ id, name: `attribute_${id}`, type: 'string' })
  return JSON.stringify({
    name,
    // Nessie requires this member.
    'stage-create': false,
    schema: schemaOf(fields),
    'partition-spec': {
      'spec-id': 0,
      fields: [{ 'source-id': 2, 'field-id': 1000, name: 'event_day', transform: 'day' }],
    },
    // Without it, the metadata would grow by one log entry a commit, up to a hundred, during the measurement.
    // Its commits name manifest lists that no catalog looks for: the path makes them the table's own.
    properties: {
      'write.data.path': dataPathOf(name),
      'write.metadata.previous-versions-max': '5',
      'write.metadata.delete-after-commit.enabled': 'true',
    },
  })
}

function dataPathOf(table: string): string {
  return `s3://bench/${table}`
}

/** Appends to one table, each based on the previous one. */
export class Appends {
  readonly #snapshotIds: bigint[] = []
  #sequenceNumber = 0

  constructor(
    readonly size: TableSize,
    readonly table = 'orders',
  ) {}

  /** The commit that gives a new table its first snapshots. */
  first(nowMs: number): string {
    const updates = Array.from({ length: this.size.snapshots }, () => updatesOf(this.next(nowMs)))
    const added = updates.map(([addSnapshot]) => addSnapshot)
    return `{"requirements":[],"updates":[${[...added, updates.at(-1)?.[1]].join(',')}]}`
  }

  /** The next append, which is assumed to be committed. */
  next(nowMs: number): string {
    const parentId = this.#snapshotIds.at(-1)
    const snapshotId = (parentId ?? firstSnapshotId) + 1n
    this.#snapshotIds.push(snapshotId)
    return appendSnapshot({
      snapshotId,
      parentId,
      sequenceNumber: ++this.#sequenceNumber,
      timestampMs: nowMs,
      manifestList: `${dataPathOf(this.table)}/metadata/snap-${snapshotId}.avro`,
    })
  }

  /** An expiry that brings a grown table back to its size; undefined while it has grown little. */
  trim(): string | undefined {
    const { snapshots } = this.size
    if (this.#snapshotIds.length < snapshots + Math.max(20, snapshots / 10)) return undefined
    return removeSnapshots(this.#snapshotIds.splice(0, this.#snapshotIds.length - snapshots))
  }
}

/** The two updates of an append, as text, because their snapshot ids are above 2^53. */
function updatesOf(body: string): readonly [addSnapshot: string, setSnapshotRef: string] {
  const begin = '"updates":['
  const updates = body.slice(body.indexOf(begin) + begin.length, -2)
  const second = updates.indexOf(',{"action":"set-snapshot-ref"')
  return [updates.slice(0, second), updates.slice(second + 1)]
}

/** The metadata of such a table after the first commit of `appends`, without a catalog. */
export function sampleMetadata(appends: Appends, nowMs: number): JsonObject {
  const request = parseJson(Buffer.from(createTableBody('orders', appends.size)))
  if (!isJsonObject(request)) throw new Error('the sample table is no object')
  const location = jsonObject({ action: 'set-location', location: 's3://bench/orders' })
  const uuid = jsonObject({ action: 'assign-uuid', uuid: '5f2b0f0e-0b6a-4c58-9d3f-6f0c9f0f7a10' })
  const created = applyUpdates(undefined, [uuid, location, ...createTableUpdates(request)], { nowMs })
  return applyUpdates(created, parseCommitRequest(Buffer.from(appends.first(nowMs))).updates, { nowMs })
}
