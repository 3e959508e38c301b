/**
 * Proposes a contract document for a table that a catalog has: its columns with types, comments and keys as the metadata
 * says, the tags that its columns carry, and the masks that the tenant has for these tags. It saves nothing.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Governance, StoredColumn } from '../../core/governance.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { loadGovernance } from '../../store/governance/governance.ts'
import {
  currentSchema,
  identifierFieldIds,
  parseLoadTableResult,
  metadataReader as reader,
} from '../../wire/iceberg/table-metadata.ts'
import { toYamlText } from '../../wire/odcs/edit-document.ts'
import { map, maskMember, ours, some } from '../../wire/odcs/members.ts'
import { logicalTypeOf } from '../commit/admitted-types.ts'
import { readContractDocument } from '../document/read.ts'
import type { ContractParts } from '../parts.ts'
import { fromCatalog } from '../pin-table.ts'
import { contractIdOf } from './contract-id.ts'
import { catalogNamed } from './list-catalog.ts'

interface ProposedDocument {
  readonly contract: string
  /** YAML. */
  readonly document: string
  readonly columns: number
  readonly masks: number
}

/**
 * The document that is proposed for a table.
 * @throws Fault `not_found` for an unknown catalog or table, `upstream_failed`, `unprocessable` where the standard cannot
 *   say what the table has
 */
export async function proposeTableDocument(
  { store, states, codec }: Pick<ContractParts, 'store' | 'states' | 'codec'>,
  tenant: TenantId,
  nickname: string,
  table: TableRef,
): Promise<ProposedDocument> {
  const credential = await catalogNamed({ store }, tenant, nickname)
  const { catalogs } = states
  const load = () => catalogs.get(tenant, credential).loadTable(table, { snapshots: 'refs' })
  const [loaded, governance] = await Promise.all([
    fromCatalog(() => catalogs.during(load)),
    loadGovernance(store, tenant, table),
  ])
  if (loaded.status !== 'loaded') throw new Error('the upstream answered 304 to an unconditional load')
  const { metadata } = parseLoadTableResult(loaded.body)
  const contract = contractIdOf(table)
  const { object, columns, masks } = objectOf(table, metadata, governance)
  const document = toYamlText(
    map({
      ...{ apiVersion: 'v3.2.0', kind: 'DataContract', id: contract, version: '1.0.0', status: 'draft' },
      schema: [object],
    }),
  )
  // A name that the standard cannot hold is refused here, as in a document that somebody sends.
  const bytes = new TextEncoder().encode(document)
  await readContractDocument(codec, tenant, contract, { kind: 'read', bytes, format: 'yaml' })
  return { contract, document, columns, masks }
}

function objectOf(table: TableRef, metadata: JsonObject, governance: Governance | undefined) {
  const schema = currentSchema(metadata)
  const keys = [...identifierFieldIds(schema)]
  const stored = new Map(
    (governance?.columns ?? []).filter(({ current }) => current).map((column) => [column.fieldId, column]),
  )
  const fields = reader.objects(schema, 'fields')
  const comment = reader.optionalObject(metadata, 'properties')?.get('comment')
  const properties = fields.map((field) => propertyOf(field, { stored, keys, isTop: true }))
  const named = map({ table: map({ namespace: [...table.namespace], name: table.name }) })
  return {
    object: map({
      name: table.name,
      description: typeof comment === 'string' && comment !== '' ? comment : undefined,
      tags: some(governance?.tags ?? []),
      customProperties: [ours(named)],
      properties: some(properties),
    }),
    columns: fields.length,
    masks: fields.flatMap((field) => masksOf(stored.get(idOf(field)))).length,
  }
}

interface PropertyContext {
  readonly stored: ReadonlyMap<number, StoredColumn>
  /** Field ids of the identifier fields, in their order. */
  readonly keys: readonly bigint[]
  readonly isTop: boolean
}

const idOf = (field: JsonObject) => Number(reader.integer(field, 'id'))

function propertyOf(field: JsonObject, { stored, keys, isTop }: PropertyContext): JsonObject {
  const column = stored.get(idOf(field))
  const doc = field.get('doc')
  const position = keys.indexOf(reader.integer(field, 'id')) + 1
  // Our extension has masks of top-level columns only.
  const masks = isTop ? masksOf(column).map(maskMember) : []
  return map({
    name: reader.string(field, 'name'),
    ...typeMembers(field.get('type'), { stored, keys, isTop: false }),
    required: field.get('required') === true ? true : undefined,
    primaryKey: isTop && position > 0 ? true : undefined,
    primaryKeyPosition: isTop && position > 0 ? BigInt(position) : undefined,
    description: typeof doc === 'string' && doc !== '' ? doc : undefined,
    tags: some(column?.tags ?? []),
    customProperties: masks.length > 0 ? [ours(map({ masks }))] : undefined,
  })
}

/** The masks that a column has by a tag: one of them says in the document what the tag says of the column. */
function masksOf(column: StoredColumn | undefined): StoredColumn['masks'] {
  const byTag = (column?.masks ?? []).filter(({ origin }) => origin.kind === 'tag')
  return [...new Map(byTag.map((mask) => [mask.policyId, mask])).values()]
}

/** What a property says of an Iceberg type, down to its innermost fields. */
function typeMembers(
  type: JsonValue | undefined,
  context: PropertyContext,
): Record<string, JsonValue | undefined> {
  if (!isJsonObject(type)) {
    const physical = typeof type === 'string' ? type : 'unknown'
    return { logicalType: logicalTypeOf(physical.replaceAll(' ', '')), physicalType: physical }
  }
  const kind = reader.string(type, 'type')
  const part = (name: string) => map(typeMembers(type.get(name), context))
  const named = (name: string) => map({ name, ...typeMembers(type.get(name), context) })
  switch (kind) {
    case 'struct': {
      const fields = reader.objects(type, 'fields').map((field) => propertyOf(field, context))
      return { logicalType: 'object', physicalType: 'struct', properties: some(fields) }
    }
    case 'list':
      return { logicalType: 'array', physicalType: 'list', items: part('element') }
    case 'map':
      return {
        ...{ logicalType: 'map', physicalType: 'map' },
        map: map({ key: named('key'), value: named('value') }),
      }
    default:
      return { physicalType: kind }
  }
}
