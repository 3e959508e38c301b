/**
 * The routes of SCIM 2.0 below `/scim/v2` (docs/reference/identity.md 11). The tenant is that of the session, which
 * needs the scope `scim` and the role `owner`, because who provisions groups may give any role.
 */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import type { Admit } from '../../auth/admit.ts'
import { tenantContext } from '../../auth/guard.ts'
import type { Store } from '../../store/store.ts'
import type { IdentityMetrics } from '../../telemetry/identity-metrics.ts'
import { scimFault } from '../../wire/scim/scim-fault.ts'
import { resourceTypes, schemas, serviceProviderConfig } from './discovery.ts'
import { groupKind, type ResourceKind, type ScimRequest, userKind } from './resources.ts'
import { readListQuery, readScimBody, readSearch, respondScim } from './respond.ts'

interface ScimParts {
  readonly store: Store
  readonly admit: Admit
  readonly log: Logger
  readonly metrics: Pick<IdentityMetrics, 'scimRequests'>
  readonly publicUrl: () => URL
}

const access = { scope: 'scim', roles: ['owner'] } as const
const root = '/scim/v2'

interface Given extends ScimRequest {
  /** The `{id}` of the path. */
  readonly id: string
  readonly body: () => Promise<unknown>
}

/** Every route of SCIM. */
export function scimRoutes({ store, admit, log, metrics, publicUrl }: ScimParts) {
  const app = new Elysia({ name: 'scim' })
  const route = (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    resource: string,
    run: (given: Given) => Promise<Response> | Response,
  ) =>
    app.route(
      method,
      `${root}${path}`,
      ({ request, params }) => {
        const onStatus = (status: number) =>
          metrics.scimRequests.inc({ resource, method, status: String(status) })
        return respondScim(log, onStatus, async () => {
          const again = () => admit(request, access)
          const caller = await again()
          const session = tenantContext(caller?.session)
          if (caller === undefined) throw scimFault(404, 'There is no such route.')
          return await run({
            ...{ store, tenant: session.tenant, caller, request },
            root: new URL(root, publicUrl()).href,
            id: (params as Readonly<Record<string, string>> | undefined)?.id ?? '',
            body: () => readScimBody(request, again),
          })
        })
      },
      { parse: 'none', detail: { hide: true } },
    )
  const resources = (path: string, kind: ResourceKind) => {
    const { name } = kind.schema
    route('POST', path, name, async (given) => await kind.create(given, await given.body()))
    route('GET', path, name, (given) => kind.list(given, readListQuery(kind.schema, given.request)))
    route('POST', `${path}/.search`, name, async (given) =>
      kind.list(given, readSearch(kind.schema, await given.body())),
    )
    route('GET', `${path}/:id`, name, (given) => kind.read(given, given.id))
    route('PUT', `${path}/:id`, name, async (given) => kind.replace(given, given.id, await given.body()))
    route('PATCH', `${path}/:id`, name, async (given) => kind.patch(given, given.id, await given.body()))
    route('DELETE', `${path}/:id`, name, (given) => kind.remove(given, given.id))
  }
  resources('/Users', userKind)
  resources('/Groups', groupKind)
  route('GET', '/ServiceProviderConfig', 'discovery', (given) => serviceProviderConfig(given.root))
  route('GET', '/ResourceTypes', 'discovery', (given) => resourceTypes(given.root))
  route('GET', '/ResourceTypes/:id', 'discovery', (given) => resourceTypes(given.root, given.id))
  route('GET', '/Schemas', 'discovery', (given) => schemas(given.root))
  route('GET', '/Schemas/:id', 'discovery', (given) => schemas(given.root, given.id))
  const unsupported = (what: string) => () => {
    throw scimFault(501, `${what} is not supported.`)
  }
  route('POST', '/Bulk', 'unsupported', unsupported('Bulk'))
  route('POST', '/.search', 'unsupported', unsupported('A search over all kinds of resources'))
  route('GET', '/Me', 'unsupported', unsupported('/Me'))
  return app
}
