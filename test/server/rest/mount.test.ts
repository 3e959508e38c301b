/** Operations as routes: the order of their checks, and the sources of their input. */

import { describe, expect, test } from 'bun:test'
import { ownOperations } from '../../../src/auth/administration/own-operations.ts'
import { Fault } from '../../../src/base/fault.ts'
import { classificationOperations } from '../../../src/contract/classification-operations.ts'
import { oversightOperations } from '../../../src/contract/oversight-operations.ts'
import { pinOperations } from '../../../src/contract/pin-operations.ts'
import { policyOperations } from '../../../src/contract/policy-operations.ts'
import { tableOperations } from '../../../src/contract/table-operations.ts'
import type { Operation } from '../../../src/core/operation.ts'
import { type Session, sessionScopes } from '../../../src/core/session.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { detectionOperations } from '../../../src/detection/operations.ts'
import { operationsOf } from '../../../src/http/declare.ts'
import { list, maybe, object, tableAddress, text, wholeNumber } from '../../../src/http/schemas.ts'
import { lineageOperations } from '../../../src/lineage/operations.ts'
import { explainOperations } from '../../../src/query/explain/operation.ts'
import { usageOperations } from '../../../src/query/usage/operations.ts'
import { serveOperations } from '../../support/operations.ts'

const principal = { sub: 'ada', roles: ['steward', 'administrator'] }
const session: Session = {
  sessionId: 's',
  kind: 'service',
  tenant: '00000000-0000-4000-8000-000000000000' as TenantId,
  organizationId: undefined,
  principal,
  scopes: sessionScopes,
}
const signedIn = {
  findSession: async () => session,
  identify: async () => ({ principal, source: 'session', verified: true }) as const,
}

const declared = [
  ...ownOperations,
  ...oversightOperations,
  ...classificationOperations,
  ...pinOperations,
  ...policyOperations,
  ...tableOperations,
  ...detectionOperations,
  ...lineageOperations,
  ...explainOperations,
  ...usageOperations,
] as readonly Operation[]

describe('every operation with a session', () => {
  const withSession = declared.filter(({ access }) => 'scope' in access)
  test.each(withSession.map((one) => [one.name, one] as const))(
    '%s refuses credentials that contradict each other',
    async (_, { method, path }) => {
      const identify = () => Promise.reject(new Fault('unauthenticated', 'Two principals.'))
      const serve = serveOperations(declared, {}, { ...signedIn, identify })
      const target = `http://svc.example${path.replaceAll(/\{\w+\+?\}/g, 'x')}`
      const answer = await serve(new Request(target, { method, headers: { 'x-svc-session': 'svc_x' } }))
      expect(answer.status).toBe(401)
    },
  )
})

const operation = operationsOf<object>()
const echo = object({ seen: text })
const seen = async (value: unknown) => ({ seen: JSON.stringify(value) })
const common = {
  tag: 'test',
  summary: 'For tests',
  access: { scope: 'read' },
  gives: { nothing: 'own input' },
  output: echo,
} as const
const operations = [
  operation({
    ...common,
    name: 'show_table',
    method: 'GET',
    path: '/tables/{namespace}/{table}',
    input: object({ ...tableAddress, limit: maybe(wholeNumber), tags: maybe(list(text)) }),
    run: (_, input) => seen(input),
  }),
  operation({
    ...common,
    name: 'show_run',
    method: 'GET',
    path: '/runs/{producer+}/{id}',
    input: object({ producer: text, id: text }),
    run: (_, input) => seen(input),
  }),
  operation({
    ...common,
    name: 'make',
    method: 'POST',
    path: '/things/{name}',
    input: object({ name: text, size: wholeNumber }),
    status: 201,
    run: (_, input) => seen(input),
  }),
]

async function send(method: string, path: string, body?: string, auth: object = signedIn) {
  const request = new Request(`http://svc.example${path}`, {
    method,
    headers: { 'x-svc-session': 'svc_x' },
    ...(body !== undefined && { body }),
  })
  const answer = await serveOperations(operations, {}, auth)(request)
  const value = (await answer.json()) as { seen?: string; error?: { message: string } }
  return [answer.status, value.seen === undefined ? value.error?.message : JSON.parse(value.seen)]
}

describe('input', () => {
  test('takes the levels of a namespace from the path, joined by %1F, and the rest from the query', async () => {
    expect(await send('GET', '/tables/a%1Fb/t?limit=3&tags=x%1Fy')).toEqual([
      200,
      { namespace: ['a', 'b'], table: 't', limit: 3, tags: ['x', 'y'] },
    ])
    for (const path of ['/tables/a.b/t', '/tables/a%1F/t', '/tables/a/t%2Fu', '/tables/%FF/t'])
      expect((await send('GET', path))[0]).toBe(400)
  })

  test('takes a member with slashes whole, encoded or not', async () => {
    for (const producer of ['https://a/b', 'https%3A%2F%2Fa%2Fb'])
      expect(await send('GET', `/runs/${producer}/7`)).toEqual([200, { producer: 'https://a/b', id: '7' }])
  })

  test('takes members that the path does not name from the body', async () => {
    expect(await send('POST', '/things/n', '{"size":2}')).toEqual([201, { name: 'n', size: 2 }])
    expect(await send('POST', '/things/n', '{"size":2,"name":"other"}')).toEqual([
      400,
      'The body has an unknown member; supported are size.',
    ])
    expect((await send('POST', '/things/n', '{"size":1,"size":2}'))[0]).toBe(400)
  })

  test('is not looked at for those who may not call', async () => {
    const narrow = { ...signedIn, findSession: async () => ({ ...session, scopes: [] }) }
    expect((await send('POST', '/things/n', '{', narrow))[0]).toBe(403)
    expect((await send('POST', '/things/n', '{', {}))[0]).toBe(401)
  })
})

describe('an operation that does not say what it gives', () => {
  const [first] = operations
  const served = (gives: unknown, access: object = { scope: 'read' }) =>
    serveOperations([{ ...first, access, gives } as unknown as Operation], {})

  test.each(['GET', 'POST'] as const)('is not served by %s', (method) => {
    const { gives: _, ...rest } = common
    const silent = { ...rest, name: 'silent', method, path: '/silent', run: seen } as const
    // @ts-expect-error The type asks for `gives`.
    const declared: Operation = silent
    expect(() => serveOperations([declared], {})).toThrow(
      'silent is not served: it does not declare what it gives',
    )
  })

  test('is not served where it gives nothing for no reason, or something without a name', () => {
    for (const gives of [{}, { visible: [] }, { nothing: 'because' }, { visible: ['all'] }])
      expect(() => served(gives)).toThrow('show_table is not served')
  })

  test('is not served where it gives to overseers and admits everyone', () => {
    const gives = { overseen: ['existence'] }
    expect(() => served(gives)).toThrow('it gives to overseers, and demands no role')
    expect(() => served(gives, { scope: 'read', roles: ['steward'] })).not.toThrow()
    expect(() => served({ ...gives, overseers: ['steward'] })).not.toThrow()
  })
})
