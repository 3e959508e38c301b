/** Who sees which tables, pins, models and metrics over REST; a foreign tenant has the same tables. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { deleteContract } from '../../src/contract/delete-contract.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { metricRelations } from '../../src/server/pgwire/catalog/metric-relations.ts'
import { pinTable } from '../../src/store/contract/pins.ts'
import { listReadableTables } from '../../src/store/governance/readable-tables.ts'
import { actorOf } from '../support/actor.ts'
import { licenseFor } from '../support/license.ts'
import { type SeenTables, seenTables, startSeenTables } from '../support/seen-tables.ts'

setDefaultTimeout(300_000)

let s: SeenTables
let steward: { readonly secret: string }
const { bare, open } = seenTables
const modelOf = (name: string) => `/api/v1/semantics/tables/sales/${name}`
const metricOf = (name: string) => `/api/v1/metrics/${name}`

/** A model of each table, where `open` leads to `bare`, and a metric over each. */
async function defineAll(): Promise<void> {
  // So that metrics over it can be saved at all.
  await putContract(s.on, bare, { id: 'bare', version: 1 })
  const dimensions = [{ name: 'email' }]
  const put = async (path: string, body: object) => {
    const { status, text } = await s.call(steward, 'PUT', path, body)
    expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, ''])
  }
  await put(modelOf('bare'), { key: ['id'], dimensions: [{ name: 'secret_dimension', expression: 'email' }] })
  const relationship = { name: 'detail', to: bare, columns: ['id'], to_columns: ['id'] }
  await put(modelOf('open'), { dimensions, relationships: [relationship] })
  await put(modelOf('masked'), { dimensions })
  for (const name of ['bare', 'open', 'masked'])
    await put(metricOf(`rows_${name}`), { table: { namespace: ['sales'], name }, expression: 'count(*)' })
  await put(metricOf('rows_led'), {
    ...{ table: { namespace: ['sales'], name: 'open' }, expression: 'count(*)' },
    filter: "detail__secret_dimension = 'a'",
  })
  await put(metricOf('ratio_bare'), { kind: 'ratio', numerator: 'rows_bare', denominator: 'rows_open' })
  await deleteContract(s.on, bare)
}

beforeAll(async () => {
  s = await startSeenTables({ env: { SVC_LICENSE: licenseFor('semantic-layer', 'metrics', 'xmla') } })
  steward = { secret: await s.session('modeller', ['steward'], ['read', 'admin']) }
  await defineAll()
  for (const { tenant } of [s.service.owner, s.foreign])
    for (const table of [bare, open])
      await pinTable(
        s.service.store,
        tenant,
        { table, actor: actorOf('stella'), atMs: 0 },
        { snapshotId: 4711n, schemaId: 0n, catalog: 'main' },
      )
})
afterAll(() => s[Symbol.asyncDispose]())

const status = async (as: Parameters<SeenTables['call']>[0], path: string) =>
  (await s.call(as, 'GET', path)).status

describe('contracts', () => {
  test.each(['', '/pins'])(
    'a table%s that may not be read is not found, but for stewards and administrators',
    async (what) => {
      const at = (name: string) => `/api/v1/contracts/tables/sales/${name}${what}`
      for (const as of ['reader', 'officer'] as const) {
        expect(await status(as, at('open'))).toBe(200)
        const hidden = await s.call(as, 'GET', at('bare'))
        expect(hidden.status).toBe(404)
        // As one that there is not.
        expect(hidden.json.error).toEqual((await s.call(as, 'GET', at('none'))).json.error)
      }
      for (const as of ['steward', 'administrator', 'foreign'] as const)
        expect([as, await status(as, at('bare'))]).toEqual([as, 200])
    },
  )

  test('that ended are listed to nobody', async () => {
    for (const as of ['reader', 'steward'] as const)
      expect((await s.call(as, 'GET', '/api/v1/contracts/tables')).text).not.toContain('bare')
  })
})

describe('models', () => {
  test('of tables that may not be read are not found and not listed, but for stewards and administrators', async () => {
    expect([await status('reader', modelOf('bare')), await status('reader', modelOf('open'))]).toEqual([
      404, 200,
    ])
    expect((await s.call('reader', 'GET', '/api/v1/semantics/tables')).text).not.toMatch(
      /bare|secret_dimension/,
    )
    const first = await s.call('reader', 'GET', '/api/v1/semantics/tables?limit=2')
    expect(first.json.items).toHaveLength(2)
    expect(first.json.next_page_token).toBeUndefined()
    for (const as of ['steward', 'administrator'] as const) {
      expect(await status(as, modelOf('bare'))).toBe(200)
      expect(await s.listed(as, '/api/v1/semantics/tables')).toHaveLength(3)
    }
    expect(await s.listed('foreign', '/api/v1/semantics/tables')).toEqual([])
  })

  test('name no relationship to such a table', async () => {
    expect((await s.call('reader', 'GET', modelOf('open'))).json.relationships).toEqual([])
    expect((await s.call('steward', 'GET', modelOf('open'))).json.relationships).toHaveLength(1)
  })
})

describe('metrics', () => {
  test('over tables that may not be read have neither versions nor attestations', async () => {
    for (const name of ['rows_bare', 'rows_led', 'ratio_bare', 'none'])
      for (const path of ['', '/versions', '/attestations'].map((part) => `${metricOf(name)}${part}`))
        expect([path, await status('reader', path)]).toEqual([path, 404])
    for (const part of ['versions', 'attestations'])
      expect(await status('reader', `${metricOf('rows_open')}/${part}`)).toBe(200)
    expect(await status('foreign', `${metricOf('rows_open')}/versions`)).toBe(404)
  })

  test('are listed in full pages although some are left out', async () => {
    const first = await s.call('reader', 'GET', '/api/v1/metrics?limit=1')
    expect((first.json.items as { name: string }[]).map(({ name }) => name)).toEqual(['rows_masked'])
    const next = await s.call(
      'reader',
      'GET',
      `/api/v1/metrics?limit=1&page_token=${first.json.next_page_token}`,
    )
    expect((next.json.items as { name: string }[]).map(({ name }) => name)).toEqual(['rows_open'])
    expect(next.json.next_page_token).toBeUndefined()
  })

  test('that are hidden are asked for as those that there are not', async () => {
    const asked = async (metrics: readonly string[], dimensions: readonly string[] = []) => {
      const body = { catalog: 'main', metrics, dimensions: dimensions.map((name) => ({ name })) }
      const { status: answered, text } = await s.call('reader', 'POST', '/api/v1/metrics/query', body)
      return [answered, [...metrics, ...dimensions].reduce((all, name) => all.replaceAll(name, '?'), text)]
    }
    const unknown = await asked(['rows_none'])
    expect(unknown[0]).toBe(400)
    for (const name of ['rows_bare', 'rows_led', 'ratio_bare']) expect(await asked([name])).toEqual(unknown)
    // So are dimensions that a relationship leads to.
    expect(await asked(['rows_open'], ['secret_dimension'])).toEqual(
      await asked(['rows_open'], ['no_dimension']),
    )
  })

  test('whose filter reads such a table are no measures of a cube, and dimensions of it none in the catalog', async () => {
    const { status: found, text } = await s.call('reader', 'GET', '/api/v1/xmla/main/cubes')
    expect([found, text.includes('rows_open'), text.match(/rows_led|secret_dimension|bare/g)]).toEqual([
      200,
      true,
      null,
    ])
    const { store, owner } = s.service
    const { items } = await listReadableTables(store, owner.tenant, { roles: [] })
    const relations = await metricRelations(store, owner.tenant, items)
    const names = relations.flatMap(({ tableName, columns }) => [
      tableName,
      ...columns.map(({ name }) => name),
    ])
    expect(names).toContain('rows_open')
    expect(names.filter((name) => /rows_led|secret_dimension|bare/.test(name))).toEqual([])
  })

  test('are not defined over a table that their author may not read', async () => {
    const over = (name: string) =>
      s.call(steward, 'PUT', metricOf('more'), {
        table: { namespace: ['sales'], name },
        expression: 'count(*)',
      })
    expect((await over('bare')).status).toBe(404)
    const made = { kind: 'ratio', numerator: 'rows_bare', denominator: 'rows_open' }
    expect((await s.call(steward, 'PUT', metricOf('more'), made)).status).toBe(404)
    // Nothing was saved.
    expect((await over('open')).json.version).toBe(1)
  })
})
