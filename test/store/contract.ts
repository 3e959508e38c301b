/** What every backend of the store must do, with a foreign tenant always present. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Fault, type FaultKind } from '../../src/base/fault.ts'
import type { SealedCatalogCredential } from '../../src/core/catalog.ts'
import type { CommitIntent, CommittedTable } from '../../src/core/commit.ts'
import type { PolicyKind } from '../../src/core/policy.ts'
import { type TableRef, tableKey } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import {
  findCatalogCredential,
  findCatalogCredentialById,
  listCatalogCredentials,
  listCatalogKinds,
  openCredential,
  putCatalogCredential,
  removeCatalogCredential,
  rotateCatalogCredential,
} from '../../src/store/catalog-credential/catalog-credentials.ts'
import { findAudit } from '../../src/store/commit/audit.ts'
import { beginCommit, type ReturningSession } from '../../src/store/commit/begin-commit.ts'
import {
  claimStaleIntents,
  closeIntent,
  countIntents,
  endLease,
  intentsOnTable,
  intentTimes,
  loadIntentBody,
  openIntent,
  openIntentsOnTable,
} from '../../src/store/commit/commit-intents.ts'
import { listDecisions } from '../../src/store/commit/decision-list.ts'
import { listRefusals, recordUnjudged } from '../../src/store/commit/refusals.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { edgeLabels, graphName, nodeId, schemaName, vertexLabels } from '../../src/store/database/names.ts'
import { cypher } from '../../src/store/graph/cypher.ts'
import { deleteEdge, deleteNode, traverse, upsertEdge, upsertNode } from '../../src/store/graph/graph.ts'
import { setHold } from '../../src/store/history/holds.ts'
import { reconcileTenant, withReplicaLock } from '../../src/store/jobs/reconcile.ts'
import {
  deletePolicy,
  listPolicies,
  loadWriteGovernance,
  putPolicy,
  readWriteGovernance,
} from '../../src/store/policy/policies.ts'
import { policiesAtIntent } from '../../src/store/policy/policy-history.ts'
import {
  createServiceSession,
  findServiceSession,
  findServiceSessionById,
  listServiceSessions,
  revokeServiceSession,
  serviceSecretDigest,
} from '../../src/store/session/sessions.ts'
import {
  createTenant,
  findTenantByOrganization,
  getTenant,
  listTenants,
  resumeTenant,
  suspendTenant,
} from '../../src/store/tenant/tenants.ts'
import { actorOf } from '../support/actor.ts'
import { approvedOf, committedOf, intentOf, rejectedOf, unjudgedOf } from '../support/commits.ts'
import { policyOf, seedTenant } from '../support/seeded-tenant.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { findProperties, loadPolicies } from '../support/store-reads.ts'

// Making a tenant's 52 label tables takes seconds on a busy machine.
setDefaultTimeout(300_000)

let store: TestStore
let home: TenantId
let foreign: TenantId

async function faultOf(work: Promise<unknown>): Promise<FaultKind | 'none'> {
  return work.then(
    () => 'none' as const,
    (error: Fault) => error.kind,
  )
}

async function count(tenant: TenantId, from: string): Promise<number> {
  const [row] = await store.tenantQuery<{ n: string }>(tenant, `select count(*) as n from ${from}`)
  return Number(row?.n)
}

const newTenant = async (name: string) => (await createTenant(store, { name })).id

export function storeContract(engine: 'embedded' | 'postgres'): void {
  describe(`store on ${engine}`, () => {
    beforeAll(async () => {
      store = await openTestStore()
      home = await newTenant('home')
      foreign = await newTenant('foreign')
      // The first run of all prepares the template.
    }, 300_000)
    afterAll(() => store?.[Symbol.asyncDispose]())

    test('runs on the engine that was asked for and is healthy', async () => {
      expect(store.backend).toBe(engine)
      expect(await store.healthy()).toBe(true)
      await store.checkWrites()
    })

    describe('transactions', transactions)
    describe('isolation', isolation)
    describe('tenants', tenants)
    describe('service sessions', sessions)
    describe('catalog credentials', credentials)
    describe('policies', policies)
    describe('commit intents', intents)
    describe('verdicts', verdicts)
    describe('audit log', audit)
    describe('refusals', refusals)
    describe('graph', graph)
    describe('cypher', cypherQueries)
    describe('reconciliation', reconciliation)
  })
}

function transactions(): void {
  const principals = async (tenant: TenantId) => count(tenant, '"Principal"')
  const add = (tenant: TenantId, id: string) => ({ label: 'Principal' as const, id, properties: { tenant } })

  test('commits what its work wrote', async () => {
    const before = await principals(home)
    await store.tenantTransaction(home, (tx) => upsertNode(tx, home, add(home, 'committed')))
    expect(await principals(home)).toBe(before + 1)
  })

  test('keeps nothing of work that throws', async () => {
    const before = await principals(home)
    const work = store.tenantTransaction(home, async (tx) => {
      await upsertNode(tx, home, add(home, 'thrown away'))
      throw new Error('no')
    })
    expect(await work.catch((error: Error) => error.message)).toBe('no')
    expect(await principals(home)).toBe(before)
  })

  test('refuses to call a transaction committed that had failed before', async () => {
    const work = store.tenantTransaction(home, async (tx) => {
      await upsertNode(tx, home, add(home, 'swallowed'))
      await tx.query('select 1/0').catch(() => {})
    })
    expect(await faultOf(work)).toBe('internal')
    expect(
      await store.tenantTransaction(home, (tx) => findProperties(tx, add(home, 'swallowed'))),
    ).toBeUndefined()
  })

  test('throws where another transaction is opened inside one, and not after it', async () => {
    const nested = store.tenantTransaction(home, () => principals(foreign))
    expect(await faultOf(nested)).toBe('internal')
    let later: Promise<number> | undefined
    const ended = Promise.withResolvers<void>()
    await store.tenantTransaction(home, async () => {
      later = ended.promise.then(() => principals(home))
    })
    ended.resolve()
    expect(await later).toBeGreaterThan(0)
  })

  test('leaves no setting, role or lock to the next transaction', async () => {
    await store.tenantTransaction(home, (tx) =>
      tx.query(
        `select set_config('app.tenant_id', $1, false), set_config('work_mem', '77MB', false),
        pg_advisory_lock(4711)`,
        [foreign],
      ),
    )
    const [state] = await store.tenantQuery<Record<string, string>>(
      home,
      `select current_setting('app.tenant_id') as tenant, current_setting('work_mem') as work_mem, current_user as role,
         (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks`,
    )
    expect({ ...state }).toMatchObject({ tenant: home, role: 'svc_tenant', locks: '0' })
    expect(state?.work_mem).not.toBe('77MB')
  })

  test('waits for the log at a commit unless the transaction may be lost, and the next one waits again', async () => {
    const setting = async (options?: { readonly mayBeLost: boolean }) => {
      const text = `select current_setting('synchronous_commit') as value`
      const [row] = await store.tenantQuery<{ value: string }>(home, text, [], options)
      return row?.value
    }
    const usual = await setting()
    expect(usual).not.toBe('off')
    expect(await setting({ mayBeLost: true })).toBe('off')
    expect(await setting()).toBe(usual)
  })

  test('refuses a statement after its transaction', async () => {
    const tx = await store.tenantTransaction(home, async (inner) => inner)
    expect(await faultOf(tx.query('select 1'))).toBe('internal')
  })

  test('refuses what is no tenant id', async () => {
    for (const bad of ['', 'x', `${home}'; drop table svc.tenant --`, undefined, home.toUpperCase()])
      expect(await faultOf(store.tenantTransaction(bad as TenantId, async () => {}))).toBe(
        'tenant_context_missing',
      )
  })

  test('refuses to write in a read-only transaction', async () => {
    const work = store.tenantTransaction(home, (tx) => upsertNode(tx, home, add(home, 'r')), {
      readOnly: true,
    })
    expect(await faultOf(work)).toBe('internal')
  })

  test('an aborted signal ends the wait, rolls back, and the store goes on', async () => {
    const controller = new AbortController()
    const work = store.tenantTransaction(
      home,
      async (tx) => {
        await upsertNode(tx, home, add(home, 'aborted'))
        controller.abort(new Error('gone'))
        await tx.query('select 1')
      },
      { signal: controller.signal },
    )
    expect(await work.catch((error: Error) => error.message)).toBe('gone')
    expect(
      await store.tenantTransaction(home, (tx) => findProperties(tx, add(home, 'aborted'))),
    ).toBeUndefined()
    expect(await faultOf(store.tenantQuery(home, 'select 1', [], { signal: AbortSignal.abort() }))).not.toBe(
      'none',
    )
  })

  test('runs requests of two tenants at once without mixing them', async () => {
    const seen = await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        const tenant = index % 2 === 0 ? home : foreign
        return store
          .tenantQuery<{ t: string }>(
            tenant,
            'select tenant_id::text as t from svc.tenant where $1::int > -1',
            [index],
          )
          .then((rows) => rows.length === 1 && rows[0]?.t === tenant)
      }),
    )
    expect(seen).not.toContain(false)
  })

  test('a call without a tenant is refused', async () => {
    expect(await faultOf(store.tenantCall('' as TenantId, 'load_policies', ['t']))).toBe(
      'tenant_context_missing',
    )
  })

  test('errors carry no parameter and no row', async () => {
    const secret = 'svc_hush'
    const work = store.tenantQuery(home, 'select $1::text::int', [secret])
    const fault = await work.then(
      () => undefined,
      (error: Fault) => error,
    )
    expect(fault?.kind).toBe('internal')
    const cause = fault?.cause as Error & { parameters?: unknown }
    expect(cause.parameters).toBeUndefined()
    expect(JSON.stringify(Object.getOwnPropertyNames(cause))).not.toContain('query')
    expect(fault?.publicMessage).not.toContain(secret)
  })
}

/** Every relation of the service and of both tenants that holds rows. */
async function relations(): Promise<readonly { schema: string; name: string }[]> {
  const own = [home, foreign].flatMap((tenant) => [schemaName(tenant), graphName(tenant)])
  return store.tenantQuery<{ schema: string; name: string }>(
    home,
    `select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'm') and (n.nspname = 'svc' or n.nspname = any (string_to_array($1, ',')))
     order by 1, 2`,
    [own.join(',')],
  )
}

/** All that `tenant` reads of a relation, as JSON texts; undefined where it may not read it at all. */
async function read(
  tenant: TenantId,
  schema: string,
  name: string,
  context = true,
): Promise<string[] | undefined> {
  const columns = await store.tenantQuery<{ column: string }>(
    tenant,
    `select a.attname as column from pg_attribute a where a.attrelid = to_regclass($1)
       and a.attnum > 0 and has_column_privilege(a.attrelid, a.attnum, 'select')`,
    [`"${schema}"."${name}"`],
  )
  if (columns.length === 0) return undefined
  const list = columns.map(({ column }) => `r."${column}"::text`).join(', ')
  return store.tenantTransaction(tenant, async (tx) => {
    if (!context) await tx.query(`select set_config('app.tenant_id', '', true)`)
    const rows = await tx.query<{ row: string }>(
      `select concat_ws('|', ${list}) as row from "${schema}"."${name}" r`,
    )
    return rows.map(({ row }) => row)
  })
}

/** Tables of svc that a tenant may not read at all. */
const notForTenants = new Set([
  'migration',
  'secrets_key_check',
  'derivation_root',
  'key_record',
  'signing_key',
  'used_once',
  'provider_event',
  'job_gauge',
  'write_probe',
  'month_partition',
  'ended_login',
  'retention_default',
  'tenant_removal',
])
/** Tables of a tenant's own schema whose rows do not repeat whose they are. */
const withoutTenantId = new Set(['audit_leaf'])
/** Nobody is granted a partition: its table is read. */
const isPartition = (name: string) => /^(?:query_usage|audit_log)_/.test(name)

function isolation(): void {
  beforeAll(async () => {
    for (const tenant of [home, foreign]) {
      await seedTenant(store, tenant)
      await setHold(store, tenant, { table: undefined, reason: 'seed' }, actorOf('seed'))
    }
  })

  test('a tenant reads rows of its own only, in every table and label, with no predicate', async () => {
    const all = await relations()
    expect(all.length).toBeGreaterThanOrEqual(2 * (vertexLabels.length + edgeLabels.length + 2) + 6)
    for (const { schema, name } of all) {
      const rows = await read(home, schema, name)
      if (schema === graphName(foreign) || schema === schemaName(foreign)) expect(rows ?? []).toEqual([])
      else if (notForTenants.has(name) || isPartition(name)) expect(rows).toBeUndefined()
      else {
        const unseeded = rows?.length === 0 ? `seed a row of ${name} above, for both tenants` : ''
        expect(unseeded).toBe('')
        expect({ name, foreign: rows?.some((row) => row.includes(foreign)) }).toEqual({
          name,
          foreign: false,
        })
        if (!withoutTenantId.has(name))
          expect({ name, own: rows?.every((row) => row.includes(home)) }).toEqual({ name, own: true })
      }
    }
  })

  test('no tenant reads nothing, in every table and label', async () => {
    for (const { schema, name } of await relations())
      expect({ name, rows: (await read(home, schema, name, false)) ?? [] }).toEqual({ name, rows: [] })
  })

  test('every table is under forced row-level security, or not granted at all', async () => {
    const open = await store.tenantQuery<{ name: string }>(
      home,
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and (n.nspname = 'svc' or n.nspname ~ '^[gt]_') and not (c.relrowsecurity and c.relforcerowsecurity)
         and has_table_privilege(c.oid, 'select, insert, update, delete')`,
    )
    expect(open.map(({ name }) => name)).toEqual([])
  })

  test('cypher sees no node of a foreign graph, labelled or not', async () => {
    const ask = (tenant: TenantId, graph: TenantId, pattern: string) =>
      store.tenantQuery<{ n: string }>(
        tenant,
        `select n from cypher('${graphName(graph)}', $$ match ${pattern} return n $$) as (n agtype)`,
        [],
        { prepare: false },
      )
    for (const pattern of ['(n)', '(n:Table)', '()-[n]->()', '(:Table)-[n:GOVERNS]->(:Table)']) {
      expect((await ask(home, home, pattern)).length).toBeGreaterThan(0)
      expect(await ask(home, foreign, pattern)).toHaveLength(0)
    }
  })

  test('a tenant cannot write into a foreign graph or under a foreign tenant id', async () => {
    const attempts = [
      `insert into ${graphName(foreign)}."Tag" (properties) values ('{"id": "x", "tenant_id": "${foreign}"}')`,
      `insert into ${graphName(foreign)}."Tag" (properties) values ('{"id": "x", "tenant_id": "${home}"}')`,
      `insert into "Tag" (properties) values ('{"id": "x", "tenant_id": "${foreign}"}')`,
      `insert into "Tag" (properties) values ('{"id": "x"}')`,
      `insert into "Tag" (properties) values ('{"tenant_id": "${home}"}')`,
      `insert into svc.breach (tenant_id, kind, subject, detail) values ('${foreign}', 'x', '', '{}')`,
      `insert into svc.catalog_credential select * from svc.catalog_credential`,
      `update svc.catalog_credential set endpoint = 'https://evil.example'`,
      `delete from svc.catalog_credential`,
      `update svc.tenant set state = 'active'`,
      `update svc.service_session set expires_at = null`,
      `select secret_sha256 from svc.service_session`,
    ]
    for (const attempt of attempts)
      expect({ attempt, fault: await faultOf(store.tenantQuery(home, attempt)) }).toEqual({
        attempt,
        // The second is what a session says that lacks a privilege.
        fault: expect.stringMatching(/^(?:internal|unavailable)$/),
      })
  })

  test('a change with no predicate leaves foreign rows alone', async () => {
    const before = await count(foreign, '"Tag"')
    await store
      .tenantTransaction(home, async (tx) => {
        expect(await tx.query(`delete from ${graphName(foreign)}."Tag" returning 1`)).toHaveLength(0)
        expect((await tx.query('delete from svc.commit_intent returning 1')).length).toBeGreaterThan(0)
        throw new Error('undo')
      })
      .catch(() => {})
    expect(await count(foreign, '"Tag"')).toBe(before)
    expect(await count(foreign, 'svc.commit_intent')).toBeGreaterThan(0)
  })
}

function tenants(): void {
  test('makes a tenant with its schema, its graph and every label', async () => {
    const labels = await store.tenantQuery<{ name: string; kind: string }>(
      home,
      `select l.name::text as name, l.kind::text as kind from ag_label l join ag_graph g on g.graphid = l.graph
       where g.name::text = $1 and l.name::text !~ '^_'`,
      [graphName(home)],
    )
    const named = (kind: string) =>
      labels
        .filter((label) => label.kind === kind)
        .map(({ name }) => name)
        .sort()
    expect(named('v')).toEqual([...vertexLabels].sort())
    expect(named('e')).toEqual([...edgeLabels].sort())
    expect([vertexLabels.length, edgeLabels.length]).toEqual([23, 30])
  })

  test('finds a tenant by id and by organization, and no other by them', async () => {
    const made = await createTenant(store, { name: 'Org', organizationId: 'org_Abc1' })
    expect(await getTenant(store, made.id)).toEqual(made)
    expect(await findTenantByOrganization(store, 'org_Abc1')).toEqual(made)
    expect(await findTenantByOrganization(store, 'org_Abc2')).toBeUndefined()
    expect(await findTenantByOrganization(store, "org_' or true --")).toBeUndefined()
  })

  test('refuses a second tenant of one organization, and leaves nothing of it', async () => {
    await createTenant(store, { name: 'One', organizationId: 'org_Twice' })
    const before = (await listTenants(store, { limit: 1000 })).items.length
    expect(await faultOf(createTenant(store, { name: 'Two', organizationId: 'org_Twice' }))).toBe('conflict')
    expect((await listTenants(store, { limit: 1000 })).items.length).toBe(before)
  })

  test('refuses a bad organization id and an empty name', async () => {
    expect(await faultOf(createTenant(store, { name: 'x', organizationId: 'org-1' }))).toBe('bad_request')
    expect(await faultOf(createTenant(store, { name: ' ' }))).toBe('bad_request')
  })

  test('is admitted by the number of all tenants, and no two are made into the room of one', async () => {
    const count = async () => (await listTenants(store, { limit: 1000 })).items.length
    const before = await count()
    const admit = (there: number) => {
      if (there > before) throw new Fault('forbidden', 'full')
    }
    const made = await Promise.all(
      ['a', 'b', 'c'].map((name) => faultOf(createTenant(store, { name }, admit))),
    )
    expect(made.filter((outcome) => outcome === 'forbidden')).toHaveLength(2)
    expect(await count()).toBe(before + 1)
  })

  test('lists tenants page by page, each once', async () => {
    const all = (await listTenants(store, { limit: 1000 })).items.map(({ id }) => id)
    const paged: string[] = []
    for (let after: string | undefined, page = 0; page <= all.length; page++) {
      const { items, next } = await listTenants(store, { limit: 1, ...(after !== undefined && { after }) })
      paged.push(...items.map(({ id }) => id))
      if (next === undefined) break
      after = next
    }
    expect(paged).toEqual(all)
    expect(await faultOf(listTenants(store, { after: 'x' }))).toBe('bad_request')
    expect(await faultOf(listTenants(store, { limit: 0 }))).toBe('bad_request')
  })
}

function sessions(): void {
  const principal = { sub: 'spark', email: 'spark@example.com', roles: ['etl', 'ops'] }
  const make = (tenant: TenantId, expiresAt?: Date) =>
    createServiceSession(store, tenant, { name: 'engine', principal, scopes: ['commit'], expiresAt })

  test('a secret stands for its tenant and principal', async () => {
    const { id, secret } = await make(home)
    expect(secret).toMatch(/^svc_[A-Za-z0-9_-]{43}$/)
    expect(await findServiceSession(store, secret)).toMatchObject({
      sessionId: id,
      kind: 'service',
      tenant: home,
      organizationId: undefined,
      principal,
      scopes: ['commit'],
    })
  })

  test('a {prefix} goes along: what its own tenant has registered there, or that it has nothing', async () => {
    const { id, secret } = await make(home)
    const credential = (endpoint: string) => ({
      nickname: 'along',
      kind: 'alpha' as const,
      endpoint,
      config: { warehouse: 'w', credential: 'a:hush' },
    })
    await putCatalogCredential(store, foreign, credential('https://foreign.example'))
    const registered = async () => (await findServiceSession(store, secret, 'along'))?.registered
    expect(await registered()).toMatchObject({ prefix: 'along', credential: undefined })
    await putCatalogCredential(store, home, credential('https://home.example'))
    const found = (await registered())?.credential
    expect(JSON.stringify(found)).not.toContain('hush')
    expect(found && openCredential(store, home, found)).toEqual(
      await findCatalogCredential(store, home, 'along'),
    )
    expect((await findServiceSessionById(store, id, 'along'))?.registered?.credential).toEqual(found)
    expect(await faultOf(openThere(foreign, found))).toBe('misconfigured')
    await removeCatalogCredential(store, home, 'along')
    expect(await registered()).toMatchObject({ prefix: 'along', credential: undefined })
    await removeCatalogCredential(store, foreign, 'along')
  })

  const openThere = async (tenant: TenantId, sealed: SealedCatalogCredential | undefined) =>
    sealed && openCredential(store, tenant, sealed)

  test('an organization goes along where the tenant has one', async () => {
    const { id } = await createTenant(store, { name: 'o', organizationId: 'org_Session' })
    const { secret } = await make(id)
    expect((await findServiceSession(store, secret))?.organizationId).toBe('org_Session')
  })

  test('an unknown, altered, expired or revoked secret stands for nobody', async () => {
    const { id, secret } = await make(home)
    const { secret: expired } = await make(home, new Date(Date.now() - 1000))
    for (const bad of [
      '',
      'svc_',
      `${secret}x`,
      secret.toUpperCase(),
      `svc_${'A'.repeat(43)}`,
      expired,
      'x'.repeat(1e5),
      '\0',
    ])
      expect(await findServiceSession(store, bad)).toBeUndefined()
    expect(await revokeServiceSession(store, home, id)).toBe(true)
    expect(await findServiceSession(store, secret)).toBeUndefined()
    expect(await revokeServiceSession(store, home, id)).toBe(false)
  })

  test('a suspended tenant has no sessions until it is resumed', async () => {
    const tenant = await newTenant('suspended')
    const { secret } = await make(tenant)
    expect(await suspendTenant(store, tenant)).toBe(true)
    expect(await findServiceSession(store, secret)).toBeUndefined()
    expect(await resumeTenant(store, tenant)).toBe(true)
    expect((await findServiceSession(store, secret))?.tenant).toBe(tenant)
  })

  test('a foreign tenant neither lists nor revokes a session', async () => {
    const { id, secret } = await make(home)
    expect((await listServiceSessions(store, foreign)).items.map((item) => item.id)).not.toContain(id)
    expect(await revokeServiceSession(store, foreign, id)).toBe(false)
    expect(await findServiceSession(store, secret)).toBeDefined()
  })

  test('a listing has every session and no hash', async () => {
    const { id, secret } = await make(home)
    const { items } = await listServiceSessions(store, home)
    const listed = items.find((item) => item.id === id)
    expect(listed).toMatchObject({ name: 'engine', principal, scopes: ['commit'], revokedAt: undefined })
    expect(JSON.stringify(items)).not.toContain(secret)
    expect(JSON.stringify(items)).not.toContain('sha256')
  })

  test('an empty subject or name is refused', async () => {
    const session = { name: 'x', principal: { sub: '', roles: [] }, scopes: [] }
    expect(await faultOf(createServiceSession(store, home, session))).toBe('bad_request')
    expect(await faultOf(createServiceSession(store, home, { ...session, principal, name: '' }))).toBe(
      'bad_request',
    )
  })
}

function credentials(): void {
  const secrets = {
    credential: 'client:hush-1',
    webhook_secret: 'hush-2',
    oauth: { client_secret: 'hush-3' },
    unheard_of: 'hush-4',
  }
  const credentialOf = (nickname: string) => ({
    kind: 'alpha' as const,
    nickname,
    endpoint: 'https://catalog.example/api',
    config: { warehouse: 'wh', ...secrets },
  })

  test('a tenant finds its credential with its secrets, a foreign tenant does not', async () => {
    const { id, version } = await putCatalogCredential(store, home, credentialOf('mine'))
    expect(version).toBe(1)
    const found = { id, version: 1, ...credentialOf('mine') }
    expect(await findCatalogCredential(store, home, 'mine')).toEqual(found)
    expect(await findCatalogCredentialById(store, home, id)).toEqual(found)
    expect(await findCatalogCredential(store, foreign, 'mine')).toBeUndefined()
    expect(await findCatalogCredentialById(store, foreign, id)).toBeUndefined()
  })

  test('two tenants use one nickname without seeing each other', async () => {
    await putCatalogCredential(store, home, { ...credentialOf('shared'), endpoint: 'https://home.example' })
    await putCatalogCredential(store, foreign, {
      ...credentialOf('shared'),
      endpoint: 'https://foreign.example',
    })
    expect((await findCatalogCredential(store, home, 'shared'))?.endpoint).toBe('https://home.example')
    expect(await removeCatalogCredential(store, home, 'shared')).toBe(true)
    expect((await findCatalogCredential(store, foreign, 'shared'))?.endpoint).toBe('https://foreign.example')
    expect(await findCatalogCredential(store, home, 'shared')).toBeUndefined()
    expect(await removeCatalogCredential(store, home, 'shared')).toBe(false)
  })

  test('every change raises the version and keeps the id', async () => {
    const first = await putCatalogCredential(store, home, credentialOf('versioned'))
    const second = await putCatalogCredential(store, home, credentialOf('versioned'))
    expect(second).toEqual({ id: first.id, version: 2 })
    expect(await rotateCatalogCredential(store, home, 'versioned', { webhook_secret: 'new' })).toBe(3)
    const found = await findCatalogCredential(store, home, 'versioned')
    expect(found?.config).toEqual({ warehouse: 'wh', ...secrets, webhook_secret: 'new' })
    expect(await rotateCatalogCredential(store, foreign, 'versioned', {})).toBeUndefined()
  })

  test('a listing shows no secret, nor a field that nobody knows', async () => {
    await putCatalogCredential(store, home, credentialOf('listed'))
    const { items } = await listCatalogCredentials(store, home)
    expect(items.find((item) => item.nickname === 'listed')?.config).toEqual({ warehouse: 'wh' })
    expect(JSON.stringify(items)).not.toContain('hush')
    expect(JSON.stringify(await listCatalogCredentials(store, foreign))).not.toContain('listed')
  })

  test('no table holds a secret in the clear', async () => {
    await putCatalogCredential(store, home, credentialOf('scanned'))
    const { secret } = await createServiceSession(store, home, {
      name: 'scanned',
      principal: { sub: 's', roles: [] },
      scopes: [],
    })
    const tables = (await relations()).filter(({ schema }) => schema === 'svc')
    const needles = ['hush-1', 'hush-2', 'hush-3', 'hush-4', secret, secret.slice(4)]
    for (const { name } of tables) {
      const admin = await store
        .adminQuery<{ row: string }>(`select r::text as row from svc."${name}" r`)
        .catch(() => undefined)
      const rows = admin?.map(({ row }) => row) ?? (await read(home, 'svc', name)) ?? []
      for (const needle of needles) {
        const hex = Buffer.from(needle).toString('hex')
        expect(rows.some((row) => row.includes(needle) || row.includes(hex))).toBe(false)
      }
    }
  })

  test('sealed bytes that were moved to another tenant or nickname do not open', async () => {
    await putCatalogCredential(store, home, credentialOf('source'))
    await putCatalogCredential(store, home, credentialOf('target'))
    await putCatalogCredential(store, foreign, credentialOf('source'))
    const move = `update svc.catalog_credential c set sealed = s.sealed from svc.catalog_credential s
      where s.tenant_id = $1 and s.nickname = 'source' and c.tenant_id = $2 and c.nickname = $3`
    await store.adminQuery(move, [home, home, 'target'])
    await store.adminQuery(move, [home, foreign, 'source'])
    expect(await faultOf(findCatalogCredential(store, home, 'target'))).toBe('misconfigured')
    expect(await faultOf(findCatalogCredential(store, foreign, 'source'))).toBe('misconfigured')
    await removeCatalogCredential(store, home, 'target')
    await removeCatalogCredential(store, foreign, 'source')
  })

  test('a bad nickname, kind or endpoint is refused without repeating it', async () => {
    const bad = [
      { nickname: 'a/b' },
      { nickname: '' },
      { nickname: 'x'.repeat(300) },
      { kind: 'epsilon' as 'alpha' },
      { endpoint: 'ftp://x' },
      { endpoint: 'https://user:hush-5@catalog.example' },
      { endpoint: 'https://catalog.example?token=hush-5' },
      { config: { endpoint: 'https://user:hush-5@catalog.example' } },
    ]
    for (const change of bad) {
      const fault = await putCatalogCredential(store, home, { ...credentialOf('bad'), ...change }).then(
        () => undefined,
        (error: Fault) => error,
      )
      expect({ change, kind: fault?.kind }).toEqual({ change, kind: 'bad_request' })
      expect(fault?.publicMessage).not.toContain('hush')
    }
  })

  test('kinds in use are known at start', async () => {
    await putCatalogCredential(store, foreign, { ...credentialOf('stub'), kind: 'gamma' })
    expect(await listCatalogKinds(store)).toEqual(['alpha', 'gamma'])
    await removeCatalogCredential(store, foreign, 'stub')
  })

  test('there is no credential for a tenant that does not exist', async () => {
    const nobody = crypto.randomUUID() as TenantId
    expect(await faultOf(putCatalogCredential(store, nobody, credentialOf('x')))).toBe('not_found')
  })
}

function policies(): void {
  const table = { namespace: ['pol'], name: 't' }
  const other = { namespace: ['pol'], name: 'u' }

  test('a table has the policies of all three kinds in id order, another table and tenant none', async () => {
    for (const [id, kind] of [
      ['c', 'retention'],
      ['a', 'write_acl'],
      ['b', 'schema'],
    ] as const)
      await putPolicy(store, home, table, policyOf(id, kind))
    expect((await loadPolicies(store, home, table)).map(({ id, kind }) => `${id} ${kind}`)).toEqual([
      'a write_acl',
      'b schema',
      'c retention',
    ])
    expect(await loadPolicies(store, home, other)).toEqual([])
    expect(await loadPolicies(store, foreign, table)).toEqual([])
  })

  test('a policy is returned as last saved', async () => {
    const t = { namespace: ['pol'], name: 'exact' }
    const text = 'commit.updates.size() < 3 && "\\u001f\\"\\\\ é 🙂" != "::vertex"'
    const saved = policyOf('exact', 'schema', {
      mode: 'shadow',
      name: 'N',
      message: 'm\n"\'',
      definitionCel: text,
    })
    await putPolicy(store, home, t, policyOf('exact'))
    await putPolicy(store, home, t, saved)
    expect(await loadPolicies(store, home, t)).toEqual([saved])
  })

  test('one policy governs several tables, and a change of it all of them', async () => {
    const tables = ['v1', 'v2'].map((name) => ({ namespace: ['pol'], name }))
    for (const t of tables) await putPolicy(store, home, t, policyOf('several'))
    await putPolicy(
      store,
      home,
      { namespace: ['pol'], name: 'v1' },
      policyOf('several', 'schema', { definitionCel: 'false' }),
    )
    for (const t of tables) expect((await loadPolicies(store, home, t))[0]?.definitionCel).toBe('false')
  })

  test('a name with dots is not another namespace', async () => {
    await putPolicy(store, home, { namespace: ['a', 'b'], name: 'c' }, policyOf('dots'))
    expect(await loadPolicies(store, home, { namespace: ['a'], name: 'b.c' })).toEqual([])
    expect(await loadPolicies(store, home, { namespace: ['a.b'], name: 'c' })).toEqual([])
  })

  test('an id keeps its kind', async () => {
    await putPolicy(store, home, table, policyOf('fixed', 'schema'))
    expect(await faultOf(putPolicy(store, home, table, policyOf('fixed', 'retention')))).toBe('conflict')
    expect(await faultOf(putPolicy(store, home, table, policyOf('fixed', 'write_acl')))).toBe('conflict')
  })

  test('a foreign tenant neither changes nor deletes a policy', async () => {
    const t = { namespace: ['pol'], name: 'guarded' }
    await putPolicy(store, home, t, policyOf('guarded'))
    await putPolicy(store, foreign, t, policyOf('guarded', 'schema', { definitionCel: 'false' }))
    expect(await deletePolicy(store, foreign, 'guarded')).toBe(true)
    expect(await loadPolicies(store, home, t)).toEqual([policyOf('guarded')])
    expect(await deletePolicy(store, home, 'guarded')).toBe(true)
    expect(await loadPolicies(store, home, t)).toEqual([])
    expect(await deletePolicy(store, home, 'guarded')).toBe(false)
  })

  test('a listing has each policy once, page by page, and not the sentinel', async () => {
    const tenant = await newTenant('listing')
    const ids = ['l1', 'l2', 'l3', 'l4', 'l5']
    for (const [index, id] of ids.entries())
      await putPolicy(
        store,
        tenant,
        index % 2 ? table : other,
        policyOf(id, index === 3 ? 'retention' : 'schema'),
      )
    const first = await listPolicies(store, tenant, { limit: 3 })
    const rest = await listPolicies(store, tenant, { limit: 3, after: first.next ?? '' })
    expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(ids)
    expect(rest.next).toBeUndefined()
    expect((await listPolicies(store, foreign)).items.map(({ id }) => id)).not.toContain('l1')
  })

  test('without the tenant sentinel there is no verdict', async () => {
    for (const [label, edge] of [
      ['Policy', 'SCHEMA_GOVERNS'],
      ['Policy', 'WRITE_GOVERNS'],
      ['RetentionPolicy', 'RETAINS'],
    ]) {
      const tenant = await newTenant('no sentinel')
      expect(await loadPolicies(store, tenant, table)).toEqual([])
      await store.tenantQuery(tenant, `delete from "${edge}"`)
      expect({ label, fault: await faultOf(loadPolicies(store, tenant, table)) }).toEqual({
        label,
        fault: 'policy_engine_unavailable',
      })
    }
    const nobody = crypto.randomUUID() as TenantId
    expect(await faultOf(loadPolicies(store, nobody, table))).toBe('policy_engine_unavailable')
  })

  test('a stored policy of an unknown kind is no verdict', async () => {
    const tenant = await newTenant('malformed')
    await putPolicy(store, tenant, table, policyOf('odd'))
    await store.tenantTransaction(tenant, (tx) =>
      upsertNode(tx, tenant, { label: 'Policy', id: 'odd', properties: { kind: 'other' } }),
    )
    expect(await faultOf(loadPolicies(store, tenant, table))).toBe('policy_engine_unavailable')
  })

  test('a malformed policy is refused', async () => {
    for (const bad of [
      policyOf(''),
      policyOf('a b'),
      policyOf('x', 'other' as PolicyKind),
      policyOf('x', 'schema', { name: '' }),
      policyOf('x', 'schema', { definitionCel: 'x'.repeat(9000) }),
    ])
      expect(await faultOf(putPolicy(store, home, table, bad))).toBe('bad_request')
  })

  test('a table with a very long name is governed like any other', async () => {
    const long = {
      namespace: Array.from({ length: 100 }, (_, index) => `${'n'.repeat(250)}${index}`),
      name: 't',
    }
    await putPolicy(store, home, long, policyOf('long'))
    expect((await loadPolicies(store, home, long)).map(({ id }) => id)).toEqual(['long'])
    expect(await loadPolicies(store, home, { ...long, name: 'u' })).toEqual([])
  })
}

function intents(): void {
  /** Every open intent of both tenants, so that tests do not see each other's. */
  const clear = async () => {
    for (const tenant of [home, foreign]) await store.tenantQuery(tenant, 'delete from svc.commit_intent')
  }
  /** As if lease and upstream time-out were over. */
  const expire = (tenant: TenantId, what = 'lease_until, upstream_until') =>
    store.ownerTransaction(tenant, (tx) =>
      tx.query(
        `update svc.commit_intent set ${what
          .split(', ')
          .map((column) => `${column} = now() - interval '1 hour'`)
          .join(', ')}`,
      ),
    )

  test('an intent comes back whole when it is stale, and only then', async () => {
    await clear()
    const intent = intentOf({
      snapshotIds: [9_007_199_254_740_993n, -(2n ** 63n)],
      baseMetadataLocation: 's3://b',
    })
    await openIntent(store, home, intent)
    expect(await countIntents(store)).toEqual({ open: 1, stale: 0 })
    expect(await claimStaleIntents(store, { limit: 10 })).toEqual([])
    await expire(home, 'lease_until')
    expect(await claimStaleIntents(store, { limit: 10 })).toEqual([])
    await expire(home)
    expect(await countIntents(store)).toEqual({ open: 1, stale: 1 })
    const [claimed] = await claimStaleIntents(store, { limit: 10 })
    expect(claimed?.tenant).toBe(home)
    const { body, ...head } = intent
    expect(claimed?.intent).toEqual(head)
    expect(Buffer.from(await loadIntentBody(store, home, intent.commitId))).toEqual(Buffer.from(body))
    const foreigners = loadIntentBody(store, foreign, intent.commitId)
    expect(await foreigners.catch((thrown: Error) => thrown.message)).toBe('the intent is no longer open')
  })

  test('a claimed intent is not claimed again until its new lease is over', async () => {
    await clear()
    await openIntent(store, home, intentOf())
    await openIntent(store, foreign, intentOf())
    await expire(home)
    await expire(foreign)
    expect(await claimStaleIntents(store, { limit: 1 })).toHaveLength(1)
    const [rest] = await claimStaleIntents(store, { limit: 10 })
    expect(rest).toBeDefined()
    expect(await claimStaleIntents(store, { limit: 10 })).toEqual([])
    await expire(home)
    expect((await claimStaleIntents(store, { limit: 10 })).map(({ tenant }) => tenant)).toEqual([home])
  })

  test('an intent whose process ends its lease is claimed before the upstream’s time-out, a foreign tenant’s is not', async () => {
    await clear()
    const intent = intentOf({ snapshotIds: [7n] })
    const { table } = intent
    await openIntent(store, home, intent)
    await openIntent(store, foreign, { ...intent, body: Bun.zstdCompressSync('{}'), snapshotIds: [] })
    expect(await openIntentsOnTable(store, home, table)).toMatchObject([
      { intent: { commitId: intent.commitId }, isLeased: true, hasEnded: false, body: undefined },
    ])
    await endLease(store, home, intent.commitId, false)
    expect(await openIntentsOnTable(store, home, table)).toMatchObject([{ isLeased: false, hasEnded: false }])
    const claimed = await claimStaleIntents(store, { limit: 10 })
    expect(claimed).toMatchObject([{ tenant: home, hasEnded: false }])
    expect(await openIntentsOnTable(store, home, table)).toMatchObject([{ isLeased: true }])
    await endLease(store, home, intent.commitId, true)
    expect(await openIntentsOnTable(store, home, table)).toMatchObject([{ isLeased: false, hasEnded: true }])
    const [other] = await openIntentsOnTable(store, foreign, table)
    expect(other).toMatchObject({ isLeased: true, hasEnded: false })
    expect(other?.body).toBeDefined()
  })

  test('the stale intents on a table are claimed together, however few are asked for', async () => {
    await clear()
    const table = { namespace: ['crowded'], name: 't' }
    for (let count = 0; count < 3; count++) await openIntent(store, home, intentOf({ table }))
    await openIntent(store, foreign, intentOf({ table }))
    await expire(home)
    await expire(foreign)
    const first = await claimStaleIntents(store, { limit: 1 })
    const [tenant] = first.map((one) => one.tenant)
    expect(first.map((one) => one.tenant)).toEqual(Array(tenant === home ? 3 : 1).fill(tenant))
    expect(await claimStaleIntents(store, { limit: 1 })).toHaveLength(4 - first.length)
  })

  /** A caller of the tenant with all that `beginCommit` takes. */
  async function callerOf(tenant: TenantId) {
    const nickname = 'begun'
    const endpoint = 'https://catalog.example'
    await putCatalogCredential(store, tenant, { nickname, kind: 'alpha', endpoint, config: {} })
    const principal = { sub: 'spark', roles: [] }
    const made = await createServiceSession(store, tenant, { name: 'n', principal, scopes: ['commit'] })
    const digest = serviceSecretDigest(store, made.secret) as Uint8Array
    const found = await findServiceSession(store, made.secret, nickname)
    const fingerprint = found?.registered?.fingerprint ?? ''
    const known = { key: { digest, id: null }, tenant, prefix: nickname, fingerprint } as const
    return { ...made, known }
  }
  const begin = (known: ReturningSession, intent = intentOf()) =>
    beginCommit(store, known, intent, intentTimes, ['s3://lake/'])

  test('a commit begun at once has its intent opened and its policies loaded', async () => {
    await clear()
    const { id, known } = await callerOf(home)
    const intent = intentOf()
    const policy = { ...policyOf('begun'), definitionCel: 'false' }
    await putPolicy(store, home, intent.table, policy)
    for (const key of [known.key, { digest: null, id }] as const) {
      await clear()
      const row = await begin({ ...known, key }, intent)
      expect(readWriteGovernance(row)).toEqual(
        await loadWriteGovernance(store, home, intent.table, ['s3://lake/']),
      )
      expect(readWriteGovernance(row).policies.map((one) => one.id)).toContain('begun')
      expect(await intentsOnTable(store, home, intent.table)).toEqual([intent.commitId])
    }
    await deletePolicy(store, home, 'begun')
  })

  test('a commit is not begun for a caller that has changed, and leaves nothing then', async () => {
    await clear()
    const { id, secret, known } = await callerOf(home)
    const begun = async (as: ReturningSession) => (await begin(as)) !== undefined
    expect(await begun({ ...known, fingerprint: '' })).toBe(false)
    expect(await begun({ ...known, prefix: 'another' })).toBe(false)
    expect(await begun({ ...known, key: { digest: null, id: crypto.randomUUID() } })).toBe(false)
    await rotateCatalogCredential(store, home, known.prefix, { credential: 'new:secret' })
    expect(await begun(known)).toBe(false)
    const rotated = (await findServiceSession(store, secret, known.prefix))?.registered?.fingerprint ?? ''
    expect((await countIntents(store)).open).toBe(0)
    expect(await begun({ ...known, fingerprint: rotated })).toBe(true)
    await suspendTenant(store, home)
    expect(await begun({ ...known, fingerprint: rotated })).toBe(false)
    await resumeTenant(store, home)
    await revokeServiceSession(store, home, id)
    expect(await begun({ ...known, fingerprint: rotated })).toBe(false)
    expect((await countIntents(store)).open).toBe(1)
  })

  test('a commit is begun in the tenant of its session, whatever tenant is expected there', async () => {
    await clear()
    const intent = intentOf()
    const ours = await callerOf(home)
    const theirs = await callerOf(foreign)
    await putPolicy(store, foreign, intent.table, policyOf('theirs'))
    const row = await begin({ ...ours.known, tenant: foreign }, intent)
    expect(readWriteGovernance(row).policies).toEqual([])
    expect(await intentsOnTable(store, foreign, intent.table)).toEqual([])
    expect(await intentsOnTable(store, home, intent.table)).toEqual([intent.commitId])
    // What one tenant knows of itself opens nothing of another.
    expect(await begin({ ...ours.known, key: theirs.known.key })).toBeUndefined()
    await deletePolicy(store, foreign, 'theirs')
  })

  test('a foreign tenant does not close an intent', async () => {
    await clear()
    const intent = intentOf()
    await openIntent(store, home, intent)
    expect(await closeIntent(store, foreign, intent.commitId)).toBe(false)
    expect(await closeIntent(store, home, intent.commitId)).toBe(true)
    expect(await closeIntent(store, home, intent.commitId)).toBe(false)
    expect(await closeIntent(store, home, 'no uuid')).toBe(false)
  })

  test('an intent opened again is one intent still, and names the later base', async () => {
    await clear()
    const intent = intentOf()
    await openIntent(store, home, intent)
    await openIntent(store, home, { ...intent, baseMetadataLocation: 'file:///t/metadata/moved.json' })
    await expire(home)
    const claimed = await claimStaleIntents(store, { limit: 10 })
    expect(claimed.map((one) => one.intent.baseMetadataLocation)).toEqual(['file:///t/metadata/moved.json'])
  })

  test('the open intents on a table are its tenant’s only', async () => {
    await clear()
    const intent = intentOf()
    await openIntent(store, home, intent)
    await openIntent(store, foreign, intentOf())
    expect(await intentsOnTable(store, home, intent.table)).toEqual([intent.commitId])
    expect(await intentsOnTable(store, home, { namespace: ['other'], name: 'table' })).toEqual([])
  })

  /** Resolves at another moment of the database's clock, which counts whole milliseconds where it is embedded. */
  const clockMoved = async (store: TestStore, tenant: TenantId) => {
    const read = async () => {
      const [row] = await store.tenantQuery<{ at: string }>(tenant, 'select clock_timestamp()::text as at')
      return row?.at
    }
    const before = await read()
    while ((await read()) === before);
  }

  test('the policies of an open intent are those that stood when it was opened', async () => {
    await clear()
    const intent = intentOf()
    const policy = { id: 'past', kind: 'schema', mode: 'enforce', name: 'past', message: '' } as const
    await putPolicy(store, home, intent.table, { ...policy, definitionCel: 'true' })
    await putPolicy(store, home, intent.table, { ...policy, id: 'gone', definitionCel: 'true' })
    await deletePolicy(store, home, 'gone')
    await openIntent(store, home, intent)
    await clockMoved(store, home)
    await putPolicy(store, home, intent.table, { ...policy, definitionCel: 'false' })
    await putPolicy(store, home, intent.table, { ...policy, id: 'later', definitionCel: 'true' })
    const stood = await policiesAtIntent(store, home, intent.table, intent.commitId)
    expect(stood.filter(({ id }) => ['past', 'gone', 'later'].includes(id))).toEqual([
      { ...policy, definitionCel: 'true' },
    ])
    expect(await policiesAtIntent(store, foreign, intent.table, intent.commitId)).toEqual([])
    for (const id of ['past', 'later']) await deletePolicy(store, home, id)
  })

  test('a subject that cannot be stored as it is opens no intent', async () => {
    for (const sub of ['', 'a\0b', 'a\ud800b'])
      expect(await faultOf(openIntent(store, home, intentOf({ principal: { sub, roles: [] } })))).toBe(
        'bad_request',
      )
  })

  test('a body of many megabytes is kept whole', async () => {
    await clear()
    const body = crypto.getRandomValues(new Uint8Array(65_536))
    const large = Buffer.concat(Array.from({ length: 64 }, () => body))
    const { commitId } = intentOf()
    await openIntent(store, home, intentOf({ commitId, body: large }))
    expect(Buffer.compare(await loadIntentBody(store, home, commitId), large)).toBe(0)
    await clear()
  })
}

function verdicts(): void {
  test('calls in turns for two tenants find what is each one’s own, also once their plans are kept', async () => {
    const table = { namespace: ['turns'], name: 't' }
    await putPolicy(store, home, table, policyOf('of-home'))
    await putPolicy(store, foreign, table, policyOf('of-foreign'))
    for (let turn = 0; turn < 16; turn++)
      for (const [tenant, id] of [
        [home, 'of-home'],
        [foreign, 'of-foreign'],
      ] as const) {
        expect((await loadPolicies(store, tenant, table)).map((policy) => policy.id)).toEqual([id])
        const intent = intentOf({ table, receivedAtMs: turn })
        await openIntent(store, tenant, intent)
        expect((await recordVerdict(store, tenant, approvedOf(intent))).ingested).toBe(true)
        const other = tenant === home ? foreign : home
        expect(await findAudit(store, tenant, intent.commitId)).toBeDefined()
        expect(await findAudit(store, other, intent.commitId)).toBeUndefined()
      }
    for (const tenant of [home, foreign]) {
      expect(await deletePolicy(store, tenant, tenant === home ? 'of-home' : 'of-foreign')).toBe(true)
      expect(await loadPolicies(store, tenant, table)).toEqual([])
    }
  })

  const edgesOf = (tenant: TenantId, label: string, commitId: string) =>
    count(
      tenant,
      `"${label}" e where agtype_access_operator(variadic array[e.properties, '"id"'::agtype]) = '"${commitId}"'::agtype`,
    )

  const columnsOf = async ({ name }: TableRef) => {
    const found = await cypher(store, home, {
      text: 'MATCH (t:Table)-[:HAS_COLUMN]->(c:Column) WHERE t.name = $name RETURN c.name',
      params: { name },
      columns: ['name'],
    })
    return found.map((column) => column.name).sort()
  }

  test('an approved commit leaves a row, both edges and its snapshot, and takes its intent away', async () => {
    const intent = intentOf({ table: { namespace: ['ver', 'x'], name: 'approved' } })
    const committed = committedOf()
    await openIntent(store, home, intent)
    expect(await recordVerdict(store, home, approvedOf(intent, committed))).toEqual({
      recorded: true,
      ingested: true,
    })
    expect(await edgesOf(home, 'INTENDED_WRITE', intent.commitId)).toBe(1)
    expect(await edgesOf(home, 'ACTUAL_WRITE', intent.commitId)).toBe(1)
    expect(await closeIntent(store, home, intent.commitId)).toBe(false)
    const properties = await store.tenantTransaction(home, (tx) =>
      findProperties(tx, { label: 'Snapshot', id: committed.metadataLocation }),
    )
    expect(properties).toMatchObject({
      metadata_location: committed.metadataLocation,
      snapshot_id: '9007199254740993',
      tenant_id: home,
      commit_id: intent.commitId,
    })
    const near = await traverse(store, home, {
      label: 'Table',
      id: nodeId('ver\u001fx\u001fapproved'),
      direction: 'out',
    })
    expect(near.items.map(({ label, id, hops }) => `${hops} ${label} ${id}`).sort()).toEqual([
      '1 Column ver\u001fx\u001fapproved\u001f1',
      '1 Column ver\u001fx\u001fapproved\u001f2',
      '1 Namespace ver\u001fx',
      '2 Namespace ver',
    ])
  })

  test('a rejected commit leaves a row and the intended edge only', async () => {
    const intent = intentOf()
    await openIntent(store, home, intent)
    expect(await recordVerdict(store, home, rejectedOf(intent))).toEqual({ recorded: true, ingested: false })
    expect(await edgesOf(home, 'INTENDED_WRITE', intent.commitId)).toBe(1)
    expect(await edgesOf(home, 'ACTUAL_WRITE', intent.commitId)).toBe(0)
    expect(await closeIntent(store, home, intent.commitId)).toBe(false)
  })

  test('the edges carry the fields of the WriteEvent', async () => {
    const intent = intentOf()
    await recordVerdict(store, home, rejectedOf(intent, 'Because "x".'))
    const [row] = await cypher(store, home, {
      text: 'MATCH (p:Principal)-[e:INTENDED_WRITE]->(t:Table) WHERE e.id = $id RETURN properties(e), p.sub',
      params: { id: intent.commitId },
      columns: ['event', 'sub'],
    })
    expect(row?.sub).toBe('writer')
    expect(row?.event).toMatchObject({
      commit_id: intent.commitId,
      committer: 'writer',
      decision: 'REJECTED',
      reason: 'Because "x".',
      tenant_id: home,
    })
  })

  test('the same commit recorded twice leaves one row and one edge', async () => {
    const intent = intentOf()
    const record = approvedOf(intent)
    expect((await recordVerdict(store, home, record)).recorded).toBe(true)
    expect(await recordVerdict(store, home, record)).toEqual({ recorded: false, ingested: true })
    expect(await count(home, `svc.audit_log where commit_id = '${intent.commitId}'`)).toBe(1)
    expect(await edgesOf(home, 'INTENDED_WRITE', intent.commitId)).toBe(1)
    expect(await edgesOf(home, 'ACTUAL_WRITE', intent.commitId)).toBe(1)
  })

  test('a commit has one verdict: another is refused and changes nothing', async () => {
    const intent = intentOf()
    await recordVerdict(store, home, rejectedOf(intent))
    expect(await faultOf(recordVerdict(store, home, approvedOf(intent)))).toBe('conflict')
    expect(await edgesOf(home, 'ACTUAL_WRITE', intent.commitId)).toBe(0)
  })

  test('the same commit id of a foreign tenant is another commit', async () => {
    const intent = intentOf()
    await recordVerdict(store, home, rejectedOf(intent))
    expect((await recordVerdict(store, foreign, approvedOf(intent))).recorded).toBe(true)
    expect((await findAudit(store, home, intent.commitId))?.decision).toBe('REJECTED')
    expect((await findAudit(store, foreign, intent.commitId))?.decision).toBe('APPROVED')
  })

  test('a snapshot points from its parent, the base rather than another of the same snapshot', async () => {
    const table = { namespace: ['ver'], name: 'chain' }
    const at = (snapshotId: bigint, parentSnapshotId?: bigint) => ({
      ...committedOf().snapshot,
      snapshotId,
      parentSnapshotId,
      sequenceNumber: 1n,
      timestampMs: 1n,
      operation: 'append',
      manifestList: 'm',
    })
    const steps = [
      ['s3://chain/1', '', at(2n ** 62n)],
      ['s3://chain/2', 's3://chain/1', at(2n ** 62n)],
      ['s3://chain/3', 's3://chain/1', at(2n ** 62n + 1n, 2n ** 62n)],
    ] as const
    for (const [metadataLocation, base, snapshot] of steps)
      await recordVerdict(
        store,
        home,
        approvedOf(
          intentOf({ table, baseMetadataLocation: base }),
          committedOf({ metadataLocation, snapshot }),
        ),
      )
    const parents = await cypher(store, home, {
      text: 'MATCH (a:Snapshot)-[:PARENT_OF]->(b:Snapshot) WHERE b.id STARTS WITH $p RETURN a.id, b.id',
      params: { p: 's3://chain/' },
      columns: ['parent', 'child'],
    })
    expect(parents).toEqual([{ parent: 's3://chain/1', child: 's3://chain/3' }])
  })

  test('columns follow the newest commit, and an older one recovered late does not bring back old ones', async () => {
    const table = { namespace: ['ver'], name: 'columns' }
    const [id] = committedOf().columns
    if (id === undefined) throw new Error('fixture')
    const record = (receivedAtMs: number, columns: (typeof id)[]) =>
      recordVerdict(store, home, approvedOf(intentOf({ table, receivedAtMs }), committedOf({ columns })))
    const names = async () => {
      const found = await cypher(store, home, {
        text: 'MATCH (t:Table)-[:HAS_COLUMN]->(c:Column) WHERE t.name = $name RETURN c.name, c.type',
        params: { name: table.name },
        columns: ['name', 'type'],
      })
      return found.map(({ name, type }) => `${name} ${type}`).sort()
    }
    await record(1, [id, { ...id, fieldId: 2n, name: 'email' }])
    await record(3, [
      { ...id, name: 'key', type: 'string' },
      { ...id, fieldId: 3n, name: 'city' },
    ])
    expect(await names()).toEqual(['city long', 'key string'])
    await record(2, [id])
    expect(await names()).toEqual(['city long', 'key string'])
    await record(4, [])
    expect(await names()).toEqual([])
  })

  test('a commit that leaves the columns as they were is the newest all the same', async () => {
    const table = { namespace: ['ver'], name: 'unchanged' }
    const record = (receivedAtMs: number, change: Partial<CommittedTable> = {}) =>
      recordVerdict(store, home, approvedOf(intentOf({ table, receivedAtMs }), committedOf(change)))
    const [id] = committedOf().columns
    if (id === undefined) throw new Error('fixture')
    await record(1)
    await record(3)
    expect((await record(2, { columns: [id] })).ingested).toBe(true)
    expect(await columnsOf(table)).toEqual(['email', 'id'])
    await record(3, { columns: [id] })
    expect(await columnsOf(table)).toEqual(['id'])
  })

  test('a column that a late scan has attached goes with the next commit, also one that changes no column', async () => {
    const table = { namespace: ['ver'], name: 'scanned' }
    const record = () => recordVerdict(store, home, approvedOf(intentOf({ table })))
    await record()
    const from = { label: 'Table', id: nodeId(tableKey(table)) } as const
    const to = { label: 'Column', id: 'scanned' } as const
    await store.tenantTransaction(home, async (tx) => {
      await upsertNode(tx, home, { ...to, properties: { name: 'late' } })
      await upsertEdge(tx, home, { label: 'HAS_COLUMN', id: 'scanned', from, to })
    })
    expect(await columnsOf(table)).toEqual(['email', 'id', 'late'])
    await record()
    expect(await columnsOf(table)).toEqual(['email', 'id'])
  })

  test('a snapshot is ingested though its table was last described with another schema id', async () => {
    const table = { namespace: ['ver'], name: 'redescribed' }
    const record = (schemaId: bigint) =>
      recordVerdict(store, home, approvedOf(intentOf({ table }), committedOf({ schemaId })))
    await record(0n)
    expect(await record(1n)).toEqual({ recorded: true, ingested: true })
    const [found] = await cypher(store, home, {
      text: 'MATCH (t:Table) WHERE t.name = $name RETURN t.schema_id',
      params: { name: table.name },
      columns: ['schema'],
    })
    expect(found).toEqual({ schema: '1' })
  })

  test('a table without snapshot is recorded', async () => {
    const intent = intentOf({ table: { namespace: ['ver'], name: 'empty' } })
    const committed = committedOf({
      snapshot: undefined,
      schemaId: undefined,
      tableUuid: undefined,
      columns: [],
    })
    expect(await recordVerdict(store, home, approvedOf(intent, committed))).toEqual({
      recorded: true,
      ingested: true,
    })
  })

  test('a failed ingest is reported and leaves the audit whole', async () => {
    const column = { fieldId: 1n, name: 'id', type: 'long', required: true }
    // Two columns of one field id: no schema of any catalog, so the upsert of columns fails.
    const record = approvedOf(intentOf(), committedOf({ columns: [column, column] }))
    await openIntent(store, home, record.intent)
    const result = await recordVerdict(store, home, record)
    expect(result).toMatchObject({ recorded: true, ingested: false })
    expect(result.ingestError).toBeString()
    expect(await edgesOf(home, 'ACTUAL_WRITE', record.intent.commitId)).toBe(1)
    expect((await findAudit(store, home, record.intent.commitId))?.decision).toBe('APPROVED')
    expect(await closeIntent(store, home, record.intent.commitId)).toBe(false)
  })

  test('texts of the upstream and of policies that cannot be stored do not lose the verdict', async () => {
    const columns = [{ fieldId: 1n, name: 'a\0\ud800', type: 'string', required: false }]
    const metadataLocation = `s3://lake/${'long/'.repeat(2000)}\0.json`
    const record = {
      ...approvedOf(intentOf(), committedOf({ metadataLocation, columns })),
      outcomes: [{ policyId: 'p', name: 'p', mode: 'warn' as const, explanation: 'saw \0 \udfff' }],
    }
    expect(await recordVerdict(store, home, record)).toEqual({ recorded: true, ingested: true })
    const found = await findAudit(store, home, record.intent.commitId)
    expect(found?.metadataLocation).toBe(metadataLocation.replace('\0', '\uFFFD'))
    expect(found?.outcomes[0]?.explanation).toBe('saw \uFFFD \uFFFD')
  })

  test('an approval without what was committed is refused', async () => {
    const { committed: _, ...record } = approvedOf(intentOf())
    expect(await faultOf(recordVerdict(store, home, record))).toBe('internal')
  })
}

function refusals(): void {
  const table = { namespace: ['ref'], name: 't' }

  test('are denials and changes without a verdict, newest first, page by page, and never foreign ones', async () => {
    const ids: string[] = []
    for (let index = 0; index < 4; index++) {
      const intent = intentOf({ table, requestId: `request-${index}` })
      ids.unshift(intent.commitId)
      if (index % 2 === 0) await recordVerdict(store, home, rejectedOf(intent))
      else await recordUnjudged(store, home, unjudgedOf(intent))
    }
    await recordVerdict(store, home, approvedOf(intentOf({ table, requestId: 'request-0' })))
    await recordVerdict(store, foreign, rejectedOf(intentOf({ table, requestId: 'request-0' })))
    await recordUnjudged(store, foreign, unjudgedOf(intentOf({ table, requestId: 'request-1' })))
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await listRefusals(store, home, { table, limit: 1, after })
      seen.push(...page.items.map(({ commitId }) => commitId))
      after = page.next
    } while (after !== undefined)
    expect(seen).toEqual(ids)
    for (const [index, commitId] of ids.toReversed().entries()) {
      const { items } = await listRefusals(store, home, { requestId: `request-${index}` })
      expect(items.map((one) => one.commitId)).toEqual([commitId])
    }
    expect((await listRefusals(store, foreign, { table })).items).toHaveLength(2)
    for (const bad of ['1; drop', '1_x', '', `0_${crypto.randomUUID()}`])
      expect(await faultOf(listRefusals(store, home, { after: bad }))).toBe('bad_request')
  })

  test('without a verdict say who was refused, by which policy, and why', async () => {
    const intent = intentOf({ table, action: 'drop-table', requestId: 'whole' })
    await recordUnjudged(store, home, unjudgedOf(intent))
    expect((await listRefusals(store, home, { requestId: 'whole' })).items).toEqual([
      {
        commitId: intent.commitId,
        requestId: 'whole',
        createdAt: expect.any(Date),
        outcome: 'policy_engine_unavailable',
        action: 'drop-table',
        table,
        principal: 'writer',
        principalSource: 'auth_header',
        policy: { id: 'broken', name: 'has an owner' },
        reason: 'ErrPolicyEval',
        explanation: 'table.properties.owner fails: no such key',
      },
    ])
  })

  test('without a verdict are kept up to a number, the newest of each tenant', async () => {
    const mine = { ...table, name: 'bounded' }
    const keep = async (tenant: TenantId, kept: number) =>
      await recordUnjudged(store, tenant, unjudgedOf(intentOf({ table: mine })), kept)
    await keep(foreign, 1_000)
    const all = async (tenant: TenantId) => await count(tenant, 'svc.unjudged_change')
    const others = await all(foreign)
    for (let index = 0; index < 5; index++) await keep(home, 3)
    expect([await all(home), await all(foreign)]).toEqual([3, others])
  })
}

function audit(): void {
  const table = { namespace: ['aud'], name: 't' }

  test('nobody of the service changes or removes an entry', async () => {
    await recordVerdict(store, home, rejectedOf(intentOf()))
    const changes = [
      'update svc.audit_log set reason = reason',
      'delete from svc.audit_log',
      'truncate svc.audit_log',
    ]
    for (const change of changes) {
      expect(await faultOf(store.tenantQuery(home, change))).toBe('unavailable')
      expect(await faultOf(store.adminQuery(change))).toBe('unavailable')
      expect(await faultOf(store.ownerTransaction(home, (tx) => tx.query(change)))).toBe('internal')
    }
    expect(await count(home, 'svc.audit_log')).toBeGreaterThan(0)
  })

  test('entries come newest first, page by page, by table and by decision, and never foreign ones', async () => {
    const ids: string[] = []
    for (let index = 0; index < 5; index++) {
      const intent = intentOf({ table })
      ids.unshift(intent.commitId)
      await recordVerdict(store, home, index === 2 ? rejectedOf(intent) : approvedOf(intent))
    }
    await recordVerdict(store, foreign, approvedOf(intentOf({ table })))
    const first = await listDecisions(store, home, { table, limit: 3 })
    const rest = await listDecisions(store, home, { table, limit: 3, after: first.next ?? '' })
    expect([...first.items, ...rest.items].map(({ commitId }) => commitId)).toEqual(ids)
    expect(rest.next).toBeUndefined()
    const rejected = await listDecisions(store, home, { table, decision: 'REJECTED' })
    expect(rejected.items.map(({ commitId }) => commitId)).toEqual(ids.slice(2, 3))
    expect((await listDecisions(store, home, { limit: 2 })).items.map(({ commitId }) => commitId)).toEqual(
      ids.slice(0, 2),
    )
    expect((await listDecisions(store, foreign, { table })).items).toHaveLength(1)
    expect(await faultOf(listDecisions(store, home, { after: '1; drop' }))).toBe('bad_request')
  })

  test('one decision comes with all that its replay needs', async () => {
    const intent = intentOf({ table, baseMetadataLocation: 's3://base' })
    const policy = { id: 'p', kind: 'schema', mode: 'enforce', definitionCel: 'false' } as const
    const outcome = { policyId: 'p', name: 'P', mode: 'enforce', value: false } as const
    await recordVerdict(store, home, {
      ...rejectedOf(intent, 'P: no'),
      policies: [policy],
      outcomes: [outcome],
    })
    const found = await findAudit(store, home, intent.commitId)
    expect(found).toMatchObject({
      commitId: intent.commitId,
      committer: 'writer',
      decision: 'REJECTED',
      reason: 'P: no',
      tenantId: home,
      principalSource: 'auth_header',
      principal: intent.principal,
      table,
      baseMetadataLocation: 's3://base',
      metadataLocation: undefined,
      bodySha256: intent.bodySha256,
      policies: [policy],
      outcomes: [outcome],
      receivedAtMs: intent.receivedAtMs,
    })
    expect(Buffer.compare(found?.body ?? Buffer.of(), intent.body)).toBe(0)
    expect(found?.createdAt).toBeInstanceOf(Date)
    expect(await findAudit(store, foreign, intent.commitId)).toBeUndefined()
    expect(await findAudit(store, home, 'x')).toBeUndefined()
  })
}

function graph(): void {
  const dataset = (id: string) => ({ label: 'Dataset' as const, id })
  let chain: TenantId

  beforeAll(async () => {
    chain = await newTenant('chain')
    await store.tenantTransaction(chain, async (tx) => {
      for (let index = 0; index <= 7; index++)
        await upsertNode(tx, chain, { ...dataset(`d${index}`), properties: { index } })
      for (let index = 0; index < 7; index++)
        await upsertEdge(tx, chain, {
          label: index === 1 ? 'STORED_AS' : 'LINEAGE_OF',
          id: `e${index}`,
          from: dataset(`d${index}`),
          to: dataset(`d${index + 1}`),
        })
      // A cycle, which must not run for ever nor list the start.
      await upsertEdge(tx, chain, { label: 'LINEAGE_OF', id: 'back', from: dataset('d2'), to: dataset('d0') })
    })
  })

  const reach = async (tenant: TenantId, change: Partial<Parameters<typeof traverse>[2]> = {}) => {
    const { items } = await traverse(store, tenant, { ...dataset('d0'), direction: 'out', ...change })
    return items.map(({ id, hops }) => `${id}@${hops}`)
  }

  test('reaches three hops by default, five at most, nearest first', async () => {
    expect(await reach(chain)).toEqual(['d1@1', 'd2@2', 'd3@3'])
    expect(await reach(chain, { hops: 5 })).toEqual(['d1@1', 'd2@2', 'd3@3', 'd4@4', 'd5@5'])
    for (const hops of [0, 6, 1.5, Number.NaN])
      expect(await faultOf(reach(chain, { hops }))).toBe('bad_request')
  })

  test('follows the direction and the labels that were asked for', async () => {
    expect(await reach(chain, { direction: 'in', hops: 1 })).toEqual(['d2@1'])
    expect((await reach(chain, { direction: 'both', hops: 1 })).sort()).toEqual(['d1@1', 'd2@1'])
    expect(await reach(chain, { edgeLabels: ['LINEAGE_OF'] })).toEqual(['d1@1'])
    expect(await reach(chain, { edgeLabels: ['LINEAGE_OF', 'STORED_AS'], hops: 2 })).toEqual(['d1@1', 'd2@2'])
    expect(await faultOf(reach(chain, { edgeLabels: ['X" --' as 'GOVERNS'] }))).toBe('bad_request')
    expect(await faultOf(reach(chain, { label: 'X" --' as 'Dataset' }))).toBe('bad_request')
  })

  test('pages through what it reaches', async () => {
    const found: string[] = []
    for (let after: string | undefined, pages = 0; pages < 9; pages++) {
      const page = await traverse(store, chain, {
        ...dataset('d0'),
        direction: 'out',
        hops: 5,
        limit: 2,
        ...(after !== undefined && { after }),
      })
      found.push(...page.items.map(({ id }) => id))
      after = page.next
      if (after === undefined) break
    }
    expect(found).toEqual(['d1', 'd2', 'd3', 'd4', 'd5'])
    expect(await faultOf(reach(chain, { after: 'x' }))).toBe('bad_request')
  })

  test('reaches nothing from a foreign tenant', async () => {
    expect(await reach(home)).toEqual([])
  })

  test('an upsert keeps what others set, and values come back exactly', async () => {
    const properties = {
      big: 2n ** 63n - 1n,
      text: '\u001f"\\ é 🙂 ::vertex',
      list: [1, { a: null }],
      yes: true,
      half: 0.5,
      int: 7,
    }
    await store.tenantTransaction(home, async (tx) => {
      await upsertNode(tx, home, { ...dataset('exact'), properties: { kept: 1 } })
      await upsertNode(tx, home, { ...dataset('exact'), properties })
      expect(await findProperties(tx, dataset('exact'))).toEqual({
        ...properties,
        big: '9223372036854775807',
        kept: 1,
        id: 'exact',
        tenant_id: home,
      })
    })
    expect(
      await store.tenantTransaction(foreign, (tx) => findProperties(tx, dataset('exact'))),
    ).toBeUndefined()
  })

  test('an edge joins nodes that exist, and its id is its own', async () => {
    await store.tenantTransaction(home, async (tx) => {
      for (const id of ['j1', 'j2']) await upsertNode(tx, home, { ...dataset(id), properties: {} })
      const edge = { label: 'LINEAGE_OF' as const, id: 'j', from: dataset('j1'), to: dataset('j2') }
      expect(await upsertEdge(tx, home, edge)).toBe(true)
      expect(await upsertEdge(tx, home, { ...edge, properties: { again: true } })).toBe(true)
      expect(await upsertEdge(tx, home, { ...edge, from: dataset('j2') })).toBe(false)
      expect(await upsertEdge(tx, home, { ...edge, id: 'k', to: dataset('missing') })).toBe(false)
      expect(await deleteEdge(tx, 'LINEAGE_OF', 'j')).toBe(true)
      expect(await deleteEdge(tx, 'LINEAGE_OF', 'j')).toBe(false)
    })
  })

  test('a node goes with its edges', async () => {
    const tenant = await newTenant('deleting')
    await store.tenantTransaction(tenant, async (tx) => {
      for (const id of ['x', 'y']) await upsertNode(tx, tenant, { ...dataset(id), properties: {} })
      await upsertEdge(tx, tenant, { label: 'LINEAGE_OF', id: 'xy', from: dataset('x'), to: dataset('y') })
      expect(await deleteNode(tx, dataset('y'))).toBe(true)
      expect(await deleteNode(tx, dataset('y'))).toBe(false)
    })
    expect(await count(tenant, '"LINEAGE_OF"')).toBe(0)
    expect(await count(tenant, '"Dataset"')).toBe(1)
  })
}

function cypherQueries(): void {
  test('answers a labelled match of the own graph only, and says how long it took', async () => {
    const seconds: number[] = []
    const observed = { ...store, onCypher: (s: number) => seconds.push(s) }
    const node = { label: 'Tag' as const, id: 'pii', properties: { level: 3 } }
    await store.tenantTransaction(home, (tx) => upsertNode(tx, home, node))
    const ask = (tenant: TenantId) =>
      cypher(observed, tenant, {
        text: 'MATCH (t:Tag) WHERE t.id = $id RETURN t.level, t',
        params: { id: 'pii' },
        columns: ['level', 'tag'],
      })
    const [row] = await ask(home)
    expect(row?.level).toBe(3)
    expect(row?.tag).toMatchObject({ label: 'Tag', properties: { id: 'pii', tenant_id: home } })
    expect(await ask(foreign)).toEqual([])
    expect(seconds).toHaveLength(2)
  })

  test('refuses a bad column name', async () => {
    const query = { text: 'MATCH (t:Tag) RETURN t.id', columns: ['x" agtype) --'] }
    expect(await faultOf(cypher(store, home, query))).toBe('bad_request')
  })
}

function reconciliation(): void {
  test('finds nothing where graph and audit log agree', async () => {
    const tenant = await newTenant('agree')
    await recordVerdict(store, tenant, approvedOf(intentOf()))
    await recordVerdict(store, tenant, rejectedOf(intentOf()))
    expect((await reconcileTenant(store, tenant)).breaches).toEqual([])
  })

  test('finds drift of every kind both ways, keeps it one row while open, and closes it', async () => {
    const tenant = await newTenant('drift')
    const commits = Array.from({ length: 6 }, () => intentOf())
    for (const intent of commits) await recordVerdict(store, tenant, approvedOf(intent))
    const [a, b, c, d, e, f] = commits.map(({ commitId }) => commitId)
    const id = (alias: string) =>
      `agtype_access_operator(variadic array[${alias}.properties, '"id"'::agtype])`
    await store.tenantTransaction(tenant, async (tx) => {
      await tx.query(`delete from "INTENDED_WRITE" x where ${id('x')} = '"${a}"'::agtype`)
      await tx.query(`delete from "ACTUAL_WRITE" x where ${id('x')} = '"${b}"'::agtype`)
      await tx.query(
        `update "INTENDED_WRITE" x set properties = properties || '{"committer": "other"}'::agtype where ${id('x')} = '"${c}"'::agtype`,
      )
      await tx.query(
        `delete from "Snapshot" s using "ACTUAL_WRITE" x where x.start_id = s.id and ${id('x')} = '"${d}"'::agtype`,
      )
      await tx.query(
        `update "INTENDED_WRITE" x set properties = properties || '{"id": "ghost"}'::agtype where ${id('x')} = '"${e}"'::agtype`,
      )
      await tx.query(`update "Snapshot" s set properties = s.properties || '{"metadata_location": "s3://moved"}'::agtype
        from "ACTUAL_WRITE" x where x.start_id = s.id and ${id('x')} = '"${f}"'::agtype`)
    })
    const found = (await reconcileTenant(store, tenant)).breaches
    const seen = found.map(({ kind, subject }) => `${kind} ${subject}`)
    for (const expected of [
      `audit_without_edge INTENDED_WRITE ${a}`,
      `audit_without_edge ACTUAL_WRITE ${b}`,
      `edge_differs INTENDED_WRITE ${c}`,
      `edge_without_node ACTUAL_WRITE ${d}`,
      `audit_without_edge INTENDED_WRITE ${e}`,
      'edge_without_audit INTENDED_WRITE ghost',
      'snapshot_without_audit s3://moved',
    ])
      expect(seen).toContain(expected)
    expect(found.filter(({ kind }) => kind === 'audit_without_snapshot')).toHaveLength(2)
    expect(found.every(({ isNew }) => isNew)).toBe(true)
    const again = (await reconcileTenant(store, tenant)).breaches
    expect(again.map(({ id }) => id).sort()).toEqual(found.map(({ id }) => id).sort())
    expect(again.some(({ isNew }) => isNew)).toBe(false)
    expect(await count(tenant, 'svc.breach')).toBe(found.length)
    await store.tenantQuery(
      tenant,
      `update "INTENDED_WRITE" x set properties = properties || '{"committer": "writer"}'::agtype where ${id('x')} = '"${c}"'::agtype`,
    )
    const fewer = (await reconcileTenant(store, tenant)).breaches
    expect(fewer.map(({ kind }) => kind)).not.toContain('edge_differs')
    expect(fewer).toHaveLength(found.length - 1)
    expect((await reconcileTenant(store, home)).breaches).not.toContainEqual(
      expect.objectContaining({ tenant }),
    )
  })

  test('an edge whose time cannot be read differs, and hides no other drift', async () => {
    const tenant = await newTenant('unreadable')
    const [a, b] = [intentOf(), intentOf()]
    for (const intent of [a, b]) await recordVerdict(store, tenant, approvedOf(intent))
    const change = (label: string, { commitId }: CommitIntent, properties: object) =>
      store.tenantQuery(
        tenant,
        `update "${label}" x set properties = properties || $2::text::agtype
         where agtype_access_operator(variadic array[x.properties, '"commit_id"'::agtype]) = to_jsonb($1::text)::text::agtype`,
        [commitId, JSON.stringify(properties)],
      )
    await change('INTENDED_WRITE', a, { created_at: 'never' })
    await change('ACTUAL_WRITE', a, { created_at: ['never'] })
    await change('INTENDED_WRITE', b, { committer: 'other' })
    expect(
      (await reconcileTenant(store, tenant)).breaches.map(({ kind, subject }) => `${kind} ${subject}`).sort(),
    ).toEqual(
      [
        `edge_differs ACTUAL_WRITE ${a.commitId}`,
        `edge_differs INTENDED_WRITE ${a.commitId}`,
        `edge_differs INTENDED_WRITE ${b.commitId}`,
      ].sort(),
    )
  })

  test('a job of one name runs once at a time', async () => {
    const entered = Promise.withResolvers<void>()
    const leave = Promise.withResolvers<void>()
    const first = withReplicaLock(store, 'hourly', async () => {
      entered.resolve()
      await leave.promise
    })
    await entered.promise
    expect(await withReplicaLock(store, 'hourly', async () => {})).toBe(false)
    expect(await withReplicaLock(store, 'other', async () => {})).toBe(true)
    leave.resolve()
    expect(await first).toBe(true)
    expect(await withReplicaLock(store, 'hourly', async () => {})).toBe(true)
  })
}
