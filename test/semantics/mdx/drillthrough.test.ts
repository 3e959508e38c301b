/** DRILLTHROUGH gives every row of a cell, with the cell's own measure, as SQL reads them. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putTag } from '../../../src/contract/put-tag.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { actorOf } from '../../support/actor.ts'
import { ask } from '../../support/identity.ts'
import { type Lake, readAs } from '../../support/lake.ts'
import { declaringAs, openSteward } from '../../support/semantic-layer.ts'
import { cellsetAs, type Reader, runAs, startCubeLake } from './cube-lake.ts'

setDefaultTimeout(120_000)

const orders = { namespace: ['sales'], name: 'orders' }
let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
  const put = declaringAs(lake, await openSteward(lake))
  await put('/api/v1/metrics/broken', { table: orders, expression: 'sum(amount) / (sum(qty) - sum(qty))' })
})
afterAll(() => lake[Symbol.asyncDispose]())

const from = 'FROM [sales.orders]'
const region = '[orders].[region]'
const paid = '[orders].[paid]'
const revenue = '[Measures].[revenue]'

async function details(who: Reader, statement: string) {
  const answer = await runAs(lake, who, statement, { format: 'tabular' })
  if (answer.kind !== 'tabular') throw new Error(answer.kind)
  return answer.tabular
}
async function sql(text: string): Promise<readonly (readonly string[])[]> {
  const lines = await readAs(lake.env, text)
  return lines.filter((line) => line.startsWith('D ')).map((line) => line.slice(2).split('|'))
}

describe.each([
  ['officer', 'true'],
  ['reader', "region IN ('east', 'west')"],
] as const)('as the %s', (who, where) => {
  test('rows that are alike in the columns returned are rows of their own, each with its own value', async () => {
    const { rows } = await details(
      who,
      `DRILLTHROUGH MAXROWS 10000 SELECT ${from} WHERE (${revenue}, ${paid}.&[t]) RETURN ${region}, ${revenue}`,
    )
    const wanted = await sql(
      `SELECT region, amount FROM sales.orders WHERE paid AND ${where} ORDER BY region, amount`,
    )
    const sorted = rows
      .map(([key, value]) => [String(key), Number(value)] as const)
      .sort(([one, left], [other, right]) => (one < other ? -1 : one > other ? 1 : left - right))
    expect(sorted.length).toBe(wanted.length)
    expect(sorted).toEqual(wanted.map(([key = '', value]) => [key, Number(value)] as const))
  })

  test('without RETURN there are all attributes and the measure of the cell alone, so that no other can fail', async () => {
    const { columns, rows } = await details(
      who,
      `DRILLTHROUGH MAXROWS 10000 SELECT ${from} WHERE ([Measures].[orders])`,
    )
    expect(columns.map(({ name }) => name).filter((name) => name.startsWith('[Measures]'))).toEqual([
      '[Measures].[orders]',
    ])
    const [[count] = []] = await sql(`SELECT count(*) FROM sales.orders WHERE ${where}`)
    expect(rows.length).toBe(Number(count))
    expect(rows.every((row) => row.at(-1) === 1)).toBe(true)
  })

  test('MAXROWS bounds the rows', async () => {
    const { rows } = await details(
      who,
      `DRILLTHROUGH MAXROWS 7 SELECT ${from} WHERE (${revenue}) RETURN ${region}`,
    )
    expect(rows.length).toBe(7)
  })
})

test('rows of a table without a key are all there, and those that are alike have no value of their own', async () => {
  const { cube } = await cellsetAs(lake, 'officer', `SELECT ${from}`)
  const statement = `DRILLTHROUGH MAXROWS 10000 SELECT ${from} WHERE (${revenue}) RETURN ${region}, [orders].[email], ${revenue}`
  const read = async (columns: string) => {
    const given = { format: 'tabular' as const, cubes: [{ ...cube, rowKeys: [] }] }
    const answer = await runAs(lake, 'officer', statement.replace('[orders].[email], ', columns), given)
    return answer.kind === 'tabular' ? answer.tabular.rows : []
  }
  const apart = await read('[orders].[email], ')
  expect([apart.length, apart.every((row) => typeof row.at(-1) === 'number')]).toEqual([1_000, true])
  const alike = await read('')
  expect([alike.length, alike.every((row) => row.at(-1) === undefined)]).toEqual([1_000, true])
})

test('an attested metric merges rows, so that it shows no single value', async () => {
  const { store, tenant } = lake
  await putTag({ store, tenant, actor: actorOf('x'), checkPolicies }, orders, 'ratio', 'person')
  await declaringAs(lake, await openSteward(lake))('/api/v1/metrics/score', {
    table: orders,
    expression: 'sum(ratio)',
  })
  const evidence = { tags: ['person'], reason: 'sums', evidence: 'review' }
  const valid_until = new Date(Date.now() + 600_000).toISOString()
  const second = await openSteward(lake, lake.tenant, 'sam')
  const body = { ...evidence, valid_until, dimensions: [{ name: 'region' }] }
  expect(await ask(lake, 'POST', '/api/v1/metrics/score/attestations', second, body)).toMatchObject({
    status: 201,
  })
  const { rows } = await details(
    'officer',
    `DRILLTHROUGH MAXROWS 10000 SELECT ${from} WHERE ([Measures].[score]) RETURN ${region}, [Measures].[score]`,
  )
  const wanted = await sql('SELECT region, sum(ratio) FROM sales.orders GROUP BY region ORDER BY region')
  expect(rows.map(([key, value]) => [key, Number(value)])).toEqual(
    wanted.map(([key = '', value]) => [key, Number(value)]),
  )
})
