import { describe, expect, test } from 'bun:test'
import { type JsonObject, jsonObject, parseJson } from '../../../src/base/json.ts'
import { deriveRules } from '../../../src/contract/commit/derive-policies.ts'
import { newTenantId } from '../../../src/core/tenant.ts'
import { checkPolicyToSave } from '../../../src/policy/check.ts'
import { PolicyEngine } from '../../../src/policy/engine.ts'
import type { GoverningSchema } from '../../../src/store/contract/put-in-force.ts'
import { tableView } from '../../../src/wire/iceberg/policy-view.ts'
import type { ModelProperty } from '../../../src/wire/odcs/model.ts'

const property = (name: string, more: Partial<ModelProperty> = {}): ModelProperty => ({
  ...{ name, required: false, unique: false, primaryKey: false, options: {} },
  ...{ relationships: [], quality: [], masks: [], rowFilters: [] },
  ...more,
})

const schema = (
  properties: readonly ModelProperty[],
  more: Partial<GoverningSchema> = {},
): GoverningSchema => ({
  ...{ name: 'orders', table: { namespace: ['sales'], name: 'orders' }, properties },
  ...{ relationships: [], quality: [], rowFilters: [] },
  ...more,
})

interface Field {
  readonly id: number
  readonly name: string
  readonly type: unknown
  readonly required?: boolean
}

const seen = (fields: readonly Field[], keys: readonly number[] = []) => ({
  'format-version': 2,
  'current-schema-id': 0,
  schemas: [{ 'schema-id': 0, type: 'struct', fields, 'identifier-field-ids': keys }],
  'default-spec-id': 0,
  'partition-specs': [{ 'spec-id': 0, fields: [] }],
  'default-sort-order-id': 0,
  'sort-orders': [{ 'order-id': 0, fields: [] }],
})

const viewOf = (metadata: object) =>
  tableView({ namespace: ['sales'], name: 'orders' }, parseJson(JSON.stringify(metadata)) as JsonObject)

async function judge(rules: ReturnType<typeof deriveRules>, before: object, after: object) {
  const engine = new PolicyEngine()
  try {
    const policies = rules.map(({ clause, kind, message, definitionCel }) => ({
      ...{ id: clause, kind, mode: 'enforce' as const, name: clause, message, definitionCel },
    }))
    const result = viewOf(after)
    const commit = jsonObject({ updates: [], requirements: [], result })
    const principal = jsonObject({ sub: 'ada', roles: [] })
    const verdict = await engine.judge(newTenantId(), policies, { table: viewOf(before), commit, principal })
    return verdict.kind === 'deny' ? verdict.policyId : verdict.kind
  } finally {
    engine.close()
  }
}

const id = { id: 1, name: 'id', type: 'long', required: true }
const email = { id: 2, name: 'email', type: 'string' }
const people = schema([
  property('id', { logicalType: 'integer', required: true, primaryKey: true }),
  property('email', { logicalType: 'string' }),
])
const now = seen([id, email], [1])

describe('the policies of a table under contract', () => {
  test('pass the check that a person’s policy passes', () => {
    const all = deriveRules({ ...people, additionalColumns: 'deny' })
    expect(all.map(({ clause }) => clause)).toEqual(['columns', 'keys', 'additional-columns'])
    for (const { definitionCel } of all) expect(checkPolicyToSave(definitionCel)).toEqual([])
  })

  const cases: readonly [name: string, after: object, verdict: string][] = [
    ['allow the table as it is', now, 'allow'],
    ['allow another column', seen([id, email, { id: 3, name: 'region', type: 'string' }], [1]), 'allow'],
    ['allow a type that the logical type admits', seen([{ ...id, type: 'int' }, email], [1]), 'allow'],
    ['deny a column that is gone', seen([id], [1]), 'columns'],
    ['deny a column that is renamed', seen([id, { ...email, name: 'mail' }], [1]), 'columns'],
    ['deny another type', seen([id, { ...email, type: 'long' }], [1]), 'columns'],
    ['deny another column of the same name', seen([id, { ...email, id: 9 }], [1]), 'columns'],
    ['deny a required column that became optional', seen([{ ...id, required: false }, email], [1]), 'keys'],
    ['deny a key that is no identifier field any more', seen([id, email]), 'keys'],
  ]
  for (const [name, after, verdict] of cases)
    test(name, async () => expect(await judge(deriveRules(people), now, after)).toBe(verdict))

  test('leave what did not hold before the commit', async () => {
    const before = seen([{ ...id, required: false }, email])
    expect(await judge(deriveRules(people), before, before)).toBe('allow')
  })

  test('deny a column beside those of the contract where it says so', async () => {
    const rules = deriveRules({ ...people, additionalColumns: 'deny' })
    const more = seen([id, email, { id: 3, name: 'region', type: 'string' }], [1])
    expect(await judge(rules, now, more)).toBe('additional-columns')
    expect(deriveRules({ ...people, additionalColumns: 'warn' }).at(-1)?.mode).toBe('warn')
  })

  test('admit a wider decimal of the same scale, however it is written', async () => {
    const price = schema([property('price', { physicalType: 'decimal(10,2)' })])
    const of = (type: string) => seen([{ id: 1, name: 'price', type }])
    const rules = deriveRules(price)
    expect(await judge(rules, of('decimal(10, 2)'), of('decimal(12, 2)'))).toBe('allow')
    expect(await judge(rules, of('decimal(10, 2)'), of('decimal(12, 3)'))).toBe('columns')
    expect(await judge(rules, of('decimal(10, 2)'), of('decimal(9, 2)'))).toBe('columns')
  })

  test('go by physical names, also below structs', async () => {
    const nested = schema([
      property('address', { logicalType: 'object', physicalName: 'addr' }),
      property('address.city', { logicalType: 'string' }),
    ])
    const of = (name: string) =>
      seen([{ id: 1, name: 'addr', type: { type: 'struct', fields: [{ id: 2, name, type: 'string' }] } }])
    expect(await judge(deriveRules(nested), of('city'), of('city'))).toBe('allow')
    expect(await judge(deriveRules(nested), of('city'), of('town'))).toBe('columns')
  })

  test('admit another column of the same name where a version says so by another id', async () => {
    const after = seen([id, { ...email, id: 9 }], [1])
    const said = schema([
      people.properties[0] as ModelProperty,
      property('email', { logicalType: 'string', id: 'email-9' }),
    ])
    expect(await judge(deriveRules(said, people), now, after)).toBe('allow')
    expect(await judge(deriveRules(said, said), now, after)).toBe('columns')
  })

  test('of a hundred columns keep within the limits of texts and budgets', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `a_column_with_a_long_name_${index}`)
    const wide = schema(names.map((name) => property(name, { logicalType: 'string', required: true })))
    const fields = names.map((name, index) => ({ id: index + 1, name, type: 'string', required: true }))
    const rules = deriveRules(wide)
    expect(rules.every(({ definitionCel }) => checkPolicyToSave(definitionCel).length === 0)).toBe(true)
    expect(await judge(rules, seen(fields), seen(fields))).toBe('allow')
    expect(await judge(rules, seen(fields), seen(fields.slice(1)))).toBe('columns-001')
  }, 60_000)
})
