/** The page about sizing: its counts are those of a tenant, and its sums follow from the figures that it names. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { openTenantStore, type TestStore } from '../support/store.ts'

const read = (name: string) => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')
const page = read('sizing')
const number = (text: string | undefined) => Number(text?.replaceAll(',', ''))

let store: TestStore
beforeAll(async () => {
  ;({ store } = await openTenantStore())
}, 120_000)
afterAll(() => store[Symbol.asyncDispose]())

/** Cells of the table whose first line has `heading`. */
function tableWith(heading: string): readonly (readonly string[])[] {
  const lines = page.slice(page.indexOf(heading)).split('\n')
  const end = lines.findIndex((line) => !line.startsWith('|'))
  return lines.slice(2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const [, tablesEach, indexesEach, sequencesEach] =
  /a graph of its own: (\d+) tables and (\d+) indexes, with (\d+) sequences/.exec(page) ?? []

test('a tenant has as many tables, indexes and sequences as the page says', async () => {
  const [row] = await store.adminQuery<Record<'tables' | 'indexes' | 'sequences', string>>(
    `with tenants as (select count(*) as of from pg_namespace where nspname ~ '^t_')
     select count(*) filter (where c.relkind in ('r', 'p')) / (select of from tenants) as tables,
            count(*) filter (where c.relkind in ('i', 'I')) / (select of from tenants) as indexes,
            count(*) filter (where c.relkind = 'S') / (select of from tenants) as sequences
     from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname ~ '^[tg]_'`,
  )
  expect({
    tables: Number(row?.tables),
    indexes: Number(row?.indexes),
    sequences: Number(row?.sequences),
  }).toEqual({
    tables: Number(tablesEach),
    indexes: Number(indexesEach),
    sequences: Number(sequencesEach),
  })
})

test('the settings of locks leave room for a dump of so many tenants', () => {
  const rows = tableWith('| Tenants | `max_locks_per_transaction`')
  expect(rows).toHaveLength(3)
  for (const [tenants, locks, needed] of rows) {
    expect(number(needed)).toBe(number(tenants) * Number(tablesEach))
    expect(number(locks) * 100).toBeGreaterThan(number(needed) * 1.25)
  }
})

/** Bytes of a commit and of a query, as the page about performance has them. */
const bytes = (() => {
  const figures = read('performance')
  const commit = number(/^\| 1 commit\/s \| ([\d,]+) \|/m.exec(figures)?.[1])
  const query = number(/^\| 10 queries\/s \| ([\d,]+) \|/m.exec(figures)?.[1])
  return { commit, query }
})()
const gigabytesAYear = (each: number, perSecond: number) => (each * perSecond * 365 * 86_400) / 1e9

test('the figures are those of the page about performance, and a year on disk follows from them', () => {
  expect(page).toContain(
    `A commit leaves ${bytes.commit.toLocaleString('en-US')} bytes, a query ${bytes.query},`,
  )
  const rows = tableWith('| On average, day and night | A year |')
  expect(rows.length).toBeGreaterThan(4)
  for (const [what = '', year = ''] of rows) {
    const each = what.includes('commit') ? bytes.commit : bytes.query
    expect([
      what,
      Math.abs(number(year.replace(' GB', '')) - gigabytesAYear(each, Number.parseInt(what, 10))) < 1,
    ]).toEqual([what, true])
  }
})

test('the disk of each installation follows from its load', () => {
  const rows = new Map(tableWith('| | Team | Company | Platform |').map(([name, ...cells]) => [name, cells]))
  for (const column of [0, 1, 2]) {
    const cell = (name: string) => number(rows.get(name)?.[column]?.replace(' GB', ''))
    const tenants = Number.parseInt(rows.get('tenants, tables')?.[column] ?? '', 10)
    // A fifth of the busiest on average, and 4.1 MB for each tenant.
    const expected =
      gigabytesAYear(bytes.commit, cell('commits a second, busiest') / 5) +
      gigabytesAYear(bytes.query, cell('small statements a second, busiest') / 5) +
      tenants * 0.0041
    expect(Math.abs(cell('disk of PostgreSQL a year') - expected)).toBeLessThanOrEqual(1)
  }
})
