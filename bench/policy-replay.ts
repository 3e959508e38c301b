/**
 * Measures replays: a draft policy, and the policies of then, against stored commits of one table, each based on a
 * metadata file of its own in a local folder. It judges as the service does, in the worker of replays.
 */

import { link, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { zstdCompressSync } from 'node:zlib'
import { pino } from 'pino'
import { ByteBudget } from '../src/base/byte-budget.ts'
import { systemClock } from '../src/base/clock.ts'
import { stringifyJson } from '../src/base/json.ts'
import { RightOfWay } from '../src/base/right-of-way.ts'
import { addressRules } from '../src/catalog/address.ts'
import { OpenCatalogs } from '../src/catalog/open-catalog.ts'
import type { ReplayDraft } from '../src/core/policy-replay.ts'
import { tableKey } from '../src/core/table-ref.ts'
import type { TenantId } from '../src/core/tenant.ts'
import { advanceReplays, type ReplayParts, replayWorker } from '../src/gateway/replay/advance-replays.ts'
import { tableAccess } from '../src/storage/vended-access.ts'
import {
  findCatalogCredential,
  putCatalogCredential,
} from '../src/store/catalog-credential/catalog-credentials.ts'
import { findReplay, startReplay } from '../src/store/commit/replays.ts'
import { nodeId } from '../src/store/database/names.ts'
import type { Store } from '../src/store/store.ts'
import { createTenant } from '../src/store/tenant/tenants.ts'
import { actorOf } from '../test/support/actor.ts'
import { openBenchStore } from './bench-store.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { enforcedPolicies, writerRole } from './sample-policies.ts'
import { Appends, sampleMetadata } from './sample-table.ts'
import { rounded } from './table.ts'

const table = { namespace: ['bench'], name: 'orders' }
const size = { columns: 50, snapshots: 100 }
const boundSeconds = 60
const dayMs = 24 * 60 * 60 * 1000

export const policyReplay: BenchEntry = {
  name: 'policy-replay',
  about: 'stored commits, judged again by a draft and by the policies of then',
  options: {
    ...storeOptions,
    commits: {
      type: 'string',
      value: 'N',
      about: 'stored commits, each with a file of its own (default 10000)',
    },
  },
  run,
  conclude(results) {
    const failed = results.some(({ verdict }) => verdict === 'fail')
    return { line: `policy-replay: under ${boundSeconds} s: ${failed ? 'MISSED' : 'kept'}`, failed }
  },
}

async function* run(given: BenchRun): AsyncGenerator<BenchResult> {
  const { smoke, flags } = given
  const commits = flags.number('commits', 1, 10_000) ?? (smoke ? 40 : 10_000)
  for (const kind of chosenStores(given)) {
    await using opened = await openBenchStore(kind)
    const folder = await mkdtemp(join(tmpdir(), 'covenant-replay-'))
    const worker = replayWorker()
    try {
      const { store } = opened
      const tenant = await writeCommits(store, folder, commits)
      const parts = partsOf(store, worker)
      const draft: ReplayDraft = {
        ...{ kind: 'write_acl', name: 'draft', message: '', scope: table },
        definitionCel: `principal.role(principal, "${writerRole}") && commit.updates.all(u, u.action != "drop-table")`,
      }
      for (const [by, wanted] of [
        ['draft', { draft, commits }],
        ['policies of then', { commits }],
      ] as const) {
        const startMs = performance.now()
        // What policies say of a table without a contract is told to stewards alone.
        const steward = { ...actorOf('bench'), roles: ['steward'] }
        const { id } = await startReplay(store, tenant, wanted, steward)
        await advanceReplays(parts, new AbortController().signal)
        const seconds = (performance.now() - startMs) / 1000
        const replay = await findReplay(store, tenant, id)
        const expected = by === 'draft' ? 'allowed' : 'confirmed'
        if (replay?.counts[expected] !== commits)
          throw new Error(`${by}: ${JSON.stringify(replay)} instead of ${commits} ${expected}`)
        yield {
          bench: 'policy-replay',
          case: { by, store: opened.engine, commits, ...size },
          figures: {
            seconds: rounded(seconds),
            commits_per_s: rounded(commits / seconds),
            rss_mb: rounded(process.memoryUsage.rss() / 2 ** 20),
          },
          ...(commits === 10_000 && { verdict: seconds < boundSeconds ? 'pass' : 'fail' }),
        }
      }
    } finally {
      worker.close()
      await rm(folder, { recursive: true })
    }
  }
}

function partsOf(store: Store, worker: ReplayParts['replayWorker']): ReplayParts {
  const rules = addressRules({ cidrs: [], hosts: [] })
  const budget = new ByteBudget({ bytesMax: 2 ** 30, keptForSmall: 0, smallBytesMax: 0 })
  const catalogs = new OpenCatalogs({ addressRules: rules, budget })
  return {
    ...{ store, budget, replayWorker: worker, clock: systemClock, log: pino({ level: 'silent' }) },
    tableAccess: tableAccess({ catalogs, addressRules: rules }),
    commits: new RightOfWay({ quietMs: 0, waitMsMax: 0 }),
  }
}

/** Writes the audit of appends, all alike but for their files, which are links to one. */
async function writeCommits(store: Store, folder: string, commits: number): Promise<TenantId> {
  const nowMs = Date.now() - dayMs
  const appends = new Appends(size)
  const metadata = join(folder, 'metadata.json')
  await Bun.write(metadata, stringifyJson(sampleMetadata(appends, nowMs)))
  const root = pathToFileURL(folder).href
  const { id: tenant } = await createTenant(store, { name: 'bench' })
  // Nobody asks this catalog for anything: files are read from the folder.
  const endpoint = 'http://127.0.0.1:1'
  const config = { endpoint, warehouse: 'bench', storage_roots: [root] }
  await putCatalogCredential(store, tenant, { nickname: 'bench', kind: 'alpha', endpoint, config })
  const credential = await findCatalogCredential(store, tenant, 'bench')
  for (let index = 0; index < commits; index++) await link(metadata, join(folder, `${index}.json`))
  const policies = enforcedPolicies(6, 7 * dayMs).map(({ name: _, message: __, ...policy }) => policy)
  const outcomes = policies
    .filter(({ kind }) => kind !== 'retention')
    .map(({ id }) => ({ policyId: id, name: id, mode: 'enforce', value: true }))
  await store.tenantQuery(
    tenant,
    `insert into svc.audit_log (tenant_id, commit_id, committer, decision, reason, principal_source, principal, table_id,
       namespace, table_name, credential_id, body_sha256, body, base_metadata_location, metadata_location, policies,
       outcomes, received_at)
     select $1, gen_random_uuid(), 'spark', 'APPROVED', '', 'session', $2::text::jsonb, $3, $4::text::jsonb, $5,
       $6::text::uuid, '', $7::bytea, $8 || '/' || n || '.json', $8 || '/made-' || n || '.json', $9::text::jsonb,
       $10::text::jsonb, now() - interval '1 day'
     from generate_series(0, $11::int - 1) n`,
    [
      tenant,
      JSON.stringify({ sub: 'spark', roles: [writerRole] }),
      nodeId(tableKey(table)),
      JSON.stringify(table.namespace),
      table.name,
      credential?.id ?? null,
      zstdCompressSync(appends.next(nowMs)),
      root,
      JSON.stringify(policies),
      JSON.stringify(outcomes),
      commits,
    ],
  )
  return tenant
}
