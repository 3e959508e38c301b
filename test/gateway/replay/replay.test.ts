/** Replays of draft policies against stored commits, with a foreign tenant beside. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  createTable,
  orderFields,
  removeSnapshots,
  replaceSchema,
  schemaOf,
  setProperties,
} from '../../../demo/commits.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putTag } from '../../../src/contract/put-tag.ts'
import type { Policy } from '../../../src/core/policy.ts'
import { replayOutcomes } from '../../../src/core/policy-replay.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { putPolicy } from '../../../src/store/policy/policies.ts'
import { actorOf } from '../../support/actor.ts'
import { eventually } from '../../support/eventually.ts'
import { generator } from '../../support/generator.ts'
import { ask, call, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { roundsOf } from '../../support/long-form.ts'
import { addTenant, audit, commit, orders, prefix, type TestTenant } from '../../support/service.ts'

setDefaultTimeout(120_000)

type Json = Readonly<Record<string, unknown>>
let service: IdentityService
let steward: string
let reader: string
let foreign: TestTenant
let outsider: string

beforeAll(async () => {
  service = await startIdentityService()
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  await registerRoot(service.owner)
  const { tenant } = service.owner
  steward = await session(service, tenant, ['read', 'admin'], ['steward'], 'stella')
  reader = await session(service, tenant, ['read', 'admin'], [], 'rita')
  outsider = await session(service, foreign.tenant, ['read', 'admin'], ['steward'], 'mallory')
})
afterAll(() => service[Symbol.asyncDispose]())

async function registerRoot({ tenant }: TestTenant, roots = [pathToFileURL(tmpdir()).href]): Promise<void> {
  const endpoint = service.catalog.url
  await putCatalogCredential(service.store, tenant, {
    nickname: prefix,
    kind: 'alpha',
    endpoint,
    config: { endpoint, warehouse: 'dev', credential: 'gateway:s3cret', storage_roots: roots },
  })
}

const inSales = { namespace: ['sales'], kind: 'schema' }

async function start(input: Json, by = steward) {
  return await ask(service, 'POST', '/api/v1/policy-replays', by, input)
}

/** Starts a replay and waits for its end. */
async function replayed(
  input: Json,
  by = steward,
): Promise<Json & { readonly id: string; readonly counts: Json }> {
  const { status, body } = await start(input, by)
  expect([status, body]).toEqual([202, expect.objectContaining({ id: expect.any(String) })])
  return await eventually(async () => {
    await service.app.jobs.run('replay-policies')
    const found = (await ask(service, 'GET', `/api/v1/policy-replays/${body.id}`, steward)).body
    return found.state !== 'running' && (found as Json & { id: string; counts: Json })
  })
}

async function findings(id: string, query = ''): Promise<readonly Json[]> {
  const { body } = await ask(service, 'GET', `/api/v1/policy-replays/${id}/findings?${query}`, steward)
  return body.items as readonly Json[]
}

/** Policies whose values differ from commit to commit, all without a look at storage. */
const texts: readonly (readonly [Policy['kind'], string])[] = [
  ['schema', 'manifest.has_column(commit.result, "customer")'],
  ['schema', 'size(commit.result.schema.fields) <= size(table.schema.fields)'],
  ['schema', 'commit.updates.all(u, u.action != "set-properties" || !("owner" in u.updates))'],
  ['schema', 'table.properties["tier"] == "gold"'],
  ['write_acl', 'principal.role(principal, "writer")'],
  ['write_acl', 'principal.sub.startsWith("a") && has(principal.email)'],
  ['write_acl', 'principal.email.endsWith("example.com")'],
  ['retention', 'commit.updates.exists(u, u.action == "set-properties")'],
  ['schema', 'commit.received_at % 2 == 0'],
  ['schema', '"tier" in table.properties || commit.result.properties.size() > 20'],
]

describe('the policies of then', () => {
  test('come to the same verdicts again, for random commits under random policies', async () => {
    const seed = 20_261_123
    console.info(`seed ${seed}`)
    const uniform = generator(seed)
    const random = () => Math.floor(uniform() * 1_000_000)
    const pick = <T>(list: readonly T[]): T => list[random() % list.length] as T
    let schemaId = 0
    for (let step = 0; step < roundsOf(300); step++) {
      if (step % 6 === 0) {
        const [kind, definitionCel] = pick(texts)
        const mode = pick(['enforce', 'warn', 'shadow', 'enforce'] as const)
        const policy = { id: `p${random() % 5}-${kind}`, kind, mode, definitionCel, message: 'ask' }
        await putPolicy(service.store, service.owner.tenant, orders, { name: policy.id, ...policy })
      }
      const body = pick([
        () => setProperties({ [pick(['tier', 'owner', 'note'])]: pick(['gold', 'tin']) }),
        () => removeSnapshots([1n]),
        () => {
          const fields =
            random() % 2 === 0 ? orderFields : orderFields.filter(({ name }) => name !== 'customer')
          return replaceSchema(fields, schemaId)
        },
      ])()
      const response = await commit(service, body, {
        sub: pick(['ann', 'bob']),
        roles: pick([['writer'], ['reader'], []]),
        ...(random() % 2 === 0 && { email: pick(['a@example.com', 'b@example.org']) }),
      })
      const text = await response.text()
      if (response.ok) {
        const [, current] = /"current-schema-id":(\d+)/.exec(text) ?? []
        schemaId = Number(current ?? schemaId)
      }
    }
    const records = await audit(service)
    expect(new Set(records.map(({ decision }) => decision))).toEqual(new Set(['APPROVED', 'REJECTED']))
    const found = await replayed({})
    expect(await findings(found.id)).toEqual([])
    expect(found).toMatchObject({
      state: 'done',
      commits: records.length,
      counts: { confirmed: records.length },
    })
    // Each policy alone, as a draft, says of each commit what its outcome says.
    for (const [kind, definitionCel] of texts) {
      const draft = await replayed({ ...inSales, kind, definition_cel: definitionCel })
      const listed = new Map(
        (await findings(draft.id, 'limit=1000')).map((one) => [one.commit_id, one.outcome]),
      )
      for (const { commitId, policies, outcomes } of records)
        for (const { policyId, value } of outcomes) {
          const then = policies.find(({ id }) => id === policyId)
          if (then?.definitionCel !== definitionCel || value === undefined) continue
          expect([policyId, /denied$/.test(String(listed.get(commitId) ?? 'allowed'))]).toEqual([
            policyId,
            !value,
          ])
        }
    }
    for (const { id, kind } of records.flatMap(({ policies }) => policies))
      await putPolicy(service.store, service.owner.tenant, orders, {
        ...{ id, kind, name: id, message: '', mode: 'shadow', definitionCel: 'true' },
      })
  })

  test('a stored outcome that does not come again is a difference', async () => {
    const [newest] = await audit(service)
    await service.store.ownerTransaction(service.owner.tenant, async (tx) => {
      await tx.query('alter table svc.audit_log disable trigger append_only')
      await tx.query(`update svc.audit_log set outcomes = jsonb_build_array(jsonb_build_object(
        'policyId', '${newest?.policies[0]?.id}', 'name', 'x', 'mode', 'enforce', 'error', 'ErrPolicyNonBool'))
        where commit_id = '${newest?.commitId}'`)
      await tx.query('alter table svc.audit_log enable trigger append_only')
    })
    const found = await replayed({ commits: 1 })
    expect(found.counts).toEqual({ differs: 1 })
    const [one] = await findings(found.id)
    expect(one).toMatchObject({ commit_id: newest?.commitId, outcome: 'differs' })
    expect(one?.reason).toMatch(/ErrPolicyNonBool then, /)
  })
})

describe('a draft', () => {
  test('is reported by writer and table, with the reason and what failed', async () => {
    for (const sub of ['carl', 'carl', 'dora'])
      expect((await commit(service, setProperties({ note: sub }), { sub })).status).toBe(200)
    const found = await replayed({
      ...{ table: orders, kind: 'write_acl', definition_cel: 'principal.sub != "carl"', commits: 3 },
      ...{ name: 'not carl', message: 'ask Dora' },
    })
    expect(found).toMatchObject({
      state: 'done',
      commits: 3,
      looked_at: 3,
      counts: { newly_denied: 2, allowed: 1 },
    })
    const summary = await ask(service, 'GET', `/api/v1/policy-replays/${found.id}/summary`, steward)
    const table = { namespace: ['sales'], name: 'orders' }
    const group = {
      outcome: 'newly_denied',
      table,
      committer: 'carl',
      reason: 'not carl: ask Dora',
      commits: 2,
    }
    expect(summary.body.items).toEqual([{ ...group, last_at: expect.any(String) }])
    const [one] = await findings(found.id)
    expect(one?.explanation).toContain('principal.sub = "carl"')
  })

  test('is paged', async () => {
    const found = await replayed({ ...inSales, definition_cel: 'false', commits: 3 })
    const path = `/api/v1/policy-replays/${found.id}/findings`
    const first = await ask(service, 'GET', `${path}?limit=2`, steward)
    const token = first.body.next_page_token
    const second = await ask(service, 'GET', `${path}?limit=2&page_token=${token}`, steward)
    const counts = [first, second].map(({ body }) => (body.items as readonly Json[]).length)
    expect(counts).toEqual([2, 1])
    expect(second.body.next_page_token).toBeUndefined()
  })

  test('that fails on a commit gives no verdict, as it would at the gate', async () => {
    const found = await replayed({
      ...inSales,
      definition_cel: 'table.properties["absent"] == ""',
      commits: 1,
    })
    expect(found.counts).toEqual({ no_verdict: 1 })
    expect((await findings(found.id))[0]?.reason).toBe('ErrPolicyEval')
  })

  test('lets through what only the policy denied whose place it takes', async () => {
    const { tenant } = service.owner
    const strict = { id: 'strict', kind: 'write_acl', mode: 'enforce', name: 'strict', message: '' } as const
    await putPolicy(service.store, tenant, orders, { ...strict, definitionCel: 'principal.sub == "nobody"' })
    expect((await commit(service, setProperties({ note: 'x' }), { sub: 'eve' })).status).toBe(403)
    await putPolicy(service.store, tenant, orders, { ...strict, mode: 'shadow', definitionCel: 'true' })
    const draft = { table: orders, kind: 'write_acl', commits: 1 }
    const looser = { ...draft, definition_cel: 'principal.sub == "eve"' }
    expect((await replayed({ ...looser, replaces: 'strict' })).counts).toEqual({ newly_allowed: 1 })
    expect((await replayed(looser)).counts).toEqual({ allowed: 1 })
    expect((await replayed({ ...draft, definition_cel: 'false' })).counts).toEqual({ still_denied: 1 })
  })

  test('of retention is tried on expiry alone', async () => {
    const found = await replayed({ ...inSales, kind: 'retention', definition_cel: 'false', commits: 1 })
    expect(found.counts).toEqual({ unaffected: 1 })
  })

  test('judges creations and drops as the gate does', async () => {
    const send = (method: string, path: string, body?: string) =>
      call(service, method, `/v1/iceberg/${prefix}/v1/namespaces/sales/tables${path}`, {
        secret: service.owner.secret,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body }),
      })
    expect((await send('POST', '', createTable('made'))).status).toBe(200)
    expect((await send('DELETE', '/made')).status).toBe(204)
    const table = { namespace: ['sales'], name: 'made' }
    const acl = await replayed({
      table,
      kind: 'write_acl',
      definition_cel: 'commit.updates[0].action != "drop-table"',
    })
    expect((await findings(acl.id)).map(({ action, outcome }) => [action, outcome])).toEqual([
      ['drop-table', 'newly_denied'],
    ])
    const schema = await replayed({
      table,
      kind: 'schema',
      definition_cel: 'manifest.has_column(commit.result, "id")',
    })
    expect((await findings(schema.id)).map(({ action, reason }) => [action, reason])).toEqual([
      ['drop-table', 'no write policy of sales.made allows drop-table'],
      ['create-table', 'no write policy of sales.made allows create-table'],
    ])
  })

  test('judges changes of views as the gate does, by name and action alone', async () => {
    const send = (method: string, path: string, body?: object) =>
      call(service, method, `/v1/iceberg/${prefix}/v1/namespaces/sales/views${path}`, {
        secret: service.owner.secret,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    const version = { 'version-id': 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {}, representations: [] }
    const made = { name: 'seen', schema: schemaOf(orderFields), 'view-version': version, properties: {} }
    expect((await send('POST', '', made)).status).toBe(200)
    const updates = [{ action: 'set-properties', updates: { a: 'b' } }]
    expect((await send('POST', '/seen', { requirements: [], updates })).status).toBe(200)
    expect((await send('DELETE', '/seen')).status).toBe(204)
    const found = await replayed({
      table: { namespace: ['sales'], name: 'seen' },
      kind: 'write_acl',
      definition_cel: 'table.name == "seen" && commit.updates[0].action != "replace-view"',
    })
    expect((await findings(found.id)).map(({ action, outcome }) => [action, outcome])).toEqual([
      ['replace-view', 'newly_denied'],
    ])
    expect(found.counts).toEqual({ newly_denied: 1, allowed: 2 })
  })

  test('of a tag is tried on the tables that carry it', async () => {
    const { store, owner } = service
    const on = { store, tenant: owner.tenant, actor: actorOf('stella'), checkPolicies: () => [] }
    const draft = { kind: 'schema', tag: 'replayed', definition_cel: 'true', commits: 1 }
    expect((await replayed(draft)).commits).toBe(0)
    await putTag(on, orders, 'id', 'replayed')
    expect((await replayed(draft)).commits).toBe(1)
  })

  test('sees a commit only in its scope', async () => {
    const elsewhere = { kind: 'schema', definition_cel: 'false' }
    for (const scope of [
      { namespace: ['sale'] },
      { tag: 'pii' },
      { table: { namespace: ['sales'], name: 'order' } },
    ])
      expect((await replayed({ ...elsewhere, ...scope })).commits).toBe(0)
    const all = await replayed({ ...elsewhere, namespace: [] })
    expect(all.commits).toBe((await audit(service)).length)
    const later = new Date(Date.now() + 60_000).toISOString()
    expect((await replayed({ ...elsewhere, namespace: [], from: later })).commits).toBe(0)
  })

  const bad: readonly (readonly [string, Json])[] = [
    ['that does not compile', { ...inSales, definition_cel: 'principal.' }],
    ['that would do nothing of what it says', { ...inSales, definition_cel: '"id" in table.schema.fields' }],
    ['without a kind', { namespace: ['sales'], definition_cel: 'true' }],
    ['without a scope', { kind: 'schema', definition_cel: 'true' }],
    ['with two scopes', { ...inSales, tag: 'pii', definition_cel: 'true' }],
    ['on too many commits', { ...inSales, definition_cel: 'true', commits: 10_001 }],
    ['that is none, with a kind', { kind: 'schema' }],
  ]
  test.each(bad)('%s is refused', async (_, input) => {
    expect((await start(input)).status).toBe(400)
  })
})

describe('a commit that cannot be replayed is counted with the reason', () => {
  const always = { ...inSales, definition_cel: 'true', commits: 1 }

  test('where its metadata file is gone', async () => {
    await commit(service, setProperties({ note: 'gone' }), { sub: 'carl' })
    const [newest] = await audit(service)
    rmSync(fileURLToPath(newest?.baseMetadataLocation ?? ''))
    const found = await replayed(always)
    expect(found.counts).toEqual({ unavailable: 1 })
    expect((await findings(found.id))[0]?.reason).toBe(
      'the metadata file that the change was based on is gone',
    )
  })

  test('where storage is not registered', async () => {
    await registerRoot(service.owner, [])
    const found = await replayed(always)
    await registerRoot(service.owner)
    expect((await findings(found.id))[0]?.reason).toContain('has no storage roots')
  })

  test('where its body is past its retention', async () => {
    await commit(service, setProperties({ note: 'old' }), { sub: 'carl' })
    const [newest] = await audit(service)
    await service.store.ownerTransaction(service.owner.tenant, async (tx) => {
      await tx.query('alter table svc.audit_log disable trigger append_only')
      await tx.query(`update svc.audit_log set body = '' where commit_id = '${newest?.commitId}'`)
      await tx.query('alter table svc.audit_log enable trigger append_only')
    })
    const found = await replayed(always)
    expect((await findings(found.id))[0]).toMatchObject({
      outcome: 'unavailable',
      reason: 'the body of the request is not kept any more',
    })
  })

  test('where a draft asks for manifests that are gone', async () => {
    const list = 'file:///absent/list.avro'
    const added = `{"requirements":[],"updates":[{"action":"add-snapshot","snapshot":{"snapshot-id":77,"sequence-number":1,
      "timestamp-ms":${Date.now()},"manifest-list":"${list}","summary":{"operation":"append"},"schema-id":0}},
      {"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":77}]}`
    expect((await commit(service, added, { sub: 'carl' })).status).toBe(200)
    const found = await replayed({ ...always, definition_cel: 'manifest.added_files(commit) >= 0' })
    expect((await findings(found.id))[0]?.reason).toBe('the manifests of the commit cannot be read any more')
  })
})

test('says nothing of a table whose mask applies to who started it, or to who asks', async () => {
  const { store, owner } = service
  const on = { store, tenant: owner.tenant, actor: actorOf('ada'), checkPolicies }
  const masked = { namespace: ['sales'], name: 'canaries' }
  const at = `/v1/iceberg/${prefix}/v1/namespaces/sales/tables`
  expect((await commit(service, createTable('canaries'), { path: at })).status).toBe(200)
  expect(
    (await commit(service, setProperties({ tier: 'CANARY-91' }), { path: `${at}/canaries` })).status,
  ).toBe(200)
  await putContract(on, masked, { id: 'canaries', version: 1 })
  const mask = { id: 'm', action: 'replace-with-null', exemptRoles: ['administrator'] } as const
  await putMask(on, { table: masked, column: 'customer' }, mask)
  const exempt = await session(service, owner.tenant, ['read', 'admin'], ['administrator'], 'ada')
  const input = {
    definition_cel: 'commit.result.properties.tier != "CANARY-91"',
    ...{ table: masked, kind: 'schema', commits: 1 },
  }
  const look = async (by: string, id: string, what: string) =>
    (await ask(service, 'GET', `/api/v1/policy-replays/${id}/${what}`, by)).body as {
      items: readonly { readonly outcome: string; readonly reason: string }[]
    }
  const own = await replayed(input)
  const { items } = await look(exempt, own.id, 'findings')
  expect(items.map(({ outcome, reason }) => [outcome, reason])).toEqual([
    ['unavailable', 'who started the replay may not read all values of the table'],
  ])
  const theirs = await replayed(input, exempt)
  expect((await look(exempt, theirs.id, 'findings')).items.map(({ outcome }) => outcome)).toEqual([
    'newly_denied',
  ])
  expect((await look(exempt, theirs.id, 'summary')).items).toHaveLength(1)
  for (const what of ['findings', 'summary'])
    expect([what, (await look(steward, theirs.id, what)).items]).toEqual([what, []])
  // Neither by counts, those of commits without a finding among them.
  const allowed = await replayed(
    { ...input, definition_cel: 'commit.result.properties.tier == "CANARY-91"' },
    exempt,
  )
  for (const [{ id }, outcome] of [
    [theirs, 'newly_denied'],
    [allowed, 'allowed'],
  ] as const)
    for (const path of [`policy-replays/${id}`, 'policy-replays']) {
      const counts = async (by: string) => {
        const { body } = await ask(service, 'GET', `/api/v1/${path}`, by)
        const all = (body.items ?? [body]) as readonly Json[]
        return all.find((one) => one.id === id)?.counts
      }
      expect(await counts(exempt)).toEqual({ [outcome]: 1 })
      expect(await counts(steward)).toEqual({ unavailable: 1 })
    }
  await store.tenantQuery(
    owner.tenant,
    `update svc.policy_replay set table_counts = '{}' where tenant_id = $1 and replay_id = $2::text::uuid`,
    [owner.tenant, allowed.id],
  )
  const older = async (by: string) =>
    (await ask(service, 'GET', `/api/v1/policy-replays/${allowed.id}`, by)).body.counts
  expect([await older(exempt), await older(steward)]).toEqual([{ allowed: 1 }, { unavailable: 1 }])
})

describe('a replay', () => {
  test('goes on where a process stopped, and ends where it is cancelled', async () => {
    const { store, owner } = service
    const { body } = await start({ ...inSales, definition_cel: 'false' })
    const id = String(body.id)
    // As a process leaves it that stopped after some commits.
    await eventually(async () => {
      await service.app.jobs.run('replay-policies')
      return (await ask(service, 'GET', `/api/v1/policy-replays/${id}`, steward)).body.state === 'done'
    })
    await store.tenantQuery(
      owner.tenant,
      `update svc.policy_replay set state = 'running', finished_at = null, counts = '{}', table_counts = '{}',
         next_seq = (select audit_seq from svc.audit_log where tenant_id = $1 order by audit_seq desc offset 5 limit 1)
       where tenant_id = $1 and replay_id = $2::text::uuid`,
      [owner.tenant, id],
    )
    await store.tenantQuery(
      owner.tenant,
      `delete from svc.policy_replay_finding where tenant_id = $1 and replay_id = $2::text::uuid and audit_seq <=
         (select next_seq from svc.policy_replay where tenant_id = $1 and replay_id = $2::text::uuid)`,
      [owner.tenant, id],
    )
    await service.app.jobs.run('replay-policies')
    const resumed = (await ask(service, 'GET', `/api/v1/policy-replays/${id}`, steward)).body
    expect([resumed.state, Number(resumed.looked_at)]).toEqual(['done', Number(resumed.commits) - 5])
    await store.tenantQuery(
      owner.tenant,
      `update svc.policy_replay set state = 'running', finished_at = null, next_seq = 0
       where tenant_id = $1 and replay_id = $2::text::uuid`,
      [owner.tenant, id],
    )
    const cancelled = await ask(service, 'POST', `/api/v1/policy-replays/${id}/cancel`, steward, {})
    expect(cancelled.body).toMatchObject({ state: 'cancelled', finished_at: expect.any(String) })
    await service.app.jobs.run('replay-policies')
    expect((await ask(service, 'GET', `/api/v1/policy-replays/${id}`, steward)).body.state).toBe('cancelled')
  })

  test('is one of two at most', async () => {
    const { store, owner } = service
    const started: unknown[] = []
    for (const _ of [1, 2])
      started.push((await replayed({ ...inSales, definition_cel: 'true', commits: 1 })).id)
    await store.tenantQuery(
      owner.tenant,
      `update svc.policy_replay set state = 'running' where tenant_id = $1
       and replay_id in (select value::uuid from jsonb_array_elements_text($2::text::jsonb))`,
      [owner.tenant, JSON.stringify(started)],
    )
    expect((await start({ ...inSales, definition_cel: 'true' })).status).toBe(409)
    await service.app.jobs.run('replay-policies')
  })

  test('is on record with who started it', async () => {
    const { id } = await replayed({ ...inSales, definition_cel: 'true', commits: 1 })
    const rows = await service.store.tenantQuery<{ actor_sub: string }>(
      service.owner.tenant,
      `select actor_sub from svc.administration_log where action = 'start-policy-replay' and subject ->> 'replay' = $1`,
      [id],
    )
    expect(rows).toEqual([{ actor_sub: 'stella' }])
  })

  test('says every outcome that there is', async () => {
    const { body } = await ask(service, 'GET', '/api/v1/policy-replays?limit=1', steward)
    const [newest] = body.items as readonly { readonly counts: Json }[]
    expect(replayOutcomes as readonly string[]).toContain(Object.keys(newest?.counts ?? {})[0] ?? '')
  })

  test('is for those who oversee policies', async () => {
    expect((await start({ ...inSales, definition_cel: 'true' }, reader)).status).toBe(403)
    expect((await ask(service, 'GET', '/api/v1/policy-replays', reader)).status).toBe(403)
  })

  test('of another tenant is neither seen nor ended, and looks at none of its commits', async () => {
    const { id } = await replayed({ ...inSales, definition_cel: 'false', commits: 2 })
    for (const path of [id, `${id}/findings`, `${id}/summary`])
      expect((await ask(service, 'GET', `/api/v1/policy-replays/${path}`, outsider)).status).toBe(404)
    expect((await ask(service, 'POST', `/api/v1/policy-replays/${id}/cancel`, outsider, {})).status).toBe(404)
    expect((await ask(service, 'GET', '/api/v1/policy-replays', outsider)).body.items).toEqual([])
    const theirs = await start({ ...inSales, definition_cel: 'false' }, outsider)
    expect([theirs.status, theirs.body.commits]).toEqual([202, 0])
  })
})
