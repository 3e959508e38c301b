/** Runs the gateway in a process of its own: the whole service on an empty store, prepared by orders over IPC. */

import { isIP } from 'node:net'
import { startApp } from '../src/app.ts'
import { parseConfig } from '../src/config.ts'
import type { TenantId } from '../src/core/tenant.ts'
import { countIntents } from '../src/store/commit/commit-intents.ts'
import { suspendTenant } from '../src/store/tenant/tenants.ts'
import { createLogger } from '../src/telemetry/log.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { openBenchStore } from './bench-store.ts'
import { type Opened, obeyParent } from './child.ts'
import type { BenchStore } from './entry.ts'
import { type Governed, type PreparedTenant, prepareTenant } from './prepare-tenant.ts'
import type { UpstreamAddress } from './upstream.ts'

/** The orders of the parent. Each gets one result, in order. */
export type GatewayOrder =
  | { readonly kind: 'open'; readonly store: BenchStore; readonly upstream: UpstreamAddress }
  /** Makes a tenant for a case. */
  | ({ readonly kind: 'prepare' } & Governed)
  /** Reports what is recorded for the tenant of the case, and what this process has used so far. */
  | { readonly kind: 'report'; readonly tenant: TenantId }
  /** Ends a case: detection would otherwise scan its remaining snapshots during the next case. */
  | { readonly kind: 'suspend'; readonly tenant: TenantId }
  /** Collects all garbage. */
  | { readonly kind: 'collect' }

export interface GatewayResults {
  readonly open: {
    readonly url: string
    readonly engine: string
    readonly databaseUrl: string | undefined
  }
  readonly prepare: PreparedTenant
  readonly report: {
    readonly approved: number
    readonly openIntents: number
    readonly cpuMs: number
    readonly rssBytes: number
  }
  readonly suspend: boolean
  /** The part of the JavaScript heap that is in use after the collection. */
  readonly collect: { readonly liveBytes: number }
}

type Result = GatewayResults[keyof GatewayResults]
type Serve = (order: GatewayOrder) => Promise<Result>

/** Traces where the environment of the benchmark names a receiver, so that its cost can be measured. */
function tracingSettings(): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_')))
}

async function open(order: GatewayOrder & { kind: 'open' }): Promise<Opened<GatewayOrder>> {
  const opened = await openBenchStore(order.store)
  const { store } = opened
  const { hostname } = new URL(order.upstream.endpoint)
  const host = hostname.replace(/^\[|\]$/g, '')
  const app = await startApp({
    config: parseConfig({
      SVC_LISTEN_ADDR: '127.0.0.1:0',
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      SVC_XMLA_ADDR: '127.0.0.1:0',
      UV_THREADPOOL_SIZE: '16',
      SVC_UPSTREAM_ALLOW: isIP(host) === 0 ? host : `${host}/${isIP(host) === 4 ? 32 : 128}`,
      ...tracingSettings(),
    }),
    store,
    metrics: createMetrics(),
    // Every line is formatted as in production, but not written.
    log: createLogger({ level: 'info', destination: { write: () => {} } }),
  })
  const serve: Serve = async (next) => {
    switch (next.kind) {
      case 'open':
        throw new Error('the gateway is open already')
      case 'prepare':
        return await prepareTenant(store, order.upstream, next)
      case 'report': {
        const [row] = await store.tenantQuery<{ approved: string }>(
          next.tenant,
          `select count(*) as approved from svc.audit_log where decision = 'APPROVED'`,
        )
        const { user, system } = process.cpuUsage()
        const { open: openIntents } = await countIntents(store)
        const rssBytes = process.memoryUsage.rss()
        const approved = Number(row?.approved)
        return { approved, openIntents, cpuMs: (user + system) / 1000, rssBytes }
      }
      case 'suspend':
        return await suspendTenant(store, next.tenant)
      case 'collect': {
        Bun.gc(true)
        return { liveBytes: process.memoryUsage().heapUsed }
      }
    }
  }
  const close = async () => {
    await app.stop()
    await opened[Symbol.asyncDispose]()
  }
  return {
    result: { url: app.url.href, engine: opened.engine, databaseUrl: opened.databaseUrl },
    serve,
    close,
  }
}

if (import.meta.main) obeyParent<GatewayOrder>(open)
