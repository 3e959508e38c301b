/** Answers one XMLA message: its session, then what it discovers or executes. */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { purposeHeader, purposeOfHeader, purposeProperty, statedPurpose } from '../../core/purpose.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Licensed } from '../../license/licensed.ts'
import type { QueryService } from '../../query/query-service.ts'
import { buildCubes } from '../../semantics/cube/build-cubes.ts'
import type { Cube } from '../../semantics/cube/model.ts'
import type { MdxEvaluator } from '../../semantics/mdx/evaluator.ts'
import { snapshotTimes } from '../../store/governance/snapshot-times.ts'
import type { Store } from '../../store/store.ts'
import { isDax } from '../../wire/dax/parse.ts'
import {
  type Properties,
  readXmlaRequest,
  type SessionHeader,
  type XmlaRequest,
} from '../../wire/soap/read-request.ts'
import {
  type RowsetColumn,
  type RowsetContent,
  type RowsetRow,
  rowsetEnd,
  rowsetStart,
  writeRow,
} from '../../wire/soap/rowset.ts'
import { emptyRoot, envelopeEnd, envelopeStart, type XmlaMethod } from '../../wire/soap/write-envelope.ts'
import type { Answer } from './answer.ts'
import { runStatement } from './answer-mdx.ts'
import type { AtWork } from './at-work.ts'
import type { XmlaBounds } from './bounds.ts'
import { type DiscoverContext, readRows } from './discover/rowset.ts'
import { rowsetOf } from './discover/rowsets.ts'
import { runDaxStatement } from './run-dax.ts'
import type { AdmittedRequest } from './serve-connection.ts'
import type { SessionOwner, XmlaSession, XmlaSessions } from './sessions.ts'
import { isSystemQuery } from './system-query.ts'
import { readSystemRows } from './system-rows.ts'

export interface AnswerParts {
  readonly store: Store
  readonly clock: Clock
  readonly queries: QueryService
  readonly evaluator: MdxEvaluator
  readonly licensed: Licensed
  readonly atWork: AtWork
  readonly bounds: XmlaBounds
  readonly hasCatalog: (tenant: TenantId, nickname: string) => Promise<boolean>
}

/** What a message's answer is made from. */
interface Asked {
  readonly parts: AnswerParts
  readonly request: AdmittedRequest
  readonly message: XmlaRequest
  readonly session: XmlaSession | undefined
  readonly answer: Answer
  readonly signal: AbortSignal
  /** Ends this request. */
  readonly controller: AbortController
}

/** @throws Fault, SqlError, SoapViolation before anything is sent; ConnectionClosed */
export async function answerRequest(
  parts: AnswerParts,
  request: AdmittedRequest,
  answer: Answer,
  signal: AbortSignal,
): Promise<void> {
  const { reader, catalog } = request
  const message = readXmlaRequest(request.text, parts.bounds)
  const asked = message.call.properties.get('CATALOG') ?? ''
  // Another tenant's catalog, one that is not there and one that the connection is not for look the same.
  if ((asked !== '' && asked !== catalog) || !(await parts.hasCatalog(reader.tenant, catalog)))
    throw new Fault('not_found', 'There is no such catalog.')
  parts.licensed.require('xmla')
  const owner: SessionOwner = { tenant: reader.tenant, sub: reader.principal.sub, catalog }
  const { sessions } = parts.atWork
  const session = sessionFor(sessions, message.session, owner)
  if (session !== undefined) {
    session.connectionId = request.connection.id
    answer.session(session.id)
  }
  const end = message.session.kind === 'end'
  await untilCancelled(parts, request, session, signal, async (controller) => {
    const shown = end ? undefined : session
    await answerCall({
      parts,
      request,
      message,
      session: shown,
      answer,
      controller,
      signal: controller.signal,
    })
  })
  if (end && session !== undefined) sessions.end(session)
}

/** @throws Fault `gone` for a session that is unknown, over, or another's */
function sessionFor(
  sessions: XmlaSessions,
  header: SessionHeader,
  owner: SessionOwner,
): XmlaSession | undefined {
  if (header.kind === 'none') return undefined
  if (header.kind === 'begin') return sessions.begin(owner)
  const found = sessions.find(header.id, owner)
  if (found === undefined) throw new Fault('gone', 'The session is unknown or has ended. Begin another one.')
  return found
}

/** Runs work so that a Cancel ends it. */
async function untilCancelled(
  { bounds, atWork }: AnswerParts,
  { reader, connection }: AdmittedRequest,
  session: XmlaSession | undefined,
  signal: AbortSignal,
  work: (controller: AbortController) => Promise<void>,
): Promise<void> {
  if (session !== undefined && session.running.size >= bounds.sessionRequestsMax)
    throw new Fault('overloaded', 'The session has too many requests at work. Retry.')
  const controller = new AbortController()
  const abort = () => controller.abort()
  signal.addEventListener('abort', abort, { once: true })
  session?.running.add(controller)
  const leave = atWork.enter(reader, connection, { controller, session })
  try {
    signal.throwIfAborted()
    await work(controller)
  } catch (thrown) {
    if (controller.signal.aborted && !signal.aborted)
      throw new Fault('bad_request', 'The request was cancelled.', { cause: thrown })
    throw thrown
  } finally {
    leave()
    session?.running.delete(controller)
    signal.removeEventListener('abort', abort)
  }
}

async function answerCall(asked: Asked): Promise<void> {
  const { call } = asked.message
  if (call.kind === 'discover') {
    const rowset = rowsetOf(call.requestType)
    const rows = await readRows(rowset, contextOf(asked), call.restrictions)
    return await sendRows(asked, 'Discover', rowset.columns, rows)
  }
  const { command } = call
  if (command.kind === 'cancel') {
    const { parts, request, session: own, controller } = asked
    parts.atWork.cancel(request.reader, command.of, { own, controller })
    return await sendEmpty(asked)
  }
  if (command.kind === 'other')
    throw new Fault('bad_request', `The command \`${command.name.slice(0, 100)}\` is not served here.`)
  const text = command.text.trim()
  if (text === '') return await sendEmpty(asked)
  const context = contextOf(asked)
  if (!isSystemQuery(text)) return await sendStatement(asked, context, text)
  const { columns, rows } = await readSystemRows(context, text, call.parameters)
  await sendRows(asked, 'Execute', columns, rows)
}

/** By the property of the message, else by the header. @throws Fault `bad_request` */
function purposeOf({ request, message }: Asked): string | undefined {
  const named = message.call.properties.get(purposeProperty.toUpperCase())
  if (named === undefined) return purposeOfHeader(request.head.headers.get(purposeHeader))
  return statedPurpose(named, `The property ${purposeProperty}`)
}

function contextOf(asked: Asked): DiscoverContext {
  const { parts, request, session, signal } = asked
  const { reader, catalog } = request
  const { tenant, principal } = reader
  const { store, clock, queries, atWork } = parts
  let made: Promise<readonly Cube[]> | undefined
  const cubes = () => {
    made ??= buildCubes({ store, clock, tenant, principal, catalog, signal })
    return made
  }
  const dataTimes = async () => {
    const all = await cubes()
    const pinned = new Map(
      all.flatMap(({ table, pinned: id }) => (id === undefined ? [] : [[tableKey(table), id] as const])),
    )
    const refs = all.map(({ table }) => table)
    const times = await snapshotTimes(store, tenant, refs, pinned, signal)
    return ({ table }: Cube) => {
      const time = times.get(tableKey(table))
      return time === undefined ? undefined : new Date(time)
    }
  }
  return {
    ...{ catalog, cubes, dataTimes, queries, signal },
    on: { ...reader.queryContext('xmla', catalog, []), purpose: purposeOf(asked) },
    formulas: session?.formulas ?? [],
    sessions: () => atWork.sessionsOf(reader),
    connections: () => atWork.connectionsOf(reader),
  }
}

/** Pieces that are written before others run. */
const piecesInTurn = 1_000

async function sendStatement(asked: Asked, context: DiscoverContext, text: string): Promise<void> {
  const { parts, message, session, answer, signal } = asked
  const { properties } = message.call
  const content = contentOf(properties)
  const pieces = isDax(text)
    ? await runDaxStatement(parts, context, { text, content, ...daxInput(message) })
    : await runStatement(parts, context, {
        ...{ text, session, sessions: parts.atWork.sessions, content },
        parameters: parametersOf(message),
        currentCube: properties.get('CUBE'),
        isTabular: properties.get('FORMAT')?.toLowerCase() === 'tabular',
      })
  await answer.write(envelopeStart('Execute', session?.id))
  let count = 0
  for (const piece of pieces) {
    signal.throwIfAborted()
    await answer.write(piece)
    // A fast client would never let others run.
    if (++count % piecesInTurn === 0) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  await answer.write(envelopeEnd('Execute'))
}

/** What a query in DAX takes of its message. */
function daxInput(message: XmlaRequest) {
  return { parameters: parametersOf(message), cube: message.call.properties.get('CUBE') }
}

function parametersOf({ call }: XmlaRequest): ReadonlyMap<string, string> {
  return call.kind === 'execute' ? call.parameters : new Map<string, string>()
}

async function sendEmpty({ answer, session }: Asked): Promise<void> {
  await answer.write(envelopeStart('Execute', session?.id) + emptyRoot + envelopeEnd('Execute'))
}

async function sendRows(
  { answer, session, message }: Asked,
  method: XmlaMethod,
  columns: readonly RowsetColumn[],
  rows: readonly RowsetRow[],
): Promise<void> {
  const content = contentOf(message.call.properties)
  await answer.write(envelopeStart(method, session?.id) + rowsetStart(columns, content))
  if (content === 'SchemaData' || content === 'Data')
    for (const row of rows) await answer.write(writeRow(columns, row))
  await answer.write(rowsetEnd + envelopeEnd(method))
}

const contents: Readonly<Record<string, RowsetContent>> = {
  schema: 'Schema',
  data: 'Data',
  none: 'None',
  schemadata: 'SchemaData',
}

function contentOf(properties: Properties): RowsetContent {
  return contents[(properties.get('CONTENT') ?? '').toLowerCase()] ?? 'SchemaData'
}
