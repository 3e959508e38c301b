/** Reads the settings of tracing, which have the names that OpenTelemetry gives them. */

import { Secret } from './base/secret.ts'
import { parseHttpUrl } from './config-values.ts'
import type { VariableName } from './config-variables.ts'

export interface TracingConfig {
  /** The whole address to which spans are posted. */
  readonly tracesUrl: string
  /** A secret, because a header may hold the credential of the receiver. */
  readonly headers: Secret<Readonly<Record<string, string>>>
  readonly serviceName: string
  readonly resource: Readonly<Record<string, string>>
  readonly sampled: number
}

interface Reader {
  readonly text: (name: VariableName) => string | undefined
  readonly optional: <T>(
    name: VariableName,
    parse: (value: string) => T | undefined,
    expected: string,
  ) => T | undefined
}

/** @returns undefined where no receiver is named: then nothing is traced */
export function parseTracing({ text, optional }: Reader): TracingConfig | undefined {
  const base = optional('OTEL_EXPORTER_OTLP_ENDPOINT', parseHttpUrl, 'an http(s) URL')
  const traces = optional('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', parseHttpUrl, 'an http(s) URL')
  const pairs = 'name=value pairs, comma-separated, with percent-encoded values'
  const headers = optional('OTEL_EXPORTER_OTLP_HEADERS', parsePairs, pairs) ?? {}
  const resource = optional('OTEL_RESOURCE_ATTRIBUTES', parsePairs, pairs) ?? {}
  const sampled = optional('OTEL_TRACES_SAMPLER_ARG', parseShare, 'a number from 0 to 1') ?? 1
  optional(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    (value) => (value === 'http/protobuf' ? value : undefined),
    'http/protobuf, the only protocol that the service speaks',
  )
  const serviceName = text('OTEL_SERVICE_NAME') ?? resource['service.name'] ?? 'covenant'
  const tracesUrl = traces ?? (base && `${base.replace(/\/$/, '')}/v1/traces`)
  if (tracesUrl === undefined) return undefined
  return { tracesUrl, headers: new Secret(headers), serviceName, resource, sampled }
}

function parseShare(value: string): number | undefined {
  return /^(0(\.\d+)?|1(\.0+)?)$/.test(value) ? Number(value) : undefined
}

/** `a=b,c=d`, values percent-encoded. */
function parsePairs(value: string): Readonly<Record<string, string>> | undefined {
  const pairs: Record<string, string> = {}
  for (const pair of value.split(',')) {
    const [, name, raw] = /^\s*([\w.-]+)\s*=\s*(\S.*?)\s*$/.exec(pair) ?? []
    if (name === undefined || raw === undefined) return undefined
    try {
      pairs[name] = decodeURIComponent(raw)
    } catch {
      return undefined
    }
  }
  return pairs
}
