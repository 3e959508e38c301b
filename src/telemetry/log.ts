/**
 * Writes the log, one JSON object per line, to standard output. It removes credentials in three ways: by key at any
 * depth, by listing what an error may carry, and by pattern in the finished line.
 */

import { type DestinationStream, type Logger, pino } from 'pino'
import { Fault } from '../base/fault.ts'

const placeholder = '[redacted]'
const depthMax = 8
const itemsMax = 100
const causesMax = 5

const credentialKey =
  /pass(word|wd|phrase)|secret|token|cookie|authori[sz]ation|credential|api[-_]?key|private[-_]?key|secrets[-_]?key|signature|session[-_]?id|svc-session|client-cert|database[-_]?url|dsn|assertion/i

/**
 * Credentials inside text; each pattern keeps what helps to find the source. Callers choose the text of a line, so each
 * pattern bounds how far it reads on, which keeps the time linear.
 */
const credentialPatterns: readonly (readonly [RegExp, string])[] = [
  [/(:\/\/[^\s:@/"\\]*):(?!\d{1,5}\/)[^\s@"\\]{1,1024}@/g, `$1:${placeholder}@`],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/-]{8,}=*/gi, `$1 ${placeholder}`],
  [/\beyJ[A-Za-z0-9_-]{4,4096}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, placeholder],
  [/\bsvc_(?=[A-Za-z0-9_-]{0,64}[A-Z])[A-Za-z0-9_-]{24,}/g, placeholder],
  [/\b(X-Amz-(?:Signature|Credential|Security-Token)=)[^&\s"\\]+/gi, `$1${placeholder}`],
]

interface LoggerOptions {
  /** A pino level, `trace` to `silent`. */
  readonly level: string
  /** Where lines go; default: standard output. */
  readonly destination?: DestinationStream
}

/** Makes the process's logger. A line is written before the call returns, so a dying process loses none. */
export function createLogger({ level, destination }: LoggerOptions): Logger {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redactFields(fields, 0),
      },
      serializers: { err: (value: unknown) => value },
      hooks: { streamWrite: redactText },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  )
  // pino formats a child's bindings only if the child sets formatters. Children inherit this method, which redacts
  // them.
  const child: (this: unknown, bindings: object, options?: object) => unknown = logger.child
  logger.child = function (this: unknown, bindings: object, options?: object) {
    return child.call(this, redactFields(bindings, 0), options)
  } as Logger['child']
  return logger
}

function redactText(text: string): string {
  return credentialPatterns.reduce((line, [pattern, mark]) => line.replace(pattern, mark), text)
}

function redactFields(fields: object, depth: number): Record<string, unknown> {
  const redacted: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(fields).slice(0, itemsMax))
    redacted[key] = credentialKey.test(key) ? placeholder : redactValue(value, depth + 1)
  return redacted
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  if (depth > depthMax) return '[deep]'
  if (value instanceof Error) return describeError(value, causesMax)
  if (value instanceof Date || value instanceof URL) return value.toString()
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((item) => redactValue(item, depth + 1))
  if (value instanceof Headers || value instanceof Map)
    return redactFields(Object.fromEntries(value as Iterable<[string, unknown]>), depth)
  if ('toJSON' in value && typeof value.toJSON === 'function') return redactValue(value.toJSON(), depth + 1)
  return redactFields(value, depth)
}

/** Copies named parts only, because drivers attach statements, parameters and request headers to their errors. */
function describeError(error: Error, causesLeft: number): Record<string, unknown> {
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  const fault =
    error instanceof Fault
      ? { kind: error.kind, id: error.id, ...(error.detail === undefined ? {} : { detail: error.detail }) }
      : {}
  const cause =
    error.cause instanceof Error && causesLeft > 0
      ? { cause: describeError(error.cause, causesLeft - 1) }
      : {}
  return { type: error.name, message: error.message, ...code, ...fault, stack: error.stack, ...cause }
}
