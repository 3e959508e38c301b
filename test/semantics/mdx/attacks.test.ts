/**
 * What MDX must never show of rows and values that a principal may not see: members, counts, keys, properties, rows, errors.
 * A foreign tenant has a cube of the same name.
 */

import { heapStats } from 'bun:jsc'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { systemClock } from '../../../src/base/clock.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { runMdx } from '../../../src/semantics/mdx/run.ts'
import { actorOf } from '../../support/actor.ts'
import type { Lake } from '../../support/lake.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import {
  captions,
  cellsetAs,
  contextOf,
  cubeName,
  evaluator,
  grid,
  refusalAs,
  runAs,
  startCubeLake,
} from './cube-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
let foreign: TenantId
beforeAll(async () => {
  lake = await startCubeLake()
  foreign = (await makeTenant(lake.store, { name: 'foreign' })).id
})
afterAll(() => lake[Symbol.asyncDispose]())

const from = 'FROM [sales.orders]'
const region = '[orders].[region]'
const email = '[orders].[email]'
/** Regions of rows that the filter hides, and what every address holds before it is masked. */
const hidden = /north|south|user\d|example/

/** All that an answer holds, save what it echoes of the statement. */
const whole = async (statement: string, format: 'multidimensional' | 'tabular' = 'multidimensional') => {
  const answer = await runAs(lake, 'reader', statement, { format })
  if (answer.kind === 'cellset') return JSON.stringify([answer.cellset.axes, answer.cellset.cells])
  return JSON.stringify(answer.kind === 'tabular' ? answer.tabular : answer)
}

describe('a reader of some rows, masked', () => {
  test.each([
    `SELECT ${region}.Members DIMENSION PROPERTIES MEMBER_KEY, MEMBER_VALUE, PARENT_UNIQUE_NAME, CHILDREN_CARDINALITY ON 0 ${from}`,
    `SELECT ${region}.AllMembers ON 0 ${from}`,
    `SELECT AddCalculatedMembers({${region}.[All].Children}) ON 0 ${from}`,
    `SELECT Descendants(${region}.[All]) ON 0 ${from}`,
    `SELECT {${region}.[All].FirstChild, ${region}.[All].LastChild} ON 0 ${from}`,
    `SELECT {${region}.&[east].NextMember, ${region}.&[east].PrevMember, ${region}.&[west].Lead(1)} ON 0 ${from}`,
    `SELECT {-{${region}.&[east]}} ON 0 ${from}`,
    `SELECT TopCount(${region}.Members, 10, [Measures].[revenue]) ON 0 ${from}`,
    `SELECT {[Measures].[revenue]} ON 0 FROM (SELECT Filter(${region}.[region].Members, ${region}.CurrentMember.Name <> "x") ON 0 ${from})`,
    `WITH MEMBER [Measures].[x] AS SetToStr(${region}.Members) MEMBER [Measures].[y] AS Generate(${region}.[region].Members, ${region}.CurrentMember.Properties("MEMBER_KEY"), ",") SELECT {[Measures].[x],[Measures].[y]} ON 0 ${from}`,
    `SELECT ${email}.Members DIMENSION PROPERTIES MEMBER_KEY, MEMBER_NAME ON 0 ${from}`,
    `DRILLTHROUGH MAXROWS 10000 SELECT ${from}`,
    `DRILLTHROUGH SELECT ${from} WHERE ([Measures].[orders]) RETURN ${email}, ${region}, [area].[name]`,
  ])('learns nothing hidden by %s', async (statement) => {
    const seen = await whole(statement)
    // The table of regions has no filter of its own.
    expect(seen.replaceAll(/\[area\].*?(?=\[orders\]|$)/g, '')).not.toMatch(
      statement.includes('area') ? /user\d|example/ : hidden,
    )
    expect(seen).toMatch(/east|west|revenue|xxxx|nnn/)
    expect(await whole(statement, 'tabular')).not.toMatch(/user\d|example/)
  })

  test('counts members, rows and different values that are visible', async () => {
    const cellset = await cellsetAs(
      lake,
      'reader',
      `WITH MEMBER [Measures].[m] AS ${region}.[region].Members.Count MEMBER [Measures].[e] AS Count(${email}.[email].Members) MEMBER [Measures].[d] AS DistinctCount(${email}.[email].Members) SELECT {[Measures].[m],[Measures].[e],[Measures].[d],[Measures].[orders],[Measures].[buyers]} ON 0 ${from}`,
    )
    expect(grid(cellset)).toEqual([[2, 3, 3, 500, 3]])
    const totals = await cellsetAs(
      lake,
      'reader',
      `SELECT ${region}.Members ON 0 ${from} WHERE ([Measures].[orders])`,
    )
    expect(grid(totals)).toEqual([[500, 250, 250]])
  })

  test.each([
    (key: string) => `SELECT {${region}.&[${key}]} ON 0 ${from}`,
    (key: string) => `SELECT {${region}.[region].[${key}]} ON 0 ${from}`,
    (key: string) => `SELECT {${region}.[All].[${key}]} ON 0 ${from}`,
    (key: string) => `SELECT {StrToMember("${region}.&[${key}]")} ON 0 ${from}`,
    (key: string) => `SELECT {[Measures].[orders]} ON 0 ${from} WHERE (${region}.&[${key}])`,
    (key: string) => `SELECT {[Measures].[orders]} ON 0 FROM (SELECT {${region}.&[${key}]} ON 0 ${from})`,
    (key: string) =>
      `WITH MEMBER [Measures].[x] AS ([Measures].[orders], ${region}.&[${key}]) SELECT {[Measures].[x]} ON 0 ${from}`,
    (key: string) => `DRILLTHROUGH SELECT ${from} WHERE (${region}.&[${key}])`,
  ])('is refused a hidden member in the words for one that never was: %#', async (statement) => {
    const never = await refusalAs(lake, 'reader', statement('atlantis'))
    expect(never).toContain('not that of a member')
    expect(await refusalAs(lake, 'reader', statement('north'))).toBe(never)
    expect(await refusalAs(lake, 'officer', statement('north'))).toBe('answered')
  })

  test('cannot name a masked value, and finds the mask by its masked key', async () => {
    const raw = `SELECT {${email}.&[user1@example.com]} ON 0 ${from}`
    expect(await refusalAs(lake, 'officer', raw)).toBe('answered')
    expect(await refusalAs(lake, 'reader', raw)).toContain('not that of a member')
    const [, first] = captions(
      (await cellsetAs(lake, 'reader', `SELECT ${email}.Members ON 0 ${from}`)).axes[0],
    )
    expect(await refusalAs(lake, 'reader', `SELECT {${email}.&[${first}]} ON 0 ${from}`)).toBe('answered')
  })

  test('finds no value of a key by a condition that fails on it', async () => {
    const statement = (name: string) =>
      `SELECT Filter(${region}.[region].Members, IIF(${region}.CurrentMember.Name = "${name}", CDbl("x"), 1) > 0) ON 0 ${from}`
    expect(await refusalAs(lake, 'reader', statement('east'))).toContain('a number is expected')
    expect(await refusalAs(lake, 'reader', statement('north'))).toBe('answered')
  })
})

test('a column that a mask empties, or hashes by query, is no hierarchy, and its name is refused like any other', async () => {
  await using own = await startCubeLake()
  const on = { store: own.store, tenant: own.tenant, actor: actorOf('stella'), checkPolicies }
  const orders = { namespace: ['sales'], name: 'orders' }
  for (const [column, action] of [
    ['note', 'replace-with-null'],
    ['region', 'sha-256-query-local'],
  ] as const) {
    const statement = `SELECT [orders].[${column}].Members ON 0 ${from}`
    await putMask(on, { table: orders, column }, { id: `hide-${column}`, action, exemptRoles: ['officer'] })
    expect(await refusalAs(own, 'officer', statement)).toBe('answered')
    expect(await refusalAs(own, 'reader', statement)).toBe(
      await refusalAs(own, 'reader', statement.replace(column, 'nothing')),
    )
  }
})

test('a hashed key leads to the same rows, and shows its mask', async () => {
  await using own = await startCubeLake()
  const on = { store: own.store, tenant: own.tenant, actor: actorOf('stella'), checkPolicies }
  const mask = { action: 'sha-256-global', exemptRoles: ['officer'] } as const
  const orders = { namespace: ['sales'], name: 'orders' }
  await putMask(on, { table: orders, column: 'region' }, { id: 'hash', ...mask })
  const cellset = await cellsetAs(
    own,
    'reader',
    `SELECT ${region}.Members ON 0 ${from} WHERE ([Measures].[orders])`,
  )
  expect(grid(cellset)).toEqual([[500, 250, 250]])
  expect(
    captions(cellset.axes[0])
      .slice(1)
      .every((caption) => /^[0-9a-f]{64}$/.test(caption)),
  ).toBe(true)
})

test('a foreign tenant sees its own cubes alone', async () => {
  const parts = { store: lake.store, clock: systemClock, queries: lake.app.queries, evaluator }
  const asked = runMdx(
    parts,
    contextOf(lake, 'officer', foreign),
    { statement: `SELECT ${from}`, format: 'multidimensional', session: [] },
    { signal: new AbortController().signal },
  )
  await expect(asked).rejects.toThrow('there is no such cube')
  // Cubes of another tenant lead to no rows.
  const { cube } = await cellsetAs(lake, 'officer', `SELECT ${from}`)
  const stolen = runMdx(
    parts,
    contextOf(lake, 'officer', foreign),
    { statement: `SELECT ${from}`, format: 'multidimensional', session: [], cubes: [cube] },
    { signal: new AbortController().signal },
  )
  await expect(stolen).rejects.toThrow()
})

/** Bytes of live objects. */
function heldBytes(): number {
  Bun.gc(true)
  return heapStats().heapSize
}

describe('bounds', () => {
  const days = '[orders].[day].[day].Members'
  test.each([
    [
      'a set of 10^6 tuples',
      `SELECT CrossJoin(${days}, [orders].[email].[email].Members) * [orders].[qty].[qty].Members ON 0 ${from}`,
    ],
    ['too many cells', `SELECT ${email}.Members ON 0, ${days} * ${region}.Members ON 1 ${from}`],
    [
      'sets within sets',
      `SELECT Generate(${days}, Generate(${email}.Members, Generate(${days}, {${region}.[All]}, ALL), ALL), ALL) ON 0 ${from}`,
    ],
    [
      'values within values',
      `WITH MEMBER [Measures].[x] AS Sum(${days}, Sum(${email}.Members, Sum(${days}, 1))) SELECT {[Measures].[x]} ON 0 ${from}`,
    ],
    [
      'a text that doubles',
      `WITH MEMBER [Measures].[m0] AS Trim("${'x'.repeat(10_000)}") ${Array.from({ length: 16 }, (_, place) => `MEMBER [Measures].[m${place + 1}] AS [Measures].[m${place}] + [Measures].[m${place}]`).join(' ')} MEMBER [Measures].[x] AS Len(UCase([Measures].[m16])) SELECT {[Measures].[x]} ON 0 ${from}`,
    ],
    [
      'a long text in each cell',
      `WITH MEMBER [Measures].[x] AS Trim("${'x'.repeat(900_000)}") SELECT {[Measures].[x]} ON 0, ${days} ON 1, ${email}.Members ON 2 ${from}`,
    ],
    [
      'a long text at each tuple',
      `WITH MEMBER [Measures].[x] AS Len(Generate(CrossJoin(${days}, ${email}.Members), "${'x'.repeat(900_000)}")) SELECT {[Measures].[x]} ON 0 ${from}`,
    ],
  ])('%s is refused', async (_, statement) => {
    const before = heldBytes()
    expect(await refusalAs(lake, 'officer', statement)).toContain('Ask for less.')
    expect(heldBytes() - before).toBeLessThan(64 * 1024 * 1024)
  })

  test.each(['CAPTION', 'FORMAT_STRING'])(
    'a %s that many cells would repeat is bounded',
    async (property) => {
      const statement = `WITH MEMBER [Measures].[x] AS 1, ${property} = "${'x'.repeat(1_001)}" SELECT {[Measures].[x]} ON 0 ${from}`
      expect(await refusalAs(lake, 'officer', statement)).toContain('at most 1000 characters')
    },
  )

  test('of rows that are read, of time and of the signal are kept', async () => {
    const statement = `SELECT ${email}.Members ON 0 ${from}`
    expect(await refusalAs(lake, 'officer', statement, {}, { bounds: { rowsMax: 50 } })).toContain(
      'more than 50 members',
    )
    expect(await refusalAs(lake, 'officer', statement, {}, { bounds: { timeMs: 0 } })).not.toBe('answered')
    expect(await refusalAs(lake, 'officer', statement, {}, { signal: AbortSignal.abort() })).not.toBe(
      'answered',
    )
    expect(cubeName).toBe('sales.orders')
  })
})
