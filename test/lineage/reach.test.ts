/** Lists of what lineage reaches at any distance: a walk of five hops at a time, which a cursor goes on with. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { datasetNode, getJson, lineageEvent, sendLineage } from '../support/lineage.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'

let service: TestService
let foreign: TestTenant
const uri = 'https://covenant.example/v1/iceberg/main'

beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'other', service.catalog.url)
  const edge = (from: string | object, to: string | object) =>
    sendLineage(service, lineageEvent({ job: JSON.stringify([from, to]), inputs: [from], outputs: [to] }))
  // A chain of twelve hops, a way round its first four, and a table behind which more lies.
  for (let at = 0; at < 12; at++) expect((await edge(`c${at}`, `c${at + 1}`)).status).toBe(202)
  expect((await edge('c0', 'c5')).status).toBe(202)
  const table = { namespace: uri, name: 'ns.hidden' }
  expect((await edge('c1', table)).status).toBe(202)
  expect((await edge(table, 'behind')).status).toBe(202)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

/** All pages of a list, as names with hops. */
async function reached(query: Record<string, string>, secret?: string): Promise<readonly string[]> {
  const found: string[] = []
  for (let token: string | undefined, pages = 0; pages < 50; pages++) {
    const asked = new URLSearchParams({ ...query, ...(token !== undefined && { page_token: token }) })
    const { status, body } = await getJson(service, `/api/v1/lineage/reach?${asked}`, secret)
    expect([status, body.error]).toEqual([200, undefined])
    const items = body.items as readonly { readonly name: string; readonly hops: number }[]
    found.push(...items.map(({ name, hops }) => `${name} ${hops}`))
    token = body.next_page_token as string | undefined
    if (token === undefined) return found
  }
  throw new Error('the list does not end')
}

describe('the datasets that lineage reaches', () => {
  test.each(['1', '2', '100'])('are listed beyond five hops, in pages of %s', async (limit) => {
    const found = await reached({ node: datasetNode('c0'), limit })
    expect(found.toSorted()).toEqual(
      [
        ...['c1 1', 'c2 2', 'c3 3', 'c4 4', 'c5 1', 'c6 2', 'c7 3', 'c8 4', 'c9 5'],
        ...['c10 6', 'c11 7', 'c12 8', 'ns.hidden 2', 'behind 3'],
      ].toSorted(),
    )
    const hops = found.map((one) => Number(one.split(' ')[1]))
    expect(hops).toEqual(hops.toSorted((a, b) => a - b))
  })

  test('are listed upstream as well', async () => {
    const found = await reached({ node: datasetNode('c12'), direction: 'upstream', limit: '4' })
    expect(found).toContain('c0 8')
    expect(found).toContain('c7 5')
    expect(found).not.toContain('behind 1')
  })

  test('end before a table that the caller may not read', async () => {
    const { secret } = await createServiceSession(service.store, service.owner.tenant, {
      ...{ name: 'reader', principal: { sub: 'ann', roles: [] }, scopes: ['read'] },
    })
    const seen = await reached({ node: datasetNode('c0') }, secret)
    expect(seen).toContain('c12 8')
    expect(seen.filter((one) => /hidden|behind/.test(one))).toEqual([])
    const hidden = `/api/v1/lineage/reach?${new URLSearchParams({ node: `dataset/${encodeURIComponent(uri)}/ns.hidden` })}`
    expect((await getJson(service, hidden, secret)).status).toBe(404)
    expect((await getJson(service, hidden)).status).toBe(200)
  })

  test('are of one tenant: another one has no such node', async () => {
    const path = `/api/v1/lineage/reach?${new URLSearchParams({ node: datasetNode('c0') })}`
    expect((await getJson(service, path, foreign.secret)).status).toBe(404)
  })

  test.each([
    ['no page token', 'x'],
    ['a token of another list', '1.5.'],
    ['numbers that are none', Buffer.from('[5,["x"],0,"1"]').toString('base64url')],
    ['a number beyond the graph’s', Buffer.from('[5,["99999999999999999999"],0,"1"]').toString('base64url')],
    ['too many places', Buffer.from(JSON.stringify([5, Array(501).fill('1'), 0, '1'])).toString('base64url')],
  ])('are not listed from %s', async (_, token) => {
    const query = new URLSearchParams({ node: datasetNode('c0'), page_token: token })
    const { status, body } = await getJson(service, `/api/v1/lineage/reach?${query}`)
    expect([status, body.error]).toMatchObject([400, { message: 'The page token is not valid.' }])
  })

  test('are not listed from a column', async () => {
    const node = `column/${datasetNode('c0').slice('dataset/'.length)}/id`
    const { status } = await getJson(service, `/api/v1/lineage/reach?${new URLSearchParams({ node })}`)
    expect(status).toBe(400)
  })

  test('of a wide graph are refused in words where a cursor cannot hold them', async () => {
    const chain = ['w0', 'w1', 'w2', 'w3', 'w4']
    for (let at = 0; at < 4; at++)
      await sendLineage(
        service,
        lineageEvent({ job: `w${at}`, inputs: [chain[at] ?? ''], outputs: [chain[at + 1] ?? ''] }),
      )
    const outputs = Array.from({ length: 501 }, (_, at) => `wide${at}`)
    expect((await sendLineage(service, lineageEvent({ job: 'wide', inputs: ['w4'], outputs }))).status).toBe(
      202,
    )
    const path = (limit: string) =>
      `/api/v1/lineage/reach?${new URLSearchParams({ node: datasetNode('w0'), limit })}`
    const { body, status } = await getJson(service, path('1000'))
    expect([status, body.error]).toMatchObject([
      422,
      {
        message:
          'More than 500 datasets lie 5 hops from the start. Ask from one that is nearer to what you look for.',
      },
    ])
    expect((await getJson(service, path('10'))).status).toBe(200)
  })
})
