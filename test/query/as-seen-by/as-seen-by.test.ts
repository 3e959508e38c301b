/** A table as another principal reads it: never more than its caller may read; with a foreign tenant beside. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type DevCatalog, startDevCatalog } from '../../../demo/catalog/dev-catalog.ts'
import { tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { actorOf } from '../../support/actor.ts'
import { ask, session } from '../../support/identity.ts'
import { type Lake, startLake } from '../../support/lake.ts'

setDefaultTimeout(300_000)

let folder: string
let catalog: DevCatalog
let lake: Lake
/** Reads everything: the masks and filters of the lake exempt officers. */
let officer: string
/** Is under them, as everybody else. */
let steward: string
let outsider: string

const table = { namespace: ['hr'], name: 'people' }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-seen-'))
  catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  lake = await startLake({
    catalog: { url: catalog.url, warehouse: 'dev', folder },
    tables: [],
    written: [
      {
        ref: table,
        masks: { pay: { action: 'replace-with-null' } },
        rowFilter: 'id < 3',
        async write(below) {
          const writer = tableInFolder(dirname(below), 'hr', {
            fields: [
              { id: 1, name: 'id', type: 'long' },
              { id: 2, name: 'mail', type: 'string' },
              { id: 3, name: 'pay', type: 'string' },
            ],
          })
          const rows = [1, 2, 3].map((id) => ({ id, mail: `p${id}@x.eu`, pay: `CANARY-${id}` }))
          return (await writer.append([{ rows }])).metadataLocation
        },
      },
    ],
  })
  officer = await session(lake, lake.tenant, ['read'], ['steward', 'officer'], 'ada')
  steward = await session(lake, lake.tenant, ['read'], ['steward'], 'stella')
  const foreign = (await createTenant(lake.store, { name: 'foreign' })).id
  outsider = await session(lake, foreign, ['read'], ['administrator', 'officer'], 'mallory')
})
afterAll(async () => {
  await lake[Symbol.asyncDispose]()
  await catalog.stop()
  await rm(folder, { recursive: true, force: true })
})

interface Seen {
  readonly row_filters: readonly { readonly id: string; readonly expression: string }[]
  readonly columns: readonly {
    readonly name: string
    readonly mask?: { readonly action: string; readonly origin: object }
  }[]
  readonly rows?: { readonly query_id: string; readonly values: readonly (readonly (string | null)[])[] }
  readonly rows_withheld?: string
}

async function seen(by: string, principal: object, rows = 20, of: object = table) {
  const body = { catalog: lake.catalog, table: of, principal, rows }
  const answer = await ask(lake, 'POST', '/api/v1/query/as-seen-by', by, body)
  return { status: answer.status, text: JSON.stringify(answer.body), ...(answer.body as unknown as Seen) }
}
const ids = ({ rows }: Seen) => rows?.values.map(([id]) => id).toSorted()

describe('what applies', () => {
  test('is shown by column, with the rule that it comes from', async () => {
    const { status, row_filters, columns } = await seen(officer, { roles: ['analyst'] }, 0)
    expect([status, row_filters.map(({ expression }) => expression)]).toEqual([200, ['id < 3']])
    const shown = columns.map(({ name, mask }) => [name, mask?.action, mask?.origin])
    expect(shown).toEqual([
      ['id', undefined, undefined],
      ['mail', undefined, undefined],
      ['pay', 'replace-with-null', { kind: 'column' }],
    ])
  })

  test('is nothing for a role that is exempt', async () => {
    const { row_filters, columns } = await seen(officer, { roles: ['officer'] }, 0)
    expect([row_filters, columns.filter(({ mask }) => mask !== undefined)]).toEqual([[], []])
  })
})

describe('rows', () => {
  test('are those that the principal reads', async () => {
    const restricted = await seen(officer, { sub: 'bob', roles: [] })
    expect(ids(restricted)).toEqual(['1', '2'])
    expect(restricted.rows?.values.map(([, , pay]) => pay)).toEqual([null, null])
    expect(ids(await seen(officer, { roles: ['officer'] }))).toEqual(['1', '2', '3'])
    expect((await seen(officer, { roles: ['officer'] }, 1)).rows?.values).toHaveLength(1)
  })

  test('are never more than a steward under a mask may read', async () => {
    for (const principal of [{ roles: ['officer'] }, { sub: 'ann', roles: ['officer', 'steward'] }]) {
      const { status, text, rows, rows_withheld } = await seen(steward, principal)
      expect([status, rows, rows_withheld]).toEqual([
        200,
        undefined,
        expect.stringContaining('no rows are shown'),
      ])
      expect(text).not.toContain('CANARY')
    }
    const alike = await seen(steward, { sub: 'bob', roles: [] })
    expect(ids(alike)).toEqual(['1', '2'])
    expect(alike.text).not.toContain('CANARY')
  })

  test('are withheld where a filter reads a column that is masked for the steward', async () => {
    const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('ada'), checkPolicies }
    // It hides nothing from stewards, and would tell one of the masked column which rows pass it.
    const exemptRoles = ['steward']
    await putRowFilter(on, { table }, { id: 'by-pay', expression: "pay = 'CANARY-2'", exemptRoles })
    const { rows, rows_withheld } = await seen(steward, { sub: 'bob', roles: [] })
    expect([rows, rows_withheld === undefined]).toEqual([undefined, false])
    // Nothing is hidden from the officer, who may see it.
    expect(ids(await seen(officer, { sub: 'bob', roles: [] }))).toEqual(['2'])
  })

  test('are withheld where a mask for them shows a column that is masked for the steward', async () => {
    const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('ada'), checkPolicies }
    const mask = { id: 'mail-pay', action: 'apply-expression', expression: 'pay', exemptRoles: ['steward'] }
    await putMask(on, { table, column: 'mail' }, mask)
    const { text, rows } = await seen(steward, { sub: 'bob', roles: [] })
    // The text of the filter above is for those who oversee filters; the values are not.
    expect([rows, text.includes('CANARY-1')]).toEqual([undefined, false])
  })

  test('depend on the name of the principal where a filter does, and are then withheld', async () => {
    const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('ada'), checkPolicies }
    const exemptRoles = ['officer']
    await putRowFilter(on, { table }, { id: 'own', expression: `mail = current_principal()`, exemptRoles })
    expect((await seen(steward, { sub: 'p1@x.eu', roles: ['steward'] })).rows).toBeUndefined()
    expect(ids(await seen(steward, { sub: 'stella', roles: ['steward'] }))).toEqual([])
  })
})

describe('a look', () => {
  test('is on record with the caller: in the administration log and as usage', async () => {
    const { rows } = await seen(officer, { sub: 'bob', roles: ['officer'] }, 3)
    const usage = await lake.store.tenantQuery<{ principal_sub: string }>(
      lake.tenant,
      'select principal_sub from svc.query_usage where tenant_id = $1 and query_id = $2::text::uuid',
      [lake.tenant, rows?.query_id ?? ''],
    )
    expect(usage).toEqual([{ principal_sub: 'ada' }])
    const [entry] = await lake.store.tenantQuery<{ actor_sub: string; subject: object; value: object }>(
      lake.tenant,
      `select actor_sub, subject, value from svc.administration_log where action = 'read-as-principal'
       order by at desc limit 1`,
    )
    expect(entry).toMatchObject({
      actor_sub: 'ada',
      subject: { table },
      value: { sub: 'bob', roles: ['officer'], rows: 3 },
    })
  })

  test('is for stewards and administrators', async () => {
    const reader = await session(lake, lake.tenant, ['read'], ['owner', 'officer'], 'rita')
    expect((await seen(reader, { roles: ['officer'] })).status).toBe(403)
  })

  test('of another tenant finds nothing, and leaves nothing in this one', async () => {
    const answer = await seen(outsider, { roles: ['officer'] })
    expect([answer.status >= 400, answer.text.includes('CANARY')]).toEqual([true, false])
    const rows = await lake.store.tenantQuery(
      lake.tenant,
      `select 1 from svc.administration_log where action = 'read-as-principal' and actor_sub = 'mallory'`,
    )
    expect(rows).toEqual([])
  })

  const bad: readonly (readonly [string, number, object, object])[] = [
    ['at a table that is not there', 404, { roles: [] }, { namespace: ['hr'], name: 'none' }],
    ['for more rows than are shown', 400, { roles: [] }, table],
    ['at a name with a quote', 404, { roles: [] }, { namespace: ['hr'], name: 'people" --' }],
  ]
  test.each(bad)('%s is %i', async (what, status, principal, of) => {
    const answer = await seen(officer, principal, what.includes('more rows') ? 21 : 1, of)
    expect(answer.status).toBe(status)
  })
})
