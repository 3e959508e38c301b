/**
 * Reads manifest lists: the manifests of a snapshot (Iceberg specification, Snapshots). The engine plans by them, and
 * the gateway compares snapshots by them.
 */

import { BoundFailure, ReadFailure } from '../read-failure.ts'
import { fieldNames, manifestIn } from './avro-fields.ts'

export interface ManifestRef {
  readonly location: string
  readonly sizeBytes: number
  readonly specId: number
  readonly content: 'data' | 'deletes'
  /** Inherited by entries that have no sequence number; 0 in version 1. */
  readonly sequenceNumber: number
  /** Undefined where the list does not say it, as version 1 lists may. */
  readonly addedSnapshotId: bigint | undefined
  /** Whether it is encrypted, so that only a holder of its key can read it. */
  readonly isEncrypted: boolean
}

/** A manifest of which the metadata may not say how long it is. */
export type NamedManifest = Omit<ManifestRef, 'sizeBytes'> & { readonly sizeBytes: number | undefined }

const listFields = {
  manifest_path: 500,
  manifest_length: 501,
  partition_spec_id: 502,
  content: 517,
  sequence_number: 515,
  added_snapshot_id: 503,
  key_metadata: 519,
} as const

/**
 * The manifests that a manifest list names.
 * @param bytes of the list
 * @param manifestsMax how many manifests a snapshot may have
 * @throws ReadFailure where the list is malformed or too long
 */
export function manifestsIn(bytes: Uint8Array, manifestsMax: number): readonly ManifestRef[] {
  const manifests: ManifestRef[] = []
  for (const manifest of listedManifests(bytes)) {
    manifests.push(manifest)
    if (manifests.length > manifestsMax)
      throw new BoundFailure(`a snapshot has more than ${manifestsMax} manifests`)
  }
  return manifests
}

/** The same one by one, for a caller who keeps few of them. @throws ReadFailure where the list is malformed */
export function* listedManifests(bytes: Uint8Array): Generator<ManifestRef> {
  const { schema, records } = manifestIn(bytes)
  const names = fieldNames(schema, listFields)
  for (const record of records) {
    const path = record[names.manifest_path]
    const content = record[names.content] ?? 0
    const snapshot = record[names.added_snapshot_id]
    if (typeof path !== 'string') throw new ReadFailure('a manifest list names no manifest')
    if (content !== 0 && content !== 1) throw new ReadFailure('a manifest holds an unknown kind of content')
    yield {
      location: path,
      sizeBytes: count(record[names.manifest_length]),
      specId: count(record[names.partition_spec_id] ?? 0),
      content: content === 0 ? 'data' : 'deletes',
      sequenceNumber: count(record[names.sequence_number] ?? 0n),
      addedSnapshotId: typeof snapshot === 'bigint' ? snapshot : undefined,
      isEncrypted: Boolean(record[names.key_metadata]),
    }
  }
}

/** A manifest that the metadata file itself names, as version 1 may. */
export function inlineManifest(location: string): NamedManifest {
  return {
    ...{ location, sizeBytes: undefined, specId: 0, content: 'data', sequenceNumber: 0 },
    ...{ addedSnapshotId: undefined, isEncrypted: false },
  }
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
