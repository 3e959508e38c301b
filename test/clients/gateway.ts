/** Starts the service before a real catalog: an embedded store, two tenants, policies by table. */

import { UnsecuredJWT } from 'jose'
import { type App, startApp } from '../../src/app.ts'
import type { Clock } from '../../src/base/clock.ts'
import { parseConfig } from '../../src/config.ts'
import type { AuditEntry } from '../../src/core/audit-entry.ts'
import type { CatalogKind } from '../../src/core/catalog-kinds.ts'
import type { Policy } from '../../src/core/policy.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { recoverIntents } from '../../src/gateway/recovery/recover-intents.ts'
import { limits } from '../../src/limits.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { listDecisions } from '../../src/store/commit/decision-list.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { observeTerritory } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

export interface Upstream {
  readonly kind: CatalogKind
  readonly url: string
  readonly config?: Readonly<Record<string, unknown>>
}

export interface Gateway extends AsyncDisposable {
  readonly app: App
  /** What recovery does once the leases of all intents are over. */
  recover(): ReturnType<typeof recoverIntents>
  readonly store: TestStore
  readonly tenant: TenantId
  /** Of a session with the scopes `commit` and `read`. */
  readonly sessionId: string
  readonly secret: string
  /** Registers a further catalog. */
  register(prefix: string, upstream: Upstream): Promise<void>
  /** What a client sets as its catalog URI for a prefix. */
  catalogUri(prefix?: string): string
  govern(table: TableRef, policy: Pick<Policy, 'id' | 'definitionCel'> & Partial<Policy>): Promise<void>
  /** Sends a single-table commit to the literal path of docs/reference/gateway.md 1.1. */
  commit(table: TableRef, body: string, options?: CommitOptions): Promise<Response>
  /** Decisions on a table, newest first. */
  audit(table: TableRef): Promise<readonly AuditEntry[]>
  /** How many changes carried an Idempotency-Key. */
  keyedChanges(): Promise<number>
}

export interface CommitOptions {
  readonly prefix?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface GatewayOptions {
  /** The service's, where it differs from the machine's. */
  readonly clock?: Clock
  /** Whether territory is only observed, for commits that name manifest lists which do not exist. */
  readonly observe?: true
}

/** Starts the service with the upstream under the prefix `main`. */
export async function startGateway(upstream: Upstream, options: GatewayOptions = {}): Promise<Gateway> {
  const store = await openTestStore()
  const { id: tenant } = await createTenant(store, { name: 'acme' })
  if (options.observe) await observeTerritory(store, tenant)
  const { id: sessionId, secret } = await createServiceSession(store, tenant, {
    name: 'clients',
    principal: { sub: 'clients', roles: [] },
    scopes: ['commit', 'read'],
  })
  const register = async (prefix: string, { kind, url, config }: Upstream) =>
    void (await putCatalogCredential(store, tenant, {
      nickname: prefix,
      kind,
      endpoint: url,
      config: { endpoint: url, ...config },
    }))
  await register('main', upstream)

  const app = await startApp({
    config: parseConfig({
      SVC_LISTEN_ADDR: '127.0.0.1:0',
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      SVC_XMLA_ADDR: '127.0.0.1:0',
      UV_THREADPOOL_SIZE: '16',
      SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
    }),
    store,
    metrics: createMetrics(),
    log: createLogger({ level: 'silent' }),
    ...(options.clock && { clock: options.clock }),
    // Intents end by `recover`, not under the job that looks for them meanwhile.
    jobsByTime: false,
    intentTimes: { leaseMs: limits.intentLeaseMs, upstreamMs: 0 },
  })
  return {
    app,
    async recover() {
      await store.adminQuery(`update svc.commit_intent set lease_until = '-infinity'`)
      return await recoverIntents(app.gateway)
    },
    store,
    tenant,
    sessionId,
    secret,
    register,
    catalogUri: (prefix = 'main') => new URL(`/v1/iceberg/${prefix}`, app.url).href,
    govern: (table, policy) =>
      putPolicy(store, tenant, table, {
        kind: 'schema',
        mode: 'enforce',
        name: policy.id,
        message: '',
        ...policy,
      }),
    commit: (table, body, { prefix = 'main', headers = {} } = {}) =>
      fetch(
        new URL(
          `/v1/iceberg/${prefix}/namespaces/${table.namespace.join('%1F')}/tables/${table.name}`,
          app.url,
        ),
        {
          method: 'POST',
          body,
          headers: {
            'content-type': 'application/json',
            'x-svc-session': secret,
            authorization: `Bearer ${new UnsecuredJWT({ sub: 'spark' }).encode()}`,
            ...headers,
          },
        },
      ),
    audit: async (table) => (await listDecisions(store, tenant, { table, limit: 1000 })).items,
    async keyedChanges() {
      const text = 'select count(*)::int as count from svc.idempotency_key where tenant_id = $1'
      return (await store.tenantQuery<{ count: number }>(tenant, text, [tenant]))[0]?.count ?? 0
    },
    async [Symbol.asyncDispose]() {
      await app.stop()
      await store[Symbol.asyncDispose]()
    },
  }
}
