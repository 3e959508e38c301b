/** What a commit breaks, as said in words, is what the derived policies deny; and the amended contract allows it. */

import { expect, test } from 'bun:test'
import { type JsonObject, jsonObject, parseJson } from '../../../src/base/json.ts'
import { classify } from '../../../src/contract/classify/classify.ts'
import { isBreaking } from '../../../src/contract/classify/judge-change.ts'
import { brokenColumns } from '../../../src/contract/commit/break-amendments.ts'
import { deriveRules } from '../../../src/contract/commit/derive-policies.ts'
import { newTenantId } from '../../../src/core/tenant.ts'
import { tableColumns } from '../../../src/gateway/base/judge-by-contract.ts'
import { PolicyEngine } from '../../../src/policy/engine.ts'
import { governing } from '../../../src/store/contract/put-in-force.ts'
import { tableView } from '../../../src/wire/iceberg/policy-view.ts'
import { performDocumentTask } from '../../../src/wire/odcs/document-task.ts'
import { seeded } from '../lifecycle/walk.ts'

const seed = 20_261_123
const types = ['int', 'long', 'string', 'decimal(10,2)', 'decimal(12, 2)', 'timestamptz', 'date']
const logical = ['integer', 'string', 'number', 'timestamp', 'date']
const names = ['a', 'b', 'c', 'd']

test('over random tables and contracts', async () => {
  console.log(`seed ${seed}`)
  const random = seeded(seed)
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const engine = new PolicyEngine()
  const counts = { allow: 0, deny: 0 }
  for (let round = 0; round < 60; round += 1) {
    const before = fields(
      names.map((name, index) => ({ id: index + 1, name, type: pick(types), required: random() < 0.5 })),
    )
    const after = fields(
      before.fields.flatMap((field) =>
        random() < 0.04
          ? []
          : [
              {
                id: random() < 0.04 ? field.id + 10 : field.id,
                name: random() < 0.04 ? `${field.name}2` : field.name,
                type: random() < 0.08 ? pick(types) : field.type,
                required: random() < 0.08 ? !field.required : field.required,
              },
            ],
      ),
      random() < 0.9 ? before.keys : [],
    )
    const document = {
      ...{ apiVersion: 'v3.2.0', kind: 'DataContract', id: 'c', version: '1.0.0' },
      schema: [
        {
          name: 't',
          customProperties: [
            {
              ...{ property: 'covenant', vendor: 'covenant' },
              value: { table: { namespace: ['n'], name: 't' }, additionalColumns: pick(['allow', 'deny']) },
            },
          ],
          properties: names.slice(0, pick([3, 4])).map((name) => ({
            name,
            ...(random() < 0.1
              ? { logicalType: pick(logical) }
              : { physicalType: before.fields.find((field) => field.name === name)?.type }),
            required: random() < 0.5,
            primaryKey: random() < 0.3,
          })),
        },
      ],
    }
    const bytes = new TextEncoder().encode(JSON.stringify(document))
    const read = accepted({ kind: 'read', bytes, format: 'json' })
    const schema = governing(read.model)[0]
    if (schema === undefined) throw new Error('the object governs no table')
    const found = brokenColumns(schema, tableColumns(before.metadata), tableColumns(after.metadata))
    const kind = await judge(engine, deriveRules(schema), before.metadata, after.metadata)
    const shown = JSON.stringify({ document, before: before.fields, after: after.fields, found })
    expect([found.length === 0 ? 'allow' : 'deny', shown]).toEqual([kind, shown])
    counts[kind as 'allow' | 'deny'] += 1
    if (found.length === 0) continue
    const amendments = { version: '2.0.0', schema: 0, amendments: found.map(({ amendment }) => amendment) }
    const { model } = accepted({ kind: 'amend', bytes, format: 'json', amendments })
    const amended = governing(model)[0]
    if (amended === undefined) throw new Error('the amended object governs no table')
    expect([
      await judge(engine, deriveRules(amended, schema), before.metadata, after.metadata),
      shown,
    ]).toEqual(['allow', shown])
    // What the policies refuse to commits is what comparing the versions calls breaking, for one side or the other.
    const findings = classify(read.model, model)
    const isSaid =
      findings.some((one) => isBreaking(one, 'full') || one.change === 'column-added') ||
      model.schemas[0]?.properties.some(({ id }) => id !== undefined)
    expect([isSaid, shown]).toEqual([true, shown])
  }
  engine.close()
  expect(counts.allow).toBeGreaterThan(5)
  expect(counts.deny).toBeGreaterThan(5)
}, 120_000)

function accepted(task: Parameters<typeof performDocumentTask>[0]) {
  const outcome = performDocumentTask(task)
  if (outcome.kind !== 'read') throw new Error(JSON.stringify(outcome))
  return outcome.read
}

function fields(all: { id: number; name: string; type: string; required: boolean }[], given?: number[]) {
  const keys = given ?? all.filter(({ required, name }) => required && name < 'c').map(({ id }) => id)
  const schema = { 'schema-id': 0, type: 'struct', fields: all, 'identifier-field-ids': keys }
  const metadata = parseJson(
    JSON.stringify({
      ...{ 'format-version': 2, 'current-schema-id': 0, schemas: [schema] },
      ...{ 'default-spec-id': 0, 'partition-specs': [{ 'spec-id': 0, fields: [] }] },
      ...{ 'default-sort-order-id': 0, 'sort-orders': [{ 'order-id': 0, fields: [] }] },
    }),
  ) as JsonObject
  return { fields: all, keys, metadata }
}

async function judge(
  engine: PolicyEngine,
  rules: ReturnType<typeof deriveRules>,
  before: JsonObject,
  after: JsonObject,
): Promise<string> {
  const table = { namespace: ['n'], name: 't' }
  const policies = rules.map(({ clause, kind, message, definitionCel }) => ({
    ...{ id: clause, kind, mode: 'enforce' as const, name: clause, message, definitionCel },
  }))
  const result = tableView(table, after)
  const commit = jsonObject({ updates: [], requirements: [], result })
  const verdict = await engine.judge(newTenantId(), policies, {
    ...{ table: tableView(table, before), commit },
    principal: jsonObject({ sub: 'ada', roles: [] }),
  })
  return verdict.kind
}
