/**
 * Reads manifest lists: the manifests of a snapshot (Iceberg specification, Snapshots). The engine plans by them, and
 * the gateway compares snapshots by them.
 */

import { fieldNames, manifestIn } from './avro-fields.ts'
import { BoundFailure, ReadFailure } from './read-failure.ts'

export interface ManifestRef {
  readonly location: string
  readonly sizeBytes: number
  readonly specId: number
  readonly content: 'data' | 'deletes'
  /** Inherited by entries that have no sequence number; 0 in version 1. */
  readonly sequenceNumber: number
  /** Whether it is encrypted, so that only a holder of its key can read it. */
  readonly isEncrypted: boolean
}

const listFields = {
  manifest_path: 500,
  manifest_length: 501,
  partition_spec_id: 502,
  content: 517,
  sequence_number: 515,
  key_metadata: 519,
} as const

/**
 * The manifests that a manifest list names.
 * @param bytes of the list
 * @param manifestsMax how many manifests a snapshot may have
 * @throws ReadFailure where the list is malformed or too long
 */
export function manifestsIn(bytes: Uint8Array, manifestsMax: number): readonly ManifestRef[] {
  const { schema, records } = manifestIn(bytes)
  const names = fieldNames(schema, listFields)
  const manifests: ManifestRef[] = []
  for (const record of records) {
    const path = record[names.manifest_path]
    const content = record[names.content] ?? 0
    if (typeof path !== 'string') throw new ReadFailure('a manifest list names no manifest')
    if (content !== 0 && content !== 1) throw new ReadFailure('a manifest holds an unknown kind of content')
    manifests.push({
      location: path,
      sizeBytes: count(record[names.manifest_length]),
      specId: count(record[names.partition_spec_id] ?? 0),
      content: content === 0 ? 'data' : 'deletes',
      sequenceNumber: count(record[names.sequence_number] ?? 0n),
      isEncrypted: Boolean(record[names.key_metadata]),
    })
    if (manifests.length > manifestsMax)
      throw new BoundFailure(`a snapshot has more than ${manifestsMax} manifests`)
  }
  return manifests
}

/**
 * A manifest's count, length or id as a number.
 * @throws ReadFailure where it is not an integer, is negative, or is beyond 2⁵³
 */
export function count(value: unknown): number {
  const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(number) || number < 0) throw new ReadFailure('a manifest holds an invalid count')
  return number
}
