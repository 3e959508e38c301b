/**
 * Changes that loosen what a deployed contract promises, by every verb that can: each waits for another person's
 * sign-off and is made once. A foreign tenant has the same table, contract and tags.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { withdrawTag } from '../../src/store/contract/withdraw-tag.ts'
import { claimRuns } from '../../src/store/detection/claims.ts'
import { listFindings } from '../../src/store/detection/findings.ts'
import { finishRun } from '../../src/store/detection/results.ts'
import { enqueueHits } from '../../src/store/detection/runs.ts'
import { emptyReport, recordFinding } from '../support/detection-rows.ts'
import { commitColumns } from '../support/governed.ts'
import { differences } from '../support/hand-kept.ts'
import { call, session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { addTenant, startTestService, type TestService } from '../support/service.ts'

setDefaultTimeout(180_000)

type Json = Record<string, never>
const contracts = '/api/v1/contracts'
const table = `${contracts}/tables/sales/orders`
const ref = { namespace: ['sales'], name: 'orders' }

let service: TestService
let home: TenantId
let stella: string
let sten: string
let adam: string
let reader: string
let mallory: string

const document = (version: string, roles = '') => `apiVersion: v3.2.0
kind: DataContract
id: orders
version: ${version}
${roles}schema:
- name: orders
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: orders}}}
  properties:
  - {name: id, logicalType: integer}
`

async function ask(method: string, to: string, secret: string, body?: unknown): Promise<[number, Json]> {
  const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
  const response = await call(service, method, to, { secret, headers, body })
  const text = await response.text()
  return [response.status, text === '' ? {} : JSON.parse(text)] as [number, Json]
}

/** Puts the contract in force through its life cycle. */
async function deploy(author: string, signer: string, second: string, body: string) {
  const path = `${contracts}/documents/orders/versions`
  const [, added] = await ask('POST', path, author, body)
  const at = `${path}/${added.number}`
  await ask('POST', `${at}/moves`, author, { move: 'propose' })
  for (const secret of [signer, second])
    await ask('POST', `${at}/sign-offs`, secret, { sha256: String(added.sha256) })
  const [status, answer] = await ask('POST', `${at}/moves`, author, { move: 'deploy' })
  expect([status, String(answer.state)]).toEqual([200, 'active'])
}

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  home = service.owner.tenant
  const foreign = (await addTenant(service.store, 'foreign', service.catalog.url)).tenant
  const columns = { id: 'long', email: 'string', card: 'string', pay: 'long' }
  for (const tenant of [home, foreign]) await commitColumns(service.store, tenant, ref, columns)
  stella = await session(service, home, sessionScopes, ['steward'], 'stella')
  sten = await session(service, home, sessionScopes, ['steward'], 'sten')
  adam = await session(service, home, sessionScopes, ['administrator'], 'adam')
  reader = await session(service, home, ['read'], [], 'rita')
  mallory = await session(service, foreign, sessionScopes, ['steward', 'administrator'], 'mallory')
  const other = await session(service, foreign, sessionScopes, ['steward'], 'moritz')
  for (const [author, signer] of [
    [stella, sten],
    [mallory, other],
  ] as const) {
    await ask('PUT', `${contracts}/life-cycle-settings`, author, { deploy_unverified: true })
    await deploy(author, signer, signer, document('1.0.0'))
    await ask('PUT', `${contracts}/tags/pii/masks/hide`, author, { action: 'replace-with-null' })
    await ask('PUT', `${contracts}/tags/pii/row-filters/own`, author, {
      expression: 'this_column IS NOT NULL',
    })
    await ask('PUT', `${contracts}/tags/pay/masks/none`, author, { action: 'replace-with-null' })
    for (const [column, tag] of [
      ['email', 'pii'],
      ['pay', 'pay'],
    ])
      expect((await ask('PUT', `${table}/columns/${column}/tags/${tag}`, author, {}))[0]).toBe(204)
    const model = { key: ['id'], dimensions: [{ name: 'id' }] }
    expect((await ask('PUT', '/api/v1/semantics/tables/sales/orders', author, model))[0]).toBeLessThan(300)
    const rule = { action: 'tokenize', method: 'ff1', alphabet: 'digits', scope: 'cards' }
    expect((await ask('PUT', '/api/v1/transform/rules/tags/card', author, rule))[0]).toBe(204)
    expect((await ask('PUT', `${table}/columns/card/tags/card`, author, {}))[0]).toBe(204)
  }
  await recordFinding(service.store, home, ref, { fieldId: 2n, columnName: 'email' })
})
afterAll(() => service[Symbol.asyncDispose]())

interface Loosening {
  readonly id: string
  readonly sha256: string
  readonly state: string
}
const idIn = (message: string) => /request ([0-9a-f-]{36}) /.exec(message)?.[1] ?? ''
const messageOf = (answer: Json) => String((answer as { error?: { message?: string } }).error?.message ?? '')
const shown = async (id: string) =>
  (await ask('GET', `${contracts}/loosenings/${id}`, stella))[1] as unknown as Loosening
const sign = async (secret: string, id: string) =>
  (
    await ask('POST', `${contracts}/loosenings/${id}/sign-offs`, secret, { sha256: (await shown(id)).sha256 })
  )[0]

const tried: (readonly [method: string, to: string])[] = []

/** Makes a call that loosens: refused, signed by somebody else, made once. @returns what was told to loosen */
async function madeWithSignOff(method: string, to: string, body?: unknown): Promise<readonly string[]> {
  tried.push([method, to])
  const refused = await ask(method, to, stella, body)
  expect([method, to, refused[0]]).toEqual([method, to, 409])
  const id = idIn(messageOf(refused[1]))
  const again = await ask(method, to, stella, body)
  expect([again[0], idIn(messageOf(again[1]))]).toEqual([409, id])
  expect(await shown(id)).toMatchObject({ state: 'waiting', contracts: ['orders'] })
  expect(await sign(stella, id)).toBe(403)
  expect(await sign(reader, id)).toBe(403)
  expect(await sign(mallory, id)).toBe(404)
  expect(await sign(sten, id)).toBe(204)
  expect((await shown(id)).state).toBe('signed')
  expect((await ask(method, to, stella, body))[0]).toBeLessThan(300)
  expect((await shown(id)).state).toBe('used')
  return ((await shown(id)) as unknown as { findings: readonly string[] }).findings
}

describe('what loosens a deployed contract waits for somebody else’s sign-off', () => {
  test('a weaker mask of a tag', async () => {
    const to = `${contracts}/tags/pii/masks/hide`
    expect((await ask('PUT', to, stella, { action: 'replace-with-null' }))[0]).toBe(204)
    expect(await madeWithSignOff('PUT', to, { action: 'show-last-4' })).toContain(
      'sales.orders: The mask on email hide is show-last-4 instead of replace-with-null',
    )
    expect((await ask('PUT', to, stella, { action: 'replace-with-null' }))[0]).toBe(204)
  })

  test('a mask of a tag that exempts another role', async () => {
    const body = { action: 'replace-with-null', exempt_roles: ['everyone'] }
    expect(await madeWithSignOff('PUT', `${contracts}/tags/pii/masks/hide`, body)).toContain(
      'sales.orders: The mask on email hide no longer applies to everyone',
    )
    const narrow = { action: 'replace-with-null' }
    expect((await ask('PUT', `${contracts}/tags/pii/masks/hide`, stella, narrow))[0]).toBe(204)
  })

  test('another row filter of a tag, and its removal', async () => {
    const to = `${contracts}/tags/pii/row-filters/own`
    await madeWithSignOff('PUT', to, { expression: 'true' })
    await madeWithSignOff('DELETE', to)
  })

  test('the attestation of a metric', async () => {
    const attested = { tags: ['pay'], reason: 'Averages', evidence: 'Reviewed', min_group_size: 20 }
    const body = { ...attested, valid_until: new Date(Date.now() + 3_600_000).toISOString() }
    const author = sten
    expect(
      (await ask('PUT', '/api/v1/metrics/mean_age', author, { table: ref, expression: 'avg(pay)' }))[0],
    ).toBe(200)
    expect(await madeWithSignOff('POST', '/api/v1/metrics/mean_age/attestations', body)).toEqual([
      'sales.orders: The metric mean_age is computed from behind the masks of 20 rows or more',
    ])
  })

  test('a reveal rule, and another role in it', async () => {
    const to = `/api/v1/transform/reveals/columns/sales/orders/card`
    expect(await madeWithSignOff('PUT', to, { roles: ['billing'] })).toEqual([
      'sales.orders: The values of card are revealed to billing',
    ])
    expect(await madeWithSignOff('PUT', to, { roles: ['billing', 'support'] })).toEqual([
      'sales.orders: The values of card are revealed to support',
    ])
    expect((await ask('PUT', to, stella, { roles: ['billing'] }))[0]).toBe(204)
    expect((await ask('DELETE', to, stella))[0]).toBe(204)
  })

  test('another rule of the writer’s transform, and its removal', async () => {
    const to = '/api/v1/transform/rules/tags/card'
    await madeWithSignOff('PUT', to, { action: 'tokenize', method: 'hmac', scope: 'cards' })
    await madeWithSignOff('DELETE', to)
    const own = '/api/v1/transform/rules/columns/sales/orders/email'
    expect((await ask('PUT', own, stella, { action: 'redact' }))[0]).toBe(204)
    await madeWithSignOff('PUT', own, { action: 'mask', mask: 'show-last-4' })
    await madeWithSignOff('DELETE', own)
  })

  test('the withdrawal of a tag for which nothing stands: the tag stays, and the finding says why', async () => {
    const { store } = service
    const asks = { tenant: home, source: 'storage-event', table: ref } as const
    await enqueueHits(store, home, [{ ...asks, metadataLocation: 's3://orders/filled.metadata.json' }])
    const [claim] = await claimRuns(store, { limit: 1, leaseMs: 60_000, triesMax: 3 })
    if (claim === undefined) throw new Error('no run was queued')
    const column = { fieldId: 2n, columnName: 'email', path: 'email' } as const
    const judged = [{ ...column, named: ['email'] as const, traces: [] }]
    const report = { ...emptyReport, snapshotIds: ['7'] }
    const ended = await finishRun(store, claim, { findings: [], judged, report, reason: '', alert: false })
    for (const id of ended.withdrawable ?? []) expect(await withdrawTag(store, home, id)).toBe('held')
    expect(ended.withdrawable).toHaveLength(1)
    const [found] = (await listFindings(store, home)).items
    expect(found).toMatchObject({ status: 'open', withdrawal: { state: 'needs_sign_off' } })
    const [, shown] = await ask('GET', table, stella)
    expect(JSON.stringify(shown)).toContain('sensitive.email')
  })

  test('the withdrawal of a tag that was last found under another name of the table', async () => {
    const { store } = service
    const column = { fieldId: 3n, columnName: 'card' } as const
    const judged = [{ ...column, path: 'card', named: ['us_ssn'] as const, traces: [] }]
    const byName = { class: 'us_ssn', shape: 'name', confidence: 0.65, matched: 0, sampled: 0 } as const
    const findings = [{ ...column, finding: { ...byName, column: 'card', maskedSample: undefined } }]
    const scan = async (name: string, seen: Pick<Parameters<typeof finishRun>[2], 'findings' | 'judged'>) => {
      const metadataLocation = `s3://b/same/${crypto.randomUUID()}.metadata.json`
      const named = { ...ref, name }
      await enqueueHits(store, home, [
        { tenant: home, source: 'storage-event', table: named, metadataLocation },
      ])
      const [claim] = await claimRuns(store, { limit: 1, leaseMs: 60_000, triesMax: 3 })
      if (claim === undefined) throw new Error('no run was queued')
      const report = { ...emptyReport, snapshotIds: ['7'], tableUuid: 'the-same' }
      return await finishRun(store, claim, { ...seen, report, reason: '', alert: false })
    }
    await scan('orders', { findings })
    await scan('moved', { findings })
    const { withdrawable = [] } = await scan('orders', { findings: [], judged })
    expect(withdrawable).toHaveLength(1)
    for (const id of withdrawable) expect(await withdrawTag(store, home, id)).toBe('held')
    const [, shown] = await ask('GET', table, stella)
    expect(JSON.stringify(shown)).toContain('sensitive.us_ssn')
    const [found] = (await listFindings(store, home, { class: 'us_ssn' })).items
    expect(found?.table?.name).toBe('moved')
    const to = `/api/v1/detection/findings/${found?.id}/decisions`
    expect(await madeWithSignOff('POST', to, { decision: 'exempt', reason: 'Synthetic' })).toEqual([
      `sales.orders: The tag sensitive.us_ssn is removed from card`,
    ])
  })

  test('rejecting the finding that set a tag; confirming it does not', async () => {
    const [found] = (await listFindings(service.store, home, { class: 'email' })).items
    const to = `/api/v1/detection/findings/${found?.id}/decisions`
    expect((await ask('POST', to, stella, { decision: 'confirm' }))[0]).toBe(200)
    expect(await madeWithSignOff('POST', to, { decision: 'reject', reason: 'Synthetic' })).toEqual([
      `sales.orders: The tag sensitive.email is removed from email`,
    ])
  })

  test('the removal of a mask from a tag, and of a tag from a column', async () => {
    await madeWithSignOff('DELETE', `${contracts}/tags/pii/masks/hide`)
    expect(await madeWithSignOff('DELETE', `${table}/columns/email/tags/pii`)).toContain(
      'sales.orders: The tag pii is removed from email',
    )
  })

  test('a tag of a table is removed with one too', async () => {
    expect((await ask('PUT', `${table}/tags/internal`, stella, {}))[0]).toBe(204)
    expect(await madeWithSignOff('DELETE', `${table}/tags/internal`)).toContain(
      'sales.orders: The tag internal is removed from the table',
    )
  })
})

describe('a sign-off', () => {
  test('is for the change that was read, and no other', async () => {
    expect(
      (await ask('PUT', `${contracts}/tags/pay/masks/two`, stella, { action: 'replace-with-null' }))[0],
    ).toBe(204)
    const to = `${contracts}/tags/pay/masks/two`
    const refused = await ask('PUT', to, stella, { action: 'mask-to-fixed-value' })
    const id = idIn(messageOf(refused[1]))
    const wrong = { sha256: '0'.repeat(64) }
    expect((await ask('POST', `${contracts}/loosenings/${id}/sign-offs`, sten, wrong))[0]).toBe(409)
    expect(await sign(sten, id)).toBe(204)
    expect((await ask('PUT', to, stella, { action: 'sha-256-global' }))[0]).toBe(409)
    // One more column has the tag by now, so more becomes looser than was signed.
    expect((await ask('PUT', `${table}/columns/id/tags/pay`, stella, {}))[0]).toBe(204)
    expect((await ask('PUT', to, stella, { action: 'mask-to-fixed-value' }))[0]).toBe(409)
  })

  test('of an administrator is needed too where the contract asks for a second approval', async () => {
    const second = 'roles:\n- {role: approver, secondLevelApprovers: board}\n'
    await deploy(stella, sten, adam, document('1.0.1', second))
    const to = `${contracts}/tags/pay/masks/two`
    const id = idIn(messageOf((await ask('DELETE', to, stella))[1]))
    expect(await sign(sten, id)).toBe(204)
    expect((await ask('DELETE', to, stella))[0]).toBe(409)
    expect(await sign(adam, id)).toBe(204)
    expect((await ask('DELETE', to, stella))[0]).toBe(204)
  })

  test('is listed to stewards, and told as an event and in the log of changes', async () => {
    const [status, page] = await ask('GET', `${contracts}/loosenings?limit=3`, sten)
    expect([status, (page.items as unknown as Loosening[]).map(({ state }) => state)]).toEqual([
      200,
      ['used', 'waiting', 'waiting'],
    ])
    expect((await ask('GET', `${contracts}/loosenings`, reader))[0]).toBe(403)
    expect((await ask('GET', `${contracts}/loosenings`, mallory))[1].items).toEqual([] as never)
    const changes = (await ask('GET', `${contracts}/changes`, sten))[1].items as unknown as {
      action: string
    }[]
    expect(changes.map(({ action }) => action)).toContain('sign-off-loosening')
  })
})

test('a table whose contract has no life cycle is changed at once', async () => {
  const free = `${contracts}/tables/sales/free`
  await commitColumns(service.store, home, { namespace: ['sales'], name: 'free' }, { note: 'string' })
  expect((await ask('PUT', free, stella, { id: 'free', version: 1 }))[0]).toBe(204)
  expect((await ask('PUT', `${free}/columns/note/tags/loose`, stella, {}))[0]).toBe(204)
  expect((await ask('DELETE', `${free}/columns/note/tags/loose`, stella))[0]).toBe(204)
})

/** The operations that change something, by how they could loosen what a contract promises. */
const verbs: Readonly<Record<string, readonly string[]>> = {
  'needs a sign-off': [
    ...['put_tag_mask', 'delete_tag_mask', 'put_tag_row_filter', 'delete_tag_row_filter'],
    ...['delete_table_tag', 'delete_column_tag', 'decide_finding', 'attest_metric'],
    ...['put_column_transform_reveal', 'put_tag_transform_rule', 'delete_tag_transform_rule'],
    ...['put_column_transform_rule', 'delete_column_transform_rule'],
  ],
  'needs a version of the contract': [
    ...['put_contract', 'delete_contract', 'put_contract_document', 'edit_contract_document'],
    ...['delete_contract_document', 'add_contract_version', 'move_contract_version', 'sign_contract_version'],
    ...['propose_contract_documents', 'put_column_mask', 'delete_column_mask'],
    ...[
      'put_table_row_filter',
      'delete_table_row_filter',
      'put_column_row_filter',
      'delete_column_row_filter',
    ],
  ],
  'only hides more': [
    ...['put_table_tag', 'put_column_tag', 'end_attestation', 'delete_column_transform_reveal'],
    ...['rotate_transform_scope', 'shred_transform_subject', 'deny_session'],
  ],
  'is the sign-off itself': ['sign_loosening'],
  'gives one reader access for a time, which somebody else decides': [
    ...['request_access', 'decide_access_request', 'withdraw_access_request', 'revoke_access_grant'],
  ],
  'moves readers to another snapshot under the same filters and masks': ['pin_table', 'unpin_table'],
  'concerns tables without a contract': ['put_read_settings'],
  'moves no tag before a document is put in force, which is judged then': ['put_classification_tags'],
  'says what the columns mean, and reads them under the filters and masks of each reader': [
    ...['put_table_model', 'put_term', 'delete_term', 'put_metric', 'move_metric', 'import_semantics'],
  ],
  'concerns commits: what a contract says of them is derived from it and cannot be put or removed': [
    ...['put_policy', 'delete_policy', 'unbind_policy', 'put_life_cycle_settings'],
  ],
  'gives files to a table with the filters and masks of the table that they come from': [
    ...['put_territory_mode', 'grant_territory', 'release_territory', 'hand_territory_over'],
    ...['derive_territory', 'revoke_territory', 'put_territory_manifests', 'release_snapshot'],
  ],
  'finds what is tagged from now on; it takes no tag away': [
    ...['rescan_table', 'create_classifier', 'change_classifier', 'delete_classifier', 'activate_classifier'],
    ...['deactivate_classifier', 'try_classifier', 'receive_alpha_webhook'],
  ],
  reads: [
    ...['compare_contract_document', 'explain_query', 'show_as_seen_by', 'query_metrics', 'explain_mdx'],
    ...[
      'check_policy',
      'try_policy',
      'query_graph',
      'start_policy_replay',
      'cancel_policy_replay',
      'try_catalog',
    ],
    ...['request_check_run', 'report_check_results', 'cancel_check_run', 'resume_check_run'],
    ...['request_reconciliation', 'locate_differences', 'verify_month', 'issue_subject_keys'],
  ],
  'says who somebody is; what the roles may see is the contract’s to say': [
    ...['make_tenant', 'suspend_tenant', 'resume_tenant', 'mint_session', 'end_session', 'mint_own_session'],
    ...['end_own_session', 'put_workload_trust', 'delete_workload_trust', 'put_token_issuer'],
    ...[
      'delete_token_issuer',
      'put_provisioning',
      'log_out',
      'log_out_at_provider',
      'receive_logout',
      'consent',
      'issue_token',
    ],
    ...['receive_identity_event', 'receive_billing_event', 'put_trusted_engine'],
  ],
  'keeps the service': [
    ...[
      'store_graphql_operation',
      'delete_graphql_operation',
      'put_graphql_settings',
      'receive_lineage_event',
      'receive_lineage_batch',
    ],
    ...[
      'settle_intent',
      'settle_proven_intents',
      'put_retention',
      'delete_retention',
      'put_installation_retention',
      'set_hold',
    ],
    ...['release_hold', 'detach_month', 'map_dataset_namespace', 'unmap_dataset_namespace', 'put_catalog'],
    ...['retire_lineage', 'restore_lineage', 'set_lineage_staleness'],
    ...['ask_removal', 'confirm_removal', 'withdraw_removal'],
    ...['change_catalog', 'remove_catalog', 'create_webhook', 'change_webhook', 'delete_webhook'],
    ...[
      ...['rotate_webhook_secret', 'turn_token_signing_key', 'turn_plan_signing_key', 'turn_session_secret'],
      'replay_webhook',
      'put_reconciliation_source',
      'remove_reconciliation_source',
    ],
  ],
}

/** Operations of the same verb under /admin and of a tenant's own. */
const verbOf = (operation: string) => operation.replace(/_tenant(?=_)/, '')

describe('every verb', () => {
  interface Described {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
  }
  const described = async () => {
    const { paths } = (await (await call(service, 'GET', '/api/v1/openapi.json')).json()) as Described
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({
        path,
        method,
        verb: verbOf(operationId),
      })),
    )
  }

  test('that changes something is known by how it could loosen', async () => {
    const changing = (await described()).filter(({ method }) => method !== 'get').map(({ verb }) => verb)
    const place = '`verbs` of test/contract/loosening.test.ts, under how it could loosen'
    expect(differences(Object.values(verbs).flat(), changing, place)).toEqual([])
  })

  test('that needs a sign-off was tried above', async () => {
    const asked = (await described()).filter(({ method, path }) => {
      const pattern = new RegExp(`^${path.replace(/{[^}]+}/g, '[^/]+')}$`)
      return tried.some(([by, to]) => by.toLowerCase() === method && pattern.test(to))
    })
    expect([...new Set(asked.map(({ verb }) => verb))].sort()).toEqual(
      (verbs['needs a sign-off'] ?? []).toSorted(),
    )
  })
})
