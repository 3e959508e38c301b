/** Over HTTP, a license decides about the routes of a commercial capability and about nothing else. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Capability, isCommunity } from '../../src/core/capability.ts'
import { notLicensedType } from '../../src/license/licensed.ts'
import { call, type IdentityService, session, startIdentityService } from '../support/identity.ts'

/** The capability that a route is part of, by how its path begins; undefined: of running the service at all. */
const parts: readonly (readonly [start: string, capability: Capability | undefined])[] = [
  ['/mcp', 'mcp'],
  ['/api/v1/graph/', 'mcp'],
  ['/graphql', 'graphql'],
  ['/api/v1/graphql/', 'graphql'],
  // What an alert needs.
  ['/api/v1/detection/findings', undefined],
  ['/api/v1/detection/', 'detection'],
  ['/api/v1/refusals', 'policies'],
  ['/api/v1/policies', 'policies'],
  ['/api/v1/policy-replays', 'policies'],
  ['/api/v1/decisions', 'policies'],
  ['/api/v1/audit/', undefined],
  ['/api/v1/intents', 'gateway'],
  ['/v1/iceberg/', 'gateway'],
  ['/v1/lineage', 'lineage'],
  ['/api/v1/lineage', 'lineage'],
  ['/api/v1/territory', 'gateway'],
  ['/api/v1/credentials/', 'vending'],
  ['/api/v1/webhooks', 'contracts'],
  ['/api/v1/events', 'contracts'],
  ['/api/v1/reconciliation-sources', 'contracts'],
  ['/api/v1/checks/', 'contracts'],
  ['/api/v1/contracts/life-cycle-settings', 'contracts'],
  ['/api/v1/contracts/proposals', 'contracts'],
  ['/api/v1/contracts/documents/x/versions', 'contracts'],
  ['/api/v1/contracts/documents/x/moves', 'contracts'],
  // The read path of the PostgreSQL wire stands on these.
  ['/api/v1/contracts', 'pgwire'],
  ['/api/v1/query/', 'pgwire'],
  ['/api/v1/usage', 'pgwire'],
  ['/api/v1/metrics', 'metrics'],
  ['/api/v1/glossary', 'semantic-layer'],
  ['/api/v1/semantics/', 'semantic-layer'],
  ['/api/v1/xmla/', 'xmla'],
  ['/api/v1/transform/', 'transform'],
  ['/api/v1/tables/', 'transform'],
  // The trigger of a check.
  ['/v1/webhooks/alpha', undefined],
  ['/webhooks/', undefined],
  ['/admin', undefined],
  ['/api/v1/session', undefined],
  ['/api/v1/administration', undefined],
  ['/api/v1/retention', undefined],
  ['/api/v1/holds', undefined],
  ['/api/v1/workload-trusts', undefined],
  ['/api/v1/token-issuers', undefined],
  ['/api/v1/openapi.json', undefined],
  ['/', undefined],
  ['/version', undefined],
  ['/healthz', undefined],
  ['/readyz', undefined],
  ['/login', undefined],
  ['/logout', undefined],
  ['/logged-out', undefined],
  ['/callback', undefined],
  ['/oauth/', undefined],
  ['/.well-known/', undefined],
]

let service: IdentityService
let routes: readonly { readonly method: string; readonly path: string }[]
let everything: string
beforeAll(async () => {
  service = await startIdentityService()
  routes = service.app.routes.list().map(({ method, path }) => ({
    method: method === 'ALL' ? 'POST' : method,
    path: path.replaceAll(/:\w+|\*/g, 'x'),
  }))
  const scopes = ['commit', 'read', 'lineage', 'admin'] as const
  everything = await session(service, service.owner.tenant, scopes, ['administrator', 'steward'])
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const partOf = (path: string) => parts.find(([start]) => path.startsWith(start))
const commercial = (path: string) => {
  const capability = partOf(path)?.[1]
  return capability === undefined || isCommunity(capability) ? undefined : capability
}

async function answers(secret: string | undefined) {
  return await Promise.all(
    routes.map(async ({ method, path }) => {
      const body = method === 'GET' ? undefined : '{}'
      const response = await call(service, method, path, { secret, body })
      return { route: `${method} ${path}`, path, status: response.status, text: await response.text() }
    }),
  )
}

describe('without a license every route', () => {
  test('is of a capability that this test knows', () => {
    expect(routes.filter(({ path }) => partOf(path) === undefined)).toEqual([])
    expect(parts.filter(([start]) => !routes.some(({ path }) => path.startsWith(start)))).toEqual([])
    expect(routes.filter(({ path }) => commercial(path)).length).toBe(91)
  })

  test('of a commercial capability says that it needs one, and no other route does', async () => {
    for (const { route, path, status, text } of await answers(everything)) {
      const capability = commercial(path)
      const refused = text.includes(notLicensedType)
      expect({ route, refused }).toEqual({ route, refused: capability !== undefined })
      if (capability === undefined) continue
      expect({ route, status, answer: JSON.parse(text) }).toEqual({
        route,
        status: 403,
        answer: {
          error: {
            message: `The capability \`${capability}\` needs a license, and none is installed.`,
            type: notLicensedType,
            code: 403,
          },
        },
      })
    }
  })

  test('says nothing of it to whom it would refuse anyway', async () => {
    const narrow = await session(service, service.owner.tenant, [], ['administrator', 'steward'])
    for (const [secret, status] of [
      [undefined, 401],
      ['svc_none', 401],
      [narrow, 403],
    ] as const)
      for (const answer of await answers(secret)) {
        expect(answer.text).not.toContain(notLicensedType)
        if (commercial(answer.path)) expect([answer.route, answer.status]).toEqual([answer.route, status])
      }
  })
})
