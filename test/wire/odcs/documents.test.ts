/** Contract documents as bytes: what is read, what is refused and where, and that an edit changes its own paths only. */

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isJsonObject, type JsonValue, stringifyJson } from '../../../src/base/json.ts'
import { limits } from '../../../src/limits.ts'
import { type DocumentTask, performDocumentTask } from '../../../src/wire/odcs/document-task.ts'
import type { DocumentEdit } from '../../../src/wire/odcs/edit-document.ts'
import { pointerOf } from '../../../src/wire/odcs/pointer.ts'
import { readDocument } from '../../../src/wire/odcs/read-document.ts'
import { decode, encode, orders, ordersJson } from './fixtures.ts'

type Rest<T> = T extends DocumentTask ? Omit<T, 'bytes'> : never
const perform = (text: string, task: Rest<DocumentTask>) =>
  performDocumentTask({ ...task, bytes: encode(text) } as DocumentTask)
const read = (text: string, format: 'yaml' | 'json' = 'yaml') => perform(text, { kind: 'read', format })

function accepted(text: string, format: 'yaml' | 'json' = 'yaml') {
  const outcome = read(text, format)
  if (outcome.kind !== 'read') throw new Error(JSON.stringify(outcome))
  return outcome.read
}

/** The first problem, as line:column message. */
function problem(text: string, format: 'yaml' | 'json' = 'yaml'): string {
  const outcome = read(text, format)
  if (outcome.kind !== 'refused') return outcome.kind
  const [first] = outcome.problems
  return `${first?.line}:${first?.column} ${first?.message}`
}

const minimal = `apiVersion: v3.2.0
kind: DataContract
id: c
version: 1.0.0
`

describe('quoted text over several lines', () => {
  // PyYAML writes the lines of a quoted text at the column of its key where a list is not indented.
  const folded = (text: string) =>
    `${minimal}schema:\n- name: people\n  description: ${text}\n  properties:\n  - name: id\n`
  const described = (text: string) =>
    (accepted(text).model.schemas[0] as { readonly description?: string } | undefined)?.description

  test.each([
    ['double quotes, as PyYAML folds them', '"A number such as a social security\\\n  \\ number."'],
    ['double quotes without an escape', '"A number such as a social security\n  number."'],
    ['single quotes', "'A number such as a social security\n  number.'"],
  ])('is read at the column of its key: %s', (_, text) => {
    expect(described(folded(text))).toBe('A number such as a social security number.')
  })

  test('is kept byte for byte, and beside an edit', () => {
    const text = folded('"A number such as\n  this."')
    expect(decode(accepted(text).bytes)).toBe(text)
    const outcome = perform(text, {
      kind: 'edit',
      format: 'yaml',
      edits: [{ kind: 'set', path: '/version', value: '1.0.1' }],
    } as never)
    expect(JSON.stringify(outcome)).not.toContain('refused')
  })

  test('is refused further to the left', () => {
    expect(problem(folded('"A number such as\n this."'))).toMatch(/Missing closing/)
  })
})

describe('a document', () => {
  test('keeps its bytes, comments and all', () => {
    expect(decode(accepted(orders).bytes)).toBe(orders)
    expect(decode(accepted(ordersJson, 'json').bytes)).toBe(ordersJson)
  })

  test('is read for what Covenant enforces', () => {
    const { model } = accepted(orders)
    expect(model).toMatchObject({ id: 'orders', version: '1.10', compatibility: 'backward' })
    expect(model.schemas[0]).toMatchObject({
      table: { namespace: ['sales'], name: 'orders' },
      rowFilters: [{ id: 'europe', expression: "region = 'eu'", exemptRoles: ['officer'] }],
      properties: [
        { name: 'id', primaryKey: true, required: true },
        { name: 'email', masks: [{ id: 'hide', action: 'mask-alphanum', exemptRoles: [] }] },
        { name: 'region' },
        { name: 'amount' },
      ],
    })
  })

  test('says of each field whether it is enforced, stored or ignored', () => {
    const { fields } = accepted(orders)
    const outcome = (path: string) => fields.find((field) => field.path === path)?.outcome
    expect({
      status: outcome('status'),
      table: outcome('schema[0].customProperties.covenant.table'),
      filters: outcome('schema[0].customProperties.covenant.rowFilters'),
      masks: outcome('schema[0].properties[].customProperties.covenant.masks'),
      required: outcome('schema[0].properties[].required'),
      columns: outcome('schema[0].properties[].name'),
      types: outcome('schema[0].properties[].logicalType'),
      other: outcome('schema[0].customProperties.acme'),
    }).toEqual({
      status: 'ignored',
      table: 'enforced',
      filters: 'enforced',
      masks: 'enforced',
      required: 'stored',
      columns: 'enforced',
      types: 'enforced',
      other: 'ignored',
    })
  })

  test('that only warns of commits has no column that looks enforced', () => {
    const warns = orders.replace('        table: {', '        mode: warn\n        table: {')
    const { fields } = accepted(warns)
    expect(fields.filter(({ path, outcome }) => path.endsWith('].name') && outcome === 'enforced')).toEqual(
      [],
    )
    expect(fields.find(({ path }) => path.endsWith('.masks'))?.outcome).toBe('enforced')
  })

  test('that names no table has no field that looks enforced', () => {
    expect(accepted(ordersJson, 'json').fields.filter(({ outcome }) => outcome === 'enforced')).toEqual([])
  })

  test.each(['v3.2.0', 'v3.1.0', 'v3.0.2', 'v3.0.1', 'v3.0.0'])('of %s is accepted', (version) => {
    expect(problem(`${minimal.replace('v3.2.0', version)}status: draft\n`)).toBe('read')
  })

  test('of 2.2 is accepted, and nothing of it is read', () => {
    const older =
      'apiVersion: v2.2.2\nkind: DataContract\nuuid: u\nversion: 1.0.0\nstatus: current\ndataset: []\n'
    expect(accepted(older).model).toMatchObject({ id: 'u', schemas: [] })
    expect(problem(older.replace('uuid: u\n', ''))).toContain('uuid is missing')
  })
})

const nested = (levels: number) => `${minimal}tags: ${'['.repeat(levels)}${']'.repeat(levels)}\n`
const bomb = `${minimal}customProperties:
- property: a
  value: &a [x, x, x, x, x, x, x, x, x, x]
- property: b
  value: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
- property: c
  value: [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
`

describe('a hostile document is refused with its place', () => {
  test.each([
    ['a duplicate key', `${minimal}id: d\n`, '5:1 The key id is there twice'],
    ['keys that differ in kind only', `${minimal}tenant: {1: a, "1": b}\n`, '5:16 The key 1 is there twice'],
    ['too many aliases', bomb, '11:43 Aliases are expanded more than 100 times'],
    ['an alias of itself', `${minimal}tags: &t [*t]\n`, '5:11 The document is deeper than 64 levels'],
    ['a great depth', nested(5_000), '5:71 The document is deeper than 64 levels'],
    ['a merge key', `${minimal}description: {<<: {purpose: x}}\n`, '5:15 Merge keys are not supported'],
    ['two documents', `${minimal}---\n${minimal}`, '5:1 The text must hold one document only'],
    ['an end and another document', `${minimal}...\n${minimal}`, '6:1 '],
    ['a tag', `${minimal}name: !!binary aGk=\n`, '5:7 Tags are not supported'],
    ['a local tag', `${minimal}name: !secret x\n`, '5:7 Tags are not supported'],
    ['a directive', `%YAML 1.1\n---\n${minimal}`, '1:1 Directives are not supported'],
    ['a key that is a list', `${minimal}tenant: {[a]: b}\n`, '5:10 A key must be a scalar'],
    ['a number that is not finite', `${minimal}price: {priceAmount: .inf}\n`, '5:22 A number must be finite'],
    ['a broken text', `${minimal}name: "x\n`, '6:1 '],
    ['no mapping', '- a\n', '1:1 The document must be a mapping'],
    ['a number as version', minimal.replace('1.0.0', '1.0'), '4:10 The value must be string'],
    ['an unknown field', `${minimal}owner: me\n`, '1:1 The standard has no field owner here'],
    ['an unknown version', minimal.replace('v3.2.0', 'v9.0.0'), '1:13 `apiVersion` must be'],
  ])('%s', (_, text, expected) => {
    expect(problem(text)).toStartWith(expected)
  })

  test.each([
    ['a duplicate key', '{"a": 1,\n "a": 2}', '2:'],
    ['a great depth', '['.repeat(65), '1:65'],
    ['a comment', '{\n // no\n}', '2:2'],
  ])('as JSON: %s', (_, text, expected) => {
    expect(problem(text, 'json')).toStartWith(expected)
  })

  const manyKeys = (form: (name: string) => string, separator: string) =>
    Array.from({ length: 70_000 }, (_, index) => form(`k${index}`)).join(separator)
  test.each([
    ['as lines', 'yaml', manyKeys((name) => `${name}: 1`, '\n'), '30001:7 '],
    ['as a flow mapping', 'yaml', `{${manyKeys((name) => `${name}: 1`, ',')}}`, '1:'],
    ['quoted, without blanks', 'yaml', `{${manyKeys((name) => `"${name}":1`, ',')}}`, '1:'],
    ['without values', 'yaml', manyKeys((name) => `${name}:`, '\n'), '30001:7 '],
    ['in small mappings', 'yaml', `tags:\n${manyKeys((name) => `- ${name}: 1`, '\n')}`, '30001:9 '],
    ['as JSON', 'json', `{${manyKeys((name) => `"${name}":1`, ',')}}`, '1:'],
    ['as JSON in small objects', 'json', `[${manyKeys((name) => `{"${name}":1}`, ',')}]`, '1:'],
  ] as const)('of 70,000 keys, before it is read: %s', (_, format, text, place) => {
    const said = problem(text, format)
    expect(said).toStartWith(place)
    expect(said).toMatch(/more than 30000 (?:keys|members)/)
  })

  test('above 1 MiB', () => {
    const text = `${minimal}name: ${'x'.repeat(limits.contractDocumentBytesMax)}\n`
    expect(problem(text)).toContain('larger than 1048576 bytes')
  })

  test('bytes that are not UTF-8', () => {
    const outcome = performDocumentTask({ kind: 'read', format: 'yaml', bytes: new Uint8Array([0x61, 0xff]) })
    expect(outcome).toMatchObject({ kind: 'refused', problems: [{ message: 'The document must be UTF-8' }] })
  })

  test.each([
    [
      'a mask without a table',
      'properties: [{name: a, customProperties: [{property: covenant, value: {masks: [{id: m, action: replace-with-null}]}}]}]',
      'need `table`',
    ],
    [
      'an unknown mask action',
      'properties: [{name: a, customProperties: [{property: covenant, value: {masks: [{id: m, action: hide}]}}]}]',
      'must be one of',
    ],
    [
      'an unknown member of ours',
      'customProperties: [{property: covenant, value: {rowFilter: []}}]',
      'has no field rowFilter',
    ],
    [
      'ours twice',
      'customProperties: [{property: covenant, value: {}}, {property: covenant, value: {}}]',
      'twice',
    ],
    [
      'an expression with another action',
      'customProperties: [{property: covenant, value: {table: {namespace: [a], name: b}}}]\n  properties: [{name: a, customProperties: [{property: covenant, value: {masks: [{id: m, action: replace-with-null, expression: x}]}}]}]',
      'goes with apply-expression',
    ],
  ])('%s', (_, schema, expected) => {
    expect(problem(`${minimal}schema:\n- name: t\n  ${schema}\n`)).toContain(expected)
  })
})

describe('an edit', () => {
  const edited = (text: string, edits: readonly DocumentEdit[], format: 'yaml' | 'json' = 'yaml') => {
    const outcome = perform(text, { kind: 'edit', format, edits })
    if (outcome.kind !== 'read') throw new Error(JSON.stringify(outcome))
    return decode(outcome.read.bytes)
  }

  test('keeps comments and every other value', () => {
    const text = edited(orders, [{ op: 'replace', path: '/version', value: '2.0' }])
    expect(text).toContain('version: "2.0" # quoted, or it would be a number')
    for (const comment of [
      '# Orders of the shop.   Two   spaces stay.',
      '# list not indented',
      '# a comment between items',
    ])
      expect(text).toContain(comment)
    expect(text).toContain('9007199254740993')
  })

  test('inserts into and removes from lists', () => {
    const path = '/schema/0/properties'
    const text = edited(orders, [
      { op: 'add', path: `${path}/1`, value: new Map([['name', 'added']]) },
      { op: 'remove', path: `${path}/0` },
    ])
    const { model } = accepted(text)
    expect(model.schemas[0]?.properties.map(({ name }) => name)).toEqual([
      'added',
      'email',
      'region',
      'amount',
    ])
  })

  test.each([
    ['nothing there', { op: 'replace', path: '/schema/7/name', value: 'x' }, 'There is nothing at this path'],
    ['no pointer', { op: 'remove', path: 'version' }, 'is no JSON Pointer'],
    [
      'a value that an alias shares',
      { op: 'replace', path: '/schema/0/customProperties/1/value/rate', value: 2n },
      'shared through an alias',
    ],
    [
      'a document that the standard refuses',
      { op: 'remove', path: '/version' },
      'The field version is missing',
    ],
  ] as const)('is refused for %s', (_, edit, message) => {
    const outcome = perform(orders, { kind: 'edit', format: 'yaml', edits: [edit] })
    expect(JSON.stringify(outcome)).toContain(message)
  })

  test.each([
    ['yaml', orders.replace('&shared ', '').replace('*shared', '1')],
    ['json', ordersJson],
  ] as const)('changes only its own path, whatever it is (%s)', (format, text) => {
    const before = readDocument(encode(text), format).value
    const paths = [...pathsOf(before)].filter((path) => path.length > 0)
    const value = fc.oneof(
      fc.string({ unit: 'binary' }).filter((one) => one.isWellFormed() && !one.includes('\0')),
      fc.boolean(),
      fc.constantFrom(1, 0.5, 1e21, -2),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.constantFrom(
        'yes',
        'null',
        '1.10',
        '2024-01-01',
        '- a',
        '# b',
        'a: b',
        '  x',
        '',
        '"',
        "'",
        '\t',
        '|\n',
      ),
      fc.constant<JsonValue>([
        new Map<string, JsonValue>([
          ['property', 'p'],
          ['value', [1n, 1.5, null]],
        ]),
      ]),
    )
    const op = fc.constantFrom('add' as const, 'replace' as const, 'remove' as const)
    const property = fc.property(fc.constantFrom(...paths), op, value, (path, op, given) => {
      const edit = { op, path: pointerOf(path), value: given } as DocumentEdit
      const outcome = perform(text, { kind: 'edit', format, edits: [edit] })
      // Most edits break the standard; what is left is what was to be changed.
      const after = outcome.kind === 'read' ? readDocument(outcome.read.bytes, format).value : undefined
      if (after === undefined) return
      expect(others(after, path)).toEqual(others(before, path))
      const list = path.length > 0 && Array.isArray(at(before, path.slice(0, -1)))
      if (op !== 'remove') expect(stringifyJson(at(after, path) as JsonValue)).toBe(stringifyJson(given))
      else if (!list) expect(at(after, path)).toBeUndefined()
    })
    const seed = 20_261_123
    console.log(`seed ${seed}`)
    fc.assert(property, { seed, numRuns: 250 })
  })
})

type Path = readonly (string | number)[]

function* pathsOf(value: JsonValue, path: Path = []): Generator<Path> {
  yield path
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* pathsOf(item, [...path, index])
  else if (isJsonObject(value)) for (const [key, member] of value) yield* pathsOf(member, [...path, key])
}

function at(value: JsonValue | undefined, [step, ...rest]: Path): JsonValue | undefined {
  if (step === undefined) return value
  if (Array.isArray(value)) return at(value[step as number], rest)
  return isJsonObject(value) ? at(value.get(String(step)), rest) : undefined
}

/** Every value beside the path; for a list, the items from the place on are left out, because they move. */
function others(value: JsonValue, [step, ...rest]: Path): string {
  if (Array.isArray(value)) {
    const place = step as number
    const inner = rest.length === 0 ? '' : others(value[place], rest)
    const kept = rest.length === 0 ? value.slice(0, place) : value.toSpliced(place, 1)
    return stringifyJson(kept) + inner
  }
  if (!isJsonObject(value)) return stringifyJson(value)
  const inner = rest.length === 0 ? '' : others(value.get(String(step)) as JsonValue, rest)
  return stringifyJson(new Map([...value].filter(([key]) => key !== step))) + inner
}

describe('a conversion', () => {
  const convert = (text: string, from: 'yaml' | 'json', conversion: object) =>
    perform(text, { kind: 'convert', format: from, conversion: { status: 'active', ...conversion } } as never)

  test('between YAML and JSON keeps every value', () => {
    const json = convert(orders, 'yaml', { format: 'json' })
    if (json.kind !== 'converted') throw new Error(JSON.stringify(json))
    const yaml = convert(decode(json.bytes), 'json', { format: 'yaml' })
    if (yaml.kind !== 'converted') throw new Error(JSON.stringify(yaml))
    const values = [
      readDocument(encode(orders), 'yaml'),
      readDocument(json.bytes, 'json'),
      readDocument(yaml.bytes, 'yaml'),
    ].map(({ value }) => stringifyJson(value))
    expect(new Set(values).size).toBe(1)
    expect(decode(json.bytes)).toContain('9007199254740993')
  })

  test('to an older version adds the status that it requires', () => {
    const outcome = convert(minimal, 'yaml', { format: 'yaml', apiVersion: 'v3.0.2' })
    if (outcome.kind !== 'converted') throw new Error(JSON.stringify(outcome))
    expect(decode(outcome.bytes)).toBe(`${minimal.replace('v3.2.0', 'v3.0.2')}status: active\n`)
  })

  test('names what an older version has no word for', () => {
    const text = `${minimal}status: active\nschema:\n- name: t\n  properties:\n  - name: a\n    enum: [{value: x}]\n`
    const outcome = convert(text, 'yaml', { format: 'yaml', apiVersion: 'v3.1.0' })
    expect(outcome).toMatchObject({
      kind: 'refused',
      problems: [{ path: '/schema/0/properties/0', message: expect.stringContaining('no field enum') }],
    })
  })
})
