/** `covenant call`: every operation of a running service by its name, as a session. A foreign tenant has records too. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { callOperation } from '../../src/admin/call-verb.ts'
import { servedOperations } from '../../src/admin/served-operations.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'

setDefaultTimeout(120_000)

let service: TestService
let foreign: TestTenant
let steward: string
beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  foreign = await addTenant(service.store, 'other', service.catalog.url)
  steward = await session(service, service.owner.tenant, sessionScopes, ['steward'], 'stella')
})
afterAll(() => service[Symbol.asyncDispose]())

async function run(
  words: readonly string[],
  { stdin = '', as = steward, url = service.app.url.origin } = {},
) {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = {
    env: { COVENANT_URL: url, COVENANT_SESSION: as },
    stdin: async () => stdin,
    print: (text: string) => void out.push(text),
    complain: (text: string) => void err.push(text),
  }
  const status = await callOperation(words, terminal)
  return { status, out: out.join('\n'), err: err.join('\n') }
}

describe('without an operation', () => {
  test('it lists every operation that the service describes, by tag', async () => {
    const { status, out } = await run([])
    const operations = await servedOperations({ url: service.app.url.origin, session: steward }, undefined)
    expect(status).toBe(0)
    expect(operations.length).toBeGreaterThan(200)
    expect(operations.filter(({ name }) => !out.includes(`  ${name} `))).toEqual([])
  })

  test('a word that is no name lists those that have it, and one that none has is 64', async () => {
    const { out } = await run(['retire'])
    expect(out).toContain('retire_lineage')
    expect(out).not.toContain('list_usage')
    const none = await run(['nothing-like-this'])
    expect([none.status, none.out]).toEqual([64, ''])
    // It may be a secret in the wrong place.
    expect(none.err).not.toContain('nothing-like-this')
    expect(none.err).toContain('No operation has that name')
  })

  test('no operation takes both a query and a body, which one flag could not tell apart', async () => {
    const operations = await servedOperations({ url: service.app.url.origin, session: steward }, undefined)
    const both = operations.filter(
      ({ method, parameters }) =>
        method !== 'GET' && method !== 'DELETE' && parameters.some(({ place }) => place === 'query'),
    )
    expect(both.map(({ name }) => name)).toEqual([])
  })
})

describe('an operation', () => {
  test('shows its members, types and choices with --help', async () => {
    const { out } = await run(['list_usage', '--help'])
    expect(out).toContain('GET /api/v1/usage')
    expect(out).toMatch(/--outcome +completed \| refused \| failed \| cancelled/)
  })

  test('takes members in path, query and body, lists and objects, by either spelling', async () => {
    const table = ['--namespace', 'sales', '--table', 'orders', '--name', 'orders']
    const put = await run(['put-contract', ...table.slice(0, 4), '--id', 'orders', '--version', '1'])
    expect([put.status, put.err]).toEqual([0, ''])
    const shown = await run(['get_table', ...table.slice(0, 4)])
    expect(JSON.parse(shown.out)).toMatchObject({ contract: { id: 'orders', version: 1 } })
    const term = await run([
      'put_term',
      '--term',
      'revenue',
      '--definition',
      'Money',
      '--synonyms',
      'sales,turnover',
    ])
    expect([term.status, term.err]).toEqual([0, ''])
    const listed = await run(['list_terms', '--every'])
    expect(JSON.parse(listed.out)).toMatchObject([{ name: 'revenue', synonyms: ['sales', 'turnover'] }])
  })

  test('takes a document from standard input, with its media type and headers', async () => {
    const document = `apiVersion: v3.2.0
kind: DataContract
id: people
version: 1.0.0
schema:
- name: people
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [hr], name: people}}}
`
    const type = ['--type', 'application/yaml']
    const put = await run(['put_contract_document', '--id', 'people', '--file', '-', ...type], {
      stdin: document,
    })
    expect([put.status, put.err]).toEqual([0, ''])
    const { sha256 } = JSON.parse(put.out) as { sha256: string }
    const patch = JSON.stringify([{ op: 'replace', path: '/version', value: '1.0.1' }])
    const edit = (tag: string) =>
      run(['edit_contract_document', '--id', 'people', '--if-match', `"${tag}"`, '--file', '-'], {
        stdin: patch,
      })
    expect((await edit('0'.repeat(64))).status).toBe(1)
    expect((await edit(sha256)).err).toBe('')
    const got = await run(['get_contract_document', '--id', 'people'])
    expect(got.out).toContain('version: 1.0.1')
  })

  test('prints the items of all pages as one list with --every, and never those of another tenant', async () => {
    for (const name of ['t1', 't2', 't3'])
      await run(['put_contract', '--namespace', 'many', '--table', name, '--id', name, '--version', '1'])
    const { out } = await run(['list_contracts', '--every', '--limit', '1'])
    const names = (JSON.parse(out) as { table: { name: string } }[]).map(({ table }) => table.name)
    expect(names).toEqual(expect.arrayContaining(['t1', 't2', 't3']))
    const others = await session(service, foreign.tenant, sessionScopes, ['steward'], 'otto')
    expect(JSON.parse((await run(['list_contracts', '--every'], { as: others })).out)).toEqual([])
    expect((await run(['get_key_set', '--every'])).status).toBe(64)
    const filed = await run(['put_term', '--term', 'x', '--every', '--file', '-'], { stdin: '{}' })
    expect([filed.status, filed.err.split('\n')[0]]).toEqual([64, '--every and --file do not go together'])
  })

  test('is refused before it is sent where a member is missing, unknown, twice or no JSON', async () => {
    const refused = async (...words: string[]) => {
      const { status, out, err } = await run(words)
      return [status, out, err.split('\n')[0]]
    }
    const named = ['get_table', '--namespace', 'sales']
    expect(await refused(...named)).toEqual([64, '', '--table is required'])
    expect(await refused(...named, '--table', 'orders', '--tabel', 'x')).toEqual([
      ...[64, ''],
      'get_table has no member of that name; covenant call get_table --help lists them',
    ])
    expect(await refused(...named, '--namespace', 'x')).toEqual([64, '', 'A flag is there twice'])
    const put = ['put_contract', ...named.slice(1), '--table', 'o', '--id', 'o', '--version', 'one']
    expect(await refused(...put)).toEqual([64, '', '--version takes JSON (integer)'])
    expect(await refused(...named, '--table', 'o', '--file', '-')).toEqual([
      ...[64, ''],
      'The operation takes no body, so no --file',
    ])
  })

  test('ends with what the service answers: 1 where it refuses, 69 where nobody is there', async () => {
    const { status, err } = await run(['get_table', '--namespace', 'sales', '--table', 'nowhere'])
    expect(status).toBe(1)
    expect(err).toContain('There is no such table')
    const reading = await session(service, service.owner.tenant, ['read'], [], 'rita')
    expect((await run(['list_webhooks'], { as: reading })).status).toBe(1)
    expect((await run(['list_usage'], { url: 'http://127.0.0.1:1' })).status).toBe(69)
    expect((await run([], { as: '' })).status).toBe(64)
  })
})
