/**
 * Traces the requests of a connection: from the first message after ReadyForQuery to the next ReadyForQuery. A request
 * is one Query, or what an extended-protocol client sends up to Sync. A comment of its statement may name a trace.
 */

import { parentInStatement, type Span, type Tracer, withinSpan } from '../../telemetry/tracing.ts'
import type { FrontendMessage } from '../../wire/postgres/frontend-messages.ts'

export class RequestTrace {
  #span: Span | undefined

  constructor(readonly tracer: Tracer | undefined) {}

  /** Runs the answer to a message within the span of its request. */
  within<T>(message: FrontendMessage, work: () => T): T {
    const { tracer } = this
    if (tracer === undefined || message.kind === 'sync') return withinSpan(this.#span, work)
    this.#span ??= tracer.start({ name: 'pgwire', kind: 'server', attributes }, parentOf(message))
    return withinSpan(this.#span, work)
  }

  /** Ends the request's span, if there is one. */
  end(sqlState: string | undefined): void {
    if (sqlState !== undefined) this.#span?.set({ 'db.response.status_code': sqlState })
    this.#span?.end(sqlState?.startsWith('XX') ? sqlState : undefined)
    this.#span = undefined
  }
}

const attributes = { 'covenant.surface': 'pgwire', 'db.system.name': 'postgresql' }

function parentOf(message: FrontendMessage) {
  return message.kind === 'query' || message.kind === 'parse' ? parentInStatement(message.text) : undefined
}
