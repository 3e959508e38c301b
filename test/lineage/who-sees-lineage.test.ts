/** Who sees which nodes, runs and bodies of lineage, with a foreign tenant that has the same tables, all readable. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { lineageEvent, producer, sendLineage } from '../support/lineage.ts'
import { type SeenTables, startSeenTables } from '../support/seen-tables.ts'

setDefaultTimeout(300_000)

const uri = 'https://covenant.example/v1/iceberg/main'
const dataset = (name: string) => ({ namespace: uri, name: `sales.${name}` })
const runs = {
  open: crypto.randomUUID(),
  hidden: crypto.randomUUID(),
  reading: crypto.randomUUID(),
  cycle: crypto.randomUUID(),
  dag: crypto.randomUUID(),
}
const sqlText = "select id,\nemail from open where email = 'ann@canary.example'"
const hiddenText = 'insert into t select id from\nbare where secret_column = 1'
let s: SeenTables

/** An event with SQL, an error message and facets of its output. */
function event(
  name: keyof typeof runs,
  job: string,
  inputs: readonly string[],
  output: string,
  query = sqlText,
) {
  const base = lineageEvent({ runId: runs[name], job })
  const message = { errorMessage: { message: `bad row for ${name}: 4711`, programmingLanguage: 'SQL' } }
  const parent = { run: { runId: runs.dag }, job: { namespace: 'airflow', name: 'dag' } }
  const field = (from: string) => ({
    ...{ ...dataset(from), field: 'email' },
    transformations: [{ type: 'DIRECT', subtype: 'TRANSFORMATION', description: `replace ${name} 4711` }],
  })
  return {
    ...base,
    custom: `top ${name}`,
    run: { runId: runs[name], facets: { ...message, ...(name === 'open' && { parent }) } },
    job: { ...base.job, facets: { sql: { query } } },
    inputs: inputs.map((from) => ({
      ...dataset(from),
      inputFacets: { inputStatistics: { rowCount: 987_654 } },
    })),
    outputs: [
      {
        ...dataset(output),
        facets: {
          schema: { fields: [{ name: 'email', type: 'string', description: 'ann@canary.example' }] },
          columnLineage: { fields: { email: { inputFields: inputs.map(field) } } },
        },
        outputFacets: { outputStatistics: { rowCount: 987_654 } },
      },
    ],
  }
}

beforeAll(async () => {
  s = await startSeenTables()
  const events = [
    event('open', 'load_open', ['masked'], 'open'),
    event('hidden', 'load_bare', ['open'], 'bare'),
    event('reading', 'load_filtered', ['bare', 'open'], 'filtered', hiddenText),
  ]
  for (const secret of [s.service.owner.secret, s.foreign.secret])
    for (const one of events) expect((await sendLineage(s.service, one, { secret })).status).toBe(202)
  // An edge back to where data of `open` went.
  const back = event('cycle', 'load_open', ['bare'], 'open')
  expect((await sendLineage(s.service, back)).status).toBe(422)
})
afterAll(() => s[Symbol.asyncDispose]())

const root = '/api/v1/lineage'
const names = async (as: Parameters<SeenTables['listed']>[0], list: string) =>
  (await s.listed(as, `${root}/${list}`)).map(({ name }) => String(name)).sort()

describe('lists', () => {
  test('leave out datasets and jobs of tables that may not be read, but for stewards and administrators', async () => {
    const datasets = ['sales.filtered', 'sales.masked', 'sales.open']
    const jobs = ['dag', 'load_filtered', 'load_open']
    expect(await names('reader', 'datasets')).toEqual(datasets)
    expect(await names('reader', 'jobs')).toEqual(jobs)
    for (const as of ['steward', 'administrator', 'foreign'] as const) {
      expect(await names(as, 'datasets')).toEqual(['sales.bare', ...datasets])
      expect(await names(as, 'jobs')).toEqual(['dag', 'load_bare', 'load_filtered', 'load_open'])
    }
    expect((await s.call('reader', 'GET', `${root}/datasets`)).text).not.toContain('bare')
  })

  test('leave out runs of such jobs, and come in full pages', async () => {
    const ids = async (as: Parameters<SeenTables['listed']>[0], query = '') =>
      (await s.listed(as, `${root}/runs${query}`)).map(({ run_id }) => run_id)
    expect(await ids('reader')).toEqual([runs.cycle, runs.reading, runs.open])
    expect(await ids('steward')).toEqual([runs.cycle, runs.reading, runs.hidden, runs.open])
    const first = await s.call('reader', 'GET', `${root}/runs?limit=2`)
    expect(first.json.items).toHaveLength(2)
    expect(await ids('reader', `?limit=2&page_token=${first.json.next_page_token}`)).toEqual([runs.open])
    expect(await ids('reader', '?job_namespace=airflow&job=load_bare')).toEqual([])
  })

  test('leave out refusals that name such a dataset', async () => {
    expect(await s.listed('reader', `${root}/refused`)).toEqual([])
    expect(await s.listed('steward', `${root}/refused`)).toHaveLength(1)
    expect(await s.listed('foreign', `${root}/refused`)).toEqual([])
  })
})

test('an edge that would close a cycle is refused without names that its sender may not see', async () => {
  const board = { namespace: 's3://lake', name: 'board' }
  const of = (inputs: readonly object[], outputs: readonly object[]) => ({
    ...lineageEvent({}),
    job: { namespace: 'airflow', name: 'boarding' },
    inputs,
    outputs,
  })
  expect((await sendLineage(s.service, of([dataset('bare')], [board]))).status).toBe(202)
  const closing = async (secret: string) => {
    const answer = await sendLineage(s.service, of([board], [dataset('open')]), { secret })
    return [answer.status, await answer.text()] as const
  }
  const [status, text] = await closing(s.service.owner.secret)
  expect(status).toBe(422)
  expect(text).toContain('→ … →')
  expect(text).not.toContain('bare')
  const steward = await s.session('sender', ['steward'], ['lineage'])
  expect((await closing(steward))[1]).toContain('sales.bare')
})

describe('walks', () => {
  const walk = (as: Parameters<SeenTables['call']>[0], node: string) =>
    s.call(as, 'GET', `${root}/graph?${new URLSearchParams({ node })}`)

  test('end before tables that may not be read, and do not begin there', async () => {
    for (const node of [
      'sales.bare',
      'job/airflow/load_bare',
      `dataset/${encodeURIComponent(uri)}/sales.bare`,
    ])
      expect([node, (await walk('reader', node)).status, (await walk('steward', node)).status]).toEqual([
        ...[node, 404],
        200,
      ])
    const { text } = await walk('reader', 'sales.open')
    expect(text).toContain('sales.masked')
    expect(text).not.toContain('bare')
    expect((await walk('steward', 'sales.open')).text).toContain('sales.bare')
  })

  test('show no text of a transformation without the right to texts', async () => {
    expect((await walk('steward', 'sales.open')).text).not.toContain('4711')
    const reader = { secret: await s.session('text-reader', [], ['read', 'lineage:text']) }
    expect((await walk(reader, 'sales.open')).text).toContain('4711')
  })
})

describe('the events of a run', () => {
  const path = (name: keyof typeof runs) => `${root}/runs/${encodeURIComponent(producer)}/${runs[name]}`
  const bodyOf = async (as: Parameters<SeenTables['call']>[0], name: keyof typeof runs) => {
    const { status, text, json } = await s.call(as, 'GET', path(name))
    expect([name, status]).toEqual([name, 200])
    const [one] = json.items as { body: string; is_cut: boolean; body_sha256?: string }[]
    return { text, ...one, parsed: JSON.parse(one?.body ?? '') }
  }

  test('are not found where nothing that its job made may be seen', async () => {
    expect((await s.call('reader', 'GET', path('hidden'))).status).toBe(404)
    expect((await s.call('steward', 'GET', path('hidden'))).status).toBe(200)
  })

  test('are cut to names without the right to texts, for stewards and administrators too', async () => {
    for (const as of ['reader', 'steward', 'administrator'] as const) {
      const { text, is_cut, body_sha256, parsed } = await bodyOf(as, 'open')
      expect([is_cut, body_sha256]).toEqual([true, undefined])
      for (const canary of ['canary', '4711', '987654', 'top open', 'select'])
        expect(text).not.toContain(canary)
      expect(parsed).toEqual({
        ...{ eventType: 'COMPLETE', eventTime: '2026-03-01T10:00:00Z', producer },
        schemaURL: expect.any(String),
        run: {
          runId: runs.open,
          facets: { parent: { run: { runId: runs.dag }, job: { namespace: 'airflow', name: 'dag' } } },
        },
        job: { namespace: 'airflow', name: 'load_open', facets: {} },
        inputs: [{ ...dataset('masked'), facets: {} }],
        outputs: [
          {
            ...dataset('open'),
            facets: {
              schema: { fields: [{ name: 'email', type: 'string' }] },
              columnLineage: {
                fields: {
                  email: {
                    inputFields: [
                      {
                        ...{ ...dataset('masked'), field: 'email' },
                        transformations: [{ type: 'DIRECT', subtype: 'TRANSFORMATION' }],
                      },
                    ],
                  },
                },
              },
            },
          },
        ],
      })
    }
  })

  test('name no dataset that may not be read', async () => {
    const { text, parsed } = await bodyOf('reader', 'reading')
    expect(text).not.toContain('bare')
    expect(parsed.inputs.map(({ name }: { name: string }) => name)).toEqual(['sales.open'])
    expect((await bodyOf('administrator', 'reading')).text).toContain('bare')
    // What was refused names it as well.
    expect((await bodyOf('reader', 'cycle')).text).not.toContain('bare')
  })

  test('have their texts for holders of the right, by scope or role, where nothing hidden is named', async () => {
    const holders = [
      { secret: await s.session('by-scope', [], ['read', 'lineage:text']) },
      { secret: await s.session('by-role', ['lineage:text'], ['read']) },
    ]
    for (const holder of holders) {
      const { text, is_cut, parsed } = await bodyOf(holder, 'open')
      expect(is_cut).toBe(true)
      expect(parsed.job.facets.sql.query).toBe(sqlText)
      expect(parsed.run.facets.errorMessage.message).toContain('4711')
      // Statistics and top members are no texts.
      for (const canary of ['987654', 'top open']) expect(text).not.toContain(canary)
      expect((await bodyOf(holder, 'reading')).text).not.toMatch(/bare|secret_column/)
    }
  })

  test('lose a text that names a table that may not be read, after a line break too', async () => {
    const holder = { secret: await s.session('holder', [], ['read', 'lineage:text']) }
    const hiding = event('dag', 'load_open', ['masked'], 'open', hiddenText)
    expect((await sendLineage(s.service, hiding)).status).toBe(202)
    const { text, parsed } = await bodyOf(holder, 'dag')
    expect(text).not.toMatch(/bare|secret_column/)
    expect(parsed.run.facets.errorMessage.message).toContain('4711')
  })

  test('are whole for a steward with the right', async () => {
    const steward = { secret: await s.session('whole', ['steward'], ['read', 'lineage:text']) }
    const { is_cut, body, body_sha256 } = await bodyOf(steward, 'reading')
    expect(is_cut).toBe(false)
    expect(JSON.parse(body ?? '')).toEqual(
      JSON.parse(JSON.stringify(event('reading', 'load_filtered', ['bare', 'open'], 'filtered', hiddenText))),
    )
    expect(body_sha256).toBe(new Bun.CryptoHasher('sha256').update(body ?? '').digest('hex'))
  })

  test('of another tenant are not found', async () => {
    const sent = event('dag', 'load_open', ['masked'], 'open')
    expect((await s.call('foreign', 'GET', path('open'))).status).toBe(200)
    expect((await s.call('foreign', 'GET', path('cycle'))).status).toBe(404)
    expect(sent.run.runId).toBe(runs.dag)
  })
})
