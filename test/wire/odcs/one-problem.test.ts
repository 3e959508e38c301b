/** One mistake in a contract document is one problem, at its place: nothing that follows from it is told beside it. */

import { expect, test } from 'bun:test'
import { performDocumentTask } from '../../../src/wire/odcs/document-task.ts'
import { encode } from './fixtures.ts'

type Plain = Record<string, unknown>

const sound = (): Plain => ({
  apiVersion: 'v3.1.0',
  kind: 'DataContract',
  id: 'orders',
  version: '1.0.0',
  status: 'active',
  description: { purpose: 'Orders', usage: 'Reports' },
  team: { name: 'shop', members: [{ username: 'ann', role: 'owner' }] },
  support: [{ channel: 'help', url: 'https://example.org/' }],
  servers: [
    { server: 'a', type: 'postgres', host: 'db', port: 5432, database: 'shop', schema: 'public' },
    { server: 'b', type: 'snowflake', account: 'x', database: 'shop', schema: 'public' },
  ],
  slaProperties: [{ property: 'latency', value: 4, unit: 'd', element: 'orders.at' }],
  schema: [
    {
      name: 'orders',
      logicalType: 'object',
      physicalType: 'table',
      tags: ['shop'],
      relationships: [{ type: 'foreignKey', from: 'orders.id', to: 'items.order_id' }],
      quality: [{ metric: 'rowCount', mustBeGreaterThan: 5 }],
      properties: [
        { name: 'id', logicalType: 'integer', required: true, logicalTypeOptions: { minimum: 1 } },
        {
          name: 'email',
          logicalType: 'string',
          logicalTypeOptions: { maxLength: 9, pattern: 'x' },
          quality: [{ type: 'sql', query: 'select 1', mustBe: 1 }],
        },
        { name: 'at', logicalType: 'timestamp', logicalTypeOptions: { timezone: true } },
        { name: 'lines', logicalType: 'array', items: { logicalType: 'string' } },
      ],
    },
  ],
})

type Step = string | number

/** Every place of a value, with the value there. */
function places(value: unknown, at: readonly Step[] = []): readonly (readonly [readonly Step[], unknown])[] {
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) => places(item, [...at, index]))
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, member]) => places(member, [...at, name]))
      : []
  return at.length === 0 ? inner : [[at, value], ...inner]
}

function changed(at: readonly Step[], change: (parent: Plain, name: string) => void): Plain {
  const copy = sound()
  let parent: Plain = copy
  for (const step of at.slice(0, -1)) parent = parent[step] as Plain
  change(parent, String(at.at(-1)))
  return copy
}

function problemsOf(document: Plain) {
  const outcome = performDocumentTask({
    kind: 'read',
    bytes: encode(JSON.stringify(document)),
    format: 'json',
  })
  return outcome.kind === 'refused' ? outcome.problems : []
}

const pointer = (at: readonly Step[]) => `/${at.join('/')}`
const all = places(sound())
// The standard lets a description have fields of its own.
const objects = all.filter(
  ([at, value]) => typeof value === 'object' && !Array.isArray(value) && at.at(-1) !== 'description',
)
const scalars = all.filter(([, value]) => typeof value !== 'object')

test('the document without a mistake is accepted', () => {
  expect(problemsOf(sound())).toEqual([])
})

test.each(objects.map(([at]) => [pointer(at), at] as const))('a field that is unknown at %s', (_, at) => {
  const found = problemsOf(
    changed(at, (parent, name) => Object.assign(parent[name] as Plain, { nonsense: 1 })),
  )
  expect(found.map(({ path }) => path)).toEqual([pointer(at)])
  expect(found[0]?.message).toBe('The standard has no field nonsense here; use customProperties')
})

// A word by which the other fields are judged: without it they have no place, and it is not known which was meant.
const judged = new Set(['apiVersion', 'type', 'logicalType', 'metric'])
const free = new Set(['value', 'mustBe'])

test.each(scalars.filter(([at]) => !free.has(String(at.at(-1)))).map(([at]) => [pointer(at), at] as const))(
  'a list in place of the value at %s',
  (_, at) => {
    const found = problemsOf(
      changed(at, (parent, name) => {
        parent[name] = [[1]]
      }),
    )
    if (judged.has(String(at.at(-1)))) expect(found).not.toBeEmpty()
    else expect(found.map(({ path }) => path?.replace(/\/0$/, ''))).toEqual([pointer(at).replace(/\/0$/, '')])
  },
)

test.each([
  ['a server without its account', ['servers', 1, 'account'], ['The field account is missing']],
  ['a property without its name', ['schema', 0, 'properties', 0, 'name'], ['The field name is missing']],
  [
    'a rule without a comparison',
    ['schema', 0, 'quality', 0, 'mustBeGreaterThan'],
    [expect.stringContaining('One of the fields mustBe, mustNotBe, mustBeGreaterThan')],
  ],
  ['a contract without an id', ['id'], ['The field id is missing']],
] as const)('%s is one problem', (_, at, messages) => {
  const found = problemsOf(
    changed(at, (parent, name) => {
      Reflect.deleteProperty(parent, name)
    }),
  )
  expect(found.map(({ message }) => message)).toEqual([...messages])
})

test('two comparisons of one rule are one problem', () => {
  const both = changed(['schema', 0, 'quality', 0, 'mustBe'], (parent, name) => {
    parent[name] = 1
  })
  expect(problemsOf(both).map(({ message }) => message)).toEqual([
    'Of the fields mustBe and mustBeGreaterThan only one may be there',
  ])
})

test('two mistakes are two problems', () => {
  const both = changed(['servers', 0, 'port'], (parent, name) => {
    parent[name] = 'abc'
  })
  Object.assign((both.schema as Plain[])[0] as Plain, { nonsense: 1 })
  expect(problemsOf(both).map(({ path, message }) => `${path}: ${message}`)).toEqual([
    '/servers/0/port: The value must be integer',
    '/schema/0: The standard has no field nonsense here; use customProperties',
  ])
})
