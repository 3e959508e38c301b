import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareCall } from '../../src/admin/command.ts'
import { commands } from '../../src/admin/commands.ts'
import { type CommandLine, commandLine } from './command-line.ts'

const secret = 'pa55-of-the-upstream'
const config = JSON.stringify({ warehouse: 'dev', credential: `gateway:${secret}` })
const keepId = 'manifest.has_column(commit.result, "id")'

let cli: CommandLine
let acme: string
let globex: string

/** What both tenants have, so that each look at one has the other's to leave out. */
async function provision(tenant: string): Promise<void> {
  await cli.json([...catalogPut(tenant), '--config', '-'], config)
  await cli.json([...policyPut(tenant), '--file', '-'], keepId)
}

const catalogPut = (tenant: string) =>
  `catalog put --tenant ${tenant} --nickname main --kind alpha --endpoint https://catalog.example --no-check`.split(
    ' ',
  )
const policyPut = (tenant: string) =>
  `policy put --tenant ${tenant} --table sales.orders --id keep-id --kind schema`.split(' ')
const words = (text: string) => text.split(' ')

/** What is wrong with the flags of a call: such mistakes are found before the store is opened. */
async function mistake(call: readonly string[]): Promise<string> {
  try {
    await prepareCall(call, commands, async () => '')
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  throw new Error(`nothing is wrong with ${call.join(' ')}`)
}

beforeAll(async () => {
  cli = await commandLine()
  const create = async (name: string) =>
    (await cli.run(['tenant', 'create', '--name', name, '--field', 'id'])).stdout.trim()
  acme = await create('acme')
  globex = await create('globex')
  await provision(acme)
  await provision(globex)
})
afterAll(() => cli[Symbol.asyncDispose]())

describe('tenants', () => {
  test('are listed, suspended and resumed, each by itself', async () => {
    const states = async () => {
      const tenants = await cli.json<{ id: string; state: string }[]>(words('tenant list'))
      return Object.fromEntries(tenants.map(({ id, state }) => [id, state]))
    }
    expect(await cli.run(words(`tenant suspend --tenant ${acme} --field state`))).toEqual({
      status: 0,
      stdout: 'suspended\n',
      stderr: '',
    })
    expect(await states()).toEqual({ [acme]: 'suspended', [globex]: 'active' })
    expect((await cli.run(words(`tenant resume --tenant ${acme}`))).status).toBe(0)
    expect(await states()).toEqual({ [acme]: 'active', [globex]: 'active' })
  })

  test('are no more than the installed license is for, as through /admin', async () => {
    const limited = (tenants: string) => {
      const issue = ['src/main.ts', 'license', 'issue', '--licensee', 'me', '--tenants', tenants]
      const { stdout } = Bun.spawnSync([process.execPath, ...issue], {
        cwd: new URL('../..', import.meta.url).pathname,
      })
      return { SVC_DEMO: '1', SVC_LICENSE: stdout.toString().trim() }
    }
    const create = (env: Readonly<Record<string, string>>) =>
      cli.run(words('tenant create --name third'), { env })
    expect(await create(limited('2'))).toEqual({
      status: 1,
      stdout: '',
      stderr: 'The installed license allows 2 tenants, and 2 exist.\n',
    })
    expect((await create({ ...limited('3'), SVC_DEMO: '0' })).stderr).toContain('development license')
    expect(await cli.json<unknown[]>(words('tenant list'))).toHaveLength(2)
    expect((await create(limited('3'))).status).toBe(0)
  })

  test.each(['tenant suspend', 'policy list'])(
    '%s of a tenant that does not exist ends with 1',
    async (command) => {
      const outcome = await cli.run([...words(command), '--tenant', crypto.randomUUID()])
      expect(outcome).toEqual({ status: 1, stdout: '', stderr: 'There is no such tenant.\n' })
    },
  )
})

describe('sessions', () => {
  test('show their secret once, and are out of reach of another tenant', async () => {
    const create = words(`session create --tenant ${acme} --name spark --roles orders-writer,reader`)
    const made = await cli.json<{ id: string; secret: string }>(create)
    expect(made.secret).toMatch(/^svc_[A-Za-z0-9_-]{43}$/)
    const listed = await cli.run(words(`session list --tenant ${acme}`))
    expect(listed.stdout).not.toContain(made.secret)
    expect(JSON.parse(listed.stdout)).toMatchObject([
      {
        id: made.id,
        principal: { sub: 'service:spark', roles: ['orders-writer', 'reader'] },
        scopes: ['commit'],
      },
    ])
    expect(await cli.json<unknown[]>(words(`session list --tenant ${globex}`))).toEqual([])

    const revoke = (tenant: string) => cli.run(words(`session revoke --tenant ${tenant} --id ${made.id}`))
    expect((await revoke(globex)).status).toBe(1)
    expect((await revoke(acme)).status).toBe(0)
    expect(await revoke(acme)).toMatchObject({
      status: 1,
      stderr: 'There is no such session, or it was already revoked.\n',
    })
  })
})

describe('a field of a result', () => {
  test('is printed alone, as text where it is text, and nothing where the result has none', async () => {
    const printed = async (command: string) => (await cli.run(words(command))).stdout
    expect(await printed('intent count --field open')).toBe('0\n')
    expect(await printed(`audit list --tenant ${acme} --field next_page_token`)).toBe('')
    expect(await printed(`session create --tenant ${acme} --name once --field secret`)).toMatch(/^svc_\S+\n$/)
  })

  test('that is misspelt makes no session whose secret nobody has seen', async () => {
    const listed = () => cli.json<unknown[]>(words(`session list --tenant ${acme}`))
    const before = await listed()
    const outcome = await cli.run(words(`session create --tenant ${acme} --name lost --field scret`))
    expect(outcome).toMatchObject({ status: 64, stdout: '' })
    expect(await listed()).toEqual(before)
  })

  test('is named by the help of each command that has it', async () => {
    const help = async (command: string) => (await cli.run(words(`${command} --help`))).stdout
    expect(await help('session create')).toContain('[--field id|secret|sub]')
    expect(await help('session list')).not.toContain('[--field')
  })

  test('is one of those that the command names: results hold no others', async () => {
    const left = await cli.leaveIntent(globex)
    const made = [
      ['tenant create', words('tenant create --name fields')],
      ['session create', words(`session create --tenant ${globex} --name fields`)],
      ['catalog put', [...catalogPut(globex), '--config', '-'], config],
      ['policy put', [...policyPut(globex), '--file', '-'], keepId],
      ['audit list', words(`audit list --tenant ${globex}`)],
      ['intent count', words('intent count')],
      ['intent show', words(`intent show --tenant ${globex} --id ${left}`)],
    ] as const
    for (const [name, call, stdin] of made) {
      const fields = commands.find((one) => one.words === name)?.fields
      expect(fields).toEqual(expect.arrayContaining(Object.keys(await cli.json<object>(call, stdin))))
    }
    await cli.run(words(`intent settle --tenant ${globex} --id ${left} --outcome not-made --reason seen`))
  })
})

describe('catalogs', () => {
  test('are listed without their secrets', async () => {
    const listed = await cli.run(words(`catalog list --tenant ${acme}`))
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { nickname: 'main', catalog_kind: 'alpha', config_json: { warehouse: 'dev' } },
    ])
    expect(listed.stdout).not.toContain(secret)
  })

  test('are put from a file as well, and removing one leaves the other tenant’s of the same nickname', async () => {
    const path = join(cli.folder, 'config.json')
    writeFileSync(path, config)
    const put = await cli.json<{ version: number }>([...catalogPut(acme), '--config', path])
    expect(put.version).toBeGreaterThan(1)
    const remove = () => cli.run(words(`catalog remove --tenant ${acme} --nickname main`))
    expect((await remove()).status).toBe(0)
    expect((await remove()).status).toBe(1)
    expect(await cli.json<unknown[]>(words(`catalog list --tenant ${globex}`))).toHaveLength(1)
    await cli.json([...catalogPut(acme), '--config', '-'], config)
  })
})

describe('policies', () => {
  test('are put, listed and deleted, each tenant’s by itself', async () => {
    const listed = () =>
      cli.json<{ id: string; definition_cel: string }[]>(words(`policy list --tenant ${acme}`))
    const { pinnable, ...put } = await cli.json<{ pinnable: boolean; id: string; definition_cel: string }>(
      [...words(`policy put --tenant ${acme} --table sales.orders --id w --kind write_acl`), '--file', '-'],
      'true',
    )
    expect(pinnable).toBe(true)
    expect((await listed()).at(-1)).toEqual(put)
    expect((await listed()).at(-1)?.definition_cel).toBe('true')
    expect((await listed()).map(({ id }) => id)).toEqual(['keep-id', 'w'])
    expect((await cli.run(words(`policy delete --tenant ${globex} --id w`))).status).toBe(1)
    expect((await cli.run(words(`policy delete --tenant ${acme} --id w`))).status).toBe(0)
    expect((await listed()).map(({ id }) => id)).toEqual(['keep-id'])
  })

  test('of another kind do not take an id that is in use', async () => {
    const put = words(
      `policy put --tenant ${acme} --table sales.orders --id keep-id --kind retention --file -`,
    )
    expect(await cli.run(put, { stdin: 'true' })).toMatchObject({
      status: 1,
      stderr: 'A policy of another kind already has this id.\n',
    })
  })
})

describe('the graph', () => {
  test('is traversed from a table, and shows nothing of another tenant', async () => {
    const traverse = (tenant: string, more = '') =>
      cli.json<{ label: string; id: string; hops: number; properties: { tenant_id: string } }[]>(
        words(`graph traverse --tenant ${tenant} --label Table --id sales.orders${more}`),
      )
    const reached = await traverse(acme)
    expect(reached).toMatchObject([
      { label: 'Policy', id: 'keep-id', hops: 1, properties: { tenant_id: acme } },
    ])
    expect(await traverse(acme, ' --direction in --hops 5 --edges SCHEMA_GOVERNS')).toEqual(reached)
    expect(await traverse(globex)).toMatchObject([{ properties: { tenant_id: globex } }])
  })

  test('is matched by labelled patterns of fixed length, in one tenant', async () => {
    const query =
      'MATCH (p:Policy)-[:SCHEMA_GOVERNS]->(t:Table) WHERE t.name = "orders" RETURN [p.id, p.tenant_id], count(t)'
    const rows = await cli.json<unknown>(['graph', 'match', '--tenant', acme, '--query', query])
    expect(rows).toEqual([{ column_1: ['keep-id', acme], column_2: 1 }])
  })

  test.each([
    [
      'more than five hops',
      'graph traverse --label Table --id sales.orders --hops 6',
      '--hops must be a whole number from 1 to 5',
    ],
    ['no hops', 'graph traverse --label Table --id sales.orders --hops 0', '--hops'],
    ['an unknown label', 'graph traverse --label Tabel --id sales.orders', '--label must be one of'],
    [
      'an unknown edge',
      'graph traverse --label Table --id sales.orders --edges GOVERN',
      '--edges must be one of',
    ],
    ['a table without a namespace', 'graph traverse --label Table --id orders', '--id'],
    ['an unknown direction', 'graph traverse --label Table --id sales.orders --direction up', '--direction'],
  ])('refuses %s', async (_what, command, problem) => {
    expect(await mistake([...words(command), '--tenant', acme])).toContain(problem)
  })

  test.each([
    'MATCH (t) RETURN t',
    'MATCH (t:Table)-[*1..5]->(s:Snapshot) RETURN s',
    'MATCH (t:Table) DELETE t',
    'CREATE (t:Table) RETURN t',
    'MATCH (t:Table) RETURN pg_sleep(1)',
  ])('refuses the query %p', async (query) => {
    const { status, stderr } = await cli.run(['graph', 'match', '--tenant', acme, '--query', query])
    expect([status, stderr]).toEqual([64, expect.stringMatching(/^Cypher: /)])
  })
})

describe('the audit log and intents', () => {
  test('are empty before the first commit', async () => {
    expect(await cli.json<unknown>(words(`audit list --tenant ${acme} --decision REJECTED`))).toEqual({
      items: [],
    })
    expect(await cli.json<unknown>(words('intent count'))).toEqual({ open: 0, stale: 0 })
    expect(await cli.json<unknown>(words(`intent list --tenant ${acme}`))).toEqual([])
    expect(await cli.run(words(`audit show --tenant ${acme} --id ${crypto.randomUUID()}`))).toMatchObject({
      status: 1,
      stderr: 'The tenant has no such decision.\n',
    })
  })
})

describe('the administration log', () => {
  // A hand-over needs a dropped table, so it is tried over HTTP. An import is on record among the changes of contracts. To enable a webhook is the change that disables it.
  const read =
    / (list|removals|show|count|traverse|match|administration|conflicts|hand-over|check|try|history|out|staged|export|deliveries|delivery|enable|summary|findings|import|installation|send|walk|reach)$|^who-/

  test('has a row of the operator for each command that changes something, in the tenant concerned', async () => {
    const foreign = await cli.json<unknown>(words(`audit administration --tenant ${globex}`))
    const { id: tenant } = await cli.json<{ id: string }>(words('tenant create --name logged'))
    const made = await cli.json<{ id: string }>(words(`session create --tenant ${tenant} --name spark`))
    await provision(tenant)
    const passwordFile = join(cli.folder, 'password')
    writeFileSync(passwordFile, 'canary\n')
    const hook = await cli.json<{ id: string; secret: string }>(
      words(`webhook create --tenant ${tenant} --name w --receiver https://8.8.8.8/w --types *`),
    )
    expect(hook.secret).toMatch(/^whsec_/)
    const source = '--source-catalog main --source-table sales.orders'
    await cli.json(
      words(`policy put --tenant ${tenant} --tag pii --id keep-id --kind schema --file -`),
      keepId,
    )
    const replay = await cli.json<{ id: string }>(words(`replay start --tenant ${tenant}`))
    const run = await cli.leaveCheckRun(tenant)
    const hold = await cli.json<{ id: string }>(words(`hold set --tenant ${tenant} --reason case`))
    for (const command of [
      `hold release --tenant ${tenant} --id ${hold.id} --reason closed`,
      `retention set --tenant ${tenant} --kind usage --days 400`,
      `retention unset --tenant ${tenant} --kind usage`,
      `checks cancel --tenant ${tenant} --id ${run}`,
      `checks resume --tenant ${tenant} --id ${run}`,
      `policy unbind --tenant ${tenant} --tag pii --id keep-id`,
      `policy delete --tenant ${tenant} --id keep-id`,
      `territory mode --tenant ${tenant} --mode observe`,
      `territory manifests --tenant ${tenant} --mode enforce`,
      `quarantine release --tenant ${tenant} --id ${await cli.leaveQuarantine(tenant)} --reason agreed`,
      `territory grant --tenant ${tenant} --catalog main --table sales.orders --prefix s3://lake/in/`,
      `territory derive --tenant ${tenant} --catalog main --table sales.clone ${source}`,
      `territory revoke --tenant ${tenant} --catalog main --table sales.clone ${source}`,
      `territory release --tenant ${tenant} --catalog main --table sales.orders --prefix s3://lake/in/`,
      `dataset-namespace put --tenant ${tenant} --namespace trino://t:8080 --first-level lake --catalog main`,
      `dataset-namespace remove --tenant ${tenant} --namespace trino://t:8080 --first-level lake`,
      `staleness set --tenant ${tenant} --days 30`,
      `catalog remove --tenant ${tenant} --nickname main`,
      `session trust --tenant ${tenant} --id ${made.id} --engine yes`,
      `session turn --tenant ${tenant} --id ${made.id}`,
      `session revoke --tenant ${tenant} --id ${made.id}`,
      `credentials deny --tenant ${tenant} --session ${made.id}`,
      `intent settle --tenant ${tenant} --id ${await cli.leaveIntent(tenant)} --outcome not-made --reason seen`,
      `source put --tenant ${tenant} --name crm --host 8.8.8.8 --database d --user u --password-file ${passwordFile}`,
      `source remove --tenant ${tenant} --name crm`,
      `replay cancel --tenant ${tenant} --id ${replay.id}`,
      `webhook disable --tenant ${tenant} --id ${hook.id}`,
      `webhook enable --tenant ${tenant} --id ${hook.id}`,
      `webhook rotate --tenant ${tenant} --id ${hook.id}`,
      `webhook replay --tenant ${tenant} --id ${hook.id}`,
      `webhook delete --tenant ${tenant} --id ${hook.id}`,
      `workload put --tenant ${tenant} --name spark --issuer https://oidc.example --audience covenant --subject spark-*`,
      `workload delete --tenant ${tenant} --name spark`,
      `tenant suspend --tenant ${tenant}`,
      `tenant resume --tenant ${tenant}`,
    ])
      expect((await cli.run(words(command))).status).toBe(0)
    expect((await cli.run(words(`session revoke --tenant ${tenant} --id ${made.id}`))).status).toBe(1)

    const { items } = await cli.json<{
      items: readonly { action: string; request_id: string; actor: { sub: string; source: string } }[]
    }>(words(`audit administration --tenant ${tenant}`))
    expect(items.map(({ action }) => action).toReversed()).toEqual([
      ...['create-tenant', 'create-session', 'put-catalog', 'put-policy', 'create-webhook', 'put-policy'],
      ...['start-policy-replay', 'set-hold', 'release-hold', 'put-retention', 'delete-retention'],
      ...['cancel-checks', 'resume-checks', 'unbind-policy', 'delete-policy'],
      ...['put-territory-mode', 'put-territory-manifests', 'release-snapshot'],
      ...['grant-territory', 'derive-territory', 'revoke-territory', 'release-territory'],
      ...['map-dataset-namespace', 'unmap-dataset-namespace', 'set-lineage-staleness', 'remove-catalog'],
      ...['put-trusted-engine', 'turn-session-secret', 'revoke-session', 'deny-session', 'settle-intent'],
      ...['put-reconciliation-source', 'remove-reconciliation-source'],
      'cancel-policy-replay',
      ...['change-webhook', 'change-webhook', 'rotate-webhook-secret', 'replay-webhook', 'delete-webhook'],
      ...['put-workload-trust', 'delete-workload-trust'],
      ...['suspend-tenant', 'resume-tenant'],
    ])
    const distinct = new Set(items.map(({ action }) => action))
    // The settings of the installation are their own log; a month is detached in test/docs/retention.test.ts.
    // What is taken back of lineage is in over-http.test.ts.
    const elsewhere = ['retention set-installation', 'month detach', 'month verify']
    // A term is removed by a service alone: glossary-commands.test.ts.
    elsewhere.push('lineage retire', 'lineage restore', 'glossary remove')
    // The keys of the service have a record of their own: test/auth/turn-token-signing.test.ts.
    elsewhere.push('key service', 'key turn-token-signing', 'key turn-plan-signing')
    // A tenant is removed by two persons, and so by a service alone: test/store/tenant/remove-tenant.test.ts.
    elsewhere.push('tenant remove')
    const logged = commands.filter(({ words }) => !read.test(words) && !elsewhere.includes(words))
    expect(logged).toHaveLength(distinct.size)
    for (const { actor } of items) expect(actor).toMatchObject({ sub: 'operator', source: 'command_line' })
    expect(new Set(items.map(({ request_id }) => request_id)).size).toBe(items.length)
    expect(JSON.stringify(items)).not.toContain(secret)

    const [one] = items
    const found = await cli.json<{ items: unknown[] }>([
      ...words(`audit administration --tenant ${tenant} --action resume-tenant --actor operator --limit 1`),
      ...['--request', one?.request_id ?? ''],
    ])
    expect(found.items).toEqual([one])
    expect(await cli.json<unknown>(words(`audit administration --tenant ${globex}`))).toEqual(foreign)
  })

  test('names the session’s subject, which is a name of its own, and its creator', async () => {
    const create = words(`session create --tenant ${acme} --name bi --sub ann@example.com`)
    const { id } = await cli.json<{ id: string }>(create)
    const listed = await cli.json<{ id: string }[]>(words(`session list --tenant ${acme}`))
    expect(listed.find((one) => one.id === id)).toMatchObject({
      principal: { sub: 'service:ann@example.com' },
      created_by: { sub: 'operator', source: 'command_line' },
    })
  })
})

describe('wrong words', () => {
  test.each([
    ['an unknown command', 'contract create', 'there is no command `contract`'],
    ['flags alone', '--name acme', 'the command comes first, then its flags'],
    ['half a command', 'tenant', '`tenant` is followed by create, list, suspend, resume'],
    ['an unknown flag', 'tenant create --nmae acme', "Unknown option '--nmae'"],
    ['a flag without its value', 'tenant create --name', '--name'],
    ['a missing flag', 'tenant create', '--name is required'],
    ['an empty flag', 'tenant create --name=', '--name is empty'],
    [
      'a flag given twice, of which only one would count',
      'session create --tenant T --name x --scopes commit --scopes=read',
      '--scopes is given more than once',
    ],
    ['a tenant that is no UUID', 'policy list --tenant acme', '--tenant must be a UUID version 4'],
    [
      'an unknown scope',
      'session create --tenant T --name x --scopes comit',
      '--scopes must be one of commit',
    ],
    ['no scope', 'session create --tenant T --name x --scopes ,', '--scopes is empty'],
    [
      'a life of no days',
      'session create --tenant T --name x --days 0',
      '--days must be a whole number from 1',
    ],
    [
      'a table without a namespace',
      'audit list --tenant T --table orders',
      '--table must be `namespace.table`',
    ],
    ['a page of nothing', 'audit list --tenant T --limit 0', '--limit'],
    [
      'a field that no result has',
      'session create --tenant T --name x --field scret',
      '--field must be one of',
    ],
    ['a field of a list', 'session list --tenant T --field id', "Unknown option '--field'"],
    ['a field of nothing', 'catalog remove --tenant T --nickname x --field id', "Unknown option '--field'"],
    [
      'a stub kind of catalog',
      'catalog put --tenant T --nickname x --kind gamma',
      '--kind must be one of alpha, beta',
    ],
    [
      'a file that is not there',
      'policy put --tenant T --table a.b --id x --kind schema --file nothing.cel',
      '--file',
    ],
  ])('%s: found before the store is opened', async (_what, command, problem) => {
    expect(await mistake(words(command.replace('--tenant T', `--tenant ${acme}`)))).toContain(problem)
  })

  test.each([
    ['no command', 'contract create', 'there is no command `contract`'],
    ['a flag that is wrong', 'graph traverse --tenant T --label Table --id a.b --hops 6', '--hops must be'],
    ['a query that is refused', 'graph match --tenant T --query CREATE', 'Cypher: '],
    ['what the store refuses', 'tenant create --name x --organization acme', 'org_'],
    ['a name that is too long', `tenant create --name ${'x'.repeat(256)}`, '1 to 255 characters'],
  ])('%s: exit status 64 and a sentence', async (_what, command, problem) => {
    const outcome = await cli.run(words(command.replace('--tenant T', `--tenant ${acme}`)))
    expect(outcome).toMatchObject({ status: 64, stdout: '' })
    expect(outcome.stderr).toContain(problem)
    expect(outcome.stderr).not.toContain('    at ')
  })

  test.each([
    ['does not parse', 'table.schema.fields.exists('],
    ['is no bool', '"yes"'],
    ['names what does not exist', 'nobody.knows'],
  ])('a policy that %s is refused', async (_what, text) => {
    const path = join(cli.folder, 'broken.cel')
    writeFileSync(path, text)
    const { status, stderr } = await cli.run([...policyPut(acme), '--file', path])
    expect([status, stderr]).toEqual([64, expect.stringMatching(/^`definition_cel`, at \d+: /)])
  })

  test.each([
    ['is not JSON', '{', 'not JSON'],
    ['is no object', '[]', 'must hold a JSON object'],
    ['misspells a setting', '{"warehous":"dev"}', 'A catalog of kind alpha has no setting `warehous`.'],
    ['sets a header of the connection', `{"header.Host":"${secret}"}`, 'The header.Host is a header that'],
    ['has a secret of the wrong form', `{"warehouse":"dev","credential":"${secret}"}`, 'id:secret'],
    ['names another endpoint', '{"warehouse":"dev","endpoint":"https://other.example"}', 'differs'],
    ['names no read engine that there is', '{"warehouse":"dev","read_engine":"spark"}', 'must be one of'],
    [
      'reads by Trino and names none',
      '{"warehouse":"dev","read_engine":"trino"}',
      'requires the setting `trino.uri`',
    ],
    [
      'sends Trino a secret without TLS',
      `{"warehouse":"dev","trino.uri":"http://trino.example","trino.catalog":"c","trino.token":"${secret}"}`,
      'must be https',
    ],
  ])(
    'a catalog configuration that %s is refused, and no value of it is repeated',
    async (_what, text, problem) => {
      const path = join(cli.folder, 'broken.json')
      writeFileSync(path, text)
      const { status, stderr } = await cli.run([...catalogPut(acme), '--config', path])
      expect(status).toBe(64)
      expect(stderr).toContain(problem)
      expect(stderr).not.toContain(secret)
    },
  )

  test('a secret put on the command line by mistake is refused and not repeated', async () => {
    for (const misplaced of [
      ['--config', config],
      ['--config', '-', config],
    ]) {
      const outcome = await cli.run([...catalogPut(acme), ...misplaced], { stdin: config })
      expect(outcome.status).toBe(64)
      expect(outcome.stderr).not.toContain(secret)
    }
  })
})

describe('the program itself', () => {
  test('opens the store, prints, closes it, and ends with 0, so that the next call sees what it did', async () => {
    await using other = await commandLine()
    const made = await other.spawn(words('tenant create --name acme --field id'))
    expect(made).toMatchObject({ status: 0, stderr: '' })
    const put = await other.spawn([...policyPut(made.stdout.trim()), '--file', '-'], { stdin: keepId })
    expect(put).toMatchObject({ status: 0, stderr: '' })
    expect((await other.spawn(words('policy list'))).status).toBe(64)
  })

  test('ends with 78 where a setting is wrong, and names the variable', async () => {
    await using other = await commandLine()
    const outcome = await other.spawn(words('tenant list'), { env: { SVC_DATABSE_URL: 'postgres://x' } })
    expect(outcome.status).toBe(78)
    expect(outcome.stderr).toContain('SVC_DATABSE_URL')
  })

  test('ends with 1 where another process holds the store', async () => {
    await using other = await commandLine()
    await other.json(words('tenant list'))
    const outcome = await other.spawn(words('tenant list'))
    expect(outcome.status).toBe(1)
    expect(outcome.stderr).toContain('is in use by another process')
    expect(outcome.stderr).toContain('send the command to the service: --url')
  })
})

describe('help', () => {
  test.each([
    ['', ['tenant create', 'graph match']],
    ['tenant --help', ['tenant create', 'tenant resume']],
    ['graph traverse --help', ['--label LABEL', 'at most 5 hops']],
    ['help graph traverse', ['--label LABEL']],
  ])('%p shows what it should', async (command, shown) => {
    const outcome = await cli.run(command === '' ? [] : words(command), { env: { SVC_TYPO: '1' } })
    expect(outcome).toMatchObject({ status: 0, stderr: '' })
    for (const text of shown) expect(outcome.stdout).toContain(text)
  })

  test('of one command shows no other, and of none there is none', async () => {
    expect((await cli.run(words('tenant create --help'))).stdout).not.toContain('tenant list')
    expect((await cli.run(words('contract --help'))).status).toBe(64)
  })
})

describe('at the end, because the tests above count them,', () => {
  test('tenants are made once with --if-absent, however often and by how many it is asked', async () => {
    const create = words('tenant create --name once --organization org_once --if-absent --field id')
    const made = await Promise.all(Array.from({ length: 4 }, () => cli.run(create)))
    expect(new Set(made.map(({ stdout }) => stdout)).size).toBe(1)
    expect(made.map(({ status }) => status)).toEqual([0, 0, 0, 0])
    expect((await cli.run(words('tenant create --name once --if-absent --field id'))).stdout).toBe(
      made[0]?.stdout ?? '',
    )
    // Another name with the organization of that tenant.
    const taken = await cli.run(words('tenant create --name other --organization org_once --if-absent'))
    expect(taken).toMatchObject({ status: 1, stdout: '' })
    await cli.run(words('tenant create --name once'))
    const ambiguous = await cli.run(words('tenant create --name once --if-absent'))
    expect(ambiguous.stderr).toBe('Several tenants have this name: take one from the list of tenants.\n')
  })

  test('catalogs are tried before they are put: one that does not answer is not stored', async () => {
    const put = words(
      `catalog put --tenant ${acme} --nickname away --kind alpha --endpoint http://127.0.0.1:1 --config -`,
    )
    const env = { SVC_UPSTREAM_ALLOW: '127.0.0.1' }
    const { status, stdout, stderr } = await cli.run(put, { stdin: config, env })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('The catalog was not stored, because it does not work. --no-check')
    expect(stderr).toContain('address: failed. 127.0.0.1:1 cannot be reached')
    expect(stderr).not.toContain(secret)
    const listed = () => cli.json<{ nickname: string }[]>(words(`catalog list --tenant ${acme}`))
    expect((await listed()).map(({ nickname }) => nickname)).not.toContain('away')
    expect((await cli.run([...put, '--no-check'], { stdin: config, env })).status).toBe(0)
    expect((await listed()).map(({ nickname }) => nickname)).toContain('away')
    const stored = await cli.run(words(`catalog try --tenant ${acme} --nickname away --field works`), { env })
    expect(stored).toEqual({ status: 1, stdout: 'false\n', stderr: 'The catalog does not work.\n' })
    expect((await cli.run(words(`catalog try --tenant ${globex} --nickname away`))).status).toBe(1)
    await cli.run(words(`catalog remove --tenant ${acme} --nickname away`))
  })
})
