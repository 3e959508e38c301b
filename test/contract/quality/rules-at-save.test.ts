/** Quality rules are checked when a document is saved, by the compiler that measures them. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../../src/core/session.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { startTestService, type TestService } from '../../support/service.ts'

setDefaultTimeout(300_000)

let service: TestService
let steward: string
let foreign: string

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { tenant } = service.owner
  const people = { namespace: ['crm'], name: 'people' }
  await commitColumns(service.store, tenant, people, { id: 'long', email: 'string', age: 'int' })
  const other = (await createTenant(service.store, { name: 'foreign' })).id
  await commitColumns(service.store, other, people, { id: 'long', secret: 'string' })
  steward = await session(service, tenant, sessionScopes, ['steward'])
  foreign = await session(service, other, sessionScopes, ['steward'])
})
afterAll(() => service[Symbol.asyncDispose]())

interface Document {
  /** Rules of the table, in YAML flow form. */
  readonly rules?: readonly string[]
  /** Rules of the column `email`. */
  readonly email?: readonly string[]
  /** What else the property `email` declares. */
  readonly declares?: string
  readonly table?: string
  readonly servers?: string
}

const text = ({
  rules = [],
  email = [],
  declares = '',
  table = 'people',
  servers = '',
}: Document) => `apiVersion: v3.2.0
kind: DataContract
id: ${table}
version: 1.0.0
status: active
${servers}
schema:
- name: ${table}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [crm], name: ${table}}}}
  quality: [${rules.join(', ')}]
  properties:
  - {name: id, logicalType: integer}
  - name: email
    logicalType: string
    quality: [${email.join(', ')}]
    ${declares}
`

interface Problem {
  readonly path?: string
  readonly line?: number
  readonly message: string
}

async function save(document: Document, { as = steward, draft = false } = {}) {
  const path = `/api/v1/contracts/documents/${document.table ?? 'people'}${draft ? '/versions' : ''}`
  const response = await call(service, draft ? 'POST' : 'PUT', path, {
    ...{ secret: as, body: text(document), headers: { 'content-type': 'application/yaml' } },
  })
  const { error } = (await response.json()) as {
    error?: { message: string; problems?: readonly Problem[] }
  }
  const problems: readonly Problem[] = error?.problems ?? (error ? [{ message: error.message }] : [])
  return { status: response.status, problems }
}
const sql = (query: string) => `{id: q, type: sql, query: ${JSON.stringify(query)}, mustBe: 0}`
const pattern = (one: string) =>
  `{id: p, metric: invalidValues, arguments: {pattern: ${JSON.stringify(one)}}, mustBe: 0}`

describe('a document is refused with a rule', () => {
  test.each<[string, Document, string]>([
    ['whose SQL does not parse', { rules: [sql('SELEC count(*) FROM {object}')] }, 'syntax error'],
    [
      'whose SQL names a column that the table does not have',
      { rules: [sql('SELECT count(*) FROM {object} WHERE mail IS NULL')] },
      'column "mail" does not exist',
    ],
    ['whose SQL writes', { rules: [sql('DELETE FROM {object}')] }, ''],
    ['whose SQL reads another table', { rules: [sql('SELECT count(*) FROM crm.orders')] }, 'orders'],
    ['whose SQL gives two columns', { rules: [sql('SELECT 1, 2 FROM {object}')] }, 'must give one column'],
    [
      'whose SQL gives a text',
      { email: [sql('SELECT max({property}) FROM {object}')] },
      'must give a number',
    ],
    ['with a look-around in its pattern', { email: [pattern('a(?=b)')] }, 'Look-around'],
    ['with a pattern that is none', { email: [pattern('[a')] }, 'invalid regular expression'],
    [
      'of a key with a column that is not there',
      { rules: ['{id: k, metric: duplicateValues, arguments: {properties: [id, mail]}, mustBe: 0}'] },
      'a column that the table does not have',
    ],
    [
      'without the arguments that its metric needs',
      { email: ['{id: v, metric: invalidValues, mustBe: 0}'] },
      'arguments are missing',
    ],
  ])('%s', async (_, document, message) => {
    const put = await save(document)
    expect(put.status).toBe(422)
    expect(put.problems).toHaveLength(1)
    const [problem] = put.problems
    expect(problem?.path).toBe('/schema/0')
    const of = document.email === undefined ? 'crm.people' : 'crm.people.email'
    expect(problem?.message).toMatch(new RegExp(`^The quality rule .+ of ${of} cannot be measured: `))
    expect(problem?.message).toContain(message)
    expect((await save(document, { draft: true })).status).toBe(422)
  })

  test.each([
    ['a look-around', 'logicalTypeOptions: {pattern: "a(?=b)"}', 'email: pattern', 'Look-around'],
    ['a pattern that is none', 'logicalTypeOptions: {pattern: "[a"}', 'email: pattern', 'invalid regular'],
    [
      'more values than are compared',
      `enum: [${Array.from({ length: 1_001 }, (_, index) => `{value: v${index}}`).join(', ')}]`,
      ...(['email: enum', 'it lists too many values'] as const),
    ],
  ])('that its schema declares: %s', async (_, declares, key, message) => {
    for (const draft of [false, true]) {
      const { status, problems } = await save({ declares }, { draft })
      expect([status, problems.length]).toEqual([422, 1])
      expect(problems[0]?.path).toBe('/schema/0')
      expect(problems[0]?.message).toStartWith(
        `The quality rule ${key} of crm.people.email cannot be measured: `,
      )
      expect(problems[0]?.message).toContain(message)
    }
  })

  test.each([
    ['{id: u, metric: nullValues, unit: euros, mustBe: 0}', 'rows or percent'],
    ['{id: u, metric: rowCount, unit: percent, mustBeGreaterThan: 0}', 'use rows, or leave it out'],
  ])('with a unit that means nothing: %s', async (rule, means) => {
    const { status, problems } = await save(rule.includes('rowCount') ? { rules: [rule] } : { email: [rule] })
    expect(status).toBe(422)
    expect(problems).toMatchObject([
      { path: expect.stringMatching(/\/quality\/0\/unit$/), line: expect.any(Number) },
    ])
    expect(problems[0]?.message).toContain(means)
  })

  test('and every such rule is named', async () => {
    const { problems } = await save({ rules: [sql('SELECT')], email: [pattern('(?=a)')] })
    expect(problems).toHaveLength(2)
  })
})

test('rules that can be measured are saved, with units that mean something', async () => {
  const document = {
    rules: [
      sql('SELECT count(*) FROM {object} WHERE age < 0'),
      '{id: b, type: sql, query: "SELECT count(*) > 0 FROM {object}", mustBe: true}',
      '{id: n, metric: rowCount, unit: rows, mustBeGreaterThan: 0}',
      '{id: k, metric: duplicateValues, arguments: {properties: [id, email]}, unit: percent, mustBe: 0}',
    ],
    declares: 'required: true\n    unique: true\n    logicalTypeOptions: {pattern: "@", maxLength: 200}',
    email: [pattern('^[^@]+@[^@]+$'), '{id: e, metric: nullValues, unit: Percent, mustBeLessThan: 5}'],
  }
  expect(await save(document, { draft: true })).toEqual({ status: 201, problems: [] })
  expect(await save({ ...document, table: 'people' })).toMatchObject({ status: 409 })
})

test('statements in the dialect of another server, and rules of other tools, are on record as before', async () => {
  const servers = 'servers: [{server: s, type: snowflake, account: a, database: d, schema: s}]'
  const rules = [sql('SELECT TOP 1 x FROM {object}'), '{id: t, type: text, description: by hand}']
  expect(await save({ rules, servers }, { draft: true })).toEqual({ status: 201, problems: [] })
})

test('columns of a table that is not recorded are not judged, and what is wrong whatever they are is', async () => {
  const table = 'planned'
  const fine = { table, rules: [sql('SELECT count(*) FROM {object} WHERE later > 1')] }
  expect(await save(fine, { draft: true })).toEqual({ status: 201, problems: [] })
  expect((await save({ table, rules: [sql('SELEC 1')] }, { draft: true })).status).toBe(422)
  expect((await save({ table, email: [pattern('(?=a)')] }, { draft: true })).status).toBe(422)
})

test('the columns are those of the own tenant: those of a foreign table of the name are none', async () => {
  const secret = { rules: [sql('SELECT count(*) FROM {object} WHERE secret IS NULL')] }
  const { status, problems } = await save(secret)
  expect([status, problems[0]?.message.includes('column "secret" does not exist')]).toEqual([422, true])
  const theirs = { rules: [sql('SELECT count(*) FROM {object} WHERE age IS NULL')] }
  const refused = await save(theirs, { as: foreign, draft: true })
  expect([refused.status, refused.problems[0]?.message.includes('column "age" does not exist')]).toEqual([
    422,
    true,
  ])
})
