/** What each change of a contract means, row by row, and the rules for version numbers. */

import { describe, expect, test } from 'bun:test'
import { classify } from '../../../src/contract/classify/classify.ts'
import type { Finding } from '../../../src/contract/classify/finding.ts'
import { isEnough, judgeChange, stepBetween } from '../../../src/contract/classify/judge-change.ts'
import type { PurposeDemand } from '../../../src/core/purpose.ts'
import { tableKey } from '../../../src/core/table-ref.ts'
import type { ContractModel, ModelProperty, ModelSchema } from '../../../src/wire/odcs/model.ts'

const orders = { namespace: ['sales'], name: 'orders' }

function property(name: string, changes: Partial<ModelProperty> = {}): ModelProperty {
  const none = { options: {}, relationships: [], quality: [], masks: [], rowFilters: [] }
  return { name, required: false, unique: false, primaryKey: false, ...none, ...changes }
}

function contract(
  properties: readonly ModelProperty[],
  schema: Partial<ModelSchema> = {},
  changes: Partial<ContractModel> = {},
): ContractModel {
  const one = {
    name: 'orders',
    table: orders,
    properties,
    relationships: [],
    quality: [],
    rowFilters: [],
    ...schema,
  }
  const terms = { compatibility: 'backward', secondApproval: false, sla: [] } as const
  return { apiVersion: 'v3.2.0', id: 'c', version: '1.0.0', ...terms, schemas: [one], ...changes }
}

const short = (findings: readonly Finding[]) =>
  findings.map(({ change, consumer, producer, access }) => `${change} ${consumer}/${producer} ${access}`)
/** The findings about one column, before and after. */
const change = (before: Partial<ModelProperty>, after: Partial<ModelProperty>) =>
  short(classify(contract([property('a', before)]), contract([property('a', after)])))

const mask = (action: string, exemptRoles: string[] = []) => ({ masks: [{ id: 'm', action, exemptRoles }] })
const typed = (physicalType: string) => ({ physicalType })
const rule = (operator: string, threshold: unknown, more = {}) => ({
  quality: [{ key: 'q', type: 'library', metric: 'nullValues', measures: '', operator, threshold, ...more }],
})
const tightened = 'info/breaking none'
const loosened = 'breaking/info none'
const both = 'breaking/breaking none'
const undecided = 'warning/warning none'

describe('a column', () => {
  const rows: [string, Partial<ModelProperty>, Partial<ModelProperty>, readonly string[]][] = [
    ['that does not change', {}, {}, []],
    ['that may be null', { required: true }, {}, [`required-loosened ${loosened}`]],
    ['that becomes required', {}, { required: true }, [`required-tightened ${tightened}`]],
    ['whose uniqueness changes', {}, { unique: true }, [`unique-changed ${both}`]],
    ['whose type is widened in SQL', typed('int'), typed('bigint'), [`type-widened ${loosened}`]],
    ['whose float becomes double', typed('real'), typed('DOUBLE'), [`type-widened ${loosened}`]],
    [
      'whose decimal is wider',
      typed('decimal(10,2)'),
      typed('numeric(12, 2)'),
      ['type-widened warning/info none'],
    ],
    [
      'whose decimal has another scale',
      typed('decimal(10,2)'),
      typed('decimal(12,3)'),
      [`type-changed ${both}`],
    ],
    ['whose type is narrowed', typed('long'), typed('int'), [`type-changed ${both}`]],
    ['whose type has another spelling', typed('INTEGER'), typed('int'), []],
    [
      'whose logical type changes',
      { logicalType: 'string' },
      { logicalType: 'date' },
      [`type-changed ${both}`],
    ],
    [
      'with another allowed value',
      { enum: ['"a"'] },
      { enum: ['"a"', '"b"'] },
      [`enum-loosened ${loosened}`],
    ],
    [
      'with an allowed value less',
      { enum: ['"a"', '"b"'] },
      { enum: ['"a"'] },
      [`enum-tightened ${tightened}`],
    ],
    ['with values listed first', {}, { enum: ['"a"'] }, [`enum-tightened ${tightened}`]],
    [
      'with a greater minimum',
      { options: { minimum: 1 } },
      { options: { minimum: 2 } },
      [`minimum-tightened ${tightened}`],
    ],
    ['with a maximum less', { options: { maximum: 9 } }, { options: {} }, [`maximum-loosened ${loosened}`]],
    [
      'whose bound is written otherwise',
      { logicalType: 'integer', options: { minimum: 5 } },
      { logicalType: 'integer', options: { exclusiveMinimum: 4 } },
      [],
    ],
    [
      'whose bound leaves itself out',
      { options: { minimum: 5 } },
      { options: { exclusiveMinimum: 5 } },
      [`minimum-tightened ${tightened}`],
    ],
    [
      'with an earlier last day',
      { options: { maximum: '2026-01-01' } },
      { options: { maximum: '2025-01-01' } },
      [`maximum-tightened ${tightened}`],
    ],
    [
      'with longer text',
      { options: { maxLength: 5 } },
      { options: { maxLength: 9 } },
      [`maxLength-loosened ${loosened}`],
    ],
    [
      'with another pattern',
      { options: { pattern: 'a' } },
      { options: { pattern: 'b' } },
      [`pattern-undecided ${undecided}`],
    ],
    [
      'with a weaker threshold',
      rule('mustBeLessThan', 5),
      rule('mustBeLessThan', 9),
      [`quality-loosened ${loosened}`],
    ],
    ['with the same threshold in other words', rule('mustBeLessThan', 5), rule('mustBeLessOrEqualTo', 4), []],
    [
      'with a threshold moved',
      rule('mustBeBetween', [1, 5]),
      rule('mustBeBetween', [3, 9]),
      [`quality-changed ${both}`],
    ],
    [
      'with another measure',
      rule('mustBe', 0),
      rule('mustBe', 0, { metric: 'rowCount' }),
      [`quality-undecided ${undecided}`],
    ],
    ['with a mask', {}, mask('show-last-4'), ['mask-added breaking/info tightened']],
    [
      'with a stricter mask',
      mask('show-last-4'),
      mask('replace-with-null'),
      ['mask-tightened breaking/info tightened'],
    ],
    [
      'with a looser mask',
      mask('replace-with-null'),
      mask('show-last-4'),
      ['mask-loosened info/info loosened'],
    ],
    ['without its mask', mask('show-last-4'), {}, ['mask-removed info/info loosened']],
    [
      'with a mask that exempts a role',
      mask('show-last-4'),
      mask('show-last-4', ['hr']),
      ['mask-loosened info/info loosened'],
    ],
    ['with a description', {}, { description: 'x' }, ['description-changed info/info none']],
  ]
  test.each(rows)('%s', (_, before, after, expected) => {
    expect(change(before, after)).toEqual([...expected])
  })

  test('that is added breaks producers only where it is required', () => {
    const with2 = (more: Partial<ModelProperty>) =>
      short(classify(contract([property('a')]), contract([property('a'), property('b', more)])))
    expect(with2({})).toEqual(['column-added info/info none'])
    expect(with2({ required: true })).toEqual([`column-added-required ${tightened}`])
  })

  test('that is dropped breaks consumers', () => {
    expect(short(classify(contract([property('a'), property('b')]), contract([property('a')])))).toEqual([
      `column-dropped ${loosened}`,
    ])
  })

  test('that is renamed is one column by its field id, and two by its name', () => {
    const [before, after] = [contract([property('a')]), contract([property('b')])]
    const key = tableKey(orders)
    const ids = { fieldIdsBefore: new Map([[key, { a: 1 }]]), fieldIdsAfter: new Map([[key, { b: 1 }]]) }
    expect(short(classify(before, after, ids))).toEqual([`column-renamed ${loosened}`])
    expect(short(classify(before, after))).toEqual([
      `column-dropped ${loosened}`,
      'column-added info/info none',
    ])
  })

  test('that metrics and dimensions read says so where it is dropped, retyped or masked', () => {
    const key = tableKey(orders)
    const uses = [
      { what: 'metric revenue (and basket)', kind: 'metric', table: orders, fieldIds: [1] },
      { what: 'dimension region', kind: 'dimension', table: orders, fieldIds: [2] },
      { what: 'metric other', kind: 'metric', table: { ...orders, name: 'other' }, fieldIds: [1] },
    ] as const
    const options = { fieldIdsBefore: new Map([[key, { a: 1, b: 2 }]]), uses }
    const before = contract([property('a', typed('int')), property('b')])
    const of = (...after: ModelProperty[]) =>
      classify(before, contract(after), options).filter(({ change: one }) => /^(metric|dimension)-/.test(one))
    expect(of(property('b'))).toEqual([
      {
        ...{
          at: 'orders.a',
          change: 'metric-broken',
          consumer: 'breaking',
          producer: 'info',
          access: 'none',
        },
        message: 'The metric revenue (and basket) reads the column, which is dropped',
      },
    ])
    expect(short(of(property('a', typed('string')), property('b', mask('replace-with-null'))))).toEqual([
      'metric-retyped warning/info none',
      'dimension-masked warning/info none',
    ])
    expect(of(property('a', typed('int')), property('b'))).toEqual([])
  })

  test('that is dropped and added again under its name is another column', () => {
    const key = tableKey(orders)
    const ids = { fieldIdsBefore: new Map([[key, { a: 1 }]]), fieldIdsAfter: new Map([[key, { a: 7 }]]) }
    const same = contract([property('a')])
    expect(short(classify(same, same, ids))).toEqual([`column-replaced ${both}`])
  })
})

describe('an object', () => {
  const filter = (id: string, expression = 'x', exemptRoles: string[] = []) => ({
    rowFilters: [{ id, expression, exemptRoles }],
  })
  const key = (...names: string[]) =>
    ['a', 'b'].map((name) => property(name, { primaryKey: names.includes(name) }))
  const rows: [string, ContractModel, ContractModel, readonly string[]][] = [
    [
      'without its row filter',
      contract([], filter('f')),
      contract([]),
      ['filter-removed info/info loosened'],
    ],
    [
      'with another expression of its row filter',
      contract([], filter('f')),
      contract([], filter('f', 'y')),
      ['filter-loosened info/info loosened', 'filter-tightened breaking/info tightened'],
    ],
    ['with another key', contract(key('a')), contract(key('b')), [`key-changed ${both}`]],
    [
      'of another table',
      contract([]),
      contract([], { table: { namespace: ['x'], name: 'y' } }),
      [`table-changed ${both}`, 'table-opened info/info loosened'],
    ],
    ['that is removed', contract([]), contract([], {}, { schemas: [] }), [`object-removed ${loosened}`]],
    [
      'with a slower service level',
      contract([], {}, { sla: [{ property: 'latency', value: 4, unit: 'h' }] }),
      contract([], {}, { sla: [{ property: 'latency', value: 1, unit: 'd' }] }),
      [`sla-loosened ${loosened}`],
    ],
    [
      'with a longer retention',
      contract([], {}, { sla: [{ property: 'retention', value: 1, unit: 'y' }] }),
      contract([], {}, { sla: [{ property: 'retention', value: 3, unit: 'y' }] }),
      [`sla-tightened ${tightened}`],
    ],
  ]
  test.each(rows)('%s', (_, before, after, expected) => {
    expect(short(classify(before, after))).toEqual([...expected])
  })

  test('of a first version opens its table, and breaks nobody', () => {
    expect(short(classify(undefined, contract([property('a')])))).toEqual(['table-opened info/info loosened'])
  })
})

describe('a version', () => {
  const plain = contract([property('a'), property('b')])
  const dropped = contract([property('a')])
  const added = contract([property('a'), property('b'), property('c')])
  const required = contract([property('a', { required: true }), property('b')])
  const unmasked = [contract([property('a', mask('show-last-4'))]), contract([property('a')])] as const

  test.each([
    ['that breaks is major', [plain], dropped, 'major', true, false],
    ['that adds a column is minor', [plain], added, 'minor', false, false],
    ['that loosens access is minor, and not breaking', [unmasked[0]], unmasked[1], 'minor', false, true],
    [
      'that changes words is a patch',
      [plain],
      contract([property('a', { description: 'x' }), property('b')]),
      'patch',
      false,
      false,
    ],
    ['that changes nothing needs no step', [plain], plain, 'none', false, false],
    ['that asks more of producers does not break under backward', [plain], required, 'patch', false, false],
    [
      'that asks more of producers breaks under full',
      [plain],
      { ...required, compatibility: 'full' },
      'major',
      true,
      false,
    ],
    [
      'breaks under none, because an earlier level holds',
      [plain],
      { ...dropped, compatibility: 'none' },
      'major',
      true,
      false,
    ],
  ] as const)('%s', (_, earlier, after, step, breaking, loosensAccess) => {
    expect(judgeChange(earlier, after as ContractModel)).toMatchObject({ step, breaking, loosensAccess })
  })

  test('is compared with all versions since the last major one', () => {
    const text = contract([property('a'), property('b', { physicalType: 'string' })])
    const another = contract([property('a'), property('b', { physicalType: 'date' })])
    expect(judgeChange([plain], another).findings.some(({ change: one }) => one === 'type-changed')).toBe(
      false,
    )
    expect(judgeChange([plain, text], another)).toMatchObject({ breaking: true, step: 'major' })
  })

  test.each([
    ['1.0.0', '2.0.0', 'major'],
    ['1.9', '1.10', 'minor'],
    ['1.0.0', '1.0.1', 'patch'],
    ['1.2.0', '1.1.9', undefined],
    ['1.0.0', '1.0.0', undefined],
    ['1.0.0', 'next', undefined],
  ] as const)('from %s to %s is a step: %s', (before, after, step) => {
    expect(stepBetween(before, after)).toBe(step)
  })

  test('may take a larger step than it needs', () => {
    expect([isEnough('major', 'patch'), isEnough('minor', 'major')]).toEqual([true, false])
  })
})

test('a change and its reversal tighten and loosen the same', () => {
  const sides = [
    [{ required: true }, {}],
    [{ enum: ['1'] }, { enum: ['1', '2'] }],
    [{ options: { minimum: 2 } }, { options: { minimum: 1 } }],
    [rule('mustBe', 0), rule('mustBeLessThan', 9)],
  ] as const
  for (const [strict, lax] of sides) {
    expect(change(strict, lax).map((one) => one.split(' ')[1])).toEqual(['breaking/info'])
    expect(change(lax, strict).map((one) => one.split(' ')[1])).toEqual(['info/breaking'])
  }
})

describe('a review plan', () => {
  const planned = (access: ContractModel['access']) => contract([], {}, access && { access })
  test.each<[string, ContractModel['access'], ContractModel['access'], readonly string[]]>([
    ['that says what holds without one', undefined, { approvers: 1, maxSeconds: 2_592_000 }, []],
    ['that asks for two approvers', undefined, { approvers: 2 }, ['tightened']],
    ['that asks for one approver again', { approvers: 2 }, undefined, ['loosened']],
    ['with a shorter time', {}, { maxSeconds: 60 }, ['tightened']],
    ['with a longer time', { maxSeconds: 60 }, { maxSeconds: 61 }, ['loosened']],
    ['that names purposes', {}, { purposes: ['a'] }, ['tightened']],
    ['that names no purposes any more', { purposes: ['a'] }, {}, ['loosened']],
    ['with one purpose for another', { purposes: ['a'] }, { purposes: ['b'] }, ['loosened', 'tightened']],
    ['with self-service', {}, { selfServiceRoles: ['a'] }, ['loosened']],
    [
      'with another role',
      { selfServiceRoles: ['a'] },
      { selfServiceRoles: ['b'] },
      ['loosened', 'tightened'],
    ],
    ['without self-service', { selfServiceRoles: ['a'] }, {}, ['tightened']],
    ['with break-glass', {}, { breakGlassRoles: ['a'], breakGlassMaxSeconds: 60 }, ['loosened']],
    ['without break-glass', { breakGlassRoles: ['a'], breakGlassMaxSeconds: 60 }, {}, ['tightened']],
    [
      'with a longer break-glass',
      { breakGlassRoles: ['a'], breakGlassMaxSeconds: 60 },
      { breakGlassRoles: ['a'] },
      ['loosened'],
    ],
    ['with a time of break-glass for nobody', {}, { breakGlassMaxSeconds: 60 }, []],
  ])('%s', (_, before, after, expected) => {
    const found = classify(planned(before), planned(after))
    expect(found.map(({ access }) => access)).toEqual(expected as never)
    expect(found.map(({ change }) => change)).toEqual(expected.map((one) => `access-plan-${one}`))
    expect(judgeChange([planned(before)], planned(after)).loosensAccess).toBe(expected.includes('loosened'))
    expect(judgeChange([planned(before)], planned(after)).breaking).toBe(false)
  })
})

describe('the purposes for which tables are read', () => {
  test.each([
    [undefined, ['audit'], ['purposes-tightened breaking/info tightened']],
    [['audit'], undefined, ['purposes-loosened info/info loosened']],
    [['audit'], ['audit', 'refunds'], ['purposes-loosened info/info loosened']],
    [['audit', 'refunds'], ['audit'], ['purposes-tightened breaking/info tightened']],
    [['audit'], 'any', ['purposes-loosened info/info loosened']],
    ['any', ['audit'], ['purposes-tightened breaking/info tightened']],
    [
      ['audit'],
      ['refunds'],
      ['purposes-loosened info/info loosened', 'purposes-tightened breaking/info tightened'],
    ],
    [['audit'], ['Audit'], []],
  ] as const)('%j and then %j is %j', (before, after, expected) => {
    const of = (purposes: PurposeDemand | undefined) =>
      contract([], {}, purposes === undefined ? {} : { purposes })
    expect(short(classify(of(before), of(after)))).toEqual([...expected])
  })
})
