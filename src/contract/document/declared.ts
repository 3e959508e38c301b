/** Reads from a contract's model what each of its tables declares: descriptions, keys, relationships. */

import { Fault } from '../../base/fault.ts'
import type { ContractSchema } from '../../core/contract-schema.ts'
import { tableKey } from '../../core/table-ref.ts'
import { columnOf, type GoverningSchema, governing } from '../../store/contract/put-in-force.ts'
import type { ContractModel, ModelProperty } from '../../wire/odcs/model.ts'
import { readContractSchema } from '../read-schema.ts'

/** The standard's shorthand of three parts or more; its other references hold slashes. */
const namesTable = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*){2,}$/

/**
 * What each governed table declares, by tableKey. References that are neither of the form `object.property`, with an
 * object that has a table, nor `namespace.table.column`, stay in the document alone.
 * @throws Fault `unprocessable` for a declaration beyond the limits
 */
export function declaredBy(model: ContractModel): ReadonlyMap<string, ContractSchema> {
  const schemas = governing(model)
  return new Map(schemas.map((schema) => [tableKey(schema.table), declaredOf(schema, schemas)]))
}

function declaredOf(schema: GoverningSchema, all: readonly GoverningSchema[]): ContractSchema {
  const { table, description, relationships } = schema
  const declared = {
    ...(description !== undefined && { description }),
    properties: schema.properties
      .filter(({ name }) => !name.includes('.'))
      .map((property) => declaredProperty(property, all)),
    relationships: relationships.flatMap(({ from = [], to }) => {
      const ends = [from, to].map((names) => names.flatMap((name) => referenceOf(name, all) ?? []))
      const [own = [], other = []] = ends
      const whole = own.length === from.length && other.length === to.length && own.length > 0
      return whole ? [{ type: 'foreignKey' as const, from: own, to: other }] : []
    }),
  }
  try {
    return readContractSchema(declared, table)
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown
    throw new Fault('unprocessable', thrown.publicMessage, { cause: thrown })
  }
}

/** The column that a reference names, as `namespace.table.column`. */
function referenceOf(name: string, all: readonly GoverningSchema[]): string | undefined {
  const [object, property, ...rest] = name.split('.')
  const schema = all.find((one) => one.name === object)
  // A table that another contract describes, or none.
  if (schema === undefined) return namesTable.test(name) ? name : undefined
  const found = schema.properties.find((one) => one.name === property)
  if (found === undefined || rest.length > 0) return undefined
  return [...schema.table.namespace, schema.table.name, columnOf(found)].join('.')
}

function declaredProperty(property: ModelProperty, all: readonly GoverningSchema[]) {
  const { description, primaryKey, primaryKeyPosition, unique, relationships } = property
  const single = relationships.flatMap(({ to }) => {
    const [first = ''] = to
    const reference = to.length === 1 ? referenceOf(first, all) : undefined
    return reference === undefined ? [] : [{ type: 'foreignKey' as const, to: reference }]
  })
  return {
    name: columnOf(property),
    ...(description !== undefined && { description }),
    ...(primaryKey && { primaryKey }),
    ...(primaryKey && primaryKeyPosition !== undefined && { primaryKeyPosition }),
    ...(unique && { unique }),
    ...(single.length > 0 && { relationships: single }),
  }
}
