/** Names of labels and of a tenant's schema and graph; converts ids, texts and JSON to what PostgreSQL can store. */

import { createHash } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'

export const vertexLabels = [
  'Contract',
  'ContractVersion',
  'Catalog',
  'Namespace',
  'Table',
  'Column',
  'Snapshot',
  'Branch',
  'Policy',
  'RetentionPolicy',
  'RowFilter',
  'ColumnMask',
  'Tag',
  'Classification',
  'Attestation',
  'GlossaryTerm',
  'Metric',
  'Principal',
  'Role',
  'Dataset',
  'Job',
  'PinEvent',
  'QualityCheck',
] as const
export type VertexLabel = (typeof vertexLabels)[number]

export const edgeLabels = [
  'GOVERNS',
  'VERSION_OF',
  'IN_NAMESPACE',
  'IN_CATALOG',
  'HAS_COLUMN',
  'PARENT_OF',
  'HAS_BRANCH',
  'POINTS_AT',
  'SCHEMA_GOVERNS',
  'WRITE_GOVERNS',
  'RETAINS',
  'FILTERS',
  'MASKS',
  'APPLIES_TO',
  'TAGGED',
  'CLASSIFIED_AS',
  'EVIDENCED_BY',
  'ATTESTS',
  'MEANS',
  'COMPUTED_OVER',
  'DEFINES',
  'HAS_ROLE',
  'INTENDED_WRITE',
  'ACTUAL_WRITE',
  'LINEAGE_OF',
  'STORED_AS',
  'PRODUCED_BY',
  'CONSUMED_BY',
  'PINS',
  'CHECKS',
] as const
export type EdgeLabel = (typeof edgeLabels)[number]

/** The tenant's relational schema. */
export function schemaName(tenant: TenantId): string {
  return `t_${tenant.replaceAll('-', '_')}`
}

/** The tenant's graph. */
export function graphName(tenant: TenantId): string {
  return `g_${tenant.replaceAll('-', '_')}`
}

const idBytesMax = 1024

/**
 * The graph `id` for a natural key: the key itself, or its hash where the key is too long for an index entry.
 * @param key tableKey, metadata_location, principal subject, …
 */
export function nodeId(key: string): string {
  const text = storableText(key)
  if (Buffer.byteLength(text) <= idBytesMax) return text
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** The same in SQL, of a text in the database. */
export function nodeIdText(text: string): string {
  return `case when octet_length(${text}) <= ${idBytesMax} then ${text}
    else 'sha256:' || encode(sha256(convert_to(${text}, 'UTF8')), 'hex') end`
}

/**
 * Refuses a text that is too long for its index entry.
 * @param what the text's name in the message, at the start of a sentence
 * @throws Fault `bad_request`
 */
export function assertIndexable(text: string, what: string): void {
  const max = limits.subjectBytesMax
  if (Buffer.byteLength(text) > max) throw new Fault('bad_request', `${what} has at most ${max} bytes.`)
}

/** PostgreSQL text holds neither NUL nor lone surrogates; both become U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** JSON of `value` that PostgreSQL accepts: texts made storable, bigints as decimal strings. */
export function storableJson(value: unknown): string {
  const text = plainJson(value)
  if (text !== undefined && !unstorable.test(text)) return text
  return JSON.stringify(value, (_, inner) => {
    if (typeof inner === 'string') return storableText(inner)
    return typeof inner === 'bigint' ? inner.toString() : inner
  })
}

/** How JSON escapes NUL and lone surrogates. A text that contains such an escape as characters matches too. */
const unstorable = /\\u(?:0000|d[89a-f])/

/** Several times as fast as visiting every value. Undefined where `value` holds a bigint. */
function plainJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
