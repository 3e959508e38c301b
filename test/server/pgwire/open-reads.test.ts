/** Open cursors, portals and streams over the wire end when what they read changes. */

import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import type { ChangeContext } from '../../../src/contract/change.ts'
import { deleteMask } from '../../../src/contract/delete-mask.ts'
import { deleteRowFilter } from '../../../src/contract/delete-row-filter.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import { putTag } from '../../../src/contract/put-tag.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { rotateCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { pinTable, unpinTable } from '../../../src/store/contract/pins.ts'
import { listUsage } from '../../../src/store/query/usage.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { eventually } from '../../support/eventually.ts'
import { commitColumns } from '../../support/governed.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import { orderCount, ordersTable } from '../../support/lake-tables.ts'
import { frames, spoken, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

const { query, parse, bind, execute, sync } = frames
const orders = { namespace: ['sales'], name: 'orders' }
const note = { table: orders, column: 'note' }
const mask = { id: 'open', action: 'replace-with-null', exemptRoles: [] } as const
const statement = 'SELECT id, note FROM sales.orders ORDER BY id'
const governed =
  'E 55000 The governance of table sales.orders has changed since the query began. Run it again.'
const catalog = 'E 55000 The credential of the catalog has changed since the query began. Run it again.'
/** More than any buffer on the way holds. */
const many = 'SELECT a.note, b.note, a.uid, b.uid FROM sales.orders a CROSS JOIN sales.orders b'

let lake: Lake
let on: ChangeContext
let client: WireClient
let session: string

beforeAll(async () => {
  const other = { name: 'others', columns: ordersTable.columns, rowCount: 1 }
  lake = await startLake({ tables: [ordersTable, other] })
  on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
})
afterAll(() => lake[Symbol.asyncDispose]())
beforeEach(async () => {
  const { id, secret } = await createServiceSession(lake.store, lake.tenant, {
    name: 'ann',
    principal: { sub: 'ann', roles: ['officer'] },
    scopes: ['read'],
  })
  session = id
  const login = { user: 'ann', database: lake.catalog, password: secret }
  client = await WireClient.logIn({ port: Number(lake.env.PGPORT) }, login)
})
afterEach(async () => {
  client.close()
  await deleteMask(on, note, 'open')
})

/** Rows, errors and how it ended. */
const outcome = (answers: readonly string[]) => answers.filter((answer) => /^[DECs]/.test(answer))
const ask = async (text: string) => outcome(await client.ask(query(text)))

async function openCursor(declare = `DECLARE c CURSOR FOR ${statement}`): Promise<void> {
  await ask('BEGIN')
  expect(await ask(declare)).toEqual(['C DECLARE CURSOR'])
  expect(await ask('FETCH 2 FROM c')).toEqual(['D 1|note 1', 'D 2|note 2', 'C FETCH 2'])
}

describe('a cursor gives no more rows', () => {
  test('once a mask is saved, though the rows had been read before', async () => {
    await openCursor()
    await putMask(on, note, mask)
    expect(await ask('FETCH 2 FROM c')).toEqual([governed])
    await ask('ROLLBACK')
    await ask('BEGIN')
    await ask(`DECLARE c CURSOR FOR ${statement}`)
    expect(await ask('FETCH c')).toEqual(['D 1|NULL', 'C FETCH 1'])
  })

  test('once a mask is saved, though it was declared WITH HOLD and its transaction is committed', async () => {
    await openCursor(`DECLARE c CURSOR WITH HOLD FOR ${statement}`)
    await ask('COMMIT')
    expect(await ask('FETCH c')).toEqual(['D 3|note 3', 'C FETCH 1'])
    await putMask(on, note, mask)
    expect(await ask('FETCH c')).toEqual([governed])
    expect((await ask('FETCH c')).at(0)).toStartWith('E 55000')
  })

  test('once a mask is saved, and none is passed over', async () => {
    await openCursor()
    await putMask(on, note, mask)
    expect(await ask('MOVE 2 FROM c')).toEqual([governed])
  })

  test('once its table is pinned, or a pin is ended', async () => {
    const change = { table: orders, actor: actorOf('stella'), atMs: 0 }
    const [snapshotId = 0n] = await snapshots()
    await openCursor()
    await pinTable(lake.store, lake.tenant, change, { snapshotId, schemaId: 0n, catalog: lake.catalog })
    expect(await ask('FETCH c')).toEqual([governed])
    await ask('ROLLBACK')
    await openCursor()
    await unpinTable(lake.store, lake.tenant, change)
    expect(await ask('FETCH c')).toEqual([governed])
  })

  test('once the credential of its catalog is rotated', async () => {
    await openCursor()
    await rotateCatalogCredential(lake.store, lake.tenant, lake.catalog, { prefix: undefined })
    expect(await ask('FETCH c')).toEqual([catalog])
  })

  test('once its session is revoked', async () => {
    await openCursor()
    await revokeServiceSession(lake.store, lake.tenant, session)
    client.send(query('FETCH c'))
    const answers = (await client.until('never')).map(spoken)
    expect(answers.map((answer) => answer.slice(0, 7))).toEqual(['E 57P01'])
  })

  test('once statement_timeout has passed since it was first fetched from', async () => {
    await ask("SET statement_timeout = '2s'")
    await openCursor()
    const ended = await eventually(async () => {
      const answers = await ask('FETCH c')
      return answers.at(0)?.startsWith('E') && answers
    })
    expect(ended).toEqual(['E 57014 canceling statement due to statement timeout'])
  })
})

describe('rows that a cursor holds, though the engine has given its last, are not given again', () => {
  const kinds = ['', 'SCROLL', 'WITH HOLD', 'SCROLL WITH HOLD']

  async function holdAll(kind = ''): Promise<void> {
    const [scroll, hold] = [/SCROLL/, /WITH HOLD/].map((word) => kind.match(word)?.[0] ?? '')
    await ask('BEGIN')
    await ask(`DECLARE c ${scroll} CURSOR ${hold} FOR ${statement}`)
    expect(await ask('MOVE ALL IN c')).toEqual([`C MOVE ${orderCount}`])
    if (hold !== '') await ask('COMMIT')
    expect(await ask('FETCH ABSOLUTE 1 FROM c')).toEqual(['D 1|note 1', 'C FETCH 1'])
  }

  test.each(kinds)('once a mask is saved: %s', async (kind) => {
    await holdAll(kind)
    await putMask(on, note, mask)
    expect(await ask('FETCH ABSOLUTE 1 FROM c')).toEqual([governed])
    await ask('ROLLBACK')
    await deleteMask(on, note, 'open')
    // What was let go is not an end.
    const again = ['FETCH c', 'FETCH PRIOR c', 'MOVE ALL c']
    for (const text of kind.includes('HOLD') ? again : [])
      expect((await ask(text)).at(0)).toStartWith('E 55000 the portal cannot be run')
  })

  test('once a row filter is saved', async () => {
    await holdAll()
    await putRowFilter(on, { table: orders }, { id: 'open', expression: 'id > 1', exemptRoles: [] })
    expect(await ask('FETCH ABSOLUTE 1 FROM c')).toEqual([governed])
    await deleteRowFilter(on, { table: orders }, 'open')
  })

  test('once its table is pinned', async () => {
    const change = { table: orders, actor: actorOf('stella'), atMs: 0 }
    const [snapshotId = 0n] = await snapshots()
    await holdAll()
    await pinTable(lake.store, lake.tenant, change, { snapshotId, schemaId: 0n, catalog: lake.catalog })
    expect(await ask('FETCH ABSOLUTE 1 FROM c')).toEqual([governed])
    await unpinTable(lake.store, lake.tenant, change)
  })

  test('once the credential of its catalog is rotated', async () => {
    await holdAll()
    await rotateCatalogCredential(lake.store, lake.tenant, lake.catalog, { prefix: undefined })
    expect(await ask('FETCH ABSOLUTE 1 FROM c')).toEqual([catalog])
  })

  test('once its session is revoked', async () => {
    await holdAll('WITH HOLD')
    await revokeServiceSession(lake.store, lake.tenant, session)
    client.send(query('FETCH ABSOLUTE 1 FROM c'))
    const answers = (await client.until('never')).map(spoken)
    expect(answers.map((answer) => answer.slice(0, 7))).toEqual(['E 57P01'])
  })

  test('to a portal with a row limit', async () => {
    await holdAll()
    const fetch = [parse('FETCH BACKWARD ALL FROM c'), bind({ portal: 'p' }), execute('p', 2)]
    await ask('MOVE ALL IN c')
    expect(outcome(await client.ask(...fetch, sync())).at(-1)).toBe('s')
    await putMask(on, note, mask)
    expect(outcome(await client.ask(execute('p', 2), sync()))).toEqual([governed])
  })
})

/** Ids of the snapshots of sales.orders, by the usage of the query that read it last. */
async function snapshots(): Promise<bigint[]> {
  await ask('SELECT count(*) FROM sales.orders')
  const { items } = await listUsage(lake.store, lake.tenant, {}, { limit: 1 })
  return (items[0]?.reads ?? []).map(({ snapshot_id }) => BigInt(String(snapshot_id)))
}

test('a portal that is suspended gives no more rows once a mask is saved', async () => {
  await ask('BEGIN')
  const begun = await client.ask(parse(statement), bind({ portal: 'p' }), execute('p', 2), sync())
  expect(outcome(begun)).toEqual(['D 1|note 1', 'D 2|note 2', 's'])
  await putMask(on, note, mask)
  expect(outcome(await client.ask(execute('p', 2), sync()))).toEqual([governed])
})

describe('a cursor goes on', () => {
  test('after a mask on another table, and after one of another tenant', async () => {
    const { id: tenant } = await createTenant(lake.store, { name: 'foreign' })
    const theirs = { ...on, tenant }
    await commitColumns(lake.store, tenant, orders, { id: 'long', note: 'string' })
    await openCursor()
    await putMask(on, { table: { ...orders, name: 'others' }, column: 'note' }, mask)
    expect(await ask('FETCH c')).toEqual(['D 3|note 3', 'C FETCH 1'])
    await putMask(theirs, note, mask)
    await putTag(theirs, orders, 'note', 'pii')
    expect(await ask('FETCH c')).toEqual(['D 4|note 4', 'C FETCH 1'])
  })
})

describe('a stream ends soon, with an error,', () => {
  const all = orderCount * orderCount

  /** How many rows of a stream arrived in all, and how it ended, where `change` comes after its first. */
  async function streamed(
    text: string,
    row: string,
    change: () => Promise<unknown>,
  ): Promise<[number, string]> {
    client.send(query(text))
    let rows = (await client.until(row)).filter(({ type }) => type === row).length
    client.pause()
    await change()
    client.resume()
    const rest = await client.until('Z')
    rows += rest.filter(({ type }) => type === row).length
    const error = rest.find(({ type }) => type === 'E')
    return [rows, error === undefined ? 'none' : spoken(error)]
  }

  test.each([
    ['SELECT', many, 'D'],
    ['COPY', `COPY (${many}) TO STDOUT`, 'd'],
  ])('after the session of its %s is revoked', async (_, text, row) => {
    const [rows, error] = await streamed(text, row, () =>
      revokeServiceSession(lake.store, lake.tenant, session),
    )
    expect(error).toBe('E 28000 The credential that the query runs with was revoked or has expired.')
    expect(rows).toBeGreaterThan(0)
    expect(rows).toBeLessThan(all / 2)
    expect((await client.ask(query('SHOW timezone'))).at(0)).toStartWith('E 57P01')
  })

  test('after a mask is saved', async () => {
    const [rows, error] = await streamed(many, 'D', () => putMask(on, note, mask))
    expect(error).toBe(governed)
    expect(rows).toBeLessThan(all / 2)
    expect(await ask('SELECT note FROM sales.orders WHERE id = 1')).toEqual(['D NULL', 'C SELECT 1'])
  })
})
