/** A mistyped query parameter is an error on every operation: it must not mean that there is no filter. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { ask, call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'

setDefaultTimeout(300_000)

let service: IdentityService
let secret: string
let operations: readonly (readonly [method: string, path: string])[]
beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  const roles = ['steward', 'administrator', 'owner', 'auditor']
  secret = await session(service, service.owner.tenant, sessionScopes, roles)
  const document = (await (await call(service, 'GET', '/api/v1/openapi.json')).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }
  operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/api/v1/'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path] as const))
})
afterAll(() => service[Symbol.asyncDispose]())

test('every operation refuses a parameter that it does not have', async () => {
  expect(operations.length).toBeGreaterThan(150)
  const served: string[] = []
  for (const [method, path] of operations) {
    const target = `${path.replace(/\{\w+\}/g, 'x')}?nosuch=1`
    const response = await call(service, method, target, { secret })
    const isRefused = response.status === 400 && (await response.text()).includes('`nosuch`')
    if (!isRefused) served.push(`${method} ${path} ${response.status}`)
    if (!response.bodyUsed) await response.body?.cancel()
  }
  expect(served).toEqual([])
})

test.each([
  ['/api/v1/usage?colum=email', /has no query parameter `colum`\. Did you mean `column`\? It takes /],
  ['/api/v1/usage?nosuch=email', /has no query parameter `nosuch`\. It takes /],
  ['/api/v1/usage?limits=5', /Did you mean `limit`\?/],
  ['/api/v1/usage?limit=5&limit=6', /`limit` is given more than once/],
])('%s says what is wrong', async (path, message) => {
  const { status, body } = await ask(service, 'GET', path, secret)
  expect([status, (body as { error?: { message?: string } }).error?.message ?? '']).toEqual([
    400,
    expect.stringMatching(message),
  ])
})
