/** Writes manifests and manifest lists: their schemas and entries. */

import { avroBytes } from './avro-file.ts'
import type { Field } from './table-fields.ts'

export type FormatVersion = 1 | 2 | 3

/** Statistics of a file in a manifest, by field id; bounds in single-value binary form. */
export interface FileStats {
  readonly valueCounts?: Readonly<Record<number, number>>
  readonly nullCounts?: Readonly<Record<number, number>>
  readonly lower?: Readonly<Record<number, Uint8Array>>
  readonly upper?: Readonly<Record<number, Uint8Array>>
}

/** A manifest, as a manifest list describes it. */
export interface Manifest {
  readonly path: string
  readonly length: number
  readonly content: number
  readonly snapshotId: bigint
  readonly sequence: number
  /** 0 where absent. */
  readonly specId?: number
}

/** The manifest entry of a data or delete file that this snapshot added. */
export function manifestEntry(
  version: FormatVersion,
  file: Readonly<Record<string, unknown>>,
  snapshotId: bigint,
): Record<string, unknown> {
  const { content, ...v1 }: Record<string, unknown> = { ...noStats, ...file }
  if (version === 1)
    return { status: 1, snapshot_id: snapshotId, data_file: { ...v1, block_size_in_bytes: 0n } }
  // Both are inherited from the manifest list, as other writers do it.
  return {
    status: 1,
    snapshot_id: null,
    sequence_number: null,
    file_sequence_number: null,
    data_file: {
      content,
      equality_ids: null,
      referenced_data_file: null,
      content_offset: null,
      content_size_in_bytes: null,
      ...v1,
    },
  }
}

/** @param by the field by which the table is partitioned */
export function manifestSchema(version: FormatVersion, by: Field | undefined): object {
  const partition = {
    type: 'record',
    name: 'r102',
    fields:
      by === undefined
        ? []
        : [
            {
              name: by.name,
              type: ['null', by.type === 'string' ? 'string' : 'long'],
              default: null,
              'field-id': 1000,
            },
          ],
  }
  const v1 = version === 1
  return {
    type: 'record',
    name: 'manifest_entry',
    fields: [
      { name: 'status', type: 'int', 'field-id': 0 },
      { name: 'snapshot_id', type: v1 ? 'long' : ['null', 'long'], 'field-id': 1 },
      ...(v1
        ? []
        : [
            { name: 'sequence_number', type: ['null', 'long'], 'field-id': 3 },
            { name: 'file_sequence_number', type: ['null', 'long'], 'field-id': 4 },
          ]),
      {
        name: 'data_file',
        'field-id': 2,
        type: {
          type: 'record',
          name: 'r2',
          fields: [
            ...(v1 ? [] : [{ name: 'content', type: 'int', 'field-id': 134 }]),
            { name: 'file_path', type: 'string', 'field-id': 100 },
            { name: 'file_format', type: 'string', 'field-id': 101 },
            { name: 'partition', type: partition, 'field-id': 102 },
            { name: 'record_count', type: 'long', 'field-id': 103 },
            { name: 'file_size_in_bytes', type: 'long', 'field-id': 104 },
            ...(v1 ? [{ name: 'block_size_in_bytes', type: 'long', 'field-id': 105 }] : []),
            ...statsSchema,
            ...(v1 ? [] : deleteSchema),
          ],
        },
      },
    ],
  }
}

/** The manifest list of a snapshot. */
export function manifestListBytes(version: FormatVersion, manifests: readonly Manifest[]): Uint8Array {
  const v1 = version === 1
  const schema = {
    type: 'record',
    name: 'manifest_file',
    fields: [
      { name: 'manifest_path', type: 'string', 'field-id': 500 },
      { name: 'manifest_length', type: 'long', 'field-id': 501 },
      { name: 'partition_spec_id', type: 'int', 'field-id': 502 },
      ...(v1
        ? []
        : [
            { name: 'content', type: 'int', 'field-id': 517 },
            { name: 'sequence_number', type: 'long', 'field-id': 515 },
            { name: 'min_sequence_number', type: 'long', 'field-id': 516 },
          ]),
      { name: 'added_snapshot_id', type: 'long', 'field-id': 503 },
    ],
  }
  const records = manifests.map(({ path, length, content, snapshotId, sequence, specId = 0 }) => ({
    manifest_path: path,
    manifest_length: BigInt(length),
    partition_spec_id: specId,
    ...(v1 ? {} : { content, sequence_number: BigInt(sequence), min_sequence_number: BigInt(sequence) }),
    added_snapshot_id: snapshotId,
  }))
  return avroBytes(schema, records, { 'format-version': String(version) })
}

const optional = (name: string, type: unknown, id: number) => ({
  name,
  type: ['null', type],
  default: null,
  'field-id': id,
})

/** A map with integer keys, as Avro encodes it. */
const numbered = (name: string, id: number, keyId: number, valueId: number, values: string) =>
  optional(
    name,
    {
      type: 'array',
      logicalType: 'map',
      items: {
        type: 'record',
        name: `k${keyId}_v${valueId}`,
        fields: [
          { name: 'key', type: 'int', 'field-id': keyId },
          { name: 'value', type: values, 'field-id': valueId },
        ],
      },
    },
    id,
  )

const statsSchema = [
  numbered('value_counts', 109, 119, 120, 'long'),
  numbered('null_value_counts', 110, 121, 122, 'long'),
  numbered('lower_bounds', 125, 126, 127, 'bytes'),
  numbered('upper_bounds', 128, 129, 130, 'bytes'),
]
const noStats = { value_counts: null, null_value_counts: null, lower_bounds: null, upper_bounds: null }

const deleteSchema = [
  optional('equality_ids', { type: 'array', items: 'int', 'element-id': 136 }, 135),
  optional('referenced_data_file', 'string', 143),
  optional('content_offset', 'long', 144),
  optional('content_size_in_bytes', 'long', 145),
]

/** Statistics in the form of a manifest entry. */
export function statsFields({
  valueCounts,
  nullCounts,
  lower,
  upper,
}: FileStats = {}): Record<string, unknown> {
  const pairs = (from: Readonly<Record<number, number | Uint8Array>> | undefined) =>
    from === undefined
      ? null
      : Object.entries(from).map(([key, value]) => ({
          key: Number(key),
          value: typeof value === 'number' ? BigInt(value) : Buffer.from(value),
        }))
  return {
    value_counts: pairs(valueCounts),
    null_value_counts: pairs(nullCounts),
    lower_bounds: pairs(lower),
    upper_bounds: pairs(upper),
  }
}
