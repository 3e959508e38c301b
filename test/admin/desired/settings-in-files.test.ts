/** Settings that are kept in files: planned, applied, compared and removed on a running service, for a tenant and by the operator. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContractVerb } from '../../../src/admin/contracts/contract-arguments.ts'
import { runContractVerb } from '../../../src/admin/contracts/contract-verbs.ts'
import { readDesiredFolder } from '../../../src/admin/desired/desired-files.ts'
import { kinds } from '../../../src/admin/desired/kinds.ts'
import { sessionScopes } from '../../../src/core/session.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { call, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { addTenant } from '../../support/service.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let tenant: TenantId
let foreign: TenantId
let owner: string
let stranger: string
const root = mkdtempSync(join(tmpdir(), 'covenant-desired-'))

beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  tenant = service.owner.tenant
  foreign = (await addTenant(service.store, 'foreign', service.catalog.url)).tenant
  const roles = ['owner', 'administrator', 'steward']
  owner = await session(service, tenant, sessionScopes, roles, 'git')
  stranger = await session(service, foreign, sessionScopes, roles, 'git')
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

function folder(name: string, files: Readonly<Record<string, string>>): string {
  const at = join(root, name)
  mkdirSync(at, { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(at, file), text)
  return at
}

interface Asked {
  readonly as?: string
  readonly env?: Readonly<Record<string, string>>
}

async function run(verb: ContractVerb, words: readonly string[], { as = owner, env = {} }: Asked = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runContractVerb(verb, words, {
    env: { COVENANT_URL: service.app.url.origin, COVENANT_SESSION: as, ...env },
    stdin: async () => '',
    print: (text) => out.push(`${text}\n`),
    complain: (text) => err.push(`${text}\n`),
  })
  return { status, out: out.join(''), err: err.join('') }
}

async function ask(method: string, path: string, secret = owner, body?: unknown) {
  const response = await call(service, method, path, { secret, body })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

const receiver = 'https://127.0.0.1/hooks/T0/B0/Zk4canaryPath'
const tenantFile = `
settings:
  read: {uncontracted: denied, withdraw_days: 14}
  life_cycle: {deploy_unverified: true}
  graphql: {stored_operations_only: true}
  classifications: {confidential: pii}
  retention: {usage: 400, audit: forever}
token_issuers:
  partner: {issuer: https://login.partner.example, audience: covenant, roles_claim: realm_access.roles}
workload_trusts:
  spark: {issuer: https://oidc.cluster.example, audience: covenant, subject: 'system:spark-*', scopes: [read, commit]}
policies:
  keep-id:
    kind: schema
    message: Keep the column id.
    definition_cel: manifest.has_column(commit.result, "id")
    governs: [{table: {namespace: [sales], name: orders}}, {namespace: [finance]}]
sessions:
  nightly: {scopes: [commit, read], roles: [etl]}
webhooks:
  chat: {url: {from_env: CHAT_URL}, types: [contract.moved, commit.decided]}
  off: {url: https://127.0.0.1/x, types: ['*'], enabled: false}
classifiers:
  staff_number:
    definition: {names: ['(^|_)staff_no$'], values: [{pattern: '[0-9]{7}', checks: [{kind: luhn}]}]}
    active: true
    trial: {column: staff_no, values: ['1234566']}
`
const env = { CHAT_URL: receiver }

test('a plan of a new folder names all that it would add, and changes nothing', async () => {
  const at = folder('tenant', { 'main.covenant.yaml': tenantFile })
  const { status, out, err } = await run('plan', [at], { env })
  expect({ status, err }).toEqual({ status: 2, err: '' })
  for (const name of ['policies/keep-id', 'sessions/nightly', 'webhooks/chat', 'classifiers/staff_number'])
    expect(out).toContain(`+ ${name}  (${join(at, 'main.covenant.yaml')})`)
  expect(out).toContain('~ settings/read')
  expect(out).toContain('    withdraw_days: ')
  expect((await run('plan', [at], { env })).out).toBe(out)
})

test('applying is refused before the first request where a secret has no place', async () => {
  const at = join(root, 'tenant')
  const { status, err } = await run('apply', [at], { env })
  expect(status).toBe(64)
  expect(err).toContain('name a folder for it with --secrets')
  expect((await ask('GET', '/api/v1/policies')).body.items.map(({ id }: { id: string }) => id)).not.toContain(
    'keep-id',
  )
})

test('applying makes everything that a file can say, and applying again does nothing', async () => {
  const at = join(root, 'tenant')
  const secrets = join(root, 'secrets')
  const applied = await run('apply', [at, '--secrets', secrets], { env })
  expect({ status: applied.status, err: applied.err }).toEqual({ status: 0, err: '' })
  const own = kinds.filter(({ sides }) => sides.includes('own')).map((kind) => kind.at.join('/'))
  for (const name of own) expect(applied.out).toContain(`${name}`)
  expect(readdirSync(secrets).toSorted()).toEqual(['sessions.nightly', 'webhooks.chat', 'webhooks.off'])
  for (const name of readdirSync(secrets)) {
    expect(statSync(join(secrets, name)).mode & 0o777).toBe(0o600)
    expect(applied.out + applied.err).not.toContain(readFileSync(join(secrets, name), 'utf8').trim())
  }
  expect(applied.out).not.toContain('Zk4canaryPath')
  const made = await ask(
    'GET',
    '/api/v1/session',
    readFileSync(join(secrets, 'sessions.nightly'), 'utf8').trim(),
  )
  expect(made.body).toMatchObject({
    ...{ tenant, scopes: ['commit', 'read'] },
    principal: { sub: 'service:nightly', roles: ['etl'] },
  })
  const { items } = (await ask('GET', '/api/v1/webhooks')).body
  const states = items.map(({ name, state }: { name: string; state: string }) => [name, state])
  expect(Object.fromEntries(states)).toEqual({ chat: 'enabled', off: 'disabled' })
  // The variable is not needed where nothing changes.
  const again = await run('apply', [at])
  expect(again).toMatchObject({ status: 0, err: '' })
  expect(again.out).toContain('Settings: 0 to add, 0 to change, 0 to remove, ')
  expect((await run('plan', [at])).status).toBe(0)
  expect((await run('diff', [at])).status).toBe(0)
})

test('what was changed on the service by other hands is drift, which applying ends', async () => {
  const at = join(root, 'tenant')
  const { items } = (await ask('GET', '/api/v1/webhooks')).body
  const { id } = items.find(({ name }: { name: string }) => name === 'chat')
  const drifts: readonly [method: string, path: string, body: object, place: string][] = [
    ['PUT', '/api/v1/contracts/settings', { uncontracted: 'readable' }, 'settings/read'],
    ['PUT', '/api/v1/contracts/life-cycle-settings', { deploy_unverified: false }, 'settings/life_cycle'],
    ['PUT', '/api/v1/graphql/settings', { stored_operations_only: false }, 'settings/graphql'],
    ['PUT', '/api/v1/contracts/settings/classifications', { items: [] }, 'settings/classifications'],
    ['PUT', '/api/v1/retention/usage', {}, 'settings/retention'],
    [
      'PUT',
      '/api/v1/token-issuers/partner',
      { issuer: 'https://login.partner.example', audience: 'covenant', subject_prefix: 'p:' },
      'token_issuers/partner',
    ],
    [
      'PUT',
      '/api/v1/workload-trusts/spark',
      {
        issuer: 'https://oidc.cluster.example',
        audience: 'other',
        subject: 'system:spark-*',
        scopes: ['read'],
      },
      'workload_trusts/spark',
    ],
    [
      'PUT',
      '/api/v1/policies/keep-id',
      { kind: 'schema', mode: 'shadow', definition_cel: 'true', tag: 'pii' },
      'policies/keep-id',
    ],
    ['PATCH', `/api/v1/webhooks/${id}`, { enabled: false, types: ['*'] }, 'webhooks/chat'],
    [
      'PUT',
      '/api/v1/detection/classifiers/staff_number',
      { definition: { names: ['x'] } },
      'classifiers/staff_number',
    ],
  ]
  // Each kind that can be changed has its row here.
  const changeable = kinds.filter(({ sides, unchangeable }) => sides.includes('own') && !unchangeable)
  expect(
    drifts
      .map(([, , , place]) =>
        place
          .split('/')
          .slice(0, place.startsWith('settings/') ? 2 : 1)
          .join('/'),
      )
      .toSorted(),
  ).toEqual(changeable.map((kind) => kind.at.join('/')).toSorted())
  for (const [method, path, body, place] of drifts) {
    expect((await ask(method, path, owner, body)).status).toBeLessThan(300)
    const seen = await run('plan', [at], { env })
    expect({ place, status: seen.status }).toEqual({ place, status: 2 })
    expect(seen.out).toContain(`~ ${place}  (`)
    const applied = await run('apply', [at], { env })
    expect({ place, err: applied.err, status: applied.status }).toEqual({ place, err: '', status: 0 })
    expect({ place, status: (await run('plan', [at], { env })).status }).toEqual({ place, status: 0 })
  }
  expect((await ask('GET', '/api/v1/policies/keep-id')).body.scopes).toEqual([
    { table: { namespace: ['sales'], name: 'orders' } },
    { namespace: ['finance'] },
  ])
})

test('a session that differs is refused by the plan, because a session is not changed', async () => {
  const at = folder('other-session', { 'a.covenant.yml': 'sessions:\n  nightly: {scopes: [read]}\n' })
  const { status, out } = await run('plan', [at])
  expect(status).toBe(1)
  expect(out).toContain('cannot be applied: A session is not changed')
  const applied = await run('apply', [at, '--secrets', join(root, 'unused')])
  expect(applied.status).toBe(1)
  expect(applied.err).toContain('Nothing was applied.')
})

test('what is not in a list of the folder stays and is named, until --prune-settings removes it', async () => {
  const at = folder('fewer', {
    'a.covenant.yaml':
      'policies: {}\nwebhooks:\n  off: {url: https://127.0.0.1/x, types: ["*"], enabled: false}\n',
  })
  const seen = await run('plan', [at])
  expect(seen.status).toBe(0)
  expect(seen.out).toContain(
    '  policies/keep-id\n    It is not in the folder and stays; --prune-settings removes it',
  )
  const pruned = await run('apply', [at, '--prune-settings'])
  expect(pruned).toMatchObject({ status: 0, err: '' })
  expect(pruned.out).toContain('policies/keep-id is removed')
  expect(pruned.out).toContain('webhooks/chat is removed')
  // Lists that the folder does not have are nobody's concern.
  expect(pruned.out).not.toContain('sessions')
  expect((await ask('GET', '/api/v1/webhooks')).body.items).toHaveLength(1)
  expect((await ask('GET', '/api/v1/policies/keep-id')).status).toBe(404)
})

test('the session of the run is not removed', async () => {
  const at = folder('no-sessions', { 'a.covenant.yaml': 'sessions: {}\n' })
  const pruned = await run('apply', [at, '--prune-settings'])
  expect(pruned).toMatchObject({ status: 0, err: '' })
  expect(pruned.out).toContain('  sessions/git\n    It is the session of this run and stays')
  expect(pruned.out).toContain('sessions/nightly is removed')
  expect((await ask('GET', '/api/v1/session')).status).toBe(200)
})

test('a plan that was written is applied as it is, and refused once the service has moved', async () => {
  const at = folder('written', {
    'a.covenant.yaml':
      'policies:\n  only-ids: {kind: schema, definition_cel: "true", governs: [{tag: pii}]}\nsettings: {read: {withdraw_days: 20}}\n',
  })
  const file = join(root, 'plan.json')
  expect((await run('plan', [at, '--out', file])).status).toBe(2)
  await ask('PUT', '/api/v1/contracts/settings', owner, { withdraw_days: 99 })
  const moved = await run('apply', [file])
  expect(moved).toMatchObject({ status: 1, out: '' })
  expect(moved.err).toContain('have changed since the plan was made. Plan again.')
  expect((await run('plan', [at, '--out', file])).status).toBe(2)
  expect(await run('apply', [file])).toMatchObject({ status: 0, err: '' })
  expect((await ask('GET', '/api/v1/policies/only-ids')).status).toBe(200)
})

test('a mistake in a file is told with its line, and nothing is asked or applied', async () => {
  const wrong: readonly [text: string, line: string, says: string][] = [
    ['policy:\n  a: {}\n', ':2:3', '`policy` is no setting: `policies` may be meant'],
    ['policies:\n  a: {kind: schema, definition_cel: "true"}\n', ':2:6', '`policies.a.governs` is required'],
    [
      'policies:\n  a: {kind: scheme, definition_cel: "true", governs: [{tag: x}]}\n',
      ':2:6',
      '`policies.a.kind` must be one of',
    ],
    [
      'policies:\n  a: {kind: schema, celdefinition: "true", governs: [{tag: x}]}\n',
      ':2:6',
      '`policies.a.celdefinition` is no member',
    ],
    ['settings: {read: {uncontracted: sometimes}}\n', ':1:18', '`settings.read.uncontracted` must be one of'],
    ['settings: {retention: {audit: 0}}\n', ':1:23', '`settings.retention.audit` must be'],
    ['settings: {reed: {}}\n', ':1:18', '`settings.reed` is no setting: `read` may be meant'],
    ['catalogs: {}\n', ':1:11', "`catalogs` is set by the operator's file, below `tenants`"],
    ['tenants:\n  A: {classifiers: {}}\n', ':2:20', "`classifiers` is set by the tenant's own file"],
    [
      'tenants:\n  A:\n    catalogs:\n      lake:\n        catalog_kind: alpha\n        endpoint: https://c.example\n        config_json: {credential: id:hunter2}\n',
      ':5:9',
      '`config_json.credential` is a secret, which does not belong into a file',
    ],
    [
      'classifiers:\n  a: {definition: {names: [x]}, active: true}\n',
      ':2:6',
      'A classifier counts once it was tried',
    ],
    ['policies:\n  a: 1\n', ':2:6', '`policies.a` must be a mapping'],
    ['- a\n', ':1:1', 'The document must be a mapping'],
    ['sessions: {a: &x {scopes: [read]}, a: *x}\n', ':1', 'twice'],
  ]
  for (const [index, [text, line, says]] of wrong.entries()) {
    const at = folder(`wrong-${index}`, { 'a.covenant.yaml': text })
    for (const verb of ['validate', 'plan', 'apply'] as const) {
      const { status, out, err } = await run(verb, [at])
      expect({ index, verb, status }).toEqual({ index, verb, status: 1 })
      expect(out + err).toContain(`${join(at, 'a.covenant.yaml')}${line}`)
      expect(out + err).toContain(says)
      expect(out + err).not.toContain('hunter2')
    }
  }
})

test('a variable that the environment lacks is named by the plan, and nothing is applied', async () => {
  const at = folder('lacks', {
    'a.covenant.yaml': 'webhooks:\n  new: {url: {from_env: NOT_THERE}, types: ["*"]}\n',
  })
  const { status, out } = await run('plan', [at])
  expect(status).toBe(1)
  expect(out).toContain('cannot be applied: The environment lacks NOT_THERE, which the file names')
})

test('an operator sets up tenants with catalogs, sessions and policies from nothing', async () => {
  const at = folder('installation', {
    'installation.covenant.yaml': `
retention: {lineage: 800}
tenants:
  filesco:
    organization_id: org_01HACMEFILES
    catalogs:
      lake:
        catalog_kind: alpha
        endpoint: ${service.catalog.url}
        config_json: {warehouse: dev, credential: {from_env: LAKE_TOKEN}}
    settings: {retention: {usage: 90}}
    policies:
      writers: {kind: write_acl, definition_cel: 'principal.role(principal, "etl")', governs: [{namespace: []}]}
    sessions:
      spark: {scopes: [commit], roles: [etl]}
    webhooks:
      audit: {url: https://127.0.0.1/covenant, types: ['*']}
    workload_trusts:
      spark: {issuer: https://oidc.cluster.example, audience: covenant, subject: 'system:spark', scopes: [commit]}
  paused: {state: suspended}
`,
  })
  const as = service.operator
  const before = await ask('GET', `/admin/tenants/${foreign}/administration`, as)
  const given = { LAKE_TOKEN: 'gateway:s3cret' }
  const secrets = join(root, 'operator-secrets')
  const planned = await run('plan', [at], { as, env: given })
  expect(planned.out).not.toContain('cannot be applied')
  expect({ status: planned.status, err: planned.err }).toEqual({ status: 2, err: '' })
  const applied = await run('apply', [at, '--secrets', secrets], { as, env: given })
  expect({ status: applied.status, err: applied.err }).toEqual({ status: 0, err: '' })
  expect(applied.out).not.toContain(given.LAKE_TOKEN)
  const again = await run('plan', [at], { as })
  expect({ status: again.status, err: again.err }).toEqual({ status: 0, err: '' })
  const { items } = (await ask('GET', '/admin/tenants', as)).body
  const named = (name: string) => items.find((one: { name: string }) => one.name === name)
  expect(named('filesco')).toMatchObject({ organization_id: 'org_01HACMEFILES', state: 'active' })
  expect(named('paused')).toMatchObject({ state: 'suspended' })
  const spark = readFileSync(join(secrets, 'tenants.filesco.sessions.spark'), 'utf8').trim()
  const loaded = await call(service, 'GET', '/v1/iceberg/lake/v1/namespaces', { secret: spark })
  expect(loaded.status).toBe(200)
  // Nothing happened to another tenant.
  expect(await ask('GET', `/admin/tenants/${foreign}/administration`, as)).toEqual(before)
  const drifted = await ask('DELETE', `/admin/tenants/${named('filesco').id}/catalogs/lake`, as)
  expect(drifted.status).toBeLessThan(300)
  const plan = await run('plan', [at], { as, env: given })
  expect(plan.out).toContain('+ tenants/filesco/catalogs/lake')
})

test('a catalog that does not work is not stored, and the run says which step failed', async () => {
  const at = folder('no-catalog', {
    'a.covenant.yaml':
      'tenants:\n  filesco:\n    catalogs:\n      gone: {catalog_kind: alpha, endpoint: "http://127.0.0.1:9", config_json: {warehouse: main}}\n',
  })
  const { status, err } = await run('apply', [at], { as: service.operator })
  expect(status).toBe(1)
  expect(err).toContain('The catalog was not stored, because it does not work.')
})

test("another tenant's session sees and changes nothing of it, and a tenant's session is no operator", async () => {
  const at = folder('mine', { 'a.covenant.yaml': 'policies: {}\nsessions: {}\nwebhooks: {}\n' })
  const seen = await run('plan', [at, '--prune-settings'], { as: stranger })
  expect(seen.out).not.toContain('only-ids')
  expect(seen.out).not.toContain('nightly')
  const refused = await run('plan', [folder('op', { 'a.covenant.yaml': 'tenants: {filesco: {}}\n' })])
  expect(refused.status).toBe(1)
  expect(refused.err).not.toContain('org_01HACMEFILES')
})

test('the examples in deploy/settings are valid, and have every setting that a file can say', async () => {
  for (const [name, side] of [
    ['tenant', 'own'],
    ['operator', 'tenant'],
  ] as const) {
    const at = new URL(`../../../deploy/settings/${name}`, import.meta.url).pathname
    const { status, out } = await run('validate', [at])
    expect({ status, out }).toEqual({
      status: 0,
      out: '0 contract(s), 1 file(s) of settings, 0 error(s), 0 warning(s).\n',
    })
    const { entries } = await readDesiredFolder(at)
    const said = new Set(entries.map(({ kind }) => kind))
    expect(
      kinds.filter((kind) => kind.sides.includes(side) && !said.has(kind)).map((kind) => kind.at),
    ).toEqual([])
  }
})
