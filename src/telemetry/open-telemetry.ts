/**
 * Exports spans by OTLP over HTTP, through the SDK of OpenTelemetry. Only this file imports it, and it is itself
 * imported only where the service exports: tracing that is off costs no module.
 */

import type { Span as SdkSpan, Tracer as SdkTracer } from '@opentelemetry/api'
import { type Context, ROOT_CONTEXT, SpanKind as SdkKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  SimpleSpanProcessor,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Secret } from '../base/secret.ts'
import type { ParentContext, Span, SpanAttributes, SpanPart, SpanStart, Tracer } from './tracing.ts'

/** Where spans go, and which. */
interface TracingSettings {
  /** The whole address to which spans are posted. */
  readonly tracesUrl: string
  /** Headers of those requests, which may hold the credential of the receiver. */
  readonly headers: Secret<Readonly<Record<string, string>>>
  readonly serviceName: string
  readonly resource: Readonly<Record<string, string>>
  /** The share of traces without a parent that are sent, 0 to 1. A caller that names a parent decides itself. */
  readonly sampled: number
}

const kinds = { server: SdkKind.SERVER, client: SdkKind.CLIENT, internal: SdkKind.INTERNAL } as const
const propagator = new W3CTraceContextPropagator()

/**
 * Opens the tracer.
 * @param exporter receives each span as it ends, instead; a test passes its own
 */
export function openTracer(settings: TracingSettings, version: string, exporter?: SpanExporter): Tracer {
  const { tracesUrl, headers, serviceName, resource, sampled } = settings
  const processor =
    exporter === undefined
      ? new BatchSpanProcessor({
          exporter: new OTLPTraceExporter({ url: tracesUrl, headers: { ...headers.reveal() } }),
        })
      : new SimpleSpanProcessor({ exporter })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      ...resource,
      'service.name': serviceName,
      'service.version': version,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampled) }),
    spanProcessors: [processor],
  })
  const tracer = provider.getTracer('covenant', version)
  return {
    start: (start, parent) => begin(tracer, start, parent === undefined ? ROOT_CONTEXT : contextOf(parent)),
    stop: () => provider.shutdown(),
  }
}

/** The context that a caller named; an invalid one starts a trace of its own. */
function contextOf({ traceparent, tracestate }: ParentContext): Context {
  const carrier = { traceparent, ...(tracestate !== undefined && { tracestate }) }
  return propagator.extract(ROOT_CONTEXT, carrier, {
    get: (from: Record<string, string>, key) => from[key],
    keys: (from) => Object.keys(from),
  })
}

function begin(tracer: SdkTracer, { name, kind, attributes, startMs }: SpanStart, parent: Context): Span {
  const options = { kind: kinds[kind], attributes: known(attributes), startTime: wallTime(startMs) }
  const span = tracer.startSpan(name, options, parent)
  const context = trace.setSpan(parent, span)
  let headers: Readonly<Record<string, string>> | undefined
  return {
    traceId: span.spanContext().traceId,
    // Few spans ask others for something.
    get headers() {
      headers ??= headersOf(context)
      return headers
    },
    rename: (next) => void span.updateName(next),
    set: (more) => void span.setAttributes(known(more)),
    child: (start) => begin(tracer, start, context),
    add: (part, parts) => add(tracer, context, part, parts),
    end: (failure) => end(span, failure, undefined),
  }
}

function add(tracer: SdkTracer, parent: Context, part: SpanPart, parts: readonly SpanPart[] = []): void {
  const { name, startMs, endMs, attributes, failure } = part
  const options = { attributes: known(attributes), startTime: wallTime(startMs) }
  const span = tracer.startSpan(name, options, parent)
  for (const inner of parts) add(tracer, trace.setSpan(parent, span), inner)
  end(span, failure, endMs)
}

function end(span: SdkSpan, failure: string | undefined, endMs: number | undefined): void {
  if (failure !== undefined) {
    span.setStatus({ code: SpanStatusCode.ERROR })
    span.setAttribute('error.type', failure)
  }
  span.end(wallTime(endMs))
}

function headersOf(context: Context): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  propagator.inject(context, headers, {
    set: (into, key, value) => {
      into[key] = value
    },
  })
  return headers
}

/** Milliseconds since 1970. All times of a trace are of one clock that is never set back. */
function wallTime(ms = performance.now()): number {
  return performance.timeOrigin + ms
}

function known(attributes: SpanAttributes = {}): Record<string, string | number | boolean> {
  const present: Record<string, string | number | boolean> = {}
  for (const name in attributes) {
    const value = attributes[name]
    if (value !== undefined) present[name] = value
  }
  return present
}
