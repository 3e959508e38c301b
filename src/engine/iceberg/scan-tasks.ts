/**
 * Writes file scan tasks as JSON (Iceberg REST OpenAPI document, FileScanTask): each data file with exactly the deletes
 * that apply to it (Iceberg specification, Scan Planning). Opens no file.
 */

import { type JsonObject, type JsonValue, jsonObject } from '../../base/json.ts'
import { deleteIndex } from '../../storage/iceberg/deletes.ts'
import type { DeleteEntry, FileEntry } from '../../storage/iceberg/files.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { engineCannotRead } from '../engine-error.ts'
import { partitionValueJson } from './partition-json.ts'
import type { PartitionField, SnapshotPlan } from './snapshot-plan.ts'

export interface ScanTasks {
  readonly tasks: readonly JsonObject[]
  /** What tasks refer to by index. */
  readonly deletes: readonly JsonObject[]
  /** Whether some of them name data files by path, so that a reader must know these paths. */
  readonly namesPaths: boolean
}

/**
 * @param files data files of the plan
 * @param addressOf where the client reads a file
 * @throws ReadFailure where two deletion vectors name one file, or a partition spec is missing; EngineError for a
 *   partition that JSON cannot hold
 */
export function scanTasks(
  plan: SnapshotPlan,
  files: readonly FileEntry[],
  addressOf: (location: string) => string,
): ScanTasks {
  const applicable = deleteIndex(plan.specs)
  for (const entry of plan.deletes) applicable.add(entry)
  const indexes = new Map<DeleteEntry, number>()
  const content = (entry: FileEntry, kind: string, more: Readonly<Record<string, JsonValue | undefined>>) =>
    jsonObject({
      content: kind,
      'file-path': addressOf(entry.location),
      'file-format': entry.format.toLowerCase(),
      'spec-id': BigInt(entry.specId),
      partition: partitionJson(plan, entry),
      'file-size-in-bytes': BigInt(entry.sizeBytes),
      'record-count': BigInt(entry.recordCount),
      ...more,
    })
  const tasks = files.map((file) => {
    const references = applicable
      .of(file)
      .list()
      .map((entry) => {
        const known = indexes.get(entry)
        if (known !== undefined) return known
        indexes.set(entry, indexes.size)
        return indexes.size - 1
      })
    return jsonObject({
      'data-file': content(file, 'data', {}),
      'delete-file-references': references.length === 0 ? undefined : references.map(BigInt),
    })
  })
  const used = [...indexes.keys()]
  return {
    tasks,
    deletes: used.map((entry) =>
      content(entry, entry.kind === 'equality' ? 'equality-deletes' : 'position-deletes', {
        'equality-ids': entry.kind === 'equality' ? entry.equalityIds.map(BigInt) : undefined,
        'referenced-data-file': entry.dataFile === undefined ? undefined : addressOf(entry.dataFile),
        'content-offset': entry.blob && BigInt(entry.blob.offset),
        'content-size-in-bytes': entry.blob && BigInt(entry.blob.size),
      }),
    ),
    namesPaths: used.some(({ kind }) => kind === 'position'),
  }
}

function specOf(plan: SnapshotPlan, specId: number): readonly PartitionField[] {
  const fields = plan.specs.get(specId)
  if (fields === undefined) throw new ReadFailure('a partition spec is not in the metadata file')
  return fields
}

/** The values in the order of the spec. */
function partitionJson(plan: SnapshotPlan, { specId, partition }: FileEntry): readonly JsonValue[] {
  return specOf(plan, specId).map((field) => {
    const value = partition.get(field.id) ?? null
    if (value === null) return null
    const source = field.sourceId === undefined ? undefined : plan.fields.get(field.sourceId)
    if (source === undefined || typeof source.type !== 'string')
      throw engineCannotRead('A table that is partitioned by a field that is gone')
    return partitionValueJson(value, field.transform, source.type)
  })
}
