/**
 * What no answer of XMLA may show: members, counts, keys, properties, rows and errors of what a principal may not see. An
 * officer, a reader of some rows, masked, and a principal of another tenant use one listener; the other tenant has a catalog
 * and a cube of the same names, with rows of its own.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rowsetNames } from '../../../src/server/xmla/discover/rowsets.ts'
import { type LakeTable, ordersTable } from '../../support/lake-tables.ts'
import {
  ask,
  discoverBody,
  envelope,
  executeBody,
  postText,
  readAnswer,
  rowsOf,
  type XmlaClientOptions,
  XmlaConnection,
} from '../../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../../support/xmla-lake.ts'

setDefaultTimeout(180_000)

let own: XmlaLake
let other: XmlaLake
let who: Readonly<Record<'officer' | 'reader' | 'foreigner', XmlaClientOptions>>

const { rowFilter: _filter, mask: _mask, ...openOrders } = ordersTable
const foreignOrders: LakeTable = {
  ...openOrders,
  columns: ordersTable.columns.map((column): (typeof ordersTable.columns)[number] =>
    column[0] === 'region' ? [column[0], column[1], "'atlantis' || (i % 3)"] : column,
  ),
}
const foreignRegions: LakeTable = { name: 'regions', columns: [['name', 'text', "'atlantis0'"]], rowCount: 1 }

beforeAll(async () => {
  own = await startXmlaLake()
  other = await startXmlaLake({ store: own.lake.store, tables: [foreignOrders, foreignRegions] })
  who = { officer: own.ann, reader: own.bob, foreigner: { ...other.ann, port: own.ann.port } }
})
afterAll(async () => {
  await other.lake[Symbol.asyncDispose]()
  await own.lake[Symbol.asyncDispose]()
})

const from = 'FROM [sales.orders]'
const region = '[orders].[region]'
const email = '[orders].[email]'
/** Regions that the filter hides, addresses before they are masked, and a hierarchy that a mask empties. */
const hidden = /\bnorth\b|\bsouth\b|user\d|example|\[note\]|>note</
const foreign = /atlantis/
const ownRegions = /\b(north|south|east|west)\b/

/** An answer in its characters, which the reader takes. */
async function answered(client: XmlaClientOptions, body: string): Promise<string> {
  using connection = await XmlaConnection.open(client.port)
  connection.write(postText(client, envelope(body)))
  const answer = await connection.answer()
  readAnswer(answer)
  return answer.body
}

const formats = ['Multidimensional', 'Tabular'] as const
const mdx = (text: string) => formats.map((Format) => executeBody(text, {}, { Format }))
const members = (restrictions: Record<string, string>) =>
  discoverBody('MDSCHEMA_MEMBERS', { CUBE_NAME: 'sales.orders', ...restrictions })

const requests: readonly (readonly [string, readonly string[]])[] = [
  ...rowsetNames
    .filter((name) => name !== 'MDSCHEMA_MEMBERS')
    .map((name) => [name, [discoverBody(name), executeBody(`SELECT * FROM $system.${name}`)]] as const),
  ['members of regions', [members({ HIERARCHY_UNIQUE_NAME: region })]],
  ['members of addresses', [members({ HIERARCHY_UNIQUE_NAME: email })]],
  ['all members', [members({ DIMENSION_UNIQUE_NAME: '[orders]' })]],
  ['members around All', [members({ MEMBER_UNIQUE_NAME: `${region}.[All]`, TREE_OP: '17' })]],
  ['siblings of a member', [members({ MEMBER_UNIQUE_NAME: `${region}.&[east]`, TREE_OP: '10' })]],
  [
    'members by $system',
    [executeBody(`SELECT * FROM $system.MDSCHEMA_MEMBERS WHERE HIERARCHY_UNIQUE_NAME = '${region}'`)],
  ],
  [
    'regions with all properties',
    mdx(
      `SELECT ${region}.AllMembers DIMENSION PROPERTIES MEMBER_KEY, MEMBER_VALUE, MEMBER_NAME, PARENT_UNIQUE_NAME, CHILDREN_CARDINALITY ON 0 ${from}`,
    ),
  ],
  ['addresses with their keys', mdx(`SELECT ${email}.Members DIMENSION PROPERTIES MEMBER_KEY ON 0 ${from}`)],
  ['crossed regions', mdx(`SELECT NON EMPTY CrossJoin(${region}.Members, ${email}.Members) ON 0 ${from}`)],
  [
    'neighbours',
    mdx(
      `SELECT {${region}.[All].FirstChild, ${region}.[All].LastChild, ${region}.[All].FirstChild.NextMember} ON 0 ${from}`,
    ),
  ],
  [
    'texts of sets',
    mdx(`WITH MEMBER [Measures].[x] AS SetToStr(${region}.Members) SELECT {[Measures].[x]} ON 0 ${from}`),
  ],
  ['the greatest', mdx(`SELECT TopCount(${region}.[region].Members, 10, [Measures].[revenue]) ON 0 ${from}`)],
  ['rows of a cell', [executeBody(`DRILLTHROUGH MAXROWS 10000 SELECT ${from}`)]],
  ['rows of a cell by name', [executeBody(`DRILLTHROUGH SELECT ${from} RETURN ${email}, ${region}`)]],
]

describe.each(requests)('%s', (_, bodies) => {
  test('shows a reader nothing that is hidden from them, and nobody what is another tenant’s', async () => {
    for (const body of bodies) {
      const [reader, officer, foreigner] = await Promise.all([
        answered(who.reader, body),
        answered(who.officer, body),
        answered(who.foreigner, body),
      ])
      expect(reader).not.toMatch(hidden)
      expect(reader).not.toMatch(foreign)
      expect(officer).not.toMatch(foreign)
      // The member that a request names is in the refusal of it alone.
      if (!body.includes('east')) expect(foreigner).not.toMatch(ownRegions)
    }
  })
})

test('the requests do show what may be seen', async () => {
  const body = members({ HIERARCHY_UNIQUE_NAME: region })
  expect(await answered(who.officer, body)).toMatch(/north/)
  expect(await answered(who.reader, body)).toMatch(/east/)
  expect(await answered(who.foreigner, body)).toMatch(foreign)
})

test('cardinalities are the same for who sees few and who sees all', async () => {
  for (const rowset of ['DIMENSIONS', 'HIERARCHIES', 'LEVELS', 'MEASURES', 'MEASUREGROUP_DIMENSIONS']) {
    const [seen, all] = await Promise.all(
      [who.reader, who.officer].map((client) => rowsOf(ask(client, discoverBody(`MDSCHEMA_${rowset}`)))),
    )
    const counts = (rows: typeof seen) =>
      new Set(
        (rows ?? [])
          .flatMap((row) => Object.entries(row).filter(([name]) => name.includes('CARDINALITY')))
          .map(String),
      )
    expect([...counts(seen)].filter((count) => !counts(all).has(count))).toEqual([])
  }
})

test('children are counted as they are seen', async () => {
  const text = `SELECT {${region}.[All]} DIMENSION PROPERTIES CHILDREN_CARDINALITY ON 0 ${from}`
  const listed = text.replace('{', `Hierarchize({${region}.[region].Members, `).replace('[All]}', '[All]})')
  const count = async (client: XmlaClientOptions) =>
    /<CHILDREN_CARDINALITY>(\d+)</.exec(await answered(client, executeBody(listed)))?.[1]
  expect([await count(who.reader), await count(who.officer)]).toEqual(['2', '4'])
})

describe('what is hidden and what never was', () => {
  const never = 'nowhere'
  test.each([
    ['a member', (key: string) => executeBody(`SELECT {${region}.&[${key}]} ON 0 ${from}`)],
    ['a slicer', (key: string) => executeBody(`SELECT ${from} WHERE (${region}.&[${key}])`)],
    ['a subselect', (key: string) => executeBody(`SELECT FROM (SELECT {${region}.&[${key}]} ON 0 ${from})`)],
    ['a text', (key: string) => executeBody(`SELECT {StrToMember("${region}.&[${key}]")} ON 0 ${from}`)],
    [
      'the rows of a cell',
      (key: string) => executeBody(`DRILLTHROUGH SELECT ${from} WHERE (${region}.&[${key}])`),
    ],
    ['members', (key: string) => members({ MEMBER_UNIQUE_NAME: `${region}.&[${key}]`, TREE_OP: '63' })],
    [
      'a hierarchy',
      (key: string) =>
        executeBody(`SELECT [orders].[${key === never ? never : 'note'}].Members ON 0 ${from}`),
    ],
    [
      'members of a hierarchy',
      (key: string) => members({ HIERARCHY_UNIQUE_NAME: `[orders].[${key === never ? never : 'note'}]` }),
    ],
  ] as const)('look the same by %s', async (_, body) => {
    expect(await answered(who.reader, body('north'))).toBe(await answered(who.reader, body(never)))
    // The other tenant's hierarchy of that name is its own.
    if (body('north').includes('note')) return
    expect(await answered(who.foreigner, body('north'))).toBe(await answered(who.foreigner, body(never)))
  })
})

test('sessions and connections of others are not listed', async () => {
  const begin = '<BeginSession mustUnderstand="1"/>'
  for (const client of Object.values(who)) await ask(client, executeBody(''), begin)
  for (const client of [who.reader, who.officer, who.foreigner]) {
    const sessions = await rowsOf(ask(client, discoverBody('DISCOVER_SESSIONS')))
    expect(new Set(sessions.map((row) => row.SESSION_USER_NAME))).toEqual(new Set([client.user]))
  }
  // Both tenants have an ann: her sessions of the other one are another's.
  const ids = async (client: XmlaClientOptions) =>
    (await rowsOf(ask(client, discoverBody('DISCOVER_SESSIONS')))).map((row) => row.SESSION_ID as string)
  const [mine, theirs] = [await ids(who.officer), await ids(who.foreigner)]
  expect(mine.filter((id) => theirs.includes(id))).toEqual([])
  const cancel = `<Execute><Command><Cancel><SessionID>${mine[0]}</SessionID></Cancel></Command></Execute>`
  expect((await ask(who.foreigner, cancel)).kind).toBe('fault')
})
