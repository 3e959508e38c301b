/** XMLA from the socket to the rows: connections, sessions, and what each principal discovers. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { rowsetNames } from '../../../src/server/xmla/discover/rowsets.ts'
import type { Lake } from '../../support/lake.ts'
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
import { startXmlaLake } from '../../support/xmla-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
let ann: XmlaClientOptions
let bob: XmlaClientOptions
let stranger: XmlaClientOptions

beforeAll(async () => {
  const started = await startXmlaLake()
  lake = started.lake
  ann = started.ann
  bob = started.bob
  stranger = started.stranger
})
afterAll(() => lake[Symbol.asyncDispose]())

describe('a connection', () => {
  test('carries several requests, also where the bytes are split', async () => {
    using connection = await XmlaConnection.open(ann.port)
    const bytes = postText(ann, envelope(discoverBody('DISCOVER_KEYWORDS')))
    for (const at of [1, 20, bytes.length - 1]) {
      connection.write(bytes.subarray(0, at))
      connection.write(bytes.subarray(at))
      expect(readAnswer(await connection.answer()).kind).toBe('rowset')
    }
  })

  test('takes a body in chunks and in gzip, and sends one in gzip', async () => {
    using connection = await XmlaConnection.open(ann.port)
    const body = gzipSync(envelope(discoverBody('MDSCHEMA_HIERARCHIES')))
    const headers = { 'Content-Encoding': 'gzip', 'Accept-Encoding': 'deflate, gzip' }
    connection.write(postText({ ...ann, headers }, body))
    const answer = await connection.answer()
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(readAnswer(answer).kind).toBe('rowset')
  })

  test('tells a client that waits to go on', async () => {
    using connection = await XmlaConnection.open(ann.port)
    const headers = { Expect: '100-continue' }
    const bytes = Buffer.from(postText({ ...ann, headers }, envelope(executeBody(''))))
    const end = bytes.indexOf('\r\n\r\n') + 4
    connection.write(bytes.subarray(0, end))
    expect((await connection.answer()).status).toBe(100)
    connection.write(bytes.subarray(end))
    expect(readAnswer(await connection.answer()).kind).toBe('empty')
  })

  test.each([
    ['a wrong secret', { secret: 'svc_wrong' }, 401],
    ['the name of another', { user: 'bob' }, 401],
    ['no credential', { headers: { Authorization: '' } }, 401],
    ['a scheme that is not served', { headers: { Authorization: 'Negotiate abc' } }, 401],
    ['an origin', { headers: { Origin: 'https://example.com' } }, 403],
    ['an encoding that is not read', { headers: { 'Content-Type': 'text/xml; charset=utf-32' } }, 415],
    ['binary XML', { headers: { 'Content-Type': 'application/sx' } }, 415],
    ['compressed binary XML', { headers: { 'Content-Type': 'application/xml+xpress' } }, 415],
    ['a path without a catalog', { catalog: '' }, 404],
    ['a body that is too long', { headers: { 'Content-Length': '99999999' } }, 413],
  ])('refuses %s', async (_, change, status) => {
    using connection = await XmlaConnection.open(ann.port)
    connection.write(postText({ ...ann, ...change }, envelope(executeBody(''))))
    const answer = await connection.answer()
    expect(answer.status).toBe(status)
    expect(answer.headers.get('x-transport-caps-negotiation-flags')).toBe('0,0,0,0,0')
    expect(answer.headers.get('www-authenticate') ?? '').toBe(
      status === 401 ? 'Basic realm="Covenant", charset="UTF-8"' : '',
    )
    expect(answer.headers.has('set-cookie')).toBe(false)
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('takes a bearer', async () => {
    const headers = { Authorization: `Bearer ${ann.secret}` }
    expect((await ask({ ...ann, headers }, executeBody(''))).kind).toBe('empty')
  })

  test.each([
    ['utf-16', [0xff, 0xfe], 'utf-16le'],
    ['utf-16', [0xfe, 0xff], 'utf-16be'],
    ['utf-16', [], 'utf-16le'],
    ['utf-16', [], 'utf-16be'],
    ['utf-16le', [], 'utf-16le'],
    ['utf-16be', [], 'utf-16be'],
    [undefined, [0xff, 0xfe], 'utf-16le'],
  ] as const)(
    'takes a body of two bytes a character: charset %s, mark %j, %s',
    async (charset, mark, order) => {
      const body = `<?xml version="1.0" encoding="utf-16"?>${envelope(discoverBody('MDSCHEMA_CUBES', { CUBE_NAME: 'sales.orders' }))}`
      const bytes = Buffer.from(body, 'utf16le')
      if (order === 'utf-16be') bytes.swap16()
      const headers = charset === undefined ? {} : { 'Content-Type': `text/xml; charset="${charset}"` }
      using connection = await XmlaConnection.open(ann.port)
      connection.write(postText({ ...ann, headers }, Buffer.concat([Buffer.from(mark), bytes])))
      expect(readAnswer(await connection.answer())).toMatchObject({
        kind: 'rowset',
        rows: [{ CUBE_NAME: 'sales.orders' }],
      })
    },
  )

  test('refuses a document type in two bytes a character, and half a character', async () => {
    const headers = { 'Content-Type': 'text/xml; charset=utf-16le' }
    const whole = Buffer.from('<!DOCTYPE a><a/>', 'utf16le')
    for (const bytes of [whole, Buffer.from(envelope(executeBody('')), 'utf16le').subarray(1)]) {
      using connection = await XmlaConnection.open(ann.port)
      connection.write(postText({ ...ann, headers }, bytes))
      expect(readAnswer(await connection.answer()).kind).toBe('fault')
    }
  })

  test.each([
    ['a document type', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
    ['XML that is nested deeply', `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`],
    ['no XML', 'hello'],
    ['an unknown method', envelope('<Other/>')],
    ['a header that is not understood', envelope(executeBody(''), '<Foo mustUnderstand="1"/>')],
    ['an unknown rowset', envelope(discoverBody('DISCOVER_SECRETS'))],
    ['an unknown restriction', envelope(discoverBody('MDSCHEMA_CUBES', { FOO: 'x' }))],
    ['an unknown command', envelope('<Execute><Command><Alter/></Command></Execute>')],
  ])('answers %s by a fault with status 200, and goes on', async (_, body) => {
    using connection = await XmlaConnection.open(ann.port)
    connection.write(postText(ann, body))
    expect(readAnswer(await connection.answer()).kind).toBe('fault')
    connection.write(postText(ann, envelope(executeBody(''))))
    expect(readAnswer(await connection.answer()).kind).toBe('empty')
  })
})

describe('a session', () => {
  const begin = '<BeginSession mustUnderstand="1" xmlns="urn:schemas-microsoft-com:xml-analysis"/>'
  const use = (id: string) => `<Session SessionId="${id}" mustUnderstand="1"/>`

  test('begins with an empty statement, is used, and ends', async () => {
    using connection = await XmlaConnection.open(ann.port)
    connection.write(postText(ann, envelope(executeBody(''), `${begin}<Version Sequence="400"/>`)))
    const first = await connection.answer()
    const { kind, sessionId = '' } = readAnswer(first)
    expect(kind).toBe('empty')
    expect(sessionId).toMatch(/^[0-9a-f]{32}$/)
    expect(first.headers.get('x-as-sessionid')).toBe(sessionId)
    expect(first.headers.get('x-ms-xmlasession-id')).toBe(sessionId)
    expect((await ask(ann, discoverBody('DISCOVER_KEYWORDS'), use(sessionId))).sessionId).toBe(sessionId)
    expect((await ask(ann, executeBody(''), `<EndSession SessionId="${sessionId}"/>`)).kind).toBe('empty')
    expect((await ask(ann, executeBody(''), use(sessionId))).kind).toBe('fault')
  })

  test('begins with a Discover as well', async () => {
    const answer = await ask(ann, discoverBody('DISCOVER_PROPERTIES'), begin)
    expect(answer.kind).toBe('rowset')
    expect(answer.sessionId).toMatch(/^[0-9a-f]{32}$/)
  })

  test('is no credential, and of no use to another principal', async () => {
    const { sessionId = '' } = await ask(ann, executeBody(''), begin)
    const unknown = await ask(bob, executeBody(''), use('0'.repeat(32)))
    expect(await ask(bob, executeBody(''), use(sessionId))).toEqual(unknown)
    expect(unknown.kind).toBe('fault')
    const cancel = `<Execute><Command><Cancel><SessionID>${sessionId}</SessionID></Cancel></Command></Execute>`
    expect((await ask(bob, cancel)).kind).toBe('fault')
    expect((await ask(ann, cancel)).kind).toBe('empty')
  })
})

describe('Discover', () => {
  // Members need a level, and connections are those of their moment.
  const apart = ['MDSCHEMA_MEMBERS', 'DISCOVER_CONNECTIONS']
  test.each(rowsetNames.filter((name) => !apart.includes(name)))(
    '%s answers as its schema declares, with all columns that a query on $system gives',
    async (name) => {
      const answer = await ask(ann, discoverBody(name))
      const selected = await ask(ann, executeBody(`SELECT * FROM $system.${name}`))
      if (answer.kind !== 'rowset' || selected.kind !== 'rowset') throw new Error(JSON.stringify(answer))
      expect(selected.columns).toEqual(answer.columns)
      expect(selected.rows).toEqual(answer.rows)
    },
  )

  test('lists each rowset with its GUID and nested restrictions, and one where one is asked for', async () => {
    const rows = await rowsOf(ask(ann, discoverBody('DISCOVER_SCHEMA_ROWSETS')))
    expect(rows.map(({ SchemaName }) => SchemaName as string)).toEqual([...rowsetNames])
    expect(new Set(rows.map(({ SchemaGuid }) => SchemaGuid)).size).toBe(rows.length)
    const [only, ...more] = await rowsOf(
      ask(ann, discoverBody('DISCOVER_SCHEMA_ROWSETS', { SchemaName: 'MDSCHEMA_HIERARCHIES' })),
    )
    expect(more).toEqual([])
    const restrictions = (only?.Restrictions ?? []) as readonly Record<string, string>[]
    expect(restrictions.map(({ Name }) => Name)).toEqual([
      'CATALOG_NAME',
      'SCHEMA_NAME',
      'CUBE_NAME',
      'DIMENSION_UNIQUE_NAME',
      'HIERARCHY_NAME',
      'HIERARCHY_UNIQUE_NAME',
      'HIERARCHY_ORIGIN',
      'CUBE_SOURCE',
      'HIERARCHY_VISIBILITY',
    ])
    expect(restrictions[0]).toEqual({ Name: 'CATALOG_NAME', Type: 'xsd:string' })
  })

  test('gives the properties that are asked for by name', async () => {
    const names = ['Catalog', 'ServerName', 'DBMSVersion', 'MdpropMdxNamedSets', 'MdpropMdxSubqueries']
    const rows = await rowsOf(ask(ann, discoverBody('DISCOVER_PROPERTIES', { PropertyName: names })))
    expect(Object.fromEntries(rows.map(({ PropertyName, Value }) => [PropertyName, Value]))).toEqual({
      Catalog: 'lake',
      ServerName: 'Covenant',
      DBMSVersion: '16.0.1000.0',
      MdpropMdxNamedSets: '15',
      MdpropMdxSubqueries: '2',
    })
  })

  test('has every property that Excel asks for', async () => {
    const asked =
      'Catalog ServerName ProviderName ProviderVersion DBMSVersion ProviderType MdpropMdxSubqueries MdpropMdxDrillFunctions MdpropMdxNamedSets MdpropMdxDdlExtensions DbpropMsmdSubqueries DbpropMsmdMDXCompatibility DbpropMsmdOptimizeResponse DbpropMsmdActivityID DbpropMsmdCurrentActivityID ApplicationContext Format Content LocaleIdentifier'.split(
        ' ',
      )
    const rows = await rowsOf(ask(ann, discoverBody('DISCOVER_PROPERTIES', { PropertyName: asked })))
    expect(rows.map(({ PropertyName }) => PropertyName as string).sort()).toEqual(asked.sort())
  })

  test('fills every GUID, and each default hierarchy is there', async () => {
    const dimensions = await rowsOf(ask(ann, discoverBody('MDSCHEMA_DIMENSIONS')))
    const hierarchies = await rowsOf(ask(ann, discoverBody('MDSCHEMA_HIERARCHIES')))
    const names = hierarchies.map(({ HIERARCHY_UNIQUE_NAME }) => HIERARCHY_UNIQUE_NAME)
    for (const row of dimensions) {
      expect(row.DIMENSION_GUID).toBeString()
      expect(row.DIMENSION_MASTER_UNIQUE_NAME).toBeString()
      expect(names).toContain(row.DEFAULT_HIERARCHY)
    }
    for (const row of hierarchies) expect(row.DEFAULT_MEMBER).toBeString()
  })

  test('gives dates a type by which clients filter them', async () => {
    const [level] = await rowsOf(
      ask(ann, discoverBody('MDSCHEMA_LEVELS', { LEVEL_UNIQUE_NAME: '[orders].[day].[day]' })),
    )
    expect(level).toMatchObject({ LEVEL_DBTYPE: '7', LEVEL_ORIGIN: '2' })
    const [value] = await rowsOf(
      ask(
        ann,
        discoverBody('MDSCHEMA_PROPERTIES', {
          PROPERTY_NAME: 'MEMBER_VALUE',
          PROPERTY_TYPE: '5',
          PROPERTY_VISIBILITY: '3',
          LEVEL_UNIQUE_NAME: '[orders].[day].[day]',
        }),
      ),
    )
    expect(value).toMatchObject({ DATA_TYPE: '7' })
    const [cube] = await rowsOf(ask(ann, discoverBody('MDSCHEMA_CUBES')))
    expect(cube).toMatchObject({ PREFERRED_QUERY_PATTERNS: '3', CUBE_NAME: 'sales.orders' })
  })

  test('keeps the time of the last change while nothing changes', async () => {
    const times = async () =>
      (await rowsOf(ask(ann, discoverBody('MDSCHEMA_CUBES')))).map((row) => row.LAST_SCHEMA_UPDATE)
    expect(await times()).toEqual(await times())
  })

  test('adds up only what is a plain sum', async () => {
    const rows = await rowsOf(ask(ann, discoverBody('MDSCHEMA_MEASURES')))
    expect(rows.map((row) => [row.MEASURE_NAME, row.MEASURE_AGGREGATOR, row.DEFAULT_FORMAT_STRING])).toEqual([
      ['buyers', '127', ''],
      ['revenue', '1', '#,##0.00'],
    ])
  })

  test.each([
    ['CATALOG_NAME', 'lake', 1],
    ['CATALOG_NAME', 'other', 0],
    ['CUBE_NAME', 'other', 0],
    ['CUBE_SOURCE', '1', 1],
    ['CUBE_SOURCE', '2', 0],
  ])('honours %s = %s', async (name, value, count) => {
    expect(await rowsOf(ask(ann, discoverBody('MDSCHEMA_CUBES', { [name]: value })))).toHaveLength(count)
  })

  test('refuses another catalog than that of the connection, as one that is not there', async () => {
    const foreign = await ask(stranger, discoverBody('MDSCHEMA_CUBES'))
    expect(foreign).toMatchObject({ kind: 'fault', message: 'There is no such catalog.' })
    expect(await ask(ann, discoverBody('MDSCHEMA_CUBES', {}, { Catalog: 'other' }))).toEqual(foreign)
  })
})

describe('members', () => {
  const members = (who: XmlaClientOptions, restrictions: Record<string, string>) =>
    rowsOf(ask(who, discoverBody('MDSCHEMA_MEMBERS', { CUBE_NAME: 'sales.orders', ...restrictions })))
  const names = async (who: XmlaClientOptions, restrictions: Record<string, string>) =>
    (await members(who, restrictions)).map(({ MEMBER_UNIQUE_NAME }) => MEMBER_UNIQUE_NAME)

  test('are those of the rows that the principal sees, and masked as they see them', async () => {
    const regions = { LEVEL_UNIQUE_NAME: '[orders].[region].[region]' }
    const [all, some] = [await names(ann, regions), await names(bob, regions)]
    expect(all.length).toBeGreaterThan(some.length)
    expect(all).toEqual(expect.arrayContaining([...some]))
    const emails = { LEVEL_UNIQUE_NAME: '[orders].[email].[email]' }
    const [plain, masked] = [await names(ann, emails), await names(bob, emails)]
    expect(plain.filter((name) => masked.includes(name))).toEqual([])
  })

  test('do not tell a hidden member from one that is not there', async () => {
    const regions = { LEVEL_UNIQUE_NAME: '[orders].[region].[region]' }
    const seen = new Set(await names(bob, regions))
    const hidden = (await names(ann, regions)).find((name) => !seen.has(name)) as string
    expect(hidden).toBeString()
    expect(await names(ann, { MEMBER_UNIQUE_NAME: hidden })).toEqual([hidden])
    for (const TREE_OP of ['8', '1', '4', '16', '32', '63']) {
      expect(await names(bob, { MEMBER_UNIQUE_NAME: hidden, TREE_OP })).toEqual([])
      expect(await names(bob, { MEMBER_UNIQUE_NAME: '[orders].[region].&[nowhere]', TREE_OP })).toEqual([])
    }
  })

  test('of a hierarchy that a mask empties are not there', async () => {
    const notes = { HIERARCHY_UNIQUE_NAME: '[orders].[note]' }
    expect((await names(ann, notes)).length).toBeGreaterThan(1)
    expect(await names(bob, notes)).toEqual([])
  })

  test('are found by their place in a calendar', async () => {
    const years = await names(ann, { LEVEL_UNIQUE_NAME: '[orders].[day.Calendar].[Year]' })
    const [year] = years as readonly string[]
    const quarters = (await members(ann, {
      MEMBER_UNIQUE_NAME: year ?? '',
      TREE_OP: '1',
    })) as readonly Record<string, string>[]
    expect(quarters.length).toBeGreaterThan(1)
    for (const each of quarters) expect(each.PARENT_UNIQUE_NAME).toBe(year as string)
    const [first] = quarters
    const up = await names(ann, { MEMBER_UNIQUE_NAME: first?.MEMBER_UNIQUE_NAME ?? '', TREE_OP: '44' })
    expect(up).toEqual(['[orders].[day.Calendar].[All]', year as string, first?.MEMBER_UNIQUE_NAME as string])
  })

  test('of a key that its type cannot hold are none', async () => {
    expect(await names(ann, { MEMBER_UNIQUE_NAME: '[orders].[day].&[2026-99-99]' })).toEqual([])
    expect(await names(ann, { MEMBER_UNIQUE_NAME: "[orders].[day].&[' OR 1=1]" })).toEqual([])
  })

  test('include the measures', async () => {
    expect(await names(ann, { DIMENSION_UNIQUE_NAME: '[Measures]' })).toEqual([
      '[Measures].[buyers]',
      '[Measures].[revenue]',
    ])
  })
})
