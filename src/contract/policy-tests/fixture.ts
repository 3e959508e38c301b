/**
 * Builds what a policy sees of a commit from the short form in which a document's policy tests give it. What is not given
 * has a default of its type: the columns that the object describes, no properties, and a principal without roles.
 */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, jsonObject } from '../../base/json.ts'
import type { PolicyBindings } from '../../policy/evaluate.ts'
import { noManifestFacts, withManifestFacts } from '../../policy/manifest-facts.ts'
import type { GoverningSchema } from '../../store/contract/put-in-force.ts'
import { applyUpdates } from '../../wire/iceberg/apply-updates.ts'
import { createTableUpdates } from '../../wire/iceberg/create-table.ts'
import { commitView, tableView } from '../../wire/iceberg/policy-view.ts'
import type { ModelTestAction, PolicyTestGiven } from '../../wire/odcs/model.ts'
import { admittedTypes } from '../commit/admitted-types.ts'
import { columnPaths } from '../commit/column-paths.ts'

/** 2026-01-01: a test must give the same on every day. */
const receivedAtMs = 1_767_225_600_000
const firstSnapshotId = 1n

type Field = JsonObject

/** The bindings of a test. @throws Fault where an action names a column that is not there, or cannot be applied */
export function bindingsOf(schema: GoverningSchema, given: PolicyTestGiven): PolicyBindings {
  const { table: ref } = schema
  const fields = given.table?.columns === undefined ? fieldsOf(schema) : fieldsNamed(given.table.columns)
  const request = jsonObject({
    name: ref.name,
    schema: jsonObject({ type: 'struct', fields }),
    properties: textMap(given.table?.properties ?? {}),
  })
  const base = applyUpdates(undefined, createTableUpdates(request), { nowMs: receivedAtMs - 1_000 })
  const updates = updatesOf(currentFields(base), given.commit)
  const result = tableView(ref, applyUpdates(base, updates, { nowMs: receivedAtMs }))
  const { sub = 'someone', email, roles = [] } = given.principal ?? {}
  return {
    table: tableView(ref, base),
    commit: withManifestFacts(
      commitView({ requirements: [], updates }, result, receivedAtMs),
      noManifestFacts,
    ),
    principal: jsonObject({ sub, roles: [...roles], ...(email !== undefined && { email }) }),
  }
}

function textMap(values: Readonly<Record<string, string>>): JsonObject {
  return new Map(Object.entries(values))
}

function field(name: string, type: JsonValue, required = false): Field {
  return jsonObject({ id: 0n, name, type, required })
}

function fieldsNamed(columns: Readonly<Record<string, string>>): readonly Field[] {
  return Object.entries(columns).map(([name, type], index) =>
    new Map(field(name, type)).set('id', BigInt(index + 1)),
  )
}

/** The columns that an object describes, each of the first type that it admits. */
function fieldsOf({ properties }: GoverningSchema): readonly Field[] {
  let id = 0n
  const paths = columnPaths(properties)
  const below = (prefix: string): readonly Field[] =>
    properties.flatMap((property) => {
      const { name, required } = property
      if (!name.startsWith(prefix) || name.slice(prefix.length).includes('.')) return []
      const own = (paths.get(property) ?? name).split('.').at(-1) ?? name
      const inner = below(`${name}.`)
      id += 1n
      const at = id
      const type = typeOf(
        admittedTypes(property)?.exact[0] ?? (inner.length > 0 ? 'struct' : 'string'),
        inner,
      )
      return [new Map(field(own, type, required)).set('id', at)]
    })
  return below('')

  function typeOf(type: string, inner: readonly Field[]): JsonValue {
    const next = () => {
      id += 1n
      return id
    }
    if (type === 'struct') return jsonObject({ type, fields: inner })
    if (type === 'list')
      return jsonObject({ type, 'element-id': next(), element: 'string', 'element-required': false })
    if (type === 'map')
      return jsonObject({
        ...{ type, 'key-id': next(), key: 'string' },
        ...{ 'value-id': next(), value: 'string', 'value-required': false },
      })
    return type
  }
}

function currentFields(base: JsonObject): readonly Field[] {
  const schemas = base.get('schemas')
  const [first] = Array.isArray(schemas) ? (schemas as readonly JsonValue[]) : []
  const fields = isJsonObject(first) ? first.get('fields') : []
  return (Array.isArray(fields) ? (fields as readonly JsonValue[]) : []).filter(isJsonObject)
}

/** The commit's updates: what its actions change of columns is one new schema, which comes first. */
function updatesOf(present: readonly Field[], actions: readonly ModelTestAction[]): readonly JsonObject[] {
  let fields = present
  const others: JsonObject[] = []
  for (const action of actions) {
    const changed = changedFields(fields, action)
    if (changed === undefined) others.push(...plainUpdates(action))
    else fields = changed
  }
  if (fields === present) return others
  return [
    jsonObject({ action: 'add-schema', schema: jsonObject({ type: 'struct', fields }) }),
    jsonObject({ action: 'set-current-schema', 'schema-id': -1n }),
    ...others,
  ]
}

/** The columns after an action; undefined for an action on something else. */
function changedFields(fields: readonly Field[], action: ModelTestAction): readonly Field[] | undefined {
  if ('addColumn' in action) {
    const { name, type, required = false } = action.addColumn
    const last = Math.max(0, ...fields.map((one) => Number(one.get('id'))))
    return [...fields, new Map(field(name, type, required)).set('id', BigInt(last + 1_000))]
  }
  if ('dropColumn' in action) return replaced(fields, action.dropColumn, () => [])
  if ('renameColumn' in action) {
    const { from, to } = action.renameColumn
    return replaced(fields, from, (one) => [new Map(one).set('name', to)])
  }
  if ('changeType' in action) {
    const { name, type } = action.changeType
    return replaced(fields, name, (one) => [new Map(one).set('type', type)])
  }
  return undefined
}

function replaced(
  fields: readonly Field[],
  name: string,
  by: (one: Field) => readonly Field[],
): readonly Field[] {
  if (!fields.some((one) => one.get('name') === name))
    throw new Fault('bad_request', `the table of the test has no column ${name}`)
  return fields.flatMap((one) => (one.get('name') === name ? by(one) : [one]))
}

function plainUpdates(action: ModelTestAction): readonly JsonObject[] {
  if ('setProperties' in action)
    return [jsonObject({ action: 'set-properties', updates: textMap(action.setProperties) })]
  if ('removeProperties' in action)
    return [jsonObject({ action: 'remove-properties', removals: [...action.removeProperties] })]
  if (!('snapshot' in action)) return []
  const snapshot = jsonObject({
    'snapshot-id': firstSnapshotId,
    'sequence-number': 1n,
    'timestamp-ms': BigInt(receivedAtMs),
    'manifest-list': 'memory:///manifest-list.avro',
    summary: textMap({ operation: 'append', ...action.snapshot }),
    'schema-id': 0n,
  })
  return [
    jsonObject({ action: 'add-snapshot', snapshot }),
    jsonObject({
      ...{ action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch' },
      'snapshot-id': firstSnapshotId,
    }),
  ]
}
