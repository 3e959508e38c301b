/**
 * Reads the relationships of an object as references: columns whose values must be keys of another table. It resolves
 * `object.property`, `/schema/<id>/properties/<id>` and `namespace.table.column`; measure-references.ts counts by them.
 */

import { type TableRef, tableName } from '../../core/table-ref.ts'
import { columnOf, type GoverningSchema } from '../../store/contract/put-in-force.ts'
import type { ContractModel, ModelProperty, ModelSchema } from '../../wire/odcs/model.ts'

interface ReferenceTarget {
  readonly table: TableRef
  readonly columns: readonly string[]
}

/** A relationship that a run measures, or says why it does not. */
export interface Reference {
  readonly key: string
  /** The column at which it stands; '' for several. */
  readonly element: string
  readonly columns: readonly string[]
  /** Absent where it cannot be measured. */
  readonly target?: ReferenceTarget
  /** Why not, as a word. */
  readonly reason?: 'other document' | 'no table' | 'no target' | 'nested'
  /** What is wrong with it, whatever the tables hold. */
  readonly problem?: string
}

/** One end of a relationship. */
type End =
  | { readonly table: TableRef; readonly column: string }
  | (Pick<Reference, 'problem'> & { readonly reason: NonNullable<Reference['reason']> })

/** The references of an object of the document. One that stands at a property and at the object is one. */
export function referencesOf(model: ContractModel, schema: GoverningSchema): readonly Reference[] {
  const declared = [
    ...schema.properties.flatMap((property) =>
      property.relationships.map(({ to }) => ({ own: [ownEnd(schema, property)], to })),
    ),
    ...schema.relationships.map(({ from = [], to }) => ({
      own: from.map((name) => resolve(name, model)),
      to,
    })),
  ]
  const references = declared.map(({ own, to }) => referenceOf(schema, own, to, model))
  return references.filter(({ key }, index) => references.findIndex((one) => one.key === key) === index)
}

function referenceOf(
  schema: GoverningSchema,
  own: readonly End[],
  to: readonly string[],
  model: ContractModel,
): Reference {
  const others = to.map((name) => resolve(name, model))
  const columns = own.map((end) => ('column' in end ? end.column : '?'))
  const key = `${columns.join(', ')}: references ${to.join(', ')}`
  const base = { key, element: columns.length === 1 ? columns.join() : '', columns }
  for (const end of [...own, ...others]) if ('reason' in end) return { ...base, ...end }
  const ends = others.flatMap((end) => ('column' in end ? [end] : []))
  const [first] = ends
  const wrong = (problem: string): Reference => ({ ...base, reason: 'no target', problem })
  if (first === undefined || ends.length !== columns.length)
    return wrong('its two ends are not of one length')
  const isOwn = own.every((end) => 'table' in end && tableName(end.table) === tableName(schema.table))
  if (!isOwn) return wrong('it begins at another object')
  if (ends.some(({ table }) => tableName(table) !== tableName(first.table)))
    return wrong('its target is more than one table')
  return { ...base, target: { table: first.table, columns: ends.map(({ column }) => column) } }
}

function ownEnd({ table }: GoverningSchema, property: ModelProperty): End {
  return property.name.includes('.') ? { reason: 'nested' } : { table, column: columnOf(property) }
}

/** What a reference names. */
function resolve(name: string, { schemas }: ContractModel): End {
  if (name.includes('#')) return { reason: 'other document' }
  if (name.includes('/')) return byIds(name, schemas)
  const [object = '', ...parts] = name.split('.')
  const schema = schemas.find((one) => one.name === object)
  if (schema !== undefined)
    return endOf(
      schema,
      schema.properties.find((one) => one.name === parts.join('.')),
      `the object ${object} has no property ${parts.join('.')}`,
    )
  const column = parts.pop()
  const table = parts.pop()
  if (column !== undefined && table !== undefined)
    return { table: { namespace: [object, ...parts], name: table }, column }
  return { reason: 'no target', problem: `the document has no object ${object}` }
}

/** `/schema/<id>/properties/<id>`, by ids alone. */
function byIds(name: string, schemas: readonly ModelSchema[]): End {
  const [section, id, member, propertyId, ...deeper] = name.replace(/^\//, '').split('/')
  const wrong = `the document has nothing at ${name}`
  const schema = section === 'schema' ? schemas.find((one) => one.id === id) : undefined
  if (schema === undefined || member !== 'properties') return { reason: 'no target', problem: wrong }
  if (deeper.length > 0) return { reason: 'nested' }
  return endOf(
    schema,
    schema.properties.find((one) => one.id === propertyId && !one.name.includes('.')),
    wrong,
  )
}

function endOf({ table }: ModelSchema, property: ModelProperty | undefined, problem: string): End {
  if (property === undefined) return { reason: 'no target', problem }
  if (table === undefined) return { reason: 'no table' }
  return property.name.includes('.') ? { reason: 'nested' } : { table, column: columnOf(property) }
}
