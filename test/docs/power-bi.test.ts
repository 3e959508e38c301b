/** Runs the queries of the page on Power BI, for two principals. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { scalarFunctionNames } from '../../src/semantics/dax/scalar-functions.ts'
import { daxRefusal, daxRows } from '../semantics/dax/dax-lake.ts'
import { refusedFunctions } from '../semantics/dax/refused.ts'
import { startCubeLake } from '../semantics/mdx/cube-lake.ts'
import type { Lake } from '../support/lake.ts'

setDefaultTimeout(120_000)
const page = await Bun.file(new URL('../../docs/power-bi.md', import.meta.url)).text()
const queries = [...page.matchAll(/```dax\n(.*?)```/gs)].map(([, text = '']) => text.trim())

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

test('the page has queries', () => {
  expect(queries.length).toBeGreaterThan(2)
})

test.each(queries)('gives rows: %s', async (query) => {
  for (const who of ['officer', 'reader'] as const)
    expect((await daxRows(lake, who, query)).length).toBeGreaterThan(0)
})

test('the page names the functions of values that there are', () => {
  const [, cell = ''] = /^\| Values \| (.*) \|$/m.exec(page) ?? []
  expect(cell.split(', ').map((name) => name.replaceAll('`', ''))).toEqual([...scalarFunctionNames])
})

test('the page names the functions that are refused, and serves none of them', () => {
  const [, cell = ''] = /^\| Functions \| (.*) \|$/m.exec(page) ?? []
  const refused = cell.split(', ').map((name) => name.replaceAll('`', ''))
  expect(refused).toEqual([...refusedFunctions.tables, ...refusedFunctions.values].sort())
  const [, served = ''] = /^## What is served\n(.*?)^Not served/ms.exec(page) ?? []
  expect(refused.filter((name) => served.includes(`\`${name}\``))).toEqual([])
})

test.each([
  "EVALUATE 'orders'",
  "EVALUATE ADDMISSINGITEMS('orders'[region], VALUES('orders'[region]))",
  'EVALUATE ROW("x", FORMAT(1, "0"))',
  "DEFINE TABLE t = VALUES('orders'[region]) EVALUATE t",
  "DEFINE COLUMN 'orders'[x] = 1 EVALUATE VALUES('orders'[x])",
  'DEFINE MPARAMETER \'p\' = 1 EVALUATE ROW("x", 1)',
  'EVALUATE ROW("x", TOTALYTD([revenue], \'orders\'[day]))',
])('a fault says what is not served: %s', async (query) => {
  expect(await daxRefusal(lake, 'officer', query)).toMatch(/^DAX: .*(?:not|none)/)
})
