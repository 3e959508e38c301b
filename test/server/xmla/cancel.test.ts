/** Cancel, and clients that leave: what ends, whose it is, and that the engine's statement ends with it. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { AtWork } from '../../../src/server/xmla/at-work.ts'
import { xmlaBounds } from '../../../src/server/xmla/bounds.ts'
import { XmlaSessions } from '../../../src/server/xmla/sessions.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { rejectsWhenAborted } from '../../support/aborted.ts'
import { eventually } from '../../support/eventually.ts'
import type { Lake } from '../../support/lake.ts'
import { scriptedEngine } from '../../support/scripted-engine.ts'
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

const scripted = scriptedEngine()
let lake: Lake
let ann: XmlaClientOptions
let bob: XmlaClientOptions
let root: XmlaClientOptions

beforeAll(async () => {
  const engine = { engine: async () => scripted.engine, close: async () => {} }
  const started = await startXmlaLake({ engines: new Map([['duckdb', engine]]) })
  lake = started.lake
  ann = started.ann
  bob = started.bob
  const principal = { sub: 'root', roles: ['administrator'] }
  const { secret } = await createServiceSession(lake.store, lake.tenant, {
    ...{ name: 'root', principal, scopes: ['read'] as const },
  })
  root = { ...ann, user: 'root', secret }
})
afterAll(() => lake[Symbol.asyncDispose]())

beforeEach(() => {
  scripted.asked.length = 0
  // A statement that ends with its signal alone.
  scripted.rows = async function* (_, { signal }) {
    await rejectsWhenAborted(signal)
    yield { rowCount: 0, columns: [] }
  }
})

const begin = '<BeginSession mustUnderstand="1"/>'
const use = (id: string) => `<Session SessionId="${id}"/>`
const slow = executeBody('SELECT {[Measures].[revenue]} ON COLUMNS FROM [sales.orders]')
const cancelBody = (inner: string) =>
  `<Execute xmlns="urn:schemas-microsoft-com:xml-analysis"><Command><Cancel xmlns="http://schemas.microsoft.com/analysisservices/2003/engine">${inner}</Cancel></Command><Properties/></Execute>`

/** A statement of ann's that the engine has begun, with the numbers by which it can be named. */
async function startSlow(withSession = true) {
  const sessionId = withSession ? ((await ask(ann, executeBody(''), begin)).sessionId ?? '') : ''
  const connection = await XmlaConnection.open(ann.port)
  connection.write(postText(ann, envelope(slow, withSession ? use(sessionId) : '')))
  const run = await eventually(() => scripted.asked.find(({ statement }) => statement !== undefined))
  const sessions = await rowsOf(ask(ann, discoverBody('DISCOVER_SESSIONS', { SESSION_STATUS: '1' })))
  const session = sessions.find(({ SESSION_ID }) => SESSION_ID === sessionId)
  const connections = await rowsOf(ask(ann, discoverBody('DISCOVER_CONNECTIONS')))
  // The latest is the one that asks.
  const others = connections.filter(({ CONNECTION_STATUS }) => CONNECTION_STATUS === '1').slice(0, -1)
  const ids = {
    SessionID: sessionId,
    SPID: String(session?.SESSION_SPID),
    ConnectionID: String(session?.SESSION_CONNECTION_ID ?? others.at(-1)?.CONNECTION_ID),
  }
  return { connection, run, ids }
}

const inner = (
  names: readonly (keyof Awaited<ReturnType<typeof startSlow>>['ids'])[],
  ids: Record<string, string>,
) => names.map((name) => `<${name}>${ids[name]}</${name}>`).join('')

describe('Cancel', () => {
  test.each([
    ['its session', ['SessionID']],
    ['the number of its session', ['SPID']],
    ['its connection', ['ConnectionID']],
    ['all three', ['ConnectionID', 'SessionID', 'SPID']],
  ] as const)('ends a statement by %s, and the statement of the engine', async (_, names) => {
    const { connection, run, ids } = await startSlow()
    expect((await ask(ann, cancelBody(inner(names, ids)))).kind).toBe('empty')
    expect(readAnswer(await connection.answer())).toMatchObject({
      kind: 'fault',
      message: 'The request was cancelled.',
    })
    await eventually(() => run.closed === 1)
    expect(run.run.signal.aborted).toBe(true)
    // The connection and the session go on.
    connection.write(postText(ann, envelope(executeBody(''), use(ids.SessionID))))
    expect(readAnswer(await connection.answer()).kind).toBe('empty')
    connection.terminate()
  })

  test('without a name ends what else runs in the session of its message', async () => {
    const { connection, ids } = await startSlow()
    expect((await ask(ann, cancelBody(''), use(ids.SessionID))).kind).toBe('empty')
    expect(readAnswer(await connection.answer()).kind).toBe('fault')
    connection.terminate()
  })

  test('by a connection ends a statement without a session', async () => {
    const { connection, ids } = await startSlow(false)
    expect((await ask(ann, cancelBody(inner(['ConnectionID'], ids)))).kind).toBe('empty')
    expect(readAnswer(await connection.answer()).kind).toBe('fault')
    connection.terminate()
  })

  test('of another is a fault like that of nothing, and ends nothing; an administrator may', async () => {
    const { connection, run, ids } = await startSlow()
    for (const name of ['SessionID', 'SPID', 'ConnectionID'] as const) {
      const never = { SessionID: '0'.repeat(32), SPID: '999999', ConnectionID: '999999' }
      const unknown = await ask(bob, cancelBody(inner([name], never)))
      expect(unknown.kind).toBe('fault')
      expect(await ask(bob, cancelBody(inner([name], ids)))).toEqual(unknown)
    }
    const seen = await rowsOf(ask(bob, discoverBody('DISCOVER_SESSIONS')))
    expect(seen.filter(({ SESSION_USER_NAME }) => SESSION_USER_NAME !== 'bob')).toEqual([])
    const carried = await rowsOf(ask(bob, discoverBody('DISCOVER_CONNECTIONS')))
    expect(carried.filter(({ CONNECTION_USER_NAME }) => CONNECTION_USER_NAME !== 'bob')).toEqual([])
    expect(run.run.signal.aborted).toBe(false)
    expect((await ask(root, cancelBody(inner(['SPID'], ids)))).kind).toBe('empty')
    expect(readAnswer(await connection.answer()).kind).toBe('fault')
    connection.terminate()
  })

  test('of no number is a fault', async () => {
    expect((await ask(ann, cancelBody('<SPID>x</SPID>'))).kind).toBe('fault')
    expect((await ask(ann, cancelBody(''))).kind).toBe('fault')
  })
})

test('a client that leaves ends the statement of the engine', async () => {
  const { connection, run } = await startSlow(false)
  connection.terminate()
  await eventually(() => run.closed === 1)
  expect(run.run.signal.aborted).toBe(true)
})

test('an administrator of another tenant sees and ends nothing', () => {
  const atWork = new AtWork(new XmlaSessions(xmlaBounds, { now: () => 0 }), () => 0)
  const own = { tenant: 'one', principal: { sub: 'ann', roles: [] } } as never
  const foreign = { tenant: 'two', principal: { sub: 'ann', roles: ['administrator', 'owner'] } } as never
  const session = atWork.sessions.begin({ tenant: 'one', sub: 'ann', catalog: 'lake' })
  const controller = new AbortController()
  session.running.add(controller)
  const gone = new AbortController()
  atWork.enter(own, { id: 7, gone: gone.signal }, { controller, session })
  const other = { own: undefined, controller: new AbortController() }
  for (const of of [
    { sessionId: session.id, spid: undefined, connectionId: undefined },
    { sessionId: undefined, spid: session.spid, connectionId: undefined },
    { sessionId: undefined, spid: undefined, connectionId: 7 },
    { sessionId: session.id, spid: undefined, connectionId: 7 },
  ])
    expect(() => atWork.cancel(foreign, of, other)).toThrow('unknown or has ended')
  expect([atWork.sessionsOf(foreign), atWork.connectionsOf(foreign)]).toEqual([[], []])
  expect(controller.signal.aborted).toBe(false)
  expect(atWork.connectionsOf(own)).toHaveLength(1)
  gone.abort()
  expect(atWork.connectionsOf(own)).toEqual([])
})
