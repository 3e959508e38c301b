/**
 * Lists what each route demands, apart from the declarations, so that no declaration proves itself. Add a new route by
 * hand, from its requirements and not from its declaration.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type SessionScope, sessionScopes } from '../../src/core/session.ts'
import { call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'

setDefaultTimeout(300_000)

/** `open`; `internal`: a session of the internal admin organization; else a scope, and after it the roles of which one is needed. */
const access: Readonly<Record<string, string>> = {
  'GET /healthz': 'open',
  'GET /readyz': 'open',
  'GET /login': 'open',
  'GET /callback': 'open',
  'GET /api/v1/openapi.json': 'open',
  'GET /.well-known/oauth-protected-resource': 'open',
  'GET /.well-known/oauth-protected-resource/mcp': 'open',
  'GET /.well-known/oauth-authorization-server': 'open',
  'GET /oauth/authorize': 'open',
  'POST /oauth/token': 'open',
  // These check a signature, or the browser's cookie.
  'POST /logout': 'itself',
  'POST /oauth/consent': 'itself',
  'POST /webhooks/identity-provider': 'itself',
  'POST /webhooks/billing': 'itself',
  'POST /v1/webhooks/alpha': 'itself',
  'GET /admin/license': 'internal',
  'GET /admin/tenants': 'internal',
  'POST /admin/tenants': 'internal',
  'GET /admin/tenants/:tenant': 'internal',
  'POST /admin/tenants/:tenant/suspend': 'internal',
  'POST /admin/tenants/:tenant/resume': 'internal',
  'GET /admin/tenants/:tenant/catalogs': 'internal',
  'PUT /admin/tenants/:tenant/catalogs/:nickname': 'internal',
  'PATCH /admin/tenants/:tenant/catalogs/:nickname': 'internal',
  'DELETE /admin/tenants/:tenant/catalogs/:nickname': 'internal',
  'GET /admin/tenants/:tenant/administration': 'internal',
  'GET /admin/tenants/:tenant/sessions': 'internal',
  'POST /admin/tenants/:tenant/sessions': 'internal',
  'DELETE /admin/tenants/:tenant/sessions/:session': 'internal',
  'GET /admin/intents': 'internal',
  'GET /admin/tenants/:tenant/policies': 'internal',
  'GET /admin/tenants/:tenant/policies/:id': 'internal',
  'PUT /admin/tenants/:tenant/policies/:id': 'internal',
  'GET /admin/tenants/:tenant/policies/:id/history': 'internal',
  'POST /admin/tenants/:tenant/policies/check': 'internal',
  'POST /admin/tenants/:tenant/policies/:id/unbind': 'internal',
  'POST /admin/tenants/:tenant/policy-replays': 'internal',
  'GET /admin/tenants/:tenant/policy-replays': 'internal',
  'GET /admin/tenants/:tenant/policy-replays/:id': 'internal',
  'POST /admin/tenants/:tenant/policy-replays/:id/cancel': 'internal',
  'GET /admin/tenants/:tenant/policy-replays/:id/findings': 'internal',
  'GET /admin/tenants/:tenant/policy-replays/:id/summary': 'internal',
  'DELETE /admin/tenants/:tenant/policies/:id': 'internal',
  'GET /admin/tenants/:tenant/decisions': 'internal',
  'GET /admin/tenants/:tenant/decisions/:id': 'internal',
  'GET /admin/tenants/:tenant/decisions/export': 'internal',
  'GET /admin/tenants/:tenant/intents': 'internal',
  'GET /admin/tenants/:tenant/intents/:commit_id': 'internal',
  'POST /admin/tenants/:tenant/intents/:commit_id/settle': 'internal',
  'GET /admin/tenants/:tenant/refusals': 'internal',
  'GET /admin/tenants/:tenant/credentials/out': 'internal',
  'GET /admin/tenants/:tenant/credentials/staged': 'internal',
  'POST /admin/tenants/:tenant/credentials/denials': 'internal',
  'GET /admin/tenants/:tenant/reconciliation-sources': 'internal',
  'PUT /admin/tenants/:tenant/reconciliation-sources/:name': 'internal',
  'DELETE /admin/tenants/:tenant/reconciliation-sources/:name': 'internal',
  'GET /admin/tenants/:tenant/webhooks': 'internal',
  'POST /admin/tenants/:tenant/webhooks': 'internal',
  'GET /admin/tenants/:tenant/webhooks/:webhook': 'internal',
  'PATCH /admin/tenants/:tenant/webhooks/:webhook': 'internal',
  'DELETE /admin/tenants/:tenant/webhooks/:webhook': 'internal',
  'POST /admin/tenants/:tenant/webhooks/:webhook/secrets': 'internal',
  'GET /admin/tenants/:tenant/webhooks/:webhook/deliveries': 'internal',
  'GET /admin/tenants/:tenant/webhooks/:webhook/deliveries/:sequence': 'internal',
  'POST /admin/tenants/:tenant/webhooks/:webhook/replays': 'internal',
  'GET /admin/tenants/:tenant/checks/runs': 'internal',
  'GET /admin/tenants/:tenant/checks/runs/:id': 'internal',
  'POST /admin/tenants/:tenant/checks/runs/:id/cancel': 'internal',
  'POST /admin/tenants/:tenant/checks/runs/:id/resume': 'internal',
  'PUT /admin/tenants/:tenant/credentials/trusted-engines/:session': 'internal',
  'GET /admin/tenants/:tenant/territory': 'internal',
  'GET /admin/tenants/:tenant/territory/prefixes': 'internal',
  'GET /admin/tenants/:tenant/territory/conflicts': 'internal',
  'PUT /admin/tenants/:tenant/territory/mode': 'internal',
  'PUT /admin/tenants/:tenant/territory/manifests': 'internal',
  'GET /admin/tenants/:tenant/territory/quarantine': 'internal',
  'GET /admin/tenants/:tenant/territory/quarantine/:id': 'internal',
  'POST /admin/tenants/:tenant/territory/quarantine/:id/release': 'internal',
  'POST /admin/tenants/:tenant/territory/grants': 'internal',
  'POST /admin/tenants/:tenant/territory/derived': 'internal',
  'POST /admin/tenants/:tenant/territory/derived/revoke': 'internal',
  'POST /admin/tenants/:tenant/territory/releases': 'internal',
  'POST /admin/tenants/:tenant/territory/hand-overs': 'internal',
  'GET /admin/tenants/:tenant/contracts/tables/:namespace/:table/tags': 'internal',
  'GET /admin/tenants/:tenant/contracts/tag-history': 'internal',
  'GET /admin/tenants/:tenant/graph/reach': 'internal',
  'GET /admin/tenants/:tenant/graph/match': 'internal',
  'GET /api/v1/session': 'read',
  'GET /api/v1/sessions': 'admin administrator owner',
  'POST /api/v1/sessions': 'admin administrator owner',
  'DELETE /api/v1/sessions/:session': 'admin administrator owner',
  'GET /api/v1/administration': 'read steward administrator owner',
  'POST /v1/lineage': 'lineage',
  'GET /api/v1/lineage/graph': 'read',
  'GET /api/v1/lineage/runs/:producer/:run_id': 'read',
  'GET /api/v1/lineage/runs/*': 'read',
  'GET /api/v1/usage': 'read',
  'GET /api/v1/usage/totals': 'read',
  'PUT /api/v1/semantics/tables/:namespace/:table': 'admin steward',
  'GET /api/v1/semantics/tables/:namespace/:table': 'read',
  'GET /api/v1/semantics/tables': 'read',
  'PUT /api/v1/glossary/:term': 'admin steward',
  'GET /api/v1/glossary/:term': 'read',
  'GET /api/v1/glossary': 'read',
  'PUT /api/v1/metrics/:metric': 'admin steward',
  'GET /api/v1/metrics/:metric': 'read',
  'GET /api/v1/metrics': 'read',
  'GET /api/v1/metrics/:metric/versions': 'read',
  'POST /api/v1/metrics/:metric/versions/:version/move': 'admin steward',
  'POST /api/v1/metrics/:metric/attestations': 'admin steward',
  'GET /api/v1/metrics/:metric/attestations': 'read',
  'POST /api/v1/metrics/:metric/attestations/:attestation/end': 'admin steward',
  'POST /api/v1/metrics/query': 'read',
  'GET /api/v1/refusals': 'read steward administrator',
  'GET /api/v1/policies': 'read steward administrator owner',
  'GET /api/v1/policies/:id': 'read steward administrator owner',
  'PUT /api/v1/policies/:id': 'admin administrator owner',
  'GET /api/v1/policies/:id/history': 'read steward administrator owner',
  'POST /api/v1/policies/check': 'read steward administrator owner',
  'POST /api/v1/policies/:id/unbind': 'admin administrator owner',
  'POST /api/v1/query/as-seen-by': 'read steward administrator',
  'POST /api/v1/policies/try': 'read steward administrator owner',
  'GET /api/v1/lineage/reads': 'read steward administrator owner',
  'POST /api/v1/policy-replays': 'admin steward administrator owner',
  'GET /api/v1/policy-replays': 'read steward administrator owner',
  'GET /api/v1/policy-replays/:id': 'read steward administrator owner',
  'POST /api/v1/policy-replays/:id/cancel': 'admin steward administrator owner',
  'GET /api/v1/policy-replays/:id/findings': 'read steward administrator owner',
  'GET /api/v1/policy-replays/:id/summary': 'read steward administrator owner',
  'DELETE /api/v1/policies/:id': 'admin administrator owner',
  'GET /api/v1/decisions': 'read steward administrator owner',
  'GET /api/v1/decisions/:id': 'read steward administrator owner',
  'GET /api/v1/decisions/export': 'read steward administrator owner',
  'GET /api/v1/intents': 'read steward administrator owner',
  'GET /api/v1/intents/:commit_id': 'read steward administrator owner',
  'POST /api/v1/intents/:commit_id/settle': 'admin steward administrator',
  'GET /api/v1/credentials/out': 'read administrator owner vending',
  'GET /api/v1/credentials/staged': 'admin administrator owner vending',
  'POST /api/v1/credentials/denials': 'admin administrator owner vending',
  'GET /api/v1/reconciliation-sources': 'read steward administrator owner contracts',
  'PUT /api/v1/reconciliation-sources/:name': 'admin administrator owner contracts',
  'DELETE /api/v1/reconciliation-sources/:name': 'admin administrator owner contracts',
  'POST /api/v1/checks/reconciliations': 'admin steward contracts',
  'POST /api/v1/checks/runs/:id/differences': 'admin steward contracts',
  'GET /api/v1/webhooks': 'read administrator owner contracts',
  'POST /api/v1/webhooks': 'admin administrator owner contracts',
  'GET /api/v1/webhooks/:webhook': 'read administrator owner contracts',
  'PATCH /api/v1/webhooks/:webhook': 'admin administrator owner contracts',
  'DELETE /api/v1/webhooks/:webhook': 'admin administrator owner contracts',
  'POST /api/v1/webhooks/:webhook/secrets': 'admin administrator owner contracts',
  'GET /api/v1/webhooks/:webhook/deliveries': 'read administrator owner contracts',
  'GET /api/v1/webhooks/:webhook/deliveries/:sequence': 'read administrator owner contracts',
  'POST /api/v1/webhooks/:webhook/replays': 'admin administrator owner contracts',
  'PUT /api/v1/credentials/trusted-engines/:session': 'admin administrator owner vending',
  'GET /api/v1/territory': 'read steward administrator owner',
  'GET /api/v1/territory/prefixes': 'read steward administrator owner',
  'GET /api/v1/territory/conflicts': 'read steward administrator owner',
  'PUT /api/v1/territory/mode': 'admin administrator owner',
  'PUT /api/v1/territory/manifests': 'admin administrator owner',
  'GET /api/v1/territory/quarantine': 'read steward administrator owner',
  'GET /api/v1/territory/quarantine/:id': 'read steward administrator owner',
  'POST /api/v1/territory/quarantine/:id/release': 'admin steward administrator',
  'POST /api/v1/territory/derived': 'admin steward administrator',
  'POST /api/v1/territory/derived/revoke': 'admin steward administrator',
  'POST /api/v1/territory/grants': 'admin steward administrator',
  'POST /api/v1/territory/releases': 'admin administrator owner',
  'POST /api/v1/territory/hand-overs': 'admin administrator owner',
  'GET /graphql': 'read',
  'POST /graphql': 'read',
  'GET /api/v1/graphql/operations': 'read administrator owner',
  'POST /api/v1/graphql/operations': 'admin administrator owner',
  'DELETE /api/v1/graphql/operations/:sha256': 'admin administrator owner',
  'GET /api/v1/graphql/settings': 'read administrator owner',
  'PUT /api/v1/graphql/settings': 'admin administrator owner',
  'POST /api/v1/query/explain': 'read',
  'POST /api/v1/graph/query': 'read',
  'GET /api/v1/detection/runs': 'read',
  'GET /api/v1/detection/runs/:id': 'read',
  'GET /api/v1/detection/findings': 'read',
  'POST /api/v1/detection/findings/:id/decisions': 'admin',
  'POST /api/v1/detection/rescans': 'admin',
  'GET /api/v1/contracts/settings': 'read steward administrator',
  'PUT /api/v1/contracts/settings': 'admin steward administrator',
  'GET /api/v1/contracts/changes': 'read steward administrator',
  'GET /api/v1/contracts/document-extension': 'read',
  'GET /api/v1/contracts/documents': 'read steward administrator',
  'POST /api/v1/contracts/proposals': 'admin',
  'GET /api/v1/contracts/documents/:id': 'read steward administrator',
  'PUT /api/v1/contracts/documents/:id': 'admin steward',
  'PATCH /api/v1/contracts/documents/:id': 'admin steward',
  'DELETE /api/v1/contracts/documents/:id': 'admin steward',
  'POST /api/v1/contracts/documents/:id/compare': 'read steward administrator',
  'POST /api/v1/contracts/documents/:id/versions': 'admin',
  'GET /api/v1/contracts/documents/:id/versions': 'read steward administrator',
  'GET /api/v1/contracts/documents/:id/versions/:number': 'read steward administrator',
  'GET /api/v1/contracts/documents/:id/versions/:number/document': 'read steward administrator',
  'POST /api/v1/contracts/documents/:id/versions/:number/moves': 'admin',
  'POST /api/v1/contracts/documents/:id/versions/:number/sign-offs': 'admin steward administrator',
  'GET /api/v1/contracts/documents/:id/moves': 'read steward administrator',
  'GET /api/v1/checks/runs': 'read',
  'GET /api/v1/checks/runs/:id': 'read',
  'POST /api/v1/checks/runs': 'admin steward',
  'POST /api/v1/checks/runs/:id/cancel': 'admin steward',
  'POST /api/v1/checks/runs/:id/resume': 'admin steward',
  'GET /api/v1/checks/results': 'read',
  'GET /api/v1/contracts/life-cycle-settings': 'read steward administrator',
  'PUT /api/v1/contracts/life-cycle-settings': 'admin steward administrator',
  'GET /api/v1/contracts/tables': 'read',
  'GET /api/v1/contracts/tables/:namespace/:table': 'read',
  'PUT /api/v1/contracts/tables/:namespace/:table': 'admin steward',
  'DELETE /api/v1/contracts/tables/:namespace/:table': 'admin steward',
  'GET /api/v1/contracts/tables/:namespace/:table/pins': 'read',
  'POST /api/v1/contracts/tables/:namespace/:table/pin': 'admin steward',
  'POST /api/v1/contracts/tables/:namespace/:table/unpin': 'admin steward',
  'PUT /api/v1/contracts/tables/:namespace/:table/row-filters/:id': 'admin steward',
  'DELETE /api/v1/contracts/tables/:namespace/:table/row-filters/:id': 'admin steward',
  'PUT /api/v1/contracts/tables/:namespace/:table/columns/:column/row-filters/:id': 'admin steward',
  'DELETE /api/v1/contracts/tables/:namespace/:table/columns/:column/row-filters/:id': 'admin steward',
  'PUT /api/v1/contracts/tables/:namespace/:table/columns/:column/masks/:id': 'admin steward',
  'DELETE /api/v1/contracts/tables/:namespace/:table/columns/:column/masks/:id': 'admin steward',
  'GET /api/v1/contracts/tag-history': 'read steward administrator',
  'GET /api/v1/contracts/tables/:namespace/:table/tags': 'read steward administrator',
  'PUT /api/v1/contracts/tables/:namespace/:table/tags/:tag': 'admin steward',
  'DELETE /api/v1/contracts/tables/:namespace/:table/tags/:tag': 'admin steward',
  'PUT /api/v1/contracts/tables/:namespace/:table/columns/:column/tags/:tag': 'admin steward',
  'DELETE /api/v1/contracts/tables/:namespace/:table/columns/:column/tags/:tag': 'admin steward',
  'PUT /api/v1/contracts/tags/:tag/row-filters/:id': 'admin steward',
  'DELETE /api/v1/contracts/tags/:tag/row-filters/:id': 'admin steward',
  'PUT /api/v1/contracts/tags/:tag/masks/:id': 'admin steward',
  'DELETE /api/v1/contracts/tags/:tag/masks/:id': 'admin steward',
}

interface Who {
  readonly scope: SessionScope
  readonly role: string
  readonly secret: string
}

let service: IdentityService
const everyone: Who[] = []
beforeAll(async () => {
  // Licensed for everything, so that no refusal is the license's.
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  for (const scope of sessionScopes)
    for (const role of ['none', 'steward', 'administrator', 'owner'])
      everyone.push({ scope, role, secret: await session(service, service.owner.tenant, [scope], [role]) })
})
afterAll(() => service[Symbol.asyncDispose]())

test('the list holds every route but those of the Iceberg surfaces and what is no route', () => {
  const routes = service.app.routes
    .list()
    .flatMap(({ method, path }) => (method === 'ALL' ? [] : [`${method} ${path}`]))
  expect(Object.keys(access).toSorted()).toEqual(routes.toSorted())
})

test.each(Object.entries(access))('%s demands: %s', async (route, demanded) => {
  const [method = '', path = ''] = route.split(' ')
  const target = path.replaceAll(/:\w+|\*/g, 'x')
  const lets = async (secret: string | undefined) => {
    const body = method === 'GET' ? undefined : '{"unknown":1}'
    const { status } = await call(service, method, target, { secret, body })
    return status !== 401 && status !== 403
  }
  if (demanded === 'itself') return
  expect(await lets(undefined)).toBe(demanded === 'open')
  if (demanded === 'open') return
  expect(await lets(service.operator)).toBe(
    demanded === 'internal' || demanded === 'read' || demanded === 'admin',
  )
  const [scope, ...roles] = demanded.split(' ')
  const admitted: string[] = []
  for (const who of everyone) if (await lets(who.secret)) admitted.push(`${who.scope} ${who.role}`)
  const expected = everyone.filter(
    (who) => who.scope === scope && (roles.length === 0 || roles.includes(who.role)),
  )
  expect(admitted).toEqual(expected.map((who) => `${who.scope} ${who.role}`))
})
