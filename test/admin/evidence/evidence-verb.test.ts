/** `covenant evidence`: the folder that it writes, what it refuses, and that it holds nothing of another tenant. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCovenant } from '../../../src/admin/verbs.ts'
import { sessionScopes } from '../../../src/core/session.ts'
import { recordUsage } from '../../../src/store/query/usage.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { addTenant, startTestService, type TestService } from '../../support/service.ts'
import { usageRecord } from '../../support/usage.ts'

setDefaultTimeout(120_000)

const dayMs = 86_400_000
const nowMs = Date.now()
const from = new Date(nowMs - 30 * dayMs).toISOString()
const to = new Date(nowMs + dayMs).toISOString()
const root = mkdtempSync(join(tmpdir(), 'covenant-evidence-'))
const files = [
  'README.md',
  'changes.ndjson',
  'contracts.ndjson',
  'decisions.ndjson',
  'tags.ndjson',
  'who-can-read.ndjson',
  'who-read.ndjson',
]
let service: TestService
let steward: string
let auditor: string
let reader: string
let foreign: string

const document = (version: string) => `apiVersion: v3.2.0
kind: DataContract
id: orders
version: ${version}
schema:
- name: orders
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: orders}}}
  properties:
  - {name: id, logicalType: integer}
`

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { tenant } = service.owner
  const other = (await addTenant(service.store, 'foreign', service.catalog.url)).tenant
  const orders = { namespace: ['sales'], name: 'orders' }
  for (const one of [tenant, other]) await commitColumns(service.store, one, orders, { id: 'long' })
  steward = await session(service, tenant, sessionScopes, ['steward'], 'stella')
  auditor = await session(service, tenant, ['read'], ['auditor'], 'otto')
  reader = await session(service, tenant, ['read'], ['analyst'], 'rita')
  foreign = await session(service, other, sessionScopes, ['steward'], 'mallory')
  const tables = '/api/v1/contracts/tables/sales'
  const yaml = { headers: { 'content-type': 'application/yaml' } }
  const path = '/api/v1/contracts/documents/orders'
  const send = async (method: string, to: string, secret: string, more: object = {}) => {
    const response = await call(service, method, to, { secret, ...more })
    expect([to, response.status < 300 ? '' : await response.text()]).toEqual([to, ''])
  }
  for (const version of ['1.0.0', '1.0.1'])
    await send('PUT', path, steward, { ...yaml, body: document(version) })
  await send('PUT', path, foreign, { ...yaml, body: document('6.6.6') })
  for (const secret of [steward, foreign]) {
    const tag = secret === steward ? 'pii' : 'theirs'
    await send('PUT', `${tables}/orders/tags/${tag}`, secret)
    await send('PUT', `${tables}/unlike`, secret, { body: { id: 'unlike', version: 1 } })
  }
  const read = { startedAtMs: nowMs - dayMs }
  await recordUsage(service.store, tenant, usageRecord(read))
  await recordUsage(service.store, tenant, usageRecord({ startedAtMs: nowMs - 40 * dayMs, principal: 'old' }))
  await recordUsage(service.store, other, usageRecord({ ...read, principal: 'mallory' }))
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

async function run(words: readonly string[], { as = steward, url = service.app.url.origin } = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCovenant(['evidence', ...words], {
    env: { COVENANT_URL: url, COVENANT_SESSION: as },
    stdin: async () => '',
    print: (text) => void out.push(text),
    complain: (text) => void err.push(text),
  })
  return { status, out: out.join('\n'), err: err.join('\n') }
}
const times = ['--from', from, '--to', to]
const at = (name: string) => join(root, name)
type Line = Readonly<Record<string, unknown>>
const linesOf = (folder: string, name: string): readonly Line[] =>
  readFileSync(join(at(folder), name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

test('the folder holds contracts, changes, readers, decisions and tags of the table between the times', async () => {
  const { status, out, err } = await run(['sales.orders', ...times, '--out', at('whole')])
  expect([status, out]).toEqual([0, 'sales.orders: 6 files and README.md'])
  expect(err).toContain('contracts.ndjson: 2 line(s)')
  expect(readdirSync(at('whole')).toSorted()).toEqual(files)
  expect(linesOf('whole', 'contracts.ndjson')).toMatchObject([
    { id: 'orders', number: 1, in_force_at_from: false, in_force_at_to: false, document: document('1.0.0') },
    { id: 'orders', number: 2, in_force_at_from: false, in_force_at_to: true, document: document('1.0.1') },
  ])
  expect(linesOf('whole', 'who-read.ndjson')).toMatchObject([{ principal: 'ada', reads: 1 }])
  expect(linesOf('whole', 'changes.ndjson').map(({ action }) => action)).toEqual([
    'put-tag',
    'put-contract-document',
    'put-contract-document',
  ])
  expect(linesOf('whole', 'tags.ndjson')).toMatchObject([{ action: 'set', tag: 'pii', by: 'stella' }])
  const table = { namespace: ['sales'], name: 'orders' }
  expect(linesOf('whole', 'decisions.ndjson')).toMatchObject([{ decision: 'APPROVED', table }])
  const [protection, ...sessions] = linesOf('whole', 'who-can-read.ndjson')
  expect(protection).toMatchObject({ kind: 'protection', columns: [{ name: 'id', anyone: 'clear' }] })
  expect(sessions.length).toBeGreaterThan(0)
  expect(sessions.every(({ kind }) => kind === 'session')).toBe(true)
})

test('README.md says what was asked when by whom, the hash of each file, and what is not proved', () => {
  const text = readFileSync(join(at('whole'), 'README.md'), 'utf8')
  for (const part of [
    '# Evidence of `sales.orders`',
    `- Between ${from} and, without that moment, ${to}`,
    `tenant \`${service.owner.tenant}\``,
    '- By `stella` with `steward`',
    'The second time had not passed',
    'Nothing is signed.',
  ])
    expect(text).toContain(part)
  for (const name of files.filter((one) => one !== 'README.md')) {
    const bytes = readFileSync(join(at('whole'), name))
    expect(text).toContain(`### ${name}`)
    expect(text).toContain(new Bun.CryptoHasher('sha256').update(bytes).digest('hex'))
  }
  expect(statSync(join(at('whole'), 'who-read.ndjson')).mode & 0o077).toBe(0)
})

test('an auditor gets no text of documents, and README.md says so', async () => {
  expect((await run(['sales.orders', ...times, '--out', at('audited')], { as: auditor })).status).toBe(0)
  const contracts = linesOf('audited', 'contracts.ndjson')
  expect(contracts.map(({ number, document: text }) => [number, text])).toEqual([
    [1, undefined],
    [2, undefined],
  ])
  expect(readFileSync(join(at('audited'), 'README.md'), 'utf8')).toContain('may not read documents')
})

test('it holds nothing of another tenant', async () => {
  expect((await run(['sales.orders', ...times, '--out', at('theirs')], { as: foreign })).status).toBe(0)
  const all = (folder: string) => files.map((name) => readFileSync(join(at(folder), name), 'utf8')).join('')
  for (const word of ['mallory', '6.6.6', 'theirs"']) expect(all('whole')).not.toContain(word)
  for (const word of ['stella', '1.0.1', 'pii', '"ada"']) expect(all('theirs')).not.toContain(word)
  expect(all('theirs')).toContain('6.6.6')
})

test('a table that nothing is known of gives empty files, and README.md says that it cannot be read', async () => {
  expect((await run(['sales.nothing', ...times, '--out', at('nothing')])).status).toBe(0)
  expect(linesOf('nothing', 'contracts.ndjson')).toEqual([])
  expect(linesOf('nothing', 'who-can-read.ndjson')).toEqual([])
  expect(readFileSync(join(at('nothing'), 'README.md'), 'utf8')).toContain(
    'no such table that can be read now',
  )
})

test('a folder that holds something is refused, and left alone', async () => {
  mkdirSync(at('full'))
  writeFileSync(join(at('full'), 'mine.txt'), 'mine')
  const { status, err } = await run(['sales.orders', ...times, '--out', at('full')])
  expect([status, err]).toEqual([
    64,
    '--out must be empty: nothing is gone on with, and nothing replaced\nSee: covenant evidence --help',
  ])
  expect(readdirSync(at('full'))).toEqual(['mine.txt'])
  expect((await run(['sales.orders', ...times, '--out', join(at('full'), 'mine.txt')])).status).toBe(64)
})

test('wrong words, times and roles have the exit status of the other verbs, and leave no README.md', async () => {
  const out = ['--out', at('refused')]
  expect((await run(['orders', ...times, ...out])).status).toBe(64)
  expect((await run([...times, ...out])).status).toBe(64)
  expect((await run(['sales.orders', ...times])).status).toBe(64)
  expect((await run(['sales.orders', '--from', 'yesterday', '--to', to, ...out])).status).toBe(64)
  expect((await run(['sales.orders', '--from', to, '--to', from, ...out])).status).toBe(64)
  expect((await run(['sales.orders', ...times, ...out], { url: 'http://127.0.0.1:1' })).status).toBe(69)
  const long = ['--from', '2020-01-01T00:00:00Z', '--to', to]
  expect((await run(['sales.orders', ...long, '--out', at('long')])).status).toBe(64)
  const refused = await run(['sales.orders', ...times, '--out', at('reader')], { as: reader })
  expect(refused.status).toBe(1)
  expect(refused.err).toContain('The folder is not whole.')
  for (const name of ['long', 'reader']) expect(readdirSync(at(name))).not.toContain('README.md')
})
