/** Counts what the service asks of one kind of upstream, and continues the trace there. */

import type { ServiceMetrics, UpstreamOutcome, UpstreamRole } from './service-metrics.ts'
import { activeSpan } from './tracing.ts'

/** One request to an upstream. */
export interface Exchange {
  /** Sent with the request: the trace that it belongs to. */
  readonly headers: Readonly<Record<string, string>>
  /** @param outcome the status of the answer, or why there is none */
  end(outcome: number | 'unreachable' | 'broken'): void
}

/** Notes the requests to one kind of upstream. */
export type ExchangeObserver = (method: string) => Exchange

const noHeaders: Readonly<Record<string, string>> = {}

/** The observer of an upstream in this role. */
export function exchangeObserver(
  { upstreamRequestSeconds }: Pick<ServiceMetrics, 'upstreamRequestSeconds'>,
  upstream: UpstreamRole,
): ExchangeObserver {
  return (method) => {
    const startMs = performance.now()
    const span = activeSpan()?.child({
      name: `${method} ${upstream}`,
      kind: 'client',
      startMs,
      attributes: { 'http.request.method': method, 'covenant.upstream': upstream },
    })
    return {
      headers: span?.headers ?? noHeaders,
      end(answered) {
        const outcome =
          typeof answered === 'number' ? (`${Math.floor(answered / 100)}xx` as UpstreamOutcome) : answered
        upstreamRequestSeconds.observe({ upstream, outcome }, (performance.now() - startMs) / 1_000)
        if (span === undefined) return
        if (typeof answered === 'number') span.set({ 'http.response.status_code': answered })
        // A client's span is an error from 400 on; a 304 is none (OpenTelemetry's conventions for HTTP).
        span.end(typeof answered === 'string' ? answered : answered >= 400 ? String(answered) : undefined)
      },
    }
  }
}
