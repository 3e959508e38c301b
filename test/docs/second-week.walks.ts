/**
 * The second week of a lakehouse under contract, lived twice: by the command line alone, and by REST alone. A steward
 * puts a table that is there already under contract, a writer and an analyst meet it, a second steward signs what
 * loosens, an auditor asks who read what, an administrator looks after it. After each step both lives have the same
 * result. Commits and SQL statements go as clients send them, in both.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import { runCovenant } from '../../src/admin/verbs.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { type Lake, readAs, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'

setDefaultTimeout(300_000)

const people = {
  stella: ['steward'],
  stan: ['steward'],
  audra: ['auditor'],
  ada: ['administrator', 'steward'],
  ann: ['analyst'],
  walt: ['writer'],
} as const
type Person = keyof typeof people

interface Life extends AsyncDisposable {
  readonly lake: Lake
  readonly secrets: Readonly<Record<Person, string>>
}

interface Outcome {
  /** 0: done. */
  readonly status: number
  readonly value: unknown
}

const folder = mkdtempSync(join(tmpdir(), 'covenant-second-week-'))
const lives: { words?: Life; rest?: Life } = {}
beforeAll(async () => {
  lives.words = await begin('words')
  lives.rest = await begin('rest')
})
afterAll(async () => {
  await lives.words?.[Symbol.asyncDispose]()
  await lives.rest?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** A catalog with a table that nobody governs, a service before it, and sessions of the people. */
async function begin(name: string): Promise<Life> {
  const own = join(folder, name)
  const catalog = await startDevCatalog({ folder: join(own, 'catalog') })
  const lake = await startLake({
    ...{ catalog: { url: catalog.url, warehouse: 'dev', folder: own }, tables: [] },
    env: { SVC_LICENSE: licenseForAll() },
  })
  const toCatalog = async (path: string, body: object) => {
    const made = await fetch(`${catalog.url}/v1/dev/${path}`, { method: 'POST', body: JSON.stringify(body) })
    if (!made.ok && made.status !== 409) throw new Error(await made.text())
  }
  const table = tableInFolder(join(own, 'catalog/warehouse/crm'), 'people', {
    fields: [
      { id: 1, name: 'id', type: 'long', required: true },
      { id: 2, name: 'email', type: 'string' },
      { id: 3, name: 'region', type: 'string' },
    ],
  })
  const { metadataLocation } = await table.append([
    {
      rows: [
        { id: 1, email: 'ann@example.org', region: 'EU' },
        { id: 2, email: 'bob@example.org', region: 'US' },
      ],
    },
  ])
  await toCatalog('namespaces', { namespace: ['crm'] })
  await toCatalog('namespaces/crm/register', { name: 'people', 'metadata-location': metadataLocation })
  const secrets: Partial<Record<Person, string>> = {}
  for (const [sub, roles] of Object.entries(people)) {
    const scopes = sub === 'walt' ? (['commit', 'read'] as const) : sessionScopes
    const made = { name: sub, principal: { sub, roles }, scopes }
    secrets[sub as Person] = (await createServiceSession(lake.store, lake.tenant, made)).secret
  }
  return {
    lake,
    secrets: secrets as Life['secrets'],
    async [Symbol.asyncDispose]() {
      await lake[Symbol.asyncDispose]()
      await catalog.stop()
    },
  }
}

function lifeOf(name: keyof typeof lives): Life {
  const life = lives[name]
  if (life === undefined) throw new Error('there is no such life')
  return life
}

async function byRest(who: Person, [method, path, body]: Request_): Promise<Outcome> {
  const { lake, secrets } = lifeOf('rest')
  const isDocument = typeof body === 'string'
  const response = await fetch(new URL(path, lake.app.url), {
    method,
    headers: {
      'x-svc-session': secrets[who],
      ...(body !== undefined && { 'content-type': isDocument ? 'application/yaml' : 'application/json' }),
    },
    ...(body !== undefined && { body: isDocument ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.ok ? 0 : 1, value: resultOf(text) }
}

async function byWords(who: Person, words: readonly string[]): Promise<Outcome> {
  const { lake, secrets } = lifeOf('words')
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCovenant([...words, '--json'], {
    env: { COVENANT_URL: lake.app.url.origin, COVENANT_SESSION: secrets[who] },
    stdin: async () => '',
    print: (text) => void out.push(text),
    complain: (text) => void err.push(text),
  })
  return { status: status ?? 0, value: status === 0 ? resultOf(out.join('\n')) : err.join('\n') }
}

function resultOf(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Without what differs between two lives: ids, times, hashes, how long something took, and the order by ids. */
function common(value: unknown, name = ''): unknown {
  if (Array.isArray(value))
    return value
      .map((item) => [JSON.stringify(common(item)), common(item)] as const)
      .toSorted(([a = ''], [b = '']) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([, item]) => item)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, common(member, key)]))
  if (typeof value === 'number' && /_ms$|^ms$|bytes/.test(name)) return 0
  if (typeof value !== 'string') return value
  return value
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\b[0-9a-f]{16,64}\b/g, 'HASH')
    .replace(/\b\d{15,19}\b/g, 'SNAPSHOT')
    .replace(/second-week-[^"]*\/(words|rest)\//g, 'FOLDER/')
}

type Request_ = readonly [method: string, path: string, body?: object | string]

interface Step {
  readonly who: Person
  readonly rest: Request_
  readonly words: readonly string[]
  /** What the result of both says. */
  readonly says?: RegExp
}

/** Does a step in both lives; it must succeed in both, and say the same. */
async function both({ who, rest, words, says = /./ }: Step): Promise<unknown> {
  const [one, other] = [await byWords(who, words), await byRest(who, rest)]
  expect({ words, ...one }).toMatchObject({ status: 0 })
  expect({ rest, ...other }).toMatchObject({ status: 0 })
  expect(common(one.value)).toEqual(common(other.value))
  if (one.value !== undefined) expect(JSON.stringify(one.value)).toMatch(says)
  return one.value
}

/** @param exempt roles that see rows of every region */
function document(version: string, exempt: string): string {
  return `apiVersion: v3.2.0
kind: DataContract
id: people
version: ${version}
description: {purpose: Customers by region}
team: {name: crm, members: [{username: stella, role: Owner}]}
support: [{channel: '#crm', url: 'https://chat.example/crm'}]
schema:
- name: people
  customProperties:
  - property: covenant
    vendor: covenant
    value:
      table: {namespace: [crm], name: people}
      mode: enforce
      rowFilters: [{id: eu, expression: "region = 'EU'", exemptRoles: [${exempt}]}]
  properties:
  - {name: id, logicalType: integer, required: true}
  - {name: email, logicalType: string}
  - {name: region, logicalType: string}
`
}

const first = document('1.0.0', 'officer')
const second = document('1.1.0', 'officer, analyst')

/** A document as a file, for the words. */
function file(text: string): string {
  const path = join(folder, `${Bun.hash(text)}.odcs.yaml`)
  writeFileSync(path, text)
  return path
}

const table = '/api/v1/contracts/tables/crm/people'

/** Statement over the wire, in both lives: the lines must be equal. */
async function read(who: Person, statement: string): Promise<readonly string[]> {
  const ask = ({ lake, secrets }: Life) =>
    readAs({ ...lake.env, PGUSER: who, PGPASSWORD: secrets[who] }, statement).catch((error) => [
      String(error),
    ])
  const [one, other] = [await ask(lifeOf('words')), await ask(lifeOf('rest'))]
  expect(one).toEqual(other)
  return one
}

/** A commit of the writer that drops the column email. @returns statuses of both lives and what the refusal says */
async function dropEmail(): Promise<readonly [number, string]> {
  const send = async ({ lake, secrets }: Life) => {
    const response = await fetch(new URL('/v1/iceberg/lake/v1/namespaces/crm/tables/people', lake.app.url), {
      method: 'POST',
      headers: { 'x-svc-session': secrets.walt, 'content-type': 'application/json' },
      body: JSON.stringify({
        requirements: [],
        updates: [
          {
            action: 'add-schema',
            schema: {
              type: 'struct',
              'schema-id': 1,
              fields: [
                { id: 1, name: 'id', type: 'long', required: true },
                { id: 3, name: 'region', type: 'string', required: false },
              ],
            },
          },
          { action: 'set-current-schema', 'schema-id': -1 },
        ],
      }),
    })
    return [response.status, await response.text()] as const
  }
  const [one, other] = [await send(lifeOf('words')), await send(lifeOf('rest'))]
  expect(common(one)).toEqual(common(other))
  return one
}

describe('day 2: the steward puts a table under contract that is there already', () => {
  test('who asks is a steward', async () => {
    await both({ who: 'stella', rest: ['GET', '/api/v1/session'], words: ['whoami'], says: /steward/ })
  })

  test('without a contract nobody reads the table', async () => {
    expect((await read('ann', 'SELECT id FROM crm.people')).join()).toContain('does not exist')
  })

  test('the document says what it would change before it is put', async () => {
    const compare: Request_ = ['POST', '/api/v1/contracts/documents/people/compare', first]
    const words = ['contract', 'diff', 'people', file(first)]
    await both({ who: 'stella', rest: compare, words, says: /"mode":"enforce"/ })
  })

  test('the document is put, and says what holds for commits', async () => {
    const rest: Request_ = ['PUT', '/api/v1/contracts/documents/people', first]
    const words = ['contract', 'put', 'people', file(first)]
    await both({ who: 'stella', rest, words, says: /"commits":\[\{"table".*"mode":"enforce"/ })
  })

  test('a mask, a tag and another row filter follow', async () => {
    const mask: Step = {
      who: 'stella',
      rest: [
        'PUT',
        `${table}/columns/email/masks/hide`,
        { action: 'mask-alphanum', exempt_roles: ['officer'] },
      ],
      words: 'contract mask set crm.people email hide --action mask-alphanum --exempt-roles officer'.split(
        ' ',
      ),
    }
    await both(mask)
    await both({
      who: 'stella',
      rest: ['PUT', `${table}/columns/email/tags/pii`, {}],
      words: 'contract tag set-column crm.people email pii'.split(' '),
    })
    await both({
      who: 'stella',
      rest: ['PUT', `${table}/row-filters/young`, { expression: 'id < 1000' }],
      words: [...'contract filter set crm.people young --expression'.split(' '), 'id < 1000'],
    })
  })

  test('the table shows all of it', async () => {
    await both({
      who: 'stella',
      rest: ['GET', table],
      words: ['contract', 'show', 'crm.people'],
      says: /pii.*hide/,
    })
  })

  test('the steward sees the table as an analyst does', async () => {
    await both({
      who: 'stella',
      rest: [
        'POST',
        '/api/v1/query/as-seen-by',
        {
          catalog: 'lake',
          table: { namespace: ['crm'], name: 'people' },
          principal: { sub: 'ann', roles: ['analyst'] },
          rows: 5,
        },
      ],
      words: 'as-seen-by lake.crm.people --principal ann --roles analyst --rows 5'.split(' '),
      says: /xxx@xxxxxxx\.xxx/,
    })
  })
})

describe('day 3: an analyst reads, a writer is refused', () => {
  test('the analyst reads rows of the region, masked', async () => {
    expect(await read('ann', 'SELECT id, email FROM crm.people')).toEqual([
      'D 1|xxx@xxxxxxx.xxx',
      'C SELECT 1',
    ])
  })

  test('the analyst asks why', async () => {
    const statement = 'SELECT id, email FROM crm.people'
    const rest: Request_ = ['POST', '/api/v1/query/explain', { statement, catalog: 'lake' }]
    await both({ who: 'ann', rest, words: ['explain', statement, '--catalog', 'lake'], says: /hide/ })
  })

  test('the analyst sees the contract, and whom to ask', async () => {
    await both({ who: 'ann', rest: ['GET', table], words: ['contract', 'show', 'crm.people'], says: /#crm/ })
  })

  test('the writer cannot drop a declared column, and is told by which rule', async () => {
    const [status, text] = await dropEmail()
    expect(status).toBe(403)
    expect(text).toContain('people')
  })
})

describe('day 5: a version that loosens is signed by another steward', () => {
  const documents = '/api/v1/contracts/documents/people'

  test('it is proposed, and waits for a signature', async () => {
    const words = ['contract', 'propose', 'people', file(second)]
    await both({ who: 'stella', rest: ['POST', `${documents}/versions`, second], words, says: /"draft"/ })
    await both({
      who: 'stella',
      rest: ['POST', `${documents}/versions/2/moves`, { move: 'propose' }],
      words: 'contract move people 2 propose'.split(' '),
      says: /"proposed"/,
    })
  })

  test('another steward looks at what it does, and signs the document that was shown', async () => {
    const version: Request_ = ['GET', `${documents}/versions/2`]
    await both({
      who: 'stan',
      rest: version,
      words: 'contract version people 2'.split(' '),
      says: /loosened/,
    })
    const sha256 = createHash('sha256').update(second).digest('hex')
    const signed = await byRest('stan', ['POST', `${documents}/versions/2/sign-offs`, { sha256 }])
    const byName = await byWords('stan', 'contract sign people@2 --yes'.split(' '))
    expect([signed.status, byName.status]).toEqual([0, 0])
    await both({
      who: 'stan',
      rest: version,
      words: 'contract version people 2'.split(' '),
      says: /"approved"/,
    })
  })

  test('it is deployed, and analysts see every region from then on', async () => {
    expect(await read('ann', 'SELECT region FROM crm.people')).toEqual(['D EU', 'C SELECT 1'])
    await both({
      who: 'ada',
      rest: ['PUT', '/api/v1/contracts/life-cycle-settings', { deploy_unverified: true }],
      words: 'settings life-cycle put --deploy-unverified true'.split(' '),
    })
    await both({
      who: 'stella',
      rest: ['POST', `${documents}/versions/2/moves`, { move: 'deploy' }],
      words: 'contract move people 2 deploy'.split(' '),
      says: /"active"/,
    })
    expect(await read('ann', 'SELECT region FROM crm.people ORDER BY id')).toEqual([
      'D EU',
      'D US',
      'C SELECT 2',
    ])
  })

  test('its versions and every move of them are on record', async () => {
    const versions: Request_ = ['GET', `${documents}/versions`]
    await both({ who: 'stan', rest: versions, words: ['contract', 'versions', 'people'], says: /"number":2/ })
    const moves: Request_ = ['GET', `${documents}/moves`]
    await both({ who: 'stan', rest: moves, words: ['contract', 'moves', 'people'], says: /propose/ })
  })
})

describe('day 6: the auditor asks for evidence', () => {
  test('who changed what', async () => {
    const rest: Request_ = ['GET', '/api/v1/contracts/changes']
    await both({ who: 'audra', rest, words: ['changes'], says: /stella/ })
  })

  test('who read how much', async () => {
    const rest: Request_ = ['GET', '/api/v1/usage/totals?by=principal']
    await both({ who: 'audra', rest, words: ['usage', 'totals', '--by', 'principal'], says: /ann/ })
  })

  test('every read of the analyst', async () => {
    const rest: Request_ = ['GET', '/api/v1/usage?principal=ann']
    await both({ who: 'audra', rest, words: ['usage', '--principal', 'ann'], says: /crm/ })
  })

  test('who set and removed tags', async () => {
    const rest: Request_ = ['GET', '/api/v1/contracts/tag-history']
    await both({ who: 'audra', rest, words: ['contract', 'tag', 'history'], says: /pii/ })
  })

  const from = '2020-01-01T00:00:00Z'
  const recent = new Date(Date.now() - 30 * 86_400_000).toISOString()
  const to = new Date(Date.now() + 86_400_000).toISOString()
  const place = 'namespace=crm&table=people'

  test('who read the column email, and what each saw of it', async () => {
    const rest: Request_ = ['GET', `/api/v1/usage/readers?${place}&column=email&from=${recent}&to=${to}`]
    const words = ['who-read', 'crm.people', '--column', 'email', '--from', recent, '--to', to]
    await both({ who: 'audra', rest, words, says: /"principal":"ann".*"masked"/ })
  })

  test('who can read the table, each with the reasons', async () => {
    const rest: Request_ = ['GET', `/api/v1/query/readers/list?${place}`]
    await both({ who: 'audra', rest, words: ['who-can-read', 'crm.people'], says: /exempt.*officer/ })
  })

  test('which contract was in force when', async () => {
    const rest: Request_ = ['GET', `/api/v1/contracts/in-force?${place}&from=${from}&to=${to}`]
    const words = ['contract', 'in-force', '--table', 'crm.people', '--from', from, '--to', to]
    await both({ who: 'audra', rest, words, says: /"1\.0\.0".*"1\.1\.0"/ })
  })

  test('all of it as a folder, by the command line', async () => {
    const out = join(folder, 'evidence')
    const words = ['evidence', 'crm.people', '--from', recent, '--to', to, '--out', out]
    const { lake, secrets } = lifeOf('words')
    const err: string[] = []
    const status = await runCovenant(words, {
      env: { COVENANT_URL: lake.app.url.origin, COVENANT_SESSION: secrets.audra },
      stdin: async () => '',
      print: () => {},
      complain: (text) => void err.push(text),
    })
    expect({ status, err }).toMatchObject({ status: 0 })
    expect(readFileSync(join(out, 'README.md'), 'utf8')).toContain('crm.people')
  })
})

describe('day 8: the administrator looks after it', () => {
  test('where contracts are missing or weak', async () => {
    const rest: Request_ = ['GET', '/api/v1/contracts/coverage?limit=1000']
    await both({ who: 'ada', rest, words: ['coverage'], says: /"tables":1/ })
  })

  test('the checks of the contract are run and listed', async () => {
    const body = { contract: 'people', namespace: ['crm'], table: 'people', catalog: 'lake' }
    await both({
      who: 'ada',
      rest: ['POST', '/api/v1/checks/runs', body],
      words: 'checks run people crm.people --catalog lake'.split(' '),
    })
  })

  test('the service is ready', async () => {
    await both({
      who: 'ada',
      rest: ['GET', '/readyz'],
      words: ['service', 'ready'],
      says: /"accepting":true/,
    })
  })
})
