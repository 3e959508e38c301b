/** Verbs by name on a lake with rows: tags, masks and filters, and what a person then sees; a foreign tenant sees nothing. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type DevCatalog, startDevCatalog } from '../../../demo/catalog/dev-catalog.ts'
import { tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import { runCovenant } from '../../../src/admin/verbs.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { session } from '../../support/identity.ts'
import { type Lake, startLake } from '../../support/lake.ts'

setDefaultTimeout(300_000)

let folder: string
let catalog: DevCatalog
let lake: Lake
let officer: string
let outsider: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-named-lake-'))
  catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  lake = await startLake({
    catalog: { url: catalog.url, warehouse: 'dev', folder },
    tables: [],
    written: [
      {
        ref: { namespace: ['hr'], name: 'people' },
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
  const scopes = ['read', 'admin'] as const
  officer = await session(lake, lake.tenant, scopes, ['steward', 'officer', 'administrator'], 'ada')
  const foreign = (await createTenant(lake.store, { name: 'foreign' })).id
  outsider = await session(lake, foreign, scopes, ['steward', 'officer', 'administrator'], 'mallory')
})
afterAll(async () => {
  await lake[Symbol.asyncDispose]()
  await catalog.stop()
  await rm(folder, { recursive: true, force: true })
})

async function run(words: readonly string[], as = officer) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCovenant(words, {
    env: { COVENANT_URL: lake.app.url.origin, COVENANT_SESSION: as },
    stdin: async () => '',
    print: (text) => void out.push(text),
    complain: (text) => void err.push(text),
  })
  return { status, out: out.join('\n'), err: err.join('\n') }
}
const seen = ['as-seen-by', '--principal', 'bob', '--roles', 'analyst', '--rows', '20']

test('a table as a person sees it has its filters, masks and rows', async () => {
  const { status, out, err } = await run([...seen, `${lake.catalog}.hr.people`])
  expect([status, err]).toEqual([0, ''])
  expect(out).toContain('Only the rows that pass:\nID')
  expect(out).toContain('id < 3')
  expect(out).toMatch(/\npay +string +replace-with-null /)
  expect(out).toContain('\n1   p1@x.eu  -\n2   p2@x.eu  -')
  expect(out).not.toContain('CANARY')
})

test('a tag, a mask and a filter are set, shown and removed by the name of the table', async () => {
  const done = { status: 0, out: 'Done.', err: '' }
  expect(
    await run(['contract', 'tag', 'set-column', 'hr.people', 'mail', 'pii', '--note', 'by hand']),
  ).toEqual(done)
  const tags = await run(['contract', 'tag', 'list', 'hr.people'])
  expect(tags.out).toMatch(/^TAG +COLUMN +AT +SOURCE +BY +NOTE\npii +mail +\S+ +person +\S+ +by hand$/)
  const mask = ['contract', 'mask', 'set', 'hr.people', 'mail', 'hide', '--action', 'show-last-4']
  expect((await run([...mask, '--exempt-roles', 'billing,audit'])).status).toBe(0)
  const filter = ['contract', 'filter', 'set', 'hr.people', 'own', '--expression', 'id > 1']
  expect((await run(filter)).status).toBe(0)
  const shown = JSON.parse((await run(['contract', 'show', 'hr.people', '--json'])).out)
  expect(shown.row_filters).toContainEqual({ id: 'own', expression: 'id > 1', exempt_roles: [] })
  const columns = shown.columns as {
    name: string
    tags: string[]
    masks?: { id: string; exempt_roles: string[] }[]
  }[]
  const mail = columns.find(({ name }) => name === 'mail')
  expect(mail?.tags).toEqual(['pii'])
  expect(mail?.masks?.[0]).toMatchObject({ id: 'hide', exempt_roles: ['billing', 'audit'] })
  const text = (await run(['contract', 'show', 'hr.people'])).out
  expect(text).toMatch(/^table +hr\.people$/m)
  expect(text).toMatch(/^ {2}mail +string +no +pii +.*hide/m)
  // The mask is on the officer, too, but not alike: the service shows no rows, and that is said.
  const withheld = await run([...seen, `${lake.catalog}.hr.people`])
  expect(withheld.out).toMatch(/\nmail +string +show-last-4 +hide /)
  expect(withheld.out).toContain('\n\nRows are not shown: A row filter or column mask applies to you')
})

test('what was read and changed is listed, of the own tenant alone', async () => {
  const changes = await run(['changes', '--all'])
  expect(changes.out).toMatch(/^AT +ACTOR +ACTION +SUBJECT\n/)
  expect(changes.out).toMatch(/ put-mask +.*table=hr\.people/)
  const usage = await run(['usage', '--all'])
  expect(usage.out).toMatch(/^STARTED AT +PRINCIPAL +SURFACE /)
  expect((await run(['usage', 'totals', '--by', 'outcome'])).out).toContain('completed')
  expect((await run(['changes', '--all'], outsider)).out).toBe('None.')
  expect((await run(['usage', '--all'], outsider)).out).toBe('None.')
  const strange = await run(['contract', 'mask', 'remove', 'hr.people', 'mail', 'hide'], outsider)
  expect([strange.status, strange.out]).toEqual([1, ''])
  const foreign = await run([...seen, `${lake.catalog}.hr.people`], outsider)
  expect([foreign.status, foreign.out]).toEqual([1, ''])
})

test('a statement is explained with its tables and policies, and runs nothing', async () => {
  const statement = ['select mail from hr.people', '--catalog', lake.catalog]
  const { status, out, err } = await run([
    'explain',
    ...statement,
    '--principal',
    'bob',
    '--roles',
    'analyst',
  ])
  expect([status, err]).toEqual([0, ''])
  expect(out).toContain('reads:')
  expect(out).toMatch(/hide +column_mask +hr\.people/)
  const json = JSON.parse((await run(['explain', ...statement, '--principal', 'bob', '--json'])).out)
  expect(json.principal).toMatchObject({ sub: 'bob', roles: [] })
})
