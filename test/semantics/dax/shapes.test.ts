/** The shapes of shapes.ts, row by row, against SQL by hand, for an officer and for a reader of some rows, masked. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Lake, readAs } from '../../support/lake.ts'
import { type Reader, startCubeLake } from '../mdx/cube-lake.ts'
import { daxTable } from './dax-lake.ts'
import { daxShapes } from './shapes.ts'
import { comparable, type Row } from './visual-oracle.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

async function rowsBySql(who: Reader, sql: string): Promise<readonly Row[]> {
  const lines = await readAs(
    who === 'officer' ? lake.env : lake.restricted,
    `SELECT '>' , g.* FROM (${sql}) g`,
  )
  const error = lines.find((line) => line.startsWith('E'))
  if (error !== undefined) throw new Error(`${sql}\n${error}`)
  return lines.flatMap((line) =>
    line.startsWith('D >|')
      ? [
          line
            .slice(4)
            .split('|')
            .map((value) => (value === 'NULL' ? null : value === 't' ? true : value === 'f' ? false : value)),
        ]
      : [],
  )
}

describe.each(['officer', 'reader'] as const)('the %s gets', (who) => {
  test.each(daxShapes.map((shape) => [shape.name, shape] as const))('%s', async (_, { query, sql }) => {
    const { rows } = await daxTable(lake, who, query)
    expect(comparable(rows)).toEqual(comparable(await rowsBySql(who, sql)))
  })
})
