/**
 * Processes the messages of one connection strictly in order. A refusal is sent in answer to its message. An error
 * that ends the connection is thrown.
 */

import { nextTurn } from '../../base/turn.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import type { PrepareOptions } from '../../query/query-service.ts'
import {
  type Report,
  writeBare,
  writeCommandComplete,
  writeParameterDescription,
  writeReadyForQuery,
  writeReport,
} from '../../wire/postgres/backend-messages.ts'
import type { BindMessage, FrontendMessage, ParseMessage } from '../../wire/postgres/frontend-messages.ts'
import { readMessage } from '../../wire/postgres/frontend-messages.ts'
import { shownText } from './activity.ts'
import { isExecuteBuffered } from './buffered-execute.ts'
import { endsTransaction } from './command-plans.ts'
import { addPortal } from './cursor-plans.ts'
import type { Inbox } from './inbox.ts'
import { emptyPlan } from './plan.ts'
import { addStatement, planStatement } from './plan-statement.ts'
import { emptyBinding, openUnlessAborted, type PortalOutcome } from './portal.ts'
import { RequestTrace } from './request-trace.ts'
import {
  checkSession,
  closePortal,
  closePortals,
  endPortals,
  type SessionState,
  type Tally,
} from './session-state.ts'
import { readStatements, type SourceStatement } from './statement.ts'
import { ConnectionClosed, type StatementPlace, toReport, WireError } from './wire-error.ts'
import type { StatementRecord } from './wire-meter.ts'

/** Records that may wait for the meter in a pipeline without Sync. */
const waitingRecordsMax = 100

const noTally: Tally = { rows: 0, planMs: 0, runMs: 0, queryId: undefined }

export class WireSession {
  /** Whether messages up to Sync are skipped, after a refusal in the extended protocol. */
  #skipsToSync = false
  #inPipeline = false
  #current: AbortController | undefined
  /** Aborted once the Execute that arrived with its Parse was processed, or can no longer be. */
  #requestedRun: AbortController | undefined
  #arrivedMs = 0
  /** Statements that are not reported to the meter yet. */
  readonly #records: StatementRecord[] = []
  readonly #trace: RequestTrace

  constructor(
    readonly state: SessionState,
    readonly inbox: Inbox,
  ) {
    this.#trace = new RequestTrace(state.parts.tracer)
  }

  /** Stops the current statement, if any. A reason that is FATAL ends the connection. */
  cancel(reason = new WireError('57014', 'canceling statement due to user request')): void {
    this.#current?.abort(reason)
  }

  /** Stops everything, because the client has disconnected or is being disconnected. */
  close(): void {
    this.#current?.abort(new ConnectionClosed())
    this.#endRequestedRun()
    closePortals(this.state, () => false)
    this.state.statements.clear()
    this.#report()
    this.#trace.end(undefined)
  }

  /**
   * Processes messages until the client leaves.
   * @throws WireError FATAL, ProtocolViolation and ConnectionClosed, which end the connection
   */
  async run(): Promise<void> {
    const { settings, transaction } = this.state
    for (;;) {
      const inTransaction = transaction.status !== 'I'
      const frame = await this.inbox.receive(settings.idleMs(inTransaction))
      if (frame === undefined) return
      if (frame === 'late') throw idleError(inTransaction)
      this.#arrivedMs = performance.now()
      const message = readMessage(frame)
      if (message.kind === 'terminate') return
      await this.#trace.within(message, () => this.#answer(message))
    }
  }

  async #answer(message: FrontendMessage): Promise<void> {
    if (message.kind === 'sync') return await this.#sync()
    if (this.#skipsToSync || message.kind === 'copy') return
    if (message.kind === 'query') return await this.#query(message.text)
    if (message.kind === 'function_call')
      return await this.#refuseMessage(
        new WireError('0A000', 'function calls by this message are not supported'),
      )
    if (message.kind === 'unreadable' && message.isQuery) return await this.#refuseMessage(message.reason)
    if (message.kind === 'flush') return await this.state.outbox.flush()
    await this.#extended(message)
    if (this.state.outbox.isFull) await this.state.outbox.flush()
  }

  /** Runs the statements of a Query in order, up to the first that fails. */
  async #query(text: string): Promise<void> {
    const { state } = this
    const { transaction, outbox } = state
    state.statements.delete('')
    closePortal(state, '')
    transaction.enterImplicit(false)
    const read = await this.#guarded({ text, byteOffset: 0 }, async () => readStatements(text))
    if (read?.length === 0) writeBare(outbox.writer, 'emptyQueryResponse')
    transaction.enterImplicit((read?.length ?? 0) > 1)
    for (const [index, statement] of (read ?? []).entries()) {
      if (index > 0 && (await this.#guarded(undefined, (signal) => this.#pause(signal))) === undefined) break
      const done = await this.#guarded(statement.place, (signal) => this.#simple(statement, signal), true)
      if (done === undefined) break
    }
    await this.#ready()
  }

  /** Yields to other connections and cancel requests, because a message may hold forty thousand statements. */
  async #pause(signal: AbortSignal): Promise<true> {
    const { outbox } = this.state
    if (outbox.isFull) await outbox.flush()
    await nextTurn()
    signal.throwIfAborted()
    return true
  }

  async #simple(statement: SourceStatement, signal: AbortSignal): Promise<true> {
    const { state } = this
    this.#assertUsable(endsTransaction(statement))
    checkSession(this.state)
    const plan = await unlessAborted(
      planStatement(state, statement, [], { runsAtOnce: true, signal }),
      signal,
    )
    if (plan.parameterOids.length > 0)
      throw new WireError('42P02', 'there is no parameter $1: a Query carries no parameters')
    const portal = await openUnlessAborted(plan.open(emptyBinding), signal)
    try {
      if (portal.hasRows) portal.describe(state.outbox)
      this.#complete(await portal.execute(0, signal))
    } finally {
      portal.close()
    }
    return true
  }

  async #extended(message: Exclude<FrontendMessage, { kind: 'query' }>): Promise<void> {
    const { state } = this
    if (!this.#inPipeline) {
      this.#inPipeline = true
      state.transaction.enterImplicit(false)
    }
    const place = message.kind === 'parse' ? { text: message.text, byteOffset: 0 } : undefined
    const isRun = message.kind === 'execute'
    const done = await this.#guarded(place, (signal) => this.#extendedStep(message, signal), isRun)
    // The next Execute is the requested one. After a refusal before it, it never runs.
    if (isRun || done === undefined) this.#endRequestedRun()
    if (done !== undefined) return
    this.#skipsToSync = true
    // Drivers that send Flush wait for the refusal before they send Sync.
    await state.outbox.flush()
  }

  async #extendedStep(message: FrontendMessage, signal: AbortSignal): Promise<true> {
    switch (message.kind) {
      case 'parse':
        await this.#parse(message, signal)
        break
      case 'bind':
        await this.#bind(message, signal)
        break
      case 'describe':
        this.#describe(message.target, message.name)
        break
      case 'execute':
        await this.#execute(message.portal, message.rowsMax, signal)
        break
      case 'close':
        if (message.target === 'portal') closePortal(this.state, message.name)
        else this.state.statements.delete(message.name)
        writeBare(this.state.outbox.writer, 'closeComplete')
        break
      case 'unreadable':
        throw message.reason
    }
    return true
  }

  async #parse({ statement: name, text, parameterOids }: ParseMessage, signal: AbortSignal): Promise<void> {
    const { state } = this
    // Deleted even if this Parse is refused, because a Bind behind it must not run the previous statement.
    if (name === '') state.statements.delete('')
    const statements = readStatements(text)
    if (statements.length > 1)
      throw new WireError('42601', 'cannot insert multiple commands into a prepared statement')
    const [statement] = statements
    this.#assertUsable(statement === undefined || endsTransaction(statement))
    checkSession(this.state)
    const options = isExecuteBuffered(name, this.inbox.waiting()) ? this.#runAtOnce(signal) : {}
    const plan =
      statement === undefined
        ? emptyPlan()
        : await unlessAborted(planStatement(state, statement, parameterOids, options), signal)
    const ends = statement === undefined || endsTransaction(statement)
    addStatement(state, name, { text, plan, ends, isFromSql: false })
    writeBare(state.outbox.writer, 'parseComplete')
  }

  #runAtOnce(signal: AbortSignal): PrepareOptions {
    this.#requestedRun = new AbortController()
    return { runsAtOnce: true, signal, runMissed: this.#requestedRun.signal }
  }

  #endRequestedRun(): void {
    this.#requestedRun?.abort()
    this.#requestedRun = undefined
  }

  async #bind(message: BindMessage, signal: AbortSignal): Promise<void> {
    const { state } = this
    const { plan, ends, heldBytes } = this.#statement(message.statement)
    this.#assertUsable(ends)
    if (message.portal === '') closePortal(state, '')
    else if (state.portals.has(message.portal))
      throw new WireError('42P03', `portal "${message.portal}" already exists`)
    const portal = await openUnlessAborted(plan.open(message), signal)
    addPortal(state, message.portal, { portal, hold: false, ends, statementBytes: heldBytes })
    writeBare(state.outbox.writer, 'bindComplete')
  }

  #describe(target: 'statement' | 'portal', name: string): void {
    const { outbox } = this.state
    if (target === 'portal') {
      this.#portal(name).portal.describe(outbox)
      return
    }
    const { plan } = this.#statement(name)
    writeParameterDescription(outbox.writer, plan.parameterOids)
    plan.describe(outbox)
  }

  async #execute(name: string, rowsMax: number, signal: AbortSignal): Promise<void> {
    const { portal, ends } = this.#portal(name)
    this.#assertUsable(ends === true)
    checkSession(this.state)
    this.#complete(await portal.execute(rowsMax, signal))
  }

  #complete(outcome: PortalOutcome): void {
    const { writer } = this.state.outbox
    if (outcome === 'suspended') writeBare(writer, 'portalSuspended')
    else if (outcome === 'empty') writeBare(writer, 'emptyQueryResponse')
    else writeCommandComplete(writer, outcome.tag)
  }

  #statement(name: string) {
    const found = this.state.statements.get(name)
    if (found === undefined) throw new WireError('26000', `prepared statement "${name}" does not exist`)
    return found
  }

  #portal(name: string) {
    const found = this.state.portals.get(name)
    if (found === undefined) throw new WireError('34000', `portal "${name}" does not exist`)
    return found
  }

  #assertUsable(ends: boolean): void {
    if (this.state.transaction.status === 'E' && !ends)
      throw new WireError(
        '25P02',
        'current transaction is aborted, commands ignored until end of transaction block',
      )
  }

  async #sync(): Promise<void> {
    this.#skipsToSync = false
    await this.#ready()
  }

  async #ready(): Promise<void> {
    const { transaction, outbox } = this.state
    this.#inPipeline = false
    transaction.leaveImplicit()
    if (transaction.status === 'I') endPortals(this.state, true)
    writeReadyForQuery(outbox.writer, transaction.status)
    await outbox.flush(this.inbox.pendingBytes === 0)
    this.#trace.end(this.#records.findLast(({ sqlState }) => sqlState !== undefined)?.sqlState)
    this.#report()
  }

  /** Reports statements to the meter after the answer is sent, so that the client does not wait. */
  #report(): void {
    for (const record of this.#records.splice(0)) this.state.parts.meter.statement(record)
  }

  /** Refuses a message after which the client waits for ReadyForQuery. */
  async #refuseMessage(reason: Error): Promise<void> {
    await this.#guarded(undefined, () => Promise.reject(reason))
    await this.#ready()
  }

  /**
   * Runs one step with the statement timeout and cancel requests.
   * @param isStatement whether the step runs a statement, which is measured
   * @returns undefined where the step was refused; the refusal is written then
   */
  async #guarded<T>(
    place: StatementPlace | undefined,
    step: (signal: AbortSignal) => Promise<T>,
    isStatement = false,
  ): Promise<T | undefined> {
    const { state } = this
    const stop = new AbortController()
    const timer = setTimeout(
      () => stop.abort(new WireError('57014', 'canceling statement due to statement timeout')),
      state.settings.statementMs,
    )
    this.#current = stop
    const { sentBytes, waitedMs } = state.outbox
    const written = state.outbox.writer.length
    const startedMs = performance.now()
    if (place !== undefined) state.current.text = shownText(place.text)
    if (isStatement) state.current.startedAtMs = state.parts.clock.now()
    state.current.isRunning = isStatement
    let sqlState: string | undefined
    try {
      const running = step(stop.signal)
      // Any load of this message has started by now and has taken the check.
      state.check?.askUnlessTaken()
      return await running
    } catch (thrown) {
      const report = toReport(thrown, place)
      sqlState = report.sqlState
      this.#refuse(thrown, report)
      return undefined
    } finally {
      clearTimeout(timer)
      // The load that took the check may have failed or may still wait.
      state.check?.ask()
      state.check = undefined
      this.#current = undefined
      state.current.isRunning = false
      if (isStatement || sqlState !== undefined) {
        const { outbox, tally, reader } = state
        this.#records.push({
          ...tally,
          tenant: reader.tenant,
          sub: reader.principal.sub,
          processId: state.processId,
          // Negative where written messages were dropped.
          bytes: Math.max(outbox.sentBytes - sentBytes + outbox.writer.length - written, 0),
          sqlState,
          queueMs: startedMs - this.#arrivedMs,
          sendMs: outbox.waitedMs - waitedMs,
        })
        Object.assign(tally, noTally)
        if (this.#records.length >= waitingRecordsMax) this.#report()
      }
    }
  }

  /** Writes the refusal. @throws the error, where it ends the connection */
  #refuse(thrown: unknown, report: Report): void {
    if (report.severity === 'FATAL') throw thrown
    const { transaction, outbox, parts, processId } = this.state
    if (report.sqlState.startsWith('XX'))
      parts.log.error({ err: thrown, processId }, 'a statement failed unexpectedly')
    transaction.fail()
    // A failed transaction block keeps its portals until it ends.
    if (transaction.status === 'I') endPortals(this.state, false)
    writeReport(outbox.writer, report)
  }
}

function idleError(inTransaction: boolean): WireError {
  return inTransaction
    ? new WireError('25P03', 'terminating connection due to idle-in-transaction timeout', 'FATAL')
    : new WireError('57P05', 'terminating connection due to idle-session timeout', 'FATAL')
}
