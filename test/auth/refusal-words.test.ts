/** Every 403 of an operation names the scope, the role or the organization that the caller lacks. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type SessionScope, sessionScopes } from '../../src/core/session.ts'
import type { DescribedOperation } from '../../src/server/rest/describe.ts'
import { graphql } from '../support/graphql.ts'
import { call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'

setDefaultTimeout(120_000)

let service: IdentityService
const callers: {
  readonly scopes: readonly SessionScope[]
  readonly roles: readonly string[]
  readonly secret: string
}[] = []
beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  const kinds = [...sessionScopes.map((scope) => [scope]), sessionScopes]
  for (const scopes of kinds)
    for (const roles of [[], ['auditor'], ['steward']])
      callers.push({ scopes, roles, secret: await session(service, service.owner.tenant, scopes, roles) })
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const scopesNamed = (text: string) => sessionScopes.filter((scope) => text.includes(`scope \`${scope}\``))
const rolesNamed = (text: string) =>
  ['steward', 'administrator', 'owner', 'auditor'].filter((role) => text.includes(`\`${role}\``))

test('names what is missing, for every operation', async () => {
  const document = await call(service, 'GET', '/api/v1/openapi.json')
  const { paths } = (await document.json()) as { paths: Record<string, Record<string, DescribedOperation>> }
  const unnamed: string[] = []
  let refused = 0
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { operationId }] of Object.entries(methods))
      for (const { scopes, roles, secret } of callers) {
        const target = path.replaceAll(/\{\w+\}/g, 'x')
        const body = method === 'get' ? undefined : '{}'
        const response = await call(service, method.toUpperCase(), target, { secret, body })
        if (response.status !== 403) {
          // A stream does not end by itself.
          await response.body?.cancel()
          continue
        }
        const text = await response.text()
        refused++
        const lacked = scopesNamed(text).filter((scope) => !scopes.includes(scope))
        const missing = rolesNamed(text).filter((role) => !roles.includes(role))
        const isNamed =
          lacked.length > 0 ||
          missing.length > 0 ||
          /internal admin organization|needs another role|only from a page of this service/.test(text)
        if (!isNamed) unnamed.push(`${operationId} as ${scopes.join('+')} ${roles.join()}: ${text}`)
      }
  expect(refused).toBeGreaterThan(1_000)
  expect(unnamed).toEqual([])
})

test('names what is missing on the Iceberg surfaces, GraphQL and MCP', async () => {
  const narrow = await session(service, service.owner.tenant, ['lineage'])
  const reader = await session(service, service.owner.tenant, ['read'])
  const answer = async (method: string, path: string, secret: string) => {
    const response = await call(service, method, path, { secret, ...(method === 'POST' && { body: '{}' }) })
    return { status: response.status, text: await response.text() }
  }
  const tables = '/v1/iceberg/main/v1/namespaces/sales/tables'
  expect(await answer('GET', tables, narrow)).toMatchObject({
    status: 403,
    text: expect.stringMatching(/`read`.*`commit`/),
  })
  for (const path of [`${tables}/orders`, '/v1/iceberg/main/namespaces/sales/tables/orders'])
    expect(await answer('POST', path, reader)).toMatchObject({
      status: 403,
      text: expect.stringContaining('scope `commit`'),
    })
  expect(await answer('POST', '/mcp', narrow)).toMatchObject({
    status: 403,
    text: expect.stringContaining('scope `read`'),
  })
  expect((await graphql(service, narrow, '{ tables(first: 1) { totalCount } }')).text).toContain(
    'scope `read`',
  )
  const { text } = await graphql(service, reader, '{ policies(first: 1) { totalCount } }')
  expect(rolesNamed(text)).toEqual(['steward', 'administrator', 'owner'])
})
