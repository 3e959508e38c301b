/** Which service levels are measured, and by what. */

import { expect, test } from 'bun:test'
import { judge, severityOf } from '../../../src/contract/quality/judge.ts'
import { dueAt, schedulesOf } from '../../../src/contract/quality/schedule-checks.ts'
import { judgeLevel, planLevels } from '../../../src/contract/quality/service-levels.ts'
import { snapshotOf } from '../../../src/contract/quality/stored-commit.ts'
import type { ModelSla } from '../../../src/wire/odcs/model.ts'

const columns = [
  { name: 'at', fieldId: 1, type: 'timestamptz' },
  { name: 'note', fieldId: 2, type: 'string' },
]
const nowMs = Date.parse('2026-06-02T00:00:00Z')
const hoursAgo = (hours: number) => String(nowMs / 1_000 - hours * 3_600)
const committedAtMs = nowMs - 90_000

/** What a level shows, where the expression of its column gives these seconds. */
function shown(level: ModelSla, seconds?: string | null) {
  return planLevels([level], 'orders', { columns }).map((planned) => {
    const { outcome, value, reason } = judgeLevel(planned, seconds, { committedAtMs }, nowMs)
    return [planned.expression, outcome, value ?? reason].filter((one) => one !== undefined)
  })
}

const newest = 'extract(epoch FROM max("at"))'
const oldest = 'extract(epoch FROM min("at"))'
test.each([
  [
    'the newest row is young enough',
    { property: 'freshness', value: 2, unit: 'h', element: 'orders.at' },
    hoursAgo(2),
    [newest, 'passed', '7200'],
  ],
  [
    'the newest row is too old',
    { property: 'latency', value: 1, unit: 'hours', element: 'at' },
    hoursAgo(2),
    [newest, 'warned', '7200'],
  ],
  [
    'the table has no row',
    { property: 'freshness', value: 1, unit: 'd', element: 'at' },
    null,
    [newest, 'not_run', 'no rows'],
  ],
  [
    'a snapshot is as old as its commit',
    { property: 'freshness', value: 1, unit: 'm' },
    undefined,
    ['warned', '90'],
  ],
  [
    'snapshots come often enough',
    { property: 'frequency', value: 2, unit: 'm' },
    undefined,
    ['passed', '90'],
  ],
  [
    'the oldest row is kept too long',
    { property: 'retention', value: 1, unit: 'd', element: 'at' },
    hoursAgo(25),
    [oldest, 'warned', '90000'],
  ],
  [
    'no row is kept too long',
    { property: 'retention', value: 2, unit: 'd', element: 'at' },
    hoursAgo(25),
    [oldest, 'passed', '90000'],
  ],
  [
    'retention without a column tells nothing',
    { property: 'retention', value: 1, unit: 'd' },
    undefined,
    ['not_run', 'no moment'],
  ],
  [
    'a text is no moment',
    { property: 'freshness', value: 1, unit: 'd', element: 'note' },
    undefined,
    ['not_run', 'no moment'],
  ],
  [
    'an age without a unit is not guessed',
    { property: 'freshness', value: 1, element: 'at' },
    hoursAgo(0),
    [newest, 'not_run', 'unit'],
  ],
  [
    'a date that has passed',
    { property: 'endOfSupport', value: '2026-01-01' },
    undefined,
    ['warned', '2026-06-02T00:00:00.000Z'],
  ],
  [
    'a date to come',
    { property: 'endOfLife', value: '2027-01-01' },
    undefined,
    ['passed', '2026-06-02T00:00:00.000Z'],
  ],
  [
    'what no data shows',
    { property: 'availability', value: 99.9, unit: 'percent' },
    undefined,
    ['not_run', 'not measurable'],
  ],
] as const)('%s', (_, level, seconds, expected) => {
  expect(shown(level, seconds)).toEqual([[...expected]])
})

test('a service level of another table is left to that table', () => {
  expect(shown({ property: 'freshness', value: 1, unit: 'd', element: 'customers.at' })).toEqual([])
})

test('a severity that is not understood is an error, and an unknown threshold never passes', () => {
  expect(['info', 'Warning', 'minor', undefined, 'blocker'].map(severityOf)).toEqual([
    'info',
    'warning',
    'warning',
    'error',
    'error',
  ])
  const outcome = (operator: string, threshold: unknown, value: string | boolean | null) =>
    judge({ operator, threshold }, 'error', value).outcome
  expect(outcome('mustBe', 'three', '3')).toBe('error')
  expect(outcome('mustBeBetween', [1], '1')).toBe('error')
  expect(outcome('mustBe', 3, null)).toBe('error')
  expect(outcome('mustBe', 3, 'text')).toBe('error')
  expect(outcome('mustBeGreaterThan', true, '3')).toBe('error')
  expect([
    outcome('mustBe', true, true),
    outcome('mustBe', true, false),
    outcome('mustNotBe', true, false),
  ]).toEqual(['passed', 'failed', 'passed'])
  expect([outcome('mustBeBetween', [1, 2], '2'), outcome('mustNotBeBetween', [1, 2], '2')]).toEqual([
    'passed',
    'failed',
  ])
})

test('a pattern is due once, however often it came due since the last look', () => {
  const at = (text: string) => Date.parse(text)
  expect(dueAt('0 3 * * *', at('2026-01-01T03:00:00Z'), at('2026-01-02T02:59:59Z'))).toBeUndefined()
  expect(dueAt('0 3 * * *', at('2026-01-01T03:00:00Z'), at('2026-01-05T00:00:00Z'))?.toISOString()).toBe(
    '2026-01-02T03:00:00.000Z',
  )
  expect(dueAt('every day', 0, nowMs)).toBeUndefined()
})

test('rules with one schedule share a run, and words of other schedulers are left to them', () => {
  const rule = (key: string, schedule?: string) => ({
    key,
    type: 'library',
    measures: '[]',
    ...(schedule && { schedule }),
  })
  const schema = {
    ...{
      name: 'orders',
      table: { namespace: ['sales'], name: 'orders' },
      relationships: [],
      rowFilters: [],
      properties: [],
    },
    quality: [
      rule('a', '0 3 * * *'),
      rule('b', 'commit'),
      rule('c'),
      rule('d', '0 3 * * *'),
      rule('e', 'airflow dag 7'),
    ],
  }
  const model = {
    ...({
      apiVersion: 'v3.2.0',
      id: 'o',
      version: '1',
      compatibility: 'none',
      secondApproval: false,
    } as const),
    ...{ schemas: [schema], sla: [{ property: 'freshness', value: 1, unit: 'd', schedule: 'commit' }] },
  }
  expect(schedulesOf({ model }).map(({ schedule, checks }) => [schedule, checks])).toEqual([
    ['0 3 * * *', ['a', 'd']],
    ['commit', ['b', 'sla.freshness']],
  ])
})

test('a commit names the snapshot that the branch main goes to, exactly', () => {
  const of = (text: string) => snapshotOf(Bun.zstdCompressSync(text))
  const moves = (ref: string) =>
    `{"updates":[{"action":"set-snapshot-ref","ref-name":"${ref}","snapshot-id":9007199254740993}]}`
  expect(of(moves('main'))).toBe(9_007_199_254_740_993n)
  expect(of(moves('audit'))).toBeUndefined()
  expect(of('{"updates":[]}')).toBeUndefined()
})
