/** `covenant admin --url`: the commands on a running service, with a session, and without its store. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { appendSnapshot, firstSnapshotId } from '../../demo/commits.ts'
import { commands } from '../../src/admin/commands.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { openIntent } from '../../src/store/commit/commit-intents.ts'
import { putReadSettings } from '../../src/store/contract/read-settings.ts'
import { receiveLineage } from '../../src/store/lineage/events.ts'
import { actorOf } from '../support/actor.ts'
import { requestRun } from '../support/check-rows.ts'
import { intentOf } from '../support/commits.ts'
import { freePort } from '../support/free-port.ts'
import { type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { receivedEvent } from '../support/lineage.ts'
import { addTenant, audit, commit, type TestTenant } from '../support/service.ts'
import { quarantineSnapshot } from '../support/territory.ts'
import { runOn, runRemotely } from './command-line.ts'

setDefaultTimeout(120_000)

const folder = mkdtempSync(join(tmpdir(), 'covenant-over-http-'))
const secret = 'Zk4canary-of-the-upstream'
const config = JSON.stringify({ warehouse: 'dev', credential: `gateway:${secret}` })

let service: IdentityService
let foreign: TestTenant
let tenant: string
let url: string
let administrator: string

beforeAll(async () => {
  service = await startIdentityService()
  tenant = service.owner.tenant
  url = service.app.url.origin
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  administrator = await session(service, service.owner.tenant, ['read', 'admin'], ['administrator'])
  const snapshot = { snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() }
  expect((await commit(service, appendSnapshot(snapshot))).status).toBe(200)
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const words = (text: string) => text.split(' ')

/** One call as the operator, unless it has another session. */
function over(command: string | readonly string[], as: string | undefined = service.operator, stdin = '') {
  const env = { ...(as !== undefined && { COVENANT_SESSION: as }) }
  return runRemotely([...(typeof command === 'string' ? words(command) : command), '--url', url], {
    env,
    stdin,
  })
}

async function json<T>(command: string | readonly string[], as?: string, stdin?: string): Promise<T> {
  const { status, stdout, stderr } = await over(command, as, stdin)
  expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: '' })
  return JSON.parse(stdout) as T
}

const policyPut = (of: string) =>
  words(`policy put${of} --table sales.orders --id keep-id --kind schema --file -`)
const keepId = 'manifest.has_column(commit.result, "id")'

describe('a command over HTTP', () => {
  test('changes what the same command on the store changes, and both print the same of it', async () => {
    const made = await json<{ id: string }>('tenant create --name remote --organization org_remote')
    const of = ` --tenant ${made.id}`
    const minted = await json<{ id: string; secret: string }>(
      `session create${of} --name spark --roles a,b --days 3`,
    )
    expect(minted.secret).toStartWith('svc_')
    await json(
      words(
        `catalog put${of} --nickname main --kind alpha --endpoint https://catalog.example --config - --no-check`,
      ),
      undefined,
      config,
    )
    await json(policyPut(of), undefined, keepId)
    await json(`tenant suspend${of}`)
    await json(`tenant resume${of}`)
    const on = {
      store: service.store,
      tenant: service.owner.tenant,
      actor: actorOf('stella'),
      checkPolicies: () => [],
    }
    await putTag(on, { namespace: ['sales'], name: 'orders' }, 'id', 'pii', { note: 'seen in the form' })
    const match = ['graph', 'match', '--tenant', made.id, '--query', 'MATCH (t:Table) RETURN t.name']
    const decided = await audit(service)
    const reading = [
      words('tenant list'),
      ...['session list', 'catalog list', 'policy list', 'audit administration', 'refusal list'].map((one) =>
        words(`${one}${of}`),
      ),
      ...['policy show', 'policy history'].map((one) => words(`${one}${of} --id keep-id`)),
      words(`policy list${of} --table sales.orders`),
      words(`tag list --tenant ${tenant} --table sales.orders`),
      words(`tag history --tenant ${tenant} --tag pii --table sales.orders --column id`),
      words(`semantics export --tenant ${tenant}`),
      words(`audit list --tenant ${tenant} --table sales.orders --limit 1`),
      words(`audit export --tenant ${tenant} --table sales.orders --format csv`),
      words(`audit show --tenant ${tenant} --id ${decided[0]?.commitId}`),
      words(`intent list --tenant ${tenant} --table sales.orders`),
      words('intent count'),
      words(`graph traverse${of} --label Table --id sales.orders --edges SCHEMA_GOVERNS,RETAINS`),
      match,
    ]
    const stale = intentOf()
    await openIntent(service.store, made.id as TenantId, stale, { leaseMs: 0, upstreamMs: 0 })
    reading.push(words(`intent show${of} --id ${stale.commitId}`))
    const granted = `--catalog main --table sales.orders --prefix s3://lake/in/`
    expect((await over(words(`territory grant${of} ${granted}`))).status).toBe(0)
    reading.push(words(`territory list${of}`), words(`territory conflicts${of}`))
    const quarantined = await quarantineSnapshot(service.store, made.id as TenantId)
    reading.push(
      words(`quarantine list${of} --table sales.orders`),
      words(`quarantine show${of} --id ${quarantined}`),
    )
    reading.push(words(`credentials out${of}`))
    const hold = await json<{ id: string }>(`hold set${of} --table sales.orders --reason case`)
    expect((await over(`retention set${of} --kind usage --days 400`)).status).toBe(0)
    expect((await over('retention set-installation --kind usage --days forever')).status).toBe(0)
    reading.push(words(`retention show${of}`), words('retention installation'), words(`hold list${of}`))
    reading.push(words('month list'))
    const hook = await json<{ id: string; secret: string }>(
      `webhook create${of} --name w --receiver ${url}/w --types contract.moved`,
    )
    const password = join(folder, 'password')
    writeFileSync(password, `${secret}\n`)
    const put = `source put${of} --name crm --host 127.0.0.1 --database d --user u --tls off --password-file ${password}`
    expect(await over(put)).toMatchObject({ status: 0, stderr: '' })
    reading.push(words(`source list${of}`))
    const mapping = '--namespace hive://metastore:9083 --catalog main'
    expect(await over(words(`dataset-namespace put${of} ${mapping}`))).toMatchObject({ status: 0 })
    reading.push(words(`dataset-namespace list${of}`))
    const trust = `--issuer ${url} --audience covenant --subject system:serviceaccount:a:*`
    expect((await over(words(`workload put${of} --name spark ${trust}`))).status).toBe(0)
    reading.push(words(`workload list${of}`))
    reading.push(words(`webhook list${of}`), words(`webhook deliveries${of} --id ${hook.id}`))
    // The operator is no steward, and runs of a table that may not be read are hidden.
    await putReadSettings(service.store, made.id as TenantId, actorOf('seed'), {
      uncontracted: 'readable',
    })
    const run = await requestRun(service.store, made.id as TenantId)
    reading.push(words(`checks list${of} --table sales.orders`))
    const seen: string[] = []
    for (const one of reading) {
      const remote = await over(one)
      expect({ one, ...remote }).toMatchObject({ status: 0, stderr: '' })
      expect(await runOn(service.store, one)).toEqual(remote)
      seen.push(remote.stdout)
    }
    expect(seen.join('')).not.toContain(secret)
    expect(seen.join('')).not.toContain('whsec_')
    expect(seen[3]).toContain('keep-id')
    expect(seen.filter((text) => text.includes('seen in the form'))).toHaveLength(2)
    expect(seen[4]).toContain('"action": "put-policy"')

    const checked = await json(words(`policy check${of} --file -`), undefined, '"id" in table.schema.fields')
    expect(checked).toMatchObject({ saveable: false, problems: [{ kind: 'hint', line: 1 }] })
    for (const scope of ['--namespace sales.eu', '--namespace *', '--tag pii'])
      await json(words(`policy put${of} ${scope} --id wide --kind schema --file -`), undefined, keepId)
    expect(await json<unknown>(`policy show${of} --id wide`)).toMatchObject({
      scopes: [{ namespace: ['sales', 'eu'] }, { namespace: [] }, { tag: 'pii' }],
    })
    const twice = await over(words(`policy put${of} --tag pii --table a.b --id w --kind schema --file -`))
    expect([twice.status, twice.stderr]).toEqual([64, expect.stringContaining('exactly one of --table')])
    expect((await over(words(`policy unbind${of} --namespace * --id wide`))).status).toBe(0)
    expect(await json<unknown>(`policy show${of} --id wide`)).toMatchObject({
      scopes: [{ namespace: ['sales', 'eu'] }, { tag: 'pii' }],
    })
    expect((await over(`policy delete${of} --id wide`)).status).toBe(0)
    const models = 'models: [{name: t, semantic_model: true, metrics: [{name: rows, agg: count, expr: 1}]}]'
    expect(
      await json<unknown>(
        words(`semantics import${of} --format dbt --namespace sales --dry-run yes --file -`),
        undefined,
        models,
      ),
    ).toMatchObject({ metrics: ['rows'] })
    const project = join(folder, 'project')
    await Bun.write(
      `${project}/a/models.yml`,
      models.replace(', metrics: [{name: rows, agg: count, expr: 1}]', ''),
    )
    await Bun.write(`${project}/b.yaml`, models.replaceAll('{name: t,', '{name: u,'))
    await Bun.write(`${project}/notes.txt`, 'no document')
    const whole = `semantics import${of} --format dbt --namespace sales --dry-run yes --folder ${project}`
    expect(await json<unknown>(words(whole))).toMatchObject({
      ...{ metrics: ['rows'], tables: [{ name: 't' }, { name: 'u' }] },
    })
    const draft = words(`replay start${of} --namespace * --kind schema --commits 5 --file -`)
    const replay = await json<{ id: string; state: string }>(draft, undefined, keepId)
    expect(replay.state).toBe('running')
    const [newest] = await json<{ id: string }[]>(`replay list${of}`)
    expect(newest?.id).toBe(replay.id)
    expect(await json<unknown>(`replay show${of} --id ${replay.id}`)).toMatchObject({ id: replay.id })
    for (const one of ['summary', 'findings', 'findings --outcome newly_denied'])
      expect(await json<unknown>(`replay ${one}${of} --id ${replay.id}`)).toEqual([])
    expect((await over(`replay cancel${of} --id ${replay.id}`)).status).toBe(0)
    expect((await over(`replay show${of} --id ${crypto.randomUUID()}`)).status).toBe(1)
    expect((await over(`session trust${of} --id ${minted.id} --engine yes`)).status).toBe(0)
    expect((await over(`session turn${of} --id ${minted.id} --field secret`)).stdout).toStartWith('svc_')
    expect((await over(`session revoke${of} --id ${minted.id}`)).status).toBe(0)
    expect((await over(`credentials deny${of} --session ${minted.id}`)).status).toBe(0)
    const staged = words(`credentials staged${of} --session ${minted.id}`)
    expect(await json<unknown>(staged)).toEqual([])
    expect((await runOn(service.store, staged)).stdout).toBe('[]\n')
    expect((await over(`webhook delivery${of} --id ${hook.id} --sequence 1`)).status).toBe(1)
    expect(await json<unknown>(`webhook disable${of} --id ${hook.id}`)).toMatchObject({ state: 'disabled' })
    expect((await over(`webhook enable${of} --id ${hook.id} --field state`)).stdout).toBe('enabled\n')
    const rotated = await json<{ secret: string }>(`webhook rotate${of} --id ${hook.id} --overlap-hours 1`)
    expect(rotated.secret).not.toBe(hook.secret)
    expect(await json<unknown>(`webhook replay${of} --id ${hook.id} --from 1 --to 9`)).toEqual({ queued: 0 })
    expect((await over(`source remove${of} --name crm`)).status).toBe(0)
    const received = receivedEvent({ inputs: ['taken'] })
    await receiveLineage(service.store, made.id as TenantId, [received], true)
    const dataset = '--namespace s3://lake --dataset taken --reason wrong'
    const taken = await json<{ id: string }>(`lineage retire${of} ${dataset}`)
    expect(await json<unknown>(`lineage list${of}`)).toMatchObject([{ id: taken.id, reason: 'wrong' }])
    expect((await over(`lineage restore${of} --id ${taken.id}`)).status).toBe(0)
    expect((await over(`staleness set${of} --days 30`)).status).toBe(0)
    expect(await json<unknown>(`staleness list${of}`)).toEqual({ items: [{ days: 30 }] })
    const unmap = await over(`dataset-namespace remove${of} --namespace hive://metastore:9083`)
    expect(unmap).toMatchObject({ status: 0, stderr: '' })
    expect((await over(`webhook delete${of} --id ${hook.id}`)).status).toBe(0)
    expect((await over(`workload delete${of} --name spark`)).status).toBe(0)
    expect((await over(`policy delete${of} --id keep-id`)).status).toBe(0)
    const clone = '--catalog main --table sales.clone --source-catalog main --source-table sales.orders'
    expect(await json<unknown>(`territory derive${of} ${clone}`)).toEqual({ prefixes: ['s3://lake/in/'] })
    expect(await json<unknown>(`territory revoke${of} ${clone}`)).toEqual({ released: 1 })
    const release = await over(words(`territory release${of} ${granted}`))
    expect(release).toMatchObject({ status: 0, stderr: '' })
    expect((await over(`territory mode${of} --mode observe`)).status).toBe(0)
    expect((await over(`territory manifests${of} --mode off`)).status).toBe(0)
    expect(await json<unknown>(`checks cancel${of} --id ${run}`)).toEqual({ id: run, state: 'cancelled' })
    expect(await json<unknown>(`checks show${of} --id ${run}`)).toMatchObject({ state: 'cancelled' })
    expect(await json<unknown>(`checks resume${of} --id ${run}`)).toEqual({ id: run, state: 'queued' })
    expect((await over(`quarantine release${of} --id ${quarantined} --reason seen`)).status).toBe(0)
    expect(await json<unknown>(`territory show${of}`)).toMatchObject({ mode: 'observe' })
    const to = `--to-catalog main --to-table sales.moved --uuid ${crypto.randomUUID()}`
    expect((await over(`territory hand-over${of} --catalog main --table sales.orders ${to}`)).status).toBe(1)
    const settle = `intent settle${of} --id ${stale.commitId} --outcome not-made --reason seen`
    expect((await over(settle)).status).toBe(0)
    expect((await over(`retention unset${of} --kind usage`)).status).toBe(0)
    expect(await json<unknown>(`hold release${of} --id ${hold.id} --reason closed`)).toMatchObject({
      release: { reason: 'closed' },
    })
    expect(await over(`catalog try${of} --nickname elsewhere`)).toMatchObject({
      status: 1,
      stderr: 'There is no such tenant, or it has no such catalog.\n',
    })
    expect((await over(`catalog remove${of} --nickname main`)).status).toBe(0)
    expect(await json<unknown[]>(`policy list${of}`)).toEqual([])

    for (const one of [`key list${of}`, 'key service', 'key turn-token-signing', 'key turn-plan-signing'])
      expect({ one, ...(await over(one)) }).toMatchObject({ status: 0, stderr: '' })
    expect((await over(`tenant remove${of}`)).status).toBe(0)
    expect(await json<unknown[]>('tenant removals')).toHaveLength(1)
    expect((await over(`tenant remove${of} --withdraw`)).status).toBe(0)

    const tried = [...reading, 'tenant create', 'tenant suspend', 'tenant resume', 'session create'].concat(
      'session revoke',
      'session trust',
      'session turn',
      'credentials deny',
      'credentials staged',
      'catalog put',
      'catalog try',
      'catalog remove',
      'policy put',
      'policy check',
      'policy unbind',
      'policy delete',
      'intent settle',
      'quarantine release',
      ...['set', 'unset', 'set-installation'].map((one) => `retention ${one}`),
      ...['set', 'release'].map((one) => `hold ${one}`),
      // test/docs/retention.test.ts
      ...['detach', 'verify'].map((one) => `month ${one}`),
      'semantics import',
      // test/admin/glossary-commands.test.ts
      ...['list', 'remove'].map((one) => `glossary ${one}`),
      ...['put', 'remove'].flatMap((one) => [`source ${one}`, `dataset-namespace ${one}`]),
      ...['retire', 'list', 'restore'].map((one) => `lineage ${one}`),
      // test/admin/reader-commands.test.ts
      ...['who-read', 'who-can-read'],
      // test/admin/lineage-service-commands.test.ts
      ...['send', 'walk', 'reach'].map((one) => `lineage ${one}`),
      ...['list', 'service', 'turn-token-signing', 'turn-plan-signing'].map((one) => `key ${one}`),
      // test/admin/tenant-export.test.ts
      ...['export', 'remove', 'removals'].map((one) => `tenant ${one}`),
      ...['set', 'list'].map((one) => `staleness ${one}`),
      ...['put', 'delete'].map((one) => `workload ${one}`),
      ...['create', 'enable', 'disable', 'rotate', 'delete', 'delivery', 'replay'].map(
        (one) => `webhook ${one}`,
      ),
      ...['show', 'cancel', 'resume'].map((one) => `checks ${one}`),
      ...['start', 'list', 'show', 'summary', 'findings', 'cancel'].map((one) => `replay ${one}`),
      ...['release', 'grant', 'derive', 'revoke', 'mode', 'manifests', 'show', 'hand-over'].map(
        (one) => `territory ${one}`,
      ),
    )
    const names = tried.map((one) => (typeof one === 'string' ? words(one) : one).slice(0, 2).join(' '))
    expect(commands.map((one) => one.words).toSorted()).toEqual([...new Set(names)].toSorted())
  })

  test('concerns the tenant of its session without --tenant', async () => {
    const said = await json<{ id: string; pinnable: boolean }>(policyPut(''), administrator, keepId)
    const { pinnable, ...put } = said
    expect([put.id, pinnable]).toEqual(['keep-id', true])
    expect(await json<unknown[]>('policy list', administrator)).toEqual([put])
    expect(await json<unknown[]>(`policy list --tenant ${foreign.tenant}`)).toEqual([])
    for (const command of ['session list', 'audit list', 'audit administration', 'refusal list'])
      await json(command, administrator)
    const { commit_id } =
      (await json<{ items: { commit_id: string }[] }>('audit list', administrator)).items[0] ?? {}
    expect(await json(`audit show --id ${commit_id}`, administrator)).toMatchObject({ tenant_id: tenant })
    expect(await json('intent list --table sales.orders', administrator)).toEqual([])
    expect((await over('policy delete --id keep-id', administrator)).status).toBe(0)
  })

  test('is refused with 1 where the session may not do it, for its own and for another tenant', async () => {
    const outsider = await session(service, foreign.tenant, ['read', 'admin'], ['administrator'])
    const reader = await session(service, service.owner.tenant, ['read'])
    for (const [command, as] of [
      [`policy list --tenant ${tenant}`, outsider],
      [`audit list --tenant ${tenant}`, administrator],
      ['tenant list', administrator],
      ['policy list', reader],
      ['session list', reader],
    ] as const) {
      const outcome = await over(command, as)
      expect({ command, ...outcome }).toMatchObject({ status: 1, stdout: '' })
      expect(outcome.stderr).not.toContain(as)
    }
  })

  test('for a tenant that does not exist fails at once', async () => {
    expect(await over(`session create --tenant ${crypto.randomUUID()} --name x`)).toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no such tenant.\n',
    })
  })

  test('reads every page of a listing', async () => {
    const catalog = (n: number) =>
      words(
        `catalog put --tenant ${foreign.tenant} --nickname n${n} --kind alpha --endpoint https://c.example --config - --no-check`,
      )
    for (const n of [1, 2, 3]) await json(catalog(n), undefined, config)
    const seen: string[] = []
    using counting = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const target = new URL(request.url)
        seen.push(target.search)
        // A page of one, so that three catalogs and that of the tenant take more than one.
        target.searchParams.set('limit', '1')
        return await fetch(new URL(`${target.pathname}${target.search}`, url), { headers: request.headers })
      },
    })
    const listed = await runRemotely(
      [...words(`catalog list --tenant ${foreign.tenant}`), '--url', counting.url.origin],
      { env: { COVENANT_SESSION: service.operator } },
    )
    expect((JSON.parse(listed.stdout) as { nickname: string }[]).map(({ nickname }) => nickname)).toEqual([
      'main',
      'n1',
      'n2',
      'n3',
    ])
    expect(seen).toHaveLength(4)
  })
})

describe('where a command goes', () => {
  const list = words('tenant list')

  test('is COVENANT_URL as well, with the session of a file; wrong settings of the store are not read', async () => {
    const file = join(folder, 'session')
    writeFileSync(file, `${service.operator}\n`)
    const wrong = { SVC_TYPO: '1', SVC_DATABASE_URL: '' }
    for (const outcome of [
      await runRemotely(list, { env: { COVENANT_URL: url, COVENANT_SESSION_FILE: file, ...wrong } }),
      await runRemotely([...list, '--url', url, '--session-file', file], { env: wrong }),
    ])
      expect(outcome).toMatchObject({ status: 0, stderr: '' })
  })

  test.each([
    ['no session', ['--url', 'https://svc.example'], 'A session is needed'],
    ['plain HTTP to another machine', ['--url', 'http://svc.example'], '--url must be an https:// URL'],
    ['an address with a path', ['--url', 'https://svc.example/admin'], '--url must be an https:// URL'],
    ['a session’s file without an address', ['--session-file', 'x'], '--session-file goes with --url'],
    [
      'a file that is not there',
      ['--url', 'https://svc.example', '--session-file', 'svc_Zk4canary'],
      '--session-file takes the name of a file',
    ],
    [
      'a session on the command line',
      ['--url', 'https://svc.example', '--session', 'svc_Zk4canary'],
      '--session',
    ],
  ])('with %s is 64, and nothing is repeated', async (_, flags, problem) => {
    const outcome = await runRemotely([...list, ...flags])
    expect(outcome).toMatchObject({ status: 64, stdout: '' })
    expect(outcome.stderr).toContain(problem)
    expect(outcome.stderr).not.toContain('Zk4canary')
  })

  test('without --tenant is 64 where the command works on the store', async () => {
    const outcome = await runOn(service.store, words('policy list'))
    expect(outcome).toMatchObject({ status: 64, stderr: expect.stringContaining('--tenant is required') })
  })

  test('where nobody listens is 69, and the address is named', async () => {
    const port = freePort()
    const outcome = await runRemotely([...list, '--url', `http://127.0.0.1:${port}`], {
      env: { COVENANT_SESSION: service.operator },
    })
    expect(outcome).toMatchObject({ status: 69, stdout: '' })
    expect(outcome.stderr).toContain(`The service at http://127.0.0.1:${port} cannot be reached.`)
    expect(outcome.stderr).not.toContain(service.operator)
  })

  test.each([
    [503, '{"error":{"message":"draining","type":"x","code":503}}', 69, 'draining\n'],
    [502, '<html>', 69, 'The service answered 502.\n'],
    [
      401,
      '{"error":{"message":"The session is unknown.","type":"x","code":401}}',
      1,
      'The session is unknown.\n',
    ],
    [500, '', 1, 'The service answered 500.\n'],
    [302, '', 1, 'The service answered 302.\n'],
  ])('that answers %i with %p ends with %i', async (status, body, exit, said) => {
    let requests = 0
    using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => {
        requests++
        return new Response(body, { status, headers: { location: '/elsewhere' } })
      },
    })
    const outcome = await runRemotely([...list, '--url', server.url.origin], {
      env: { COVENANT_SESSION: service.operator },
    })
    expect(outcome).toEqual({ status: exit, stdout: '', stderr: said })
    expect(requests).toBe(1)
  })
})
