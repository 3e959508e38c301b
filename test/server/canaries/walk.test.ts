/**
 * Walks through everything that can be read, as callers of every kind, over a lake that is planted with canaries: no
 * answer holds one that the caller may not learn, by what the operation, field or tool declares. Operations are called
 * by their schemas, so new ones are in the walk.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import type { DescribedOperation } from '../../../src/server/rest/describe.ts'
import { differences } from '../../support/hand-kept.ts'
import { call } from '../../support/identity.ts'
import { isLongForm } from '../../support/long-form.ts'
import { type Caller, holds, type Kind, kinds, mayHold, word } from './canaries.ts'
import { knownDifferences, knownLeaks, ofOwnCatalog, unreached } from './lists.ts'
import { type Asked, exampleOf, type Pool, requestOf } from './requests.ts'
import { type Answered, askCatalogs, askGraphql, askRowsets, askTools } from './surfaces.ts'
import { contractDocument, startWorld, type World } from './world.ts'

setDefaultTimeout(300_000)

type Paths = Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>

let world: World
let paths: Paths
/** What lists answered, by path of the list. */
const listed = new Map<string, readonly Pool[]>()
const reached = new Set<string>()
/** Requests of reads that were sent. */
const answered = new Set<string>()
/** `operation: caller learned what`, once each. */
const leaks = new Map<string, Set<string>>()

beforeAll(async () => {
  world = await startWorld()
  const document = await call(world.lake, 'GET', '/api/v1/openapi.json')
  ;({ paths } = (await document.json()) as { paths: Paths })
}, 300_000)
afterAll(() => world?.[Symbol.asyncDispose]())

/** Members that a request takes from what was planted about one table. */
function poolOf(kind: Kind, tenant = world.home): Pool {
  const { name, label, contract, metric, tag } = world.tables[kind]
  return {
    ...{
      namespace: ['farm'],
      table: name,
      name,
      column: label,
      tag,
      contract,
      metric,
      metrics: [metric],
      catalog: 'lake',
    },
    ...{
      tenant,
      session: world.endedSession,
      term: 'term',
      cube: `farm.${name}`,
      node: `table/farm/${name}`,
      principal: 'reader',
      version: 1,
      number: 1,
    },
    statement: `select * from farm.${name}`,
    query: `MATCH (t:Table) RETURN t LIMIT 50`,
    label: 'Table',
    format: 'osi',
    by: 'table',
    definition_cel: 'true',
    all: true,
    explain: true,
    rows: 20,
    dimensions: [{ name: label }],
    document: contractDocument(world.tables[kind], 'farm', 'd'),
  }
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly operation: DescribedOperation
}

const operations = (): readonly Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

async function ask(caller: Caller, { method, target, body, type }: Asked) {
  const response = await call(world.lake, method, target, {
    secret: caller.secret,
    ...(body !== undefined && { body, headers: { 'content-type': type ?? 'application/json' } }),
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream) await response.body?.cancel()
  return { status: response.status, text: isStream ? '' : await response.text() }
}

const demanded = ({ responses }: DescribedOperation) =>
  ['steward', 'administrator', 'owner', 'auditor'].filter((role) =>
    responses[403]?.description?.includes(`\`${role}\``),
  )

/** Finds the canaries that an answer holds and may not. */
function look(
  caller: Caller,
  { name, sent, text, gives, isNumbered }: Answered,
  roles: readonly string[] = ['steward', 'administrator', 'owner'],
): void {
  for (const canary of world.canaries) {
    if (!holds(text, canary) || holds(sent, canary) || (isNumbered && canary.tells === 'counts')) continue
    if (gives.some((each) => mayHold(caller, canary, each, roles))) continue
    const isOfCatalog = canary.tells === 'existence' || canary.tells === 'columns'
    if (ofOwnCatalog.includes(name) && canary.tenant !== caller.tenant && isOfCatalog) continue
    const said = leaks.get(name) ?? new Set()
    leaks.set(
      name,
      said.add(
        `${caller.name} learned ${canary.about} of ${canary.tenant} ${canary.table} (${canary.tells})`,
      ),
    )
  }
}

/** Keeps what the lists answer to those who see most, so that single ones are asked for. */
async function keepLists(): Promise<void> {
  const { steward, administrator, operator } = world.callers
  const lists = operations().filter(({ method, path }) => method === 'GET' && !/(?<!tenant)\}$/.test(path))
  for (const { method, path, operation } of lists.toSorted((a, b) => a.path.length - b.path.length))
    for (const caller of [steward, administrator, operator] as readonly Caller[])
      for (const parent of listedFor(path)) {
        const pool = { ...poolOf('open'), ...parent }
        const { status, text } = await ask(caller, requestOf(method, path, operation, pool, false))
        if (status !== 200 || !text.startsWith('{"items":')) continue
        const { items } = JSON.parse(text) as { items: readonly Pool[] }
        const kept = items.filter(({ name, scopes }) => scopes === undefined || name === 'etl')
        const within = Object.fromEntries(
          Object.entries(parent).filter(([member]) => path.includes(`{${member}}`)),
        )
        const all = kept.map((item) => ({ ...within, ...item }))
        listed.set(path, [...(listed.get(path) ?? []), ...all])
      }
}

/** Scalars of the items of the longest list whose path begins this one; the id stands for the member of the path. */
function listedFor(path: string): readonly Pool[] {
  const [list = '', ...others] = [...listed.keys()]
    .filter((one) => path.startsWith(`${one}/{`))
    .toSorted((one, other) => other.length - one.length)
  const [member = ''] = path.slice(list.length + 2).split('}')
  const items = list === '' ? [] : (listed.get(list) ?? [])
  if (items.length === 0 && others.length === 0) return [{}]
  const scalars = (item: Pool) => Object.entries(item).filter(([, value]) => typeof value !== 'object')
  const pools = items.map((item) => {
    const own = item[member] ?? item.id ?? item.commit_id ?? item.sequence ?? item.name
    return { ...Object.fromEntries(scalars(item)), ...(own !== undefined && { [member]: own }) }
  })
  return pools.length === 0 ? [{}] : pools
}

/** What a walk sends of an operation about a table. */
function requestsOf(
  { method, path, operation }: Operation,
  kind: Kind,
  found: Pool,
  tenant?: TenantId,
): readonly Asked[] {
  const { name, metric } = world.tables[kind]
  const mdx = `SELECT {[Measures].[${metric}]} ON COLUMNS FROM [farm.${name}]`
  const pool = { ...poolOf(kind, tenant), ...(path.includes('/xmla/') && { statement: mdx }), ...found }
  const example = exampleOf(method, path, operation, pool)
  return [
    requestOf(method, path, operation, pool, false),
    requestOf(method, path, operation, pool, true),
    ...(example === undefined ? [] : [example]),
  ]
}

async function walk(all: readonly Operation[], about: readonly Kind[], tenant?: TenantId): Promise<void> {
  for (const one of all)
    for (const caller of Object.values(world.callers)) {
      const { operationId } = one.operation
      let isRefused = false
      for (const found of listedFor(one.path).slice(0, isRead(one) ? 12 : 1))
        for (const kind of about) {
          if (isRefused) break
          const answers = []
          for (const asked of requestsOf(one, kind, found, tenant)) {
            const key = `${caller.name} ${asked.method} ${asked.target} ${asked.body ?? ''}`
            if (isRead(one) && answered.has(key)) continue
            answered.add(key)
            const answer = await ask(caller, asked)
            answers.push(answer)
            if (answer.status < 400) reached.add(operationId)
            const sent = `${decodeURIComponent(asked.target)} ${asked.body ?? ''}`
            const gives = [one.operation['x-gives']]
            look(caller, { name: operationId, sent, text: answer.text, gives }, demanded(one.operation))
          }
          isRefused ||= answers.length > 0 && answers.every(({ status }) => status === 403 || status === 401)
        }
    }
}

const isRead = ({ method, operation }: Operation) =>
  method === 'GET' || /the scope `read`/.test(operation.responses[403]?.description ?? '')

/** Callers without a scope for reading cannot ask these. */
const readers = () =>
  Object.values(world.callers).filter(
    ({ scopes, tenant }) => scopes.includes('read') && tenant !== 'internal',
  )

/** @returns how many answers held a canary that the caller may learn, so that the question is one */
async function walkSurface(
  ask: (caller: Caller, pool: Pool) => Promise<readonly Answered[]>,
  about: readonly Kind[],
  callers = readers(),
) {
  let found = 0
  for (const caller of callers)
    for (const kind of about) {
      const { name, label } = world.tables[kind]
      const pool = {
        ...poolOf(kind),
        table: `farm.${name}`,
        of: `farm.${name}`,
        from: `farm.${name}`,
        to: `farm.${name}`,
      }
      const sql = `select "${label}" from farm.${name} group by 1`
      for (const answer of await ask(caller, {
        ...pool,
        sql,
        cypher: 'MATCH (t:Table) RETURN t',
        query: name,
      })) {
        look(caller, answer)
        if (world.canaries.some((canary) => holds(answer.text, canary))) found++
      }
    }
  return found
}

describe('tells a caller nothing that it may not learn', () => {
  test('GraphQL', async () => {
    expect(
      await walkSurface((caller, pool) => askGraphql(world, caller, pool), ['bare', 'filtered', 'open']),
    ).toBeGreaterThan(20)
  })
  test('the tools of MCP', async () => {
    expect(await walkSurface((caller, pool) => askTools(world, caller, pool), kinds)).toBeGreaterThan(20)
  })
  test('the catalogs of SQL', async () => {
    // The catalog is one for all readers of a tenant. The short form asks one tenant's, which must not show the other's.
    const names = isLongForm ? ['reader', 'stranger'] : ['reader']
    const alike = readers().filter(({ name }) => names.includes(name))
    expect(await walkSurface((caller) => askCatalogs(world, caller), ['bare'], alike)).toBeGreaterThan(20)
  })
  test('the rowsets of XMLA', async () => {
    expect(await walkSurface((caller) => askRowsets(world, caller), ['bare'])).toBeGreaterThan(20)
  })
})

test('no operation tells a caller what it may not learn', async () => {
  await keepLists()
  const reads = operations().filter(isRead)
  // First those that put nothing on record of what strangers sent.
  await walk(
    reads.filter(({ method }) => method === 'GET'),
    kinds,
  )
  await walk(
    reads.filter(({ method }) => method !== 'GET'),
    kinds,
  )
  const changes = operations().filter((one) => !isRead(one))
  await walk(
    changes.filter(({ method }) => method !== 'DELETE'),
    ['open'],
    world.foreign,
  )
  await walk(
    changes.filter(({ method }) => method === 'DELETE'),
    ['open'],
    world.foreign,
  )
  // What a change needs depends on a state or a value that its schema does not tell, and on the changes before it.
  const missed = operations()
    .filter(isRead)
    .map(({ operation }) => operation.operationId)
    .filter((name) => !reached.has(name))
  const place = '`unreached` of test/server/canaries/lists.ts, with the reason'
  expect(
    missed.filter((name) => unreached[name] === undefined).map((name) => `add '${name}' to ${place}`),
  ).toEqual([])
  const names = new Set(operations().map(({ operation }) => operation.operationId))
  expect(Object.keys(unreached).filter((name) => !names.has(name))).toEqual([])
})

test('a table that may not be read is answered like one that is not there', async () => {
  const { reader } = world.callers
  const unlike: string[] = []
  for (const { method, path, operation } of operations().filter(({ method }) => method === 'GET')) {
    const named = ['table', 'metric', 'node'].filter((member) =>
      operation.parameters?.some(({ name }) => name === member),
    )
    if (named.length === 0) continue
    const answerTo = async (pool: Pool) => {
      const { status, text } = await ask(reader as Caller, requestOf(method, path, operation, pool, true))
      return `${status} ${Object.values(pool).reduce((said: string, one) => (typeof one === 'string' && one.length > 9 ? said.replaceAll(one, '…') : said), text)}`
    }
    const hidden = poolOf('bare')
    const unknown = {
      ...hidden,
      name: word('no table'),
      table: word('no table'),
      metric: word('no metric'),
      metrics: [word('no metric')],
      node: `table/farm/${word('no table')}`,
    }
    if ((await answerTo(hidden)) !== (await answerTo(unknown))) unlike.push(operation.operationId)
  }
  expect(
    differences(knownDifferences, unlike, '`knownDifferences` of test/server/canaries/lists.ts'),
  ).toEqual([])
})

test('no answer of all these held what its reader may not learn', () => {
  const found = Object.fromEntries([...leaks].map(([name, said]) => [name, [...said]]))
  expect(Object.entries(found).filter(([name]) => !knownLeaks.includes(name))).toEqual([])
  expect(knownLeaks.filter((name) => found[name] === undefined)).toEqual([])
})
