/** Both sides of a move: an embedded store that holds something of every kind, and empty databases of the test server. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { TenantId } from '../../src/core/tenant.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { embeddedBackend } from '../../src/store/database/embedded.ts'
import { edgeLabels, vertexLabels } from '../../src/store/database/names.ts'
import { upsertEdge, upsertNode } from '../../src/store/graph/graph.ts'
import { assertSecretsKey } from '../../src/store/keys/secrets-key.ts'
import { recordUsage } from '../../src/store/query/usage.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { openStore } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { seedAccess } from './access-rows.ts'
import { seedChecks } from './check-rows.ts'
import { approvedOf, intentOf } from './commits.ts'
import { seedContractVersion } from './contract-versions.ts'
import { seedDetection } from './detection-rows.ts'
import { seedSemantics } from './semantics.ts'
import { tenantTemplate, testStoreOptions } from './store.ts'
import { seedTerritory } from './territory.ts'
import { seedTransform } from './transform-rows.ts'
import { usageRecord } from './usage.ts'
import { seedWebhook } from './webhooks.ts'

interface EmbeddedSide extends Disposable {
  /** What SVC_DATA_DIR names. */
  readonly dataDir: string
  /** The folder `store` in it. */
  readonly dataDirectory: string
  readonly tenants: readonly [TenantId, TenantId]
}

/** An embedded store of two tenants that is closed, with `copies` more records of usage and of the audit. */
export async function fillEmbedded(copies: number): Promise<EmbeddedSide> {
  const dataDir = mkdtempSync(join(tmpdir(), 'covenant-move-'))
  const dataDirectory = join(dataDir, 'store')
  const { path, tenant } = await tenantTemplate()
  const store = await openStore({ ...testStoreOptions, dataDirectory, template: path })
  await assertSecretsKey(store)
  const { id: other } = await createTenant(store, { name: 'globex' })
  // First, because it takes what waits for detection, of any tenant.
  await seedDetection(store, tenant)
  for (const one of [tenant, other]) {
    await store.tenantTransaction(one, async (tx) => {
      for (const label of vertexLabels)
        await upsertNode(tx, one, {
          label,
          id: `seed ${label}`,
          properties: { text: 'ä "x" \\ \n', count: 1 },
        })
      const end = { label: 'Table', id: 'seed Table' } as const
      for (const label of edgeLabels)
        await upsertEdge(tx, one, { label, id: `seed ${label}`, from: end, to: end })
    })
    await putCatalogCredential(store, one, {
      ...{ kind: 'alpha', nickname: 'seed', endpoint: 'https://catalog.example' },
      config: { secret: 'x' },
    })
    await createServiceSession(store, one, {
      name: 'seed',
      principal: { sub: 'seed', roles: [] },
      scopes: [],
    })
    await recordVerdict(store, one, approvedOf(intentOf()))
    await recordUsage(store, one, usageRecord())
    for (const seed of [
      seedAccess,
      seedChecks,
      seedContractVersion,
      seedSemantics,
      seedTerritory,
      seedTransform,
      seedWebhook,
    ])
      await seed(store, one)
  }
  await store.close()
  await copyHistory(dataDirectory, copies)
  return {
    dataDir,
    dataDirectory,
    tenants: [tenant, other],
    [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }),
  }
}

/** Writes records of usage and of the audit many times more, with keys of their own. */
async function copyHistory(dataDirectory: string, copies: number): Promise<void> {
  await onEmbedded(dataDirectory, async (sql) => {
    // The rows are made first, because a function whose result is spread out runs once for each column.
    for (const [table, key, number, time] of [
      ['query_usage', 'query_id', 'usage_seq', 'started_at'],
      ['audit_log', 'commit_id', 'audit_seq', 'received_at'],
    ] as const)
      await sql.unsafe(`insert into svc.${table} select made.* from (
          select t.row || jsonb_build_object('${key}', gen_random_uuid(), '${number}', nextval('svc.${table}_number'), '${time}', now()) as row
          from (select to_jsonb(u) as row from svc.${table} u limit 1) t, generate_series(1, ${copies}) offset 0) copied,
        lateral jsonb_populate_record(null::svc.${table}, copied.row) made`)
  })
}

/** Runs statements on a closed embedded store, as a superuser. */
export async function onEmbedded<Result>(
  dataDirectory: string,
  work: (sql: postgres.Sql) => Promise<Result>,
): Promise<Result> {
  const engine = await embeddedBackend({ dataDirectory, statementMs: 600_000, mayBeMoved: true })
  const link = await engine.open('connecting')
  try {
    return await work(link.sql)
  } finally {
    await link.close()
    await engine.close()
  }
}

interface EmptyDatabase extends AsyncDisposable {
  readonly databaseUrl: string
  run<Row extends object>(text: string): Promise<readonly Row[]>
}

/** A database of the server that SVC_TEST_DATABASE_URL names. @param as its owner, who is no superuser */
export async function emptyDatabase(as?: string): Promise<EmptyDatabase> {
  const server = process.env.SVC_TEST_DATABASE_URL ?? ''
  const name = `covenant_move_${crypto.randomUUID().replaceAll('-', '')}`
  const administer = async (text: string) => {
    const sql = postgres(server, { max: 1, onnotice: () => {} })
    await sql.unsafe(text).simple()
    await sql.end()
  }
  await administer(`create database ${name}${as === undefined ? '' : ` owner ${as}`}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const databaseUrl = url.href
  return {
    databaseUrl,
    async run<Row extends object>(text: string) {
      const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
      try {
        return (await sql.unsafe(text)) as unknown as readonly Row[]
      } finally {
        await sql.end()
      }
    },
    [Symbol.asyncDispose]: () => administer(`drop database ${name} with (force)`),
  }
}
