/**
 * A service in a process of its own, which dies by SIGKILL where it is told to. Takes its orders from the
 * variable CRASH_CHILD, prints one line when it is ready, and settles open intents when asked to.
 */

import { startApp } from '../../src/app.ts'
import { parseConfig } from '../../src/config.ts'
import { newTenantId, type TenantId } from '../../src/core/tenant.ts'
import type { CrashPoint } from '../../src/gateway/crash-points.ts'
import { recoverIntents } from '../../src/gateway/recovery/recover-intents.ts'
import { listAudit } from '../../src/store/audit.ts'
import { countIntents } from '../../src/store/commit-intents.ts'
import { putPolicy } from '../../src/store/policies.ts'
import { openStore } from '../../src/store/store.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { addTenant, orders as ordersTable, type TestTenant } from './service.ts'
import { testSecretsKey } from './store.ts'

export interface CrashChildOrders {
  readonly databaseUrl?: string
  readonly dataDirectory?: string
  readonly template?: string
  /** Set on the first start: makes the tenant, with a policy that denies commits of the property `forbidden`. */
  readonly catalogUrl?: string
  readonly crashAt?: CrashPoint
  /** The how manieth pass of that point it is; 1 where absent. */
  readonly crashAtPass?: number
  /** Settles what a predecessor left, prints what is on record for this tenant, and ends. */
  readonly settle?: TenantId
}

export interface CrashChildReady {
  readonly url: string
  readonly owner?: TestTenant
}

export interface CrashChildReport {
  readonly undecided: number
  /** Metadata locations of APPROVED audit rows. */
  readonly approved: readonly string[]
  readonly rejected: number
  /** Commit ids by edge label, of the edges at the table. */
  readonly edges: Readonly<Record<'INTENDED_WRITE' | 'ACTUAL_WRITE', readonly string[]>>
  readonly approvedCommits: readonly string[]
  readonly rejectedCommits: readonly string[]
  /** Actions of APPROVED audit rows, oldest first. */
  readonly actions: readonly string[]
}

/** Milliseconds for which a dead predecessor's intents are left alone. */
const leaseMs = 300
const settleTriesMax = 100

async function main(orders: CrashChildOrders): Promise<void> {
  const store = await openStore({ ...orders, secretsKey: testSecretsKey, migrate: true, onNotice: () => {} })
  const owner =
    orders.catalogUrl === undefined ? undefined : await addTenant(store, 'acme', orders.catalogUrl)
  if (owner !== undefined)
    await putPolicy(store, owner.tenant, ordersTable, {
      id: 'no-forbidden',
      kind: 'schema',
      mode: 'enforce',
      name: 'no-forbidden',
      message: '',
      definitionCel: '!("forbidden" in commit.result.properties)',
    })
  let passesLeft = orders.crashAtPass ?? 1
  const app = await startApp({
    config: parseConfig({
      SVC_LISTEN_ADDR: '127.0.0.1:0',
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      UV_THREADPOOL_SIZE: '16',
      SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
    }),
    store,
    metrics: createMetrics(),
    log: createLogger({ level: 'silent' }),
    intentTimes: { leaseMs, upstreamMs: 0 },
    settleWaitsMs: [0, 20],
    passCrashPoint: (point) => {
      if (point === orders.crashAt && --passesLeft === 0) process.kill(process.pid, 'SIGKILL')
    },
  })
  if (orders.settle === undefined) {
    console.log(JSON.stringify({ url: app.url.href, ...(owner && { owner }) } satisfies CrashChildReady))
    return
  }
  for (let tries = 0; tries < settleTriesMax && (await countIntents(store)).open > 0; tries++) {
    await Bun.sleep(leaseMs / 3)
    await recoverIntents(app.gateway)
  }
  const rows = []
  let after: string | undefined
  do {
    const page = await listAudit(store, orders.settle, { limit: 1000, ...(after && { after }) })
    rows.push(...page.items)
    after = page.next
  } while (after !== undefined)
  const edgesOf = async (label: 'INTENDED_WRITE' | 'ACTUAL_WRITE') => {
    const near = await store.tenantQuery<{ id: string }>(
      orders.settle ?? newTenantId(),
      `select agtype_access_operator(variadic array[e.properties, '"id"'::agtype])::text as id from "${label}" e`,
    )
    return near.map((row) => row.id)
  }
  console.log(
    JSON.stringify({
      undecided: (await countIntents(store)).open,
      approved: rows.flatMap((row) => (row.decision === 'APPROVED' ? [row.metadataLocation ?? ''] : [])),
      rejected: rows.filter((row) => row.decision === 'REJECTED').length,
      approvedCommits: rows.filter((row) => row.decision === 'APPROVED').map((row) => row.commitId),
      actions: rows
        .filter((row) => row.decision === 'APPROVED')
        .map((row) => row.action)
        .toReversed(),
      rejectedCommits: rows.filter((row) => row.decision === 'REJECTED').map((row) => row.commitId),
      edges: { INTENDED_WRITE: await edgesOf('INTENDED_WRITE'), ACTUAL_WRITE: await edgesOf('ACTUAL_WRITE') },
    } satisfies CrashChildReport),
  )
  await app.stop()
  await store.close()
  process.exit(0)
}

if (import.meta.main) await main(JSON.parse(process.env.CRASH_CHILD ?? '{}') as CrashChildOrders)
