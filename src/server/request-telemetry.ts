/** Measures and traces a request of the HTTP listener. Probes are measured and not traced. */

import { inNextTurn } from '../base/turn.ts'
import { methodLabel, type ServiceMetrics, surfaceOf } from '../telemetry/service-metrics.ts'
import { parentOf, type Span, type Tracer } from '../telemetry/tracing.ts'

export interface RequestTelemetry {
  readonly metrics?: Pick<ServiceMetrics, 'httpRequestSeconds' | 'httpRequestsUnderWay'>
  /** Absent: requests are not traced. */
  readonly tracer?: Tracer | undefined
}

interface WatchedRequest {
  /** The span that the request's work belongs to. */
  readonly span: Span | undefined
  /** Called once the head of the response is ready. */
  end(status: number): void
}

/** Begins to watch a request. @param pathname undefined for a request without a valid address */
export function watchRequest(
  { metrics, tracer }: RequestTelemetry,
  request: Request,
  requestId: string,
  pathname: string | undefined,
): WatchedRequest {
  const startMs = performance.now()
  const surface = surfaceOf(pathname ?? '')
  const method = methodLabel(request.method)
  const attributes = {
    'http.request.method': method,
    'covenant.surface': surface,
    'covenant.request.id': requestId,
  }
  const span =
    surface === 'probe'
      ? undefined
      : tracer?.start(
          { name: `${method} ${surface}`, kind: 'server', startMs, attributes },
          parentOf(request.headers),
        )
  metrics?.httpRequestsUnderWay.inc()
  return {
    span,
    end(status) {
      const seconds = (performance.now() - startMs) / 1_000
      span?.set({ 'http.response.status_code': status })
      span?.end(status >= 500 ? String(status) : undefined)
      inNextTurn(() => {
        metrics?.httpRequestsUnderWay.dec()
        metrics?.httpRequestSeconds.observe({ surface, method, code: status }, seconds)
      })
    },
  }
}
