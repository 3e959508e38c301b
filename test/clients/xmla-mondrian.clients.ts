/**
 * Mondrian, over the same rows in PostgreSQL, as the peer of MDX: random statements give the same members in the same order
 * and the same numbers, for a reader of all rows and for one of some rows, masked. Where the two differ, the test says why.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Oracle, startOracle } from '../query/support/postgres.ts'
import { freePort } from '../support/free-port.ts'
import type { Lake } from '../support/lake.ts'
import { ask, executeBody, type ReadDataset, type XmlaClientOptions } from '../support/xmla.ts'
import { fillStar, mondrianSchema, nullKey, type Reader, startStarLake } from './mondrian/star.ts'
import { type StarHierarchy, starStatements } from './mondrian/statements.ts'
import { type OlapClient, type OlapMember, startOlap } from './olap.ts'
import { packageFolder } from './packages.ts'

setDefaultTimeout(600_000)

const seed = Number(process.env.SVC_TEST_SEED ?? 311)
/** Of each reader. */
const statementCount = 150

const stack = new AsyncDisposableStack()
let lake: Lake
let oracle: Oracle
let mondrian: OlapClient
let urlOf: (who: Reader) => string

beforeAll(async () => {
  lake = stack.use(await startStarLake())
  const port = freePort()
  const started = await startOracle({ port })
  if (started === undefined) throw new Error('this platform has no packaged PostgreSQL')
  oracle = started
  stack.defer(() => oracle.stop())
  await fillStar(oracle)
  const folder = await mkdtemp(join(tmpdir(), 'covenant-mondrian-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  for (const who of ['ann', 'bob'] as const) await writeFile(join(folder, `${who}.xml`), mondrianSchema(who))
  urlOf = (who) =>
    `jdbc:mondrian:Jdbc=jdbc:postgresql://127.0.0.1:${port}/postgres?user=postgres;JdbcDrivers=org.postgresql.Driver;Catalog=file:${join(folder, `${who}.xml`)}`
  mondrian = stack.use(
    await startOlap('mondrian', {
      jars: [join(packageFolder('maven:pgwire'), 'lib/*')],
      properties: {
        'mondrian.olap.SsasCompatibleNaming': 'true',
        // With these, NON EMPTY leaves out tuples at which a calculated member alone has a value.
        'mondrian.native.crossjoin.enable': 'false',
        'mondrian.native.nonempty.enable': 'false',
        'mondrian.olap.fun.crossjoin.optimizer.size': '2147483647',
      },
    }),
  )
})
afterAll(() => stack.disposeAsync())

interface Answered {
  /** Tuples of each axis, as unique names of the lake. */
  readonly axes: readonly (readonly string[])[]
  /** By ordinal; empty ones are left out. */
  readonly values: readonly (readonly [number, number | string])[]
}

const rounded = (value: number | string) =>
  Number.isNaN(Number(value)) ? String(value) : Number(Number(value).toPrecision(10))

async function ours(who: Reader, text: string): Promise<Answered | string> {
  const options: XmlaClientOptions = {
    ...{ port: lake.app.xmlaPort ?? 0, catalog: lake.catalog, user: who },
    secret: who === 'ann' ? lake.env.PGPASSWORD : lake.restricted.PGPASSWORD,
  }
  const statement = `${text} CELL PROPERTIES VALUE`
  const answer = await ask(options, executeBody(statement, {}, { Format: 'Multidimensional' }))
  if (answer.kind !== 'dataset') return answer.kind === 'fault' ? answer.message : answer.kind
  const { axes, cells }: ReadDataset = answer.dataset
  return {
    axes: axes.slice(0, -1).map((tuples) => tuples.map((tuple) => tuple.join())),
    values: [...cells].map(([ordinal, value]) => [ordinal, rounded(value)] as const),
  }
}

/** Mondrian's member by the name that the lake gives it. */
function named({ name, caption, level, depth }: OlapMember): string {
  if (level.startsWith('[Measures]')) return name
  const hierarchy = level.replace(/\.\[[^\]]*\]$/, '')
  if (depth === 0) return `${hierarchy}.[All]`
  const key = [nullKey, '#null'].includes(caption) ? '' : `[${caption}]`
  return `${hierarchy.endsWith('.Calendar]') ? level : hierarchy}.&${key}`
}

async function theirs(text: string): Promise<Answered | string> {
  try {
    const { axes, values } = await mondrian.mdx(text)
    return {
      axes: axes.map((tuples) => tuples.map((tuple) => tuple.map(named).join())),
      values: values.flatMap((value, ordinal) =>
        value === null ? [] : [[ordinal, rounded(value)] as const],
      ),
    }
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

async function hierarchiesOf(who: Reader): Promise<readonly StarHierarchy[]> {
  const table = who === 'ann' ? 'sales.sold' : 'sales.sold_seen'
  const level = async (name: string, sql: string, from = table) => ({
    name,
    keys: (await oracle.admin.unsafe(`SELECT DISTINCT ${sql} AS key FROM ${from} ORDER BY 1`)).map(
      ({ key }) => key as string | null,
    ),
  })
  const grains = ['Year', 'Quarter', 'Month', 'Day'].map((name) => level(name, `${name.toLowerCase()}_key`))
  return [
    ...(await Promise.all(
      ['region', 'status', 'channel'].map(async (name) => ({
        name: `[sold].[${name}]`,
        levels: [await level(name, name)],
      })),
    )),
    { name: '[sold].[day.Calendar]', levels: await Promise.all(grains) },
    { name: '[place].[city]', levels: [await level('city', 'city', 'sales.shops')] },
  ]
}

describe.each(['ann', 'bob'] as const)('%s', (who) => {
  beforeAll(() => mondrian.connect(urlOf(who)))

  test('xmla-mondrian: gets the members and numbers of Mondrian', async () => {
    const own = seed + (who === 'ann' ? 0 : 1)
    console.log(`seed ${own}`)
    const functions = new Set<string>()
    let [count, values] = [0, 0]
    for (const statement of starStatements(own, await hierarchiesOf(who))) {
      const { text } = statement
      const [one, other] = [await ours(who, text), await theirs(text)]
      expect([text, one]).toEqual([text, other])
      if (typeof one === 'string') throw new Error(`${text}\n${one}`)
      values += one.values.length
      for (const name of statement.functions) functions.add(name)
      if (++count === statementCount) break
    }
    expect(values).toBeGreaterThan(statementCount * 20)
    expect(functions.size).toBeGreaterThan(25)
  })
})

const calendar = '[sold].[day.Calendar]'
const region = (key: string) => `[sold].[region].&[${key}]`
const rows = (set: string, where = '') =>
  `SELECT {[Measures].[revenue]} ON COLUMNS, ${set} ON ROWS FROM [sales.sold]${where}`
const byKey = (key: string) => `[sold].[region].[region].&[${key}]`

/** Where the two differ, and why: the rows of ours, and those of Mondrian or its error. */
const differences: readonly (readonly [string, string, readonly string[], readonly string[] | RegExp])[] = [
  [
    'the member of NULL is the last here, as Unknown is in Analysis Services, and the first there',
    rows('[sold].[origin].[All].Children'),
    ['app', 'phone', 'shop', 'web'].map((key) => `[sold].[origin].&[${key}]`).concat('[sold].[origin].&'),
    ['[sold].[origin].&', ...['app', 'phone', 'shop', 'web'].map((key) => `[sold].[origin].&[${key}]`)],
  ],
  [
    'an empty value is compared as 0 here, as Analysis Services does, and is less than nothing there',
    rows(
      `Filter({${byKey('r0')}, ${byKey('r2')}}, [Measures].[revenue] < 5)`,
      ` WHERE (${calendar}.[Day].&[2023-07-14])`,
    ),
    [region('r0'), region('r2')],
    [],
  ],
  [
    'a member that is drilled down already stays as it is here',
    rows(`DrilldownMember({${calendar}.[All], ${calendar}.[Year].Members}, {${calendar}.[All]})`),
    ['[All]', '[Year].&[2023-01-01]', '[Year].&[2024-01-01]'].map((name) => `${calendar}.${name}`),
    [
      '[All]',
      ...Array.from({ length: 2 }, () => ['[Year].&[2023-01-01]', '[Year].&[2024-01-01]']).flat(),
    ].map((name) => `${calendar}.${name}`),
  ],
  [
    'Except drops duplicates here unless it is told ALL',
    rows(`Except({${byKey('r0')}, ${byKey('r0')}, ${byKey('r1')}}, {${byKey('r1')}})`),
    [region('r0')],
    [region('r0'), region('r0')],
  ],
  [
    'the same day of the month before is told by dates here, and by counting days that have rows there',
    rows(`{ParallelPeriod(${calendar}.[Month], 1, ${calendar}.[Day].&[2023-07-14])}`),
    [`${calendar}.[Day].&[2023-06-14]`],
    [`${calendar}.[Day].&[2023-06-13]`],
  ],
  [
    'StrToMember reads keys here',
    rows(`{StrToMember("${byKey('r0')}")}`),
    [region('r0')],
    /Cannot find MDX member/,
  ],
  [
    'StrToSet needs no hierarchy here',
    rows(`StrToSet("{${byKey('r0')}}")`),
    [region('r0')],
    /at least 2 arguments/,
  ],
  [
    'DrilldownLevel needs no level here',
    rows('DrilldownLevel({[place].[city].[All]})'),
    ['[place].[city].[All]', ...['c0', 'c1', 'c2', 'c3'].map((key) => `[place].[city].&[${key}]`)],
    /NullPointerException/,
  ],
  [
    'NonEmpty is a function here',
    rows(`NonEmpty({${byKey('r0')}}, {[Measures].[revenue]})`),
    [region('r0')],
    /./,
  ],
  [
    'a subselect is read here',
    rows(`{${byKey('r0')}}`).replace(
      '[sales.sold]',
      `(SELECT {${byKey('r0')}} ON COLUMNS FROM [sales.sold])`,
    ),
    [region('r0')],
    /./,
  ],
]

describe('what differs', () => {
  beforeAll(() => mondrian.connect(urlOf('ann')))

  test.each(differences)('xmla-mondrian: %s', async (_, text, here, there) => {
    const [one, other] = [await ours('ann', text), await theirs(text)]
    expect(typeof one === 'string' ? one : one.axes[1]).toEqual([...here])
    if (there instanceof RegExp) expect(other).toMatch(there)
    else expect(typeof other === 'string' ? other : other.axes[1]).toEqual([...there])
  })
})
