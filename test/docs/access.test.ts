/** The three steps of docs/access.md, from a masked value to the value: run as the page shows them. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type AccessLake, contractOf, startAccessLake } from '../support/access-lake.ts'
import { ordersTable } from '../support/lake-tables.ts'
import { frames, WireClient } from '../support/wire-client.ts'

setDefaultTimeout(300_000)

const root = new URL('../../', import.meta.url)
const text = readFileSync(new URL('docs/access.md', root), 'utf8')
const steps = text.slice(text.indexOf('## From masked'), text.indexOf('## What can be asked for'))
const [psql = ''] = /```\n(.*?)```/s.exec(steps)?.slice(1) ?? []
const [asks = '', decides = ''] = [...steps.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)
const statement = /=> (.*);/.exec(psql)?.[1] ?? ''
const seconds = Number(/--seconds (\d+)/.exec(asks)?.[1])

let nowMs = Date.now()
let on: AccessLake
let rita: string

beforeAll(async () => {
  const { rowFilter: _, ...unfiltered } = ordersTable
  on = await startAccessLake({ clock: { now: () => nowMs }, tables: [unfiltered] })
  // What the page shows is a mask alone.
  await on.putContract(contractOf().replace(/, rowFilters: \[.*?\](?=\}\})/, ', rowFilters: []'))
  rita = await on.sessionOf({ sub: 'rita', roles: ['analyst'] })
})
afterAll(() => on?.[Symbol.asyncDispose]())

/** Runs a block in a shell, as it is on the page but for what the reader puts in. */
async function run(block: string, secret: string): Promise<string> {
  const { PATH = '' } = process.env
  const shell = Bun.spawn(['bash', '-e', '-c', block], {
    env: {
      ...process.env,
      ...{ PATH: `${fileURLToPath(new URL('bin', root))}:${PATH}`, COVENANT_SESSION: secret },
      COVENANT_URL: on.lake.app.url.origin,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, exit] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
  expect({ exit, err: exit === 0 ? '' : err }).toEqual({ exit: 0, err: '' })
  return out
}

/** The statement of the page, as the analyst runs it: the notice, and the values. */
async function read(): Promise<{ notice: string; values: readonly string[] }> {
  const login = { user: 'rita', password: rita, database: on.lake.catalog, application_name: 'psql' }
  const client = await WireClient.logIn({ port: Number(on.lake.env.PGPORT) }, login)
  client.send(frames.query(statement))
  const answers = await client.until('Z')
  client.close()
  return {
    notice: answers
      .filter(({ type }) => type === 'N')
      .map(({ body }) => body.toString())
      .join('\n'),
    values: answers.filter(({ type }) => type === 'D').map(({ body }) => body.subarray(6).toString()),
  }
}

test('three steps lead from the notice to the values, for as long as the page says', async () => {
  const masked = await read()
  const shown = [...psql.matchAll(/(?:NOTICE|HINT): +(.*)/g)].map(([, line = '']) => line)
  expect(shown).toHaveLength(2)
  for (const line of shown) expect(masked.notice).toContain(line)
  expect(masked.values.filter((value) => !/^[xn]+@x+\.x+$/.test(value))).toEqual([])

  const asked = await run(asks, rita)
  const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(asked) ?? []
  const [lists = '', shows = '', decision = ''] = decides.trim().split('\n')
  expect(await run(lists, on.stella)).toContain(id)
  const request = await run(shows.replace('ID', id), on.stella)
  const [hash = ''] = /\b[0-9a-f]{64}\b/.exec(request) ?? []
  await run(decision.replace('ID', id).replace('HASH', hash), on.stella)

  const clear = await read()
  expect(clear.values).toHaveLength(masked.values.length)
  expect(clear.values.filter((value) => !/^user\d+@example\.com$/.test(value))).toEqual([])
  nowMs += seconds * 1_000 - 1
  expect((await read()).values).toEqual(clear.values)
  nowMs += 1
  expect((await read()).values).toEqual(masked.values)
})
