/**
 * Traces what a request does, in spans: its stages, its query, what it asks of upstreams. Knows no exporter:
 * open-telemetry.ts is one, and it is loaded only where the service exports. A span carries identifiers and outcomes;
 * no text of a statement, no value and no secret.
 */

import { AsyncLocalStorage } from 'node:async_hooks'

/** What a span says about itself. What is undefined is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

export type SpanKind = 'server' | 'client' | 'internal'

/** The headers of the W3C Trace Context that a caller sent. */
export interface ParentContext {
  readonly traceparent: string
  readonly tracestate?: string | undefined
}

export interface SpanStart {
  readonly name: string
  readonly kind: SpanKind
  readonly attributes?: SpanAttributes
  /** Milliseconds of `performance.now()`; default: now. */
  readonly startMs?: number
}

/** A part of a request that is over when it is told. Times are of `performance.now()`. */
export interface SpanPart {
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly attributes?: SpanAttributes
  /** Why it failed, in a word; undefined where it did not. */
  readonly failure?: string | undefined
}

export interface Span {
  readonly traceId: string
  /** The headers of the W3C Trace Context for what this span asks of others. */
  readonly headers: Readonly<Record<string, string>>
  rename(name: string): void
  set(attributes: SpanAttributes): void
  /** Begins a span below this one. */
  child(start: SpanStart): Span
  /** Adds a span below this one that is over, with its own parts below it. */
  add(part: SpanPart, parts?: readonly SpanPart[]): void
  /** @param failure why it failed, in a word; undefined where it did not */
  end(failure?: string): void
}

export interface Tracer {
  /** Begins a span: of the trace that the caller names, else of a new one. */
  start(start: SpanStart, parent?: ParentContext): Span
  /** Sends what is still to be sent. */
  stop(): Promise<void>
}

const active = new AsyncLocalStorage<Span>()

/** The span that the running code works for; undefined where nothing is traced. */
export function activeSpan(): Span | undefined {
  return active.getStore()
}

/** Runs work for a span; it is the active one there, also after what the work waits for. */
export function withinSpan<T>(span: Span | undefined, work: () => T): T {
  return span === undefined ? work() : active.run(span, work)
}

/** The context that a caller's headers name; undefined where they name none. */
export function parentOf(headers: Headers): ParentContext | undefined {
  const traceparent = headers.get('traceparent')
  return traceparent === null
    ? undefined
    : { traceparent, tracestate: headers.get('tracestate') ?? undefined }
}

/** The longest text in which a context is looked for, from the end of a statement. */
const commentLengthMax = 2_000
const comment = /\btraceparent='(00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})'/

/** The context in a comment of a statement, as OpenTelemetry's database clients write it (sqlcommenter). */
export function parentInStatement(text: string): ParentContext | undefined {
  const traceparent = comment.exec(text.slice(-commentLengthMax))?.[1]
  return traceparent === undefined ? undefined : { traceparent }
}
