/** Keeps the spans that a service makes. */

import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace'
import { Secret } from '../../src/base/secret.ts'
import { openTracer } from '../../src/telemetry/open-telemetry.ts'
import type { Tracer } from '../../src/telemetry/tracing.ts'

export interface KeptTraces {
  readonly tracer: Tracer
  /** The spans of a trace, in the order in which they ended. */
  of(traceId: string): readonly ReadableSpan[]
  /** Everything that all spans say. */
  text(): string
}

/** A tracer that keeps its spans. */
export function keepTraces(sampled = 1): KeptTraces {
  const exporter = new InMemorySpanExporter()
  const headers = new Secret({})
  const settings = {
    tracesUrl: 'http://127.0.0.1:1',
    headers,
    serviceName: 'covenant',
    resource: {},
    sampled,
  }
  const spans = () => exporter.getFinishedSpans()
  return {
    tracer: openTracer(settings, '0', exporter),
    of: (traceId) => spans().filter((span) => span.spanContext().traceId === traceId),
    text: () =>
      JSON.stringify(
        spans().map(({ name, attributes, status, events }) => ({ name, attributes, status, events })),
      ),
  }
}

/** A new context of a client that wants its trace kept. */
export function newTrace(): { readonly traceId: string; readonly traceparent: string } {
  const traceId = crypto.randomUUID().replaceAll('-', '')
  return { traceId, traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
}

/** The spans as `name < name of its parent`, sorted; a parent outside is `client`. */
export function shapeOf(spans: readonly ReadableSpan[]): readonly string[] {
  const names = new Map(spans.map((span) => [span.spanContext().spanId, span.name]))
  return spans
    .map((span) => `${span.name} < ${names.get(span.parentSpanContext?.spanId ?? '') ?? 'client'}`)
    .sort()
}
