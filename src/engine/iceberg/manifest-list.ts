/** Reads manifest lists: the manifests of a snapshot (Iceberg specification, Snapshots). */

import { fieldNames, openManifest } from '../../storage/avro-fields.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import type { Storage } from '../../storage/storage.ts'
import { engineCannotRead } from '../engine-error.ts'

export interface ManifestRef {
  readonly location: string
  readonly sizeBytes: number
  readonly specId: number
  readonly content: 'data' | 'deletes'
  /** Inherited by entries that have no sequence number; 0 in version 1. */
  readonly sequenceNumber: number
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
 * @param manifestsMax how many manifests a snapshot may have
 * @throws ReadFailure where the list is malformed or too long; EngineError where the table is encrypted
 */
export async function readManifestList(
  storage: Storage,
  location: string,
  manifestsMax: number,
): Promise<readonly ManifestRef[]> {
  const { schema, records } = await openManifest(storage, location)
  const names = fieldNames(schema, listFields)
  const manifests: ManifestRef[] = []
  for (const record of records) {
    const path = record[names.manifest_path]
    const content = record[names.content] ?? 0
    if (typeof path !== 'string') throw new ReadFailure('a manifest list names no manifest')
    if (content !== 0 && content !== 1) throw new ReadFailure('a manifest holds an unknown kind of content')
    if (record[names.key_metadata]) throw engineCannotRead('An encrypted table')
    manifests.push({
      location: path,
      sizeBytes: manifestCount(record[names.manifest_length]),
      specId: manifestCount(record[names.partition_spec_id] ?? 0),
      content: content === 0 ? 'data' : 'deletes',
      sequenceNumber: manifestCount(record[names.sequence_number] ?? 0n),
    })
    if (manifests.length > manifestsMax)
      throw new ReadFailure(`a snapshot has more than ${manifestsMax} manifests`)
  }
  return manifests
}

/**
 * A manifest's count, length or id as a number.
 * @throws ReadFailure where it is not an integer, is negative, or is beyond 2⁵³
 */
export function manifestCount(value: unknown): number {
  const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(number) || number < 0) throw new ReadFailure('a manifest holds an invalid count')
  return number
}
