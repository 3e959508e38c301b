/** Verbs by name on a running service: what they print, what they send, and that they show no other tenant's things. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCovenant } from '../../../src/admin/verbs.ts'
import { sessionScopes } from '../../../src/core/session.ts'
import { session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { addTenant, startTestService, type TestService } from '../../support/service.ts'

setDefaultTimeout(120_000)

const folder = mkdtempSync(join(tmpdir(), 'covenant-named-'))
let service: TestService
let steward: string
let foreign: string
beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const other = await addTenant(service.store, 'other', service.catalog.url)
  const roles = ['steward', 'administrator', 'owner']
  steward = await session(service, service.owner.tenant, sessionScopes, roles, 'stella')
  foreign = await session(service, other.tenant, sessionScopes, roles, 'otto')
  for (const name of ['t1', 't2', 't3'])
    await run(['contract', 'put-table', `many.${name}`, '--id', name, '--version', '1'])
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

async function run(
  words: readonly string[],
  { stdin = '', as = steward, url = service.app.url.origin } = {},
) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCovenant(words, {
    env: { COVENANT_URL: url, COVENANT_SESSION: as },
    stdin: async () => stdin,
    print: (text) => void out.push(text),
    complain: (text) => void err.push(text),
  })
  return { status, out: out.join('\n'), err: err.join('\n') }
}

const document = (version: string, email = '') => `apiVersion: v3.2.0
kind: DataContract
id: people
version: ${version}
schema:
- name: people
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [hr], name: people}}}
  properties:
  - {name: id, logicalType: integer, required: true}
${email}`

describe('a list', () => {
  test('is aligned columns under heads, and says on standard error that there is more', async () => {
    const { status, out, err } = await run(['contract', 'list', '--limit', '2'])
    expect(status).toBe(0)
    expect(out).toBe(
      'TABLE    CONTRACT  VERSION  STATE\nmany.t1  t1        1        active\nmany.t2  t2        1        active',
    )
    expect(err).toMatch(/^There are more: add --all, or --page-token \S+$/)
    const token = err.split(' ').at(-1) ?? ''
    const rest = await run(['contract', 'list', '--page-token', token])
    expect([rest.out, rest.err]).toEqual([
      'TABLE    CONTRACT  VERSION  STATE\nmany.t3  t3        1        active',
      '',
    ])
  })

  test('is what the service answers with --json, and all pages together with --all', async () => {
    const ask = (query: string) =>
      fetch(new URL(`/api/v1/contracts/tables${query}`, service.app.url), {
        headers: { 'x-svc-session': steward },
      }).then((response) => response.json() as Promise<{ items: unknown[]; next_page_token?: string }>)
    const page = JSON.parse((await run(['contract', 'list', '--json', '--limit', '2'])).out)
    expect(page.items).toEqual((await ask('?limit=2')).items)
    expect(Object.keys(page).sort()).toEqual(['items', 'next_page_token'])
    expect(JSON.parse((await run(['contract', 'list', '--json', '--all'])).out)).toEqual(await ask(''))
  })

  test('shows no table of another tenant', async () => {
    expect((await run(['contract', 'list', '--all'], { as: foreign })).out).toBe('None.')
    const shown = await run(['contract', 'show', 'many.t1'], { as: foreign })
    expect([shown.status, shown.out]).toEqual([1, ''])
  })
})

describe('a table', () => {
  test('that is named without a namespace is wrong usage, and its name is not repeated', async () => {
    const { status, out, err } = await run(['contract', 'show', 'secret-word'])
    expect([status, out]).toEqual([64, ''])
    expect(err).toBe('TABLE must be namespace.table\nSee: covenant contract show --help')
  })

  test('is pinned to an id of 64 bits to the last digit', async () => {
    const sent: string[] = []
    using recorder = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const body = await request.text()
        if (body !== '') sent.push(body)
        const { pathname } = new URL(request.url)
        return await fetch(new URL(pathname, service.app.url), {
          ...{ method: request.method, headers: request.headers },
          ...(body !== '' && { body }),
        })
      },
    })
    const pinned = await run(['contract', 'pin', 'main.many.t1', '6527182744209385741'], {
      url: recorder.url.origin,
    })
    // The catalog has no such table; what was sent is the point.
    expect(pinned.status).toBe(1)
    expect(sent).toEqual(['{"catalog":"main","snapshot_id":"6527182744209385741"}'])
  })
})

describe('a document', () => {
  test('is put in force from standard input', async () => {
    const put = await run(['contract', 'put', 'people', '-'], { stdin: document('1.0.0') })
    expect([put.status, put.err]).toEqual([0, ''])
    expect((await run(['contract', 'versions', 'people'])).out).toMatch(/\n1 +1\.0\.0 /)
  })

  test('is compared in words, and nothing is changed by it', async () => {
    const file = join(folder, 'people.yaml')
    await Bun.write(file, document('1.1.0', '  - {name: email, logicalType: string}\n'))
    const { status, out, err } = await run(['contract', 'diff', 'people', file])
    expect([status, err]).toEqual([0, ''])
    expect(out).toContain('email')
    expect(out).toMatch(/needs (?:no )?sign-off/)
    expect((await run(['contract', 'document', 'people'])).out).toContain('version: 1.0.0')
  })

  test('and a flag for its members do not go together', async () => {
    const refused = await run(['transform', 'shred', 'person', '-', '--ref', 'x'], { stdin: '{}' })
    expect([refused.status, refused.err.split('\n')[0]]).toEqual([64, 'FILE and a flag are both the body'])
  })
})

describe('words', () => {
  test.each<[string[], string]>([
    [['contract', 'list', 'svc_secret'], '`contract list` is followed by flags only'],
    [['contract', 'versions'], 'ID is missing'],
    [['contract', 'versions', 'people', 'svc_secret'], '`contract versions` takes ID and no further word'],
    [['contract', 'list', '--limit', '0'], '--limit must be a whole number from 1 to 100000'],
    [['contract', 'list', '--limit', '2', '--all'], '--limit and --all do not go together'],
    [['contract', 'list', '--limit', '2', '--limit', '3'], '--limit is there twice'],
    [['usage', '--principal='], '--principal is empty'],
    [['contract', 'tag', 'set', 'hr.people', 'pii', '--nte', 'svc_secret'], "Unknown option '--nte'"],
    [['as-seen-by', 'hr.people'], 'CATALOG.TABLE must be catalog.namespace.table'],
  ])('%j are refused before anything is sent', async (words, message) => {
    const { status, out, err } = await run(words)
    expect({ status, out, first: err.split('\n')[0] }).toEqual({ status: 64, out: '', first: message })
    expect(err).not.toContain('svc_secret')
  })

  test('of a group that name no verb say which there are, and repeat nothing', async () => {
    const wrong = await run(['classifiers', 'svc_secret'])
    expect([wrong.status, wrong.err.includes('svc_secret')]).toEqual([64, false])
    const none = await run(['contract'])
    expect(none.status).toBe(64)
    expect(none.out).toContain('  contract mask set TABLE COLUMN ID --action')
    const unknown = await run(['contract', 'svc_secret'])
    expect(unknown.err).toStartWith('`contract` is followed by list, show,')
    expect(unknown.err).not.toContain('svc_secret')
  })

  test('without a service are wrong usage, and one that is away is 69', async () => {
    expect((await run(['usage'], { url: '' })).err).toStartWith('Name the service with --url')
    expect((await run(['usage'], { url: 'http://127.0.0.1:1' })).status).toBe(69)
  })
})

test('a term is put and shown as lines', async () => {
  const { status, out, err } = await run(['glossary', 'put', 'turnover', '--definition', 'Money'])
  expect([status, err]).toEqual([0, ''])
  expect(out).toContain('definition  Money')
})

test('the transform keeps its own verbs beside those by name', async () => {
  expect((await run(['transform', '--help'])).out).toStartWith('Usage: covenant transform preview')
  expect((await run(['transform', 'rules'])).out).toBe('None.')
})
