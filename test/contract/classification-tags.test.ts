/** Classifications of documents that give tags by a tenant's settings, over HTTP, with a foreign tenant and a second steward. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { commitColumns } from '../support/governed.ts'
import { call, session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { addTenant, startTestService, type TestService } from '../support/service.ts'

setDefaultTimeout(120_000)

const root = '/api/v1/contracts'
const settings = `${root}/settings/classifications`
let service: TestService
let stella: string
let sten: string
let rita: string
let adam: string
let foreign: string
type Json = Record<string, unknown>

const columns = { id: 'long', email: 'string', phone: 'string' }

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { tenant } = service.owner
  const other = await addTenant(service.store, 'foreign', service.catalog.url)
  for (const one of [tenant, other.tenant])
    for (const name of ['short', 'again', 'person', 'cycle', 'nested'])
      await commitColumns(service.store, one, { namespace: ['sales'], name }, columns)
  stella = await session(service, tenant, sessionScopes, ['steward'], 'stella')
  sten = await session(service, tenant, sessionScopes, ['steward'], 'sten')
  adam = await session(service, tenant, sessionScopes, ['administrator'], 'adam')
  rita = await session(service, tenant, ['read', 'admin'], [], 'rita')
  foreign = await session(service, other.tenant, sessionScopes, ['steward'], 'mallory')
  for (const one of [stella, foreign])
    await done('PUT', `${root}/tags/pii/masks/no-pii`, { action: 'replace-with-null' }, one)
  await maps({ Restricted: 'pii', secret: 'pii', internal: 'inside' })
})
afterAll(() => service[Symbol.asyncDispose]())

async function ask(method: string, to: string, body?: unknown, secret = stella): Promise<[number, Json]> {
  const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
  const response = await call(service, method, to, { secret, headers, body })
  const text = await response.text()
  return [response.status, text === '' ? {} : JSON.parse(text)]
}
async function done(method: string, to: string, body?: unknown, secret = stella): Promise<Json> {
  const [status, answer] = await ask(method, to, body, secret)
  expect([method, to, status < 300, status < 300 ? '' : answer]).toEqual([method, to, true, ''])
  return answer
}
const itemsOf = (map: Readonly<Record<string, string>>) => ({
  items: Object.entries(map).map(([classification, tag]) => ({ classification, tag })),
})
const maps = (map: Readonly<Record<string, string>>) => done('PUT', settings, itemsOf(map))

const document = (
  id: string,
  version: string,
  classes: Readonly<Record<string, string>>,
) => `apiVersion: v3.2.0
kind: DataContract
id: ${id}
version: ${version}
status: active
schema:
- name: ${id}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: ${id}}}}
  properties:
${Object.entries(classes)
  .map(([name, text]) => `  - {name: ${name}${text === '' ? '' : `, classification: ${text}`}}`)
  .join('\n')}
`
const at = (id: string) => `${root}/documents/${id}`
const put = (id: string, version: string, classes: Readonly<Record<string, string>>, secret = stella) =>
  done('PUT', at(id), document(id, version, classes), secret)

/** The tags of a table's columns. */
async function tagsOf(id: string, secret = stella) {
  const { items } = await done('GET', `${root}/tables/sales/${id}/tags`, undefined, secret)
  return (items as { column: string; tag: string }[]).map(({ column, tag }) => `${column} ${tag}`)
}
async function maskedOf(id: string, secret = stella) {
  const { columns } = await done('GET', `${root}/tables/sales/${id}`, undefined, secret)
  return (columns as { name: string; masks: unknown[] }[])
    .filter(({ masks }) => masks.length > 0)
    .map(({ name }) => name)
}
const historyOf = async (id: string) =>
  (await done('GET', `${root}/tag-history?namespace=sales&table=${id}`)).items as Json[]

test('a classification gives its column the tag of the settings, with the version as evidence', async () => {
  const answer = await put('short', '1.0.0', { id: 'public', email: 'RESTRICTED', phone: 'internal' })
  expect(await tagsOf('short')).toEqual(['email pii', 'phone inside'])
  expect(await maskedOf('short')).toEqual(['email'])
  expect(answer.fields).toContainEqual({
    ...{ path: 'schema[0].properties[].classification', outcome: 'stored', count: 3 },
    tags: [
      { classification: 'Restricted', tag: 'pii' },
      { classification: 'internal', tag: 'inside' },
    ],
  })
  expect(await historyOf('short')).toContainEqual(
    expect.objectContaining({
      ...{ action: 'set', tag: 'pii', column: 'email', source: 'document', by: 'stella' },
      ...{ contract: 'short', contract_version: 1, classification: 'RESTRICTED' },
    }),
  )
})

test('the map of another tenant gives no tag, and is not shown', async () => {
  expect(await done('GET', settings, undefined, foreign)).toEqual({ items: [] })
  const answer = await put('short', '1.0.0', { email: 'restricted' }, foreign)
  expect(await tagsOf('short', foreign)).toEqual([])
  expect(JSON.stringify(answer.fields)).not.toContain('pii')
})

test('stewards and administrators read and save the map, and nobody else', async () => {
  expect((await ask('GET', settings, undefined, rita))[0]).toBe(403)
  expect((await ask('PUT', settings, { items: [] }, rita))[0]).toBe(403)
  const held = await done('GET', settings, undefined, adam)
  expect(held).toEqual(itemsOf({ Restricted: 'pii', secret: 'pii', internal: 'inside' }))
  await done('PUT', settings, held, adam)
})

test('a map with a classification twice, a malformed tag or 101 entries is refused whole', async () => {
  const held = await done('GET', settings)
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`c${index}`, 'pii']))
  const bad = [
    itemsOf({ a: 'pii', A: 'x' }),
    itemsOf({ a: 'two words' }),
    itemsOf({ '': 'pii' }),
    itemsOf(many),
  ]
  for (const body of bad) expect((await ask('PUT', settings, body))[0]).toBe(400)
  expect((await ask('PUT', settings, itemsOf({ a: 'pii', A: 'x' })))[1]).toMatchObject({
    error: { message: 'The classification A is there twice. Letters count alike in either case.' },
  })
  expect(await done('GET', settings)).toEqual(held)
})

test('a tag goes with the classification that gave it, and stays where the property is lost', async () => {
  await put('short', '1.1.0', { id: 'public', email: 'public', phone: 'internal' })
  expect(await tagsOf('short')).toEqual(['phone inside'])
  expect((await historyOf('short'))[0]).toMatchObject({
    ...{ action: 'removed', tag: 'pii', column: 'email', source: 'document', contract_version: 2 },
  })
  await put('short', '2.0.0', { id: 'public', email: 'public' })
  expect(await tagsOf('short')).toEqual(['phone inside'])
})

test('a tag that a person set too stays', async () => {
  const byPerson = `${root}/tables/sales/person/columns`
  await done('PUT', `${byPerson}/email/tags/pii`)
  await put('person', '1.0.0', { email: 'restricted', phone: 'restricted' })
  await done('PUT', `${byPerson}/phone/tags/pii`)
  await put('person', '1.1.0', { email: '', phone: '' })
  expect(await tagsOf('person')).toEqual(['email pii', 'phone pii'])
})

test('a tag that a person set as one of a document is no tag of a classification, and stays', async () => {
  const evidence = { source: 'document', contract: 'person', contract_version: 1 }
  await done('PUT', `${root}/tables/sales/person/columns/id/tags/inside`, evidence)
  await put('person', '1.2.0', { id: '', email: '', phone: '' })
  expect(await tagsOf('person')).toContain('id inside')
})

test('a change of the map moves no tag before the document is put again, with the same bytes too', async () => {
  await put('again', '1.0.0', { email: 'secret' })
  await maps({ restricted: 'pii', internal: 'inside' })
  expect(await tagsOf('again')).toEqual(['email pii'])
  expect(await put('again', '1.0.0', { email: 'secret' })).toMatchObject({ number: 1 })
  expect(await tagsOf('again')).toEqual([])
  await maps({ Restricted: 'pii', secret: 'pii', internal: 'inside' })
  await put('again', '1.0.0', { email: 'secret' })
  expect(await tagsOf('again')).toEqual(['email pii'])
})

test('a tag that somebody took away comes back with the document', async () => {
  await done('DELETE', `${root}/tables/sales/again/columns/email/tags/pii`)
  expect(await tagsOf('again')).toEqual([])
  await put('again', '1.0.0', { email: 'secret' })
  expect(await tagsOf('again')).toEqual(['email pii'])
  const before = (await historyOf('again')).length
  await put('again', '1.0.0', { email: 'secret' })
  expect(await historyOf('again')).toHaveLength(before)
})

test('a mapped classification of a table that is still to come is refused, and nothing is put', async () => {
  const [status, answer] = await ask('PUT', at('lost'), document('lost', '1.0.0', { email: 'restricted' }))
  expect([status, JSON.stringify(answer)]).toEqual([
    422,
    expect.stringContaining(
      'The classification restricted of lost.email gives the tag pii, and sales.lost has no column email.',
    ),
  ])
  expect((await ask('GET', at('lost')))[0]).toBe(404)
  await put('lost', '1.0.0', { email: 'public' })
})

test('the items of a list give their tag to the column of the list', async () => {
  const text = document('nested', '1.0.0', { id: '', email: '' }).replace(
    '- {name: email}',
    '- {name: email, logicalType: array, items: {logicalType: string, classification: restricted}}',
  )
  await done('PUT', at('nested'), text)
  expect(await tagsOf('nested')).toEqual(['email pii'])
})

test('a comparison says which tags come and go', async () => {
  const answer = await done(
    'POST',
    `${at('again')}/compare`,
    document('again', '2.0.0', { id: 'internal', email: 'public' }),
  )
  expect(answer).toMatchObject({ loosens_access: true, waits_for: ['first'] })
  expect((answer.findings as Json[]).filter(({ change }) => String(change).startsWith('tag-'))).toEqual([
    {
      ...{ at: 'again.id', change: 'tag-added', consumer: 'info', producer: 'info', access: 'tightened' },
      message: 'The classification internal gives the column the tag inside',
    },
    {
      ...{ at: 'again.email', change: 'tag-removed', consumer: 'info', producer: 'info', access: 'loosened' },
      message: 'The tag pii is taken away from the column',
    },
  ])
})

/** Adds and proposes a version. */
async function propose(version: string, classes: Readonly<Record<string, string>>) {
  const added = await done('POST', `${at('cycle')}/versions`, document('cycle', version, classes))
  const to = `${at('cycle')}/versions/${String(added.number)}`
  return { to, sha256: added.sha256, answer: await done('POST', `${to}/moves`, { move: 'propose' }) }
}
const deploy = (to: string) => done('POST', `${to}/moves`, { move: 'deploy' })

test('in the life cycle a tag goes only with a version whose sign-off says so', async () => {
  await done('PUT', `${root}/life-cycle-settings`, { deploy_unverified: true })
  const first = await propose('1.0.0', { id: '', email: 'restricted', phone: 'secret' })
  await done('POST', `${first.to}/sign-offs`, { sha256: first.sha256 }, sten)
  await deploy(first.to)
  expect(await maskedOf('cycle')).toEqual(['email', 'phone'])

  const looser = await propose('1.1.0', { id: '', email: '', phone: 'secret' })
  expect(looser.answer).toMatchObject({ state: 'proposed', waits_for: ['first'] })
  expect((await ask('POST', `${looser.to}/moves`, { move: 'deploy' }))[0]).toBe(409)
  await done('POST', `${looser.to}/sign-offs`, { sha256: looser.sha256 }, sten)
  await deploy(looser.to)
  expect(await maskedOf('cycle')).toEqual(['phone'])
})

test('a map that changes after the proposal takes no tag away with it, and the next proposal waits', async () => {
  const harmless = await propose('1.1.1', { id: 'public', email: '', phone: 'secret' })
  expect(harmless.answer).toMatchObject({ state: 'approved' })
  await maps({ Restricted: 'pii', internal: 'inside' })
  await deploy(harmless.to)
  expect(await maskedOf('cycle')).toEqual(['phone'])
  const next = await propose('1.2.0', { id: 'other', email: '', phone: 'secret' })
  expect(next.answer).toMatchObject({ state: 'proposed', waits_for: ['first'] })
})
