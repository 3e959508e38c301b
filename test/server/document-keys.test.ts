/** A document of too many keys is refused for their number at every door, before anything else is made of it. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { limits } from '../../src/limits.ts'
import { graphqlBounds } from '../../src/server/graphql/bounds.ts'
import { session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { startTestService, type TestService } from '../support/service.ts'

setDefaultTimeout(120_000)

let service: TestService
let secret: string
beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const scopes = ['read', 'admin', 'lineage'] as const
  secret = await session(service, service.owner.tenant, scopes, ['steward'], 'stella')
})
afterAll(() => service[Symbol.asyncDispose]())

/** An object of so many keys. */
const wide = (keys: number) => `{${Array.from({ length: keys }, (_, index) => `"k${index}":0`).join()}}`
/** A list of objects with one key each, which takes the fewest bytes. */
const flat = (keys: number) => `[${Array.from({ length: keys }, () => '{"":0}').join()}]`

async function refusal(
  method: string,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly [number, string]> {
  const response = await fetch(new URL(path, service.app.url), {
    ...{ method, body },
    headers: { 'content-type': 'application/json', 'x-svc-session': secret, ...headers },
  })
  return [response.status, await response.text()]
}

const tooMany: readonly [number, string] = [
  400,
  expect.stringContaining(`more than ${limits.documentKeysMax} members`),
]
const edit = { 'content-type': 'application/json-patch+json', 'if-match': `"${'0'.repeat(64)}"` }

describe('70,000 keys are refused', () => {
  test.each([
    ['an operation of REST', 'PUT', '/api/v1/contracts/tables/sales/orders', {}],
    ['an edit of a contract document', 'PATCH', '/api/v1/contracts/documents/orders', edit],
    ['a lineage event', 'POST', '/api/v1/lineage', {}],
  ] as const)('in %s', async (_, method, path, headers) => {
    expect(await refusal(method, path, wide(70_000), headers)).toEqual(tooMany)
  })

  test('in the variables of GraphQL, whose body is too large for them', async () => {
    const variables = `{"query":"{ __typename }","variables":${wide(70_000)}}`
    expect((await refusal('POST', '/graphql', variables))[0]).toBe(413)
  })
})

describe('more keys than the bound, in as few bytes as they take, are refused', () => {
  const keys = flat(limits.documentKeysMax + 1)

  test('in the variables of GraphQL', async () => {
    const body = `{"query":"{ __typename }","variables":{"k":${keys}}}`
    expect(body.length).toBeLessThan(graphqlBounds.bodyBytesMax)
    expect(await refusal('POST', '/graphql', body)).toEqual(tooMany)
    const fewer = `{"query":"{ __typename }","variables":{"k":${flat(1_000)}}}`
    expect((await refusal('POST', '/graphql', fewer))[0]).toBe(200)
  })

  test('in a message of MCP', async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"k":${keys}}}}`
    const accept = 'application/json, text/event-stream'
    expect(await refusal('POST', '/mcp', body, { accept, authorization: `Bearer ${secret}` })).toEqual(
      tooMany,
    )
  })
})
