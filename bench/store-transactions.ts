/**
 * Measures the four store transactions of one commit alone, one at a time: no HTTP, no upstream, no evaluation. Of
 * several tenants each commits in its turn.
 */

import { timeOrderedId } from '../src/base/time-ordered-id.ts'
import { appliedPolicy, type CommitIntent } from '../src/core/commit.ts'
import { putCatalogCredential } from '../src/store/catalog-credential/catalog-credentials.ts'
import { openIntent } from '../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../src/store/commit/verdicts.ts'
import { loadWriteGovernance, putPolicy } from '../src/store/policy/policies.ts'
import { createServiceSession, findServiceSession } from '../src/store/session/sessions.ts'
import type { Store } from '../src/store/store.ts'
import { createTenant } from '../src/store/tenant/tenants.ts'
import { committedTable } from '../src/wire/iceberg/table-metadata.ts'
import { openBenchStore } from './bench-store.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { enforcedPolicies } from './sample-policies.ts'
import { Appends, sampleMetadata, tableSizes } from './sample-table.ts'
import { percentile } from './statistics.ts'
import { rounded } from './table.ts'

const table = { namespace: ['bench'], name: 'orders' }
const policyCount = 10
const nickname = 'main'

export const storeTransactions: BenchEntry = {
  name: 'store-transactions',
  about: 'the store transactions of one commit, bare',
  options: {
    ...storeOptions,
    tenants: { type: 'string', value: 'N', about: 'tenants that commit in turn (default 1)' },
  },
  run,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const rounds = run.smoke ? 3 : run.full ? 2_000 : 300
  const tenants = run.flags.number('tenants', 1, 10_000) ?? 1
  for (const kind of chosenStores(run)) {
    await using opened = await openBenchStore(kind)
    const committers: Committer[] = []
    for (let made = 0; made < tenants; made++) committers.push(await openCommitter(opened.store))
    const times = new Map<string, number[]>()
    // At first a connection knows nothing of a tenant, and plans each statement.
    for (const one of committers) await one.commit(async (_, work) => await work())
    for (let round = 0; round < rounds; round++)
      await committers[round % tenants]?.commit(async (name, work) => {
        const startMs = performance.now()
        const result = await work()
        const taken = times.get(name) ?? []
        times.set(name, taken)
        taken.push(performance.now() - startMs)
        return result
      })
    for (const [transaction, taken] of times)
      yield {
        bench: 'store-transactions',
        case: { store: opened.engine, transaction, tenants, policies: policyCount, ...tableSizes.small },
        figures: { p50_ms: rounded(percentile(taken, 0.5)), p95_ms: rounded(percentile(taken, 0.95)) },
      }
  }
}

type Timed = <T>(name: string, work: () => Promise<T>) => Promise<T>

interface Committer {
  /** Runs the gateway's transactions of one commit, in order. */
  commit(timed: Timed): Promise<void>
}

/** Makes a tenant that commits to one table. */
async function openCommitter(store: Store): Promise<Committer> {
  const { id: tenant } = await createTenant(store, { name: 'bench' })
  const principal = { sub: 'spark@example.com', roles: [] }
  const { secret } = await createServiceSession(store, tenant, {
    name: 'bench',
    principal,
    scopes: ['commit'],
  })
  const endpoint = 'https://catalog.example.com'
  const config = { endpoint, warehouse: 'bench', credential: 'bench:secret' }
  await putCatalogCredential(store, tenant, { nickname, kind: 'alpha', endpoint, config })
  for (const policy of enforcedPolicies(policyCount, 0)) await putPolicy(store, tenant, table, policy)
  const applied = (await loadWriteGovernance(store, tenant, table)).policies.map(appliedPolicy)

  const appends = new Appends(tableSizes.small)
  const metadata = sampleMetadata(appends, Date.now())
  const first = committedTable({ metadataLocation: metadataLocation(0), metadata })
  let version = 0
  return {
    async commit(timed) {
      const session = await timed('find-session', () => findServiceSession(store, secret, nickname))
      await timed('load-policies', () => loadWriteGovernance(store, tenant, table))
      const body = Buffer.from(appends.next(Date.now()))
      const intent: CommitIntent = {
        commitId: timeOrderedId(),
        table,
        credentialId: session?.registered?.credential?.id ?? '',
        principal,
        principalSource: 'auth_header',
        bodySha256: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
        body: Bun.zstdCompressSync(body),
        baseMetadataLocation: metadataLocation(version),
        snapshotIds: [],
        receivedAtMs: Date.now(),
      }
      await timed('open-intent', () => openIntent(store, tenant, intent))
      version += 1
      const verdict = { decision: 'APPROVED', reason: '', policies: applied, outcomes: [] } as const
      const committed = { ...first, metadataLocation: metadataLocation(version) }
      const recorded = await timed('record-verdict', () =>
        recordVerdict(store, tenant, { intent, ...verdict, committed }),
      )
      if (!recorded.recorded || !recorded.ingested) throw new Error('a verdict was not recorded as a whole')
    },
  }
}

const metadataLocation = (version: number) => `s3://bench/orders/metadata/${version}.metadata.json`
