/** The purpose of a session on the PostgreSQL wire: set, shown, reset, given at the start, and decided when a statement runs. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { saveContract } from '../../../src/store/contract/rows.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { frames, reportFields, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

const table = { namespace: ['sales'], name: 'orders' }
const total = 'SELECT count(*) > 0 FROM sales.orders'
let lake: Lake
async function demand(version: number, purposes: readonly string[]): Promise<void> {
  const { store, tenant } = lake
  await store.tenantTransaction(
    tenant,
    async (tx) =>
      void (await saveContract(tx, tenant, table, { id: 'orders', version, schema: {}, purposes })),
  )
}
beforeAll(async () => {
  lake = await startLake()
  await demand(2, ['Audit', 'Refunds'])
})
afterAll(() => lake?.[Symbol.asyncDispose]())

async function connected(more: Readonly<Record<string, string>> = {}): Promise<WireClient> {
  const { PGUSER: user, PGPASSWORD: password, PGDATABASE: database, PGPORT } = lake.restricted
  return await WireClient.logIn({ port: Number(PGPORT) }, { user, password, database, ...more })
}

async function wire(...texts: readonly string[]): Promise<readonly string[]> {
  const client = await connected()
  const all: string[] = []
  for (const text of texts) all.push(...(await client.ask(frames.query(text))))
  client.close()
  return all.filter((answer) => /^[DEC] /.test(answer))
}

test('a client of the wire is told how to name one, and SHOW and RESET know the setting', async () => {
  const client = await connected()
  client.send(frames.query(total))
  const error = (await client.until('Z')).find(({ type }) => type === 'E')
  expect(error && reportFields(error)).toMatchObject({
    C: '42501',
    H: "Name the purpose before the statement: SET covenant.purpose = '…'.",
  })
  client.close()
  expect(
    await wire(
      "SET covenant.purpose = ' refunds '",
      'SHOW covenant.purpose',
      total,
      'RESET covenant.purpose',
      'SHOW covenant.purpose',
      total,
      `SET covenant.purpose = '${'x'.repeat(201)}'`,
    ),
  ).toEqual([
    'C SET',
    'D refunds',
    'C SHOW',
    'D t',
    'C SELECT 1',
    'C RESET',
    'D ',
    'C SHOW',
    'E 42501 permission denied: sales.orders is read for one of these purposes only: Audit, Refunds.',
    'E 22023 invalid value for parameter "covenant.purpose": the value is not supported',
  ])
})

test('the start of a connection may name one', async () => {
  const client = await connected({ options: '-c covenant.purpose=audit' })
  expect(await client.ask(frames.query(total))).toContain('D t')
  client.close()
})

test('a prepared statement runs for the purpose that is set when it is executed', async () => {
  const prepare = ["SET covenant.purpose = 'audit'", `PREPARE p AS ${total}`, 'EXECUTE p']
  const other = ["SET covenant.purpose = 'marketing'", 'EXECUTE p', "SET covenant.purpose = 'Refunds'"]
  const all = await wire(...prepare, ...other, 'EXECUTE p')
  expect(all.filter((answer) => /^[DE]/.test(answer))).toEqual([
    'D t',
    'E 42501 permission denied: sales.orders is read for one of these purposes only: Audit, Refunds.',
    'D t',
  ])
})

test('EXPLAIN says what is demanded, also to who names none', async () => {
  expect(await wire(`EXPLAIN ${total}`)).toContain(
    'D   Purpose: sales.orders is read for one of these purposes only: Audit, Refunds',
  )
})

test('an open cursor ends where the contract no longer allows its purpose', async () => {
  const client = await connected({ options: '-c covenant.purpose=Refunds' })
  await client.ask(frames.query('BEGIN'))
  await client.ask(frames.query('DECLARE c CURSOR FOR SELECT id FROM sales.orders'))
  const first = await client.ask(frames.query('FETCH 1 FROM c'))
  expect(first.some((answer) => answer.startsWith('D '))).toBe(true)
  await demand(3, ['Audit'])
  const next = await client.ask(frames.query('FETCH 1 FROM c'))
  expect(next.filter((answer) => /^[DE] /.test(answer))).toEqual([expect.stringMatching(/^E 55000 /)])
  client.close()
  await demand(4, ['Audit', 'Refunds'])
})
