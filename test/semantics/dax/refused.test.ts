/** What is not served of DAX is refused as a whole, for every reader, by a fault that names the function or the form. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Lake } from '../../support/lake.ts'
import { startCubeLake } from '../mdx/cube-lake.ts'
import { daxRefusal } from './dax-lake.ts'
import { refusedForms, refusedFunctions } from './refused.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const readers = ['officer', 'reader'] as const

test.each(refusedForms)('$name', async ({ query, fault }) => {
  for (const who of readers) expect(await daxRefusal(lake, who, query)).toContain(fault)
})

test.each([...refusedFunctions.tables])('%s as a table is refused by its name', async (name) => {
  const query = `EVALUATE ${name}('orders'[day])`
  expect(await daxRefusal(lake, 'reader', query)).toContain(`the function ${name} is not supported`)
})

test.each([...refusedFunctions.values])('%s as a value is refused by its name', async (name) => {
  const query = `EVALUATE SUMMARIZECOLUMNS('orders'[region], "x", ${name}([revenue], 1))`
  expect(await daxRefusal(lake, 'reader', query)).toContain(`the function ${name} is not supported`)
})

test('each form has a source, and none is there twice', () => {
  expect(refusedForms.every(({ source }) => source.length > 10)).toBe(true)
  expect(new Set(refusedForms.map(({ query }) => query)).size).toBe(refusedForms.length)
})
