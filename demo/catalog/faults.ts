/** What the development catalog is told to do wrong, and how slowly it answers. For tests and benchmarks. */

/** `read`: GET and HEAD of anything but one table; `other`: what changes the catalog without being a commit. */
const operations = ['config', 'token', 'load', 'conditional-load', 'commit', 'read', 'other'] as const
export type Operation = (typeof operations)[number]

/**
 * - `fail`: answer `status` with an ErrorModel, having done nothing
 * - `conflict`: answer 409, having done nothing
 * - `drop-before`: close the connection, having done nothing
 * - `drop-after`: do it, then close the connection instead of answering
 * - `hang-after`: do it, then never answer
 */
const effects = ['fail', 'conflict', 'drop-before', 'drop-after', 'hang-after'] as const
export type Effect = (typeof effects)[number]

export interface Failure {
  readonly operation: Operation
  readonly effect: Effect
  /** For `fail`; 500 where absent. */
  readonly status?: number
  /** The ErrorModel `type`, for `fail`. */
  readonly type?: string
  /** How many requests it meets; 1 where absent. */
  readonly times?: number
}

/**
 * Milliseconds before an operation is done: fixed, or samples of which each request draws one. Timers know whole
 * milliseconds only, so what is left of one is added to the next of the same operation.
 */
export type Delay = number | readonly number[]

export interface Faults {
  /** Requests seen, by operation. */
  readonly counts: Readonly<Record<Operation, number>>
  setDelay(operation: Operation, delay: Delay): void
  add(failure: Failure): void
  /** Refuses every token given so far, as if it had expired. */
  expireTokens(): void
  /** No delays, no failures, counts at zero. Tokens stay as they are. */
  reset(): void
}

export interface FaultState extends Faults {
  /** Counts a request and takes what it shall meet. */
  meet(operation: Operation): { readonly delayMs: number; readonly failure: Failure | undefined }
}

/** @param expireTokens what `Faults.expireTokens` does */
export function createFaults(expireTokens: () => void): FaultState {
  const counts = Object.fromEntries(operations.map((name) => [name, 0])) as Record<Operation, number>
  const delays = new Map<Operation, Delay>()
  const left = new Map<Operation, number>()
  let failures: { failure: Failure; left: number }[] = []
  let seed = 1
  const draw = (samples: readonly number[]): number => {
    // A linear congruential generator, so that two runs draw alike.
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return samples[Math.floor((seed / 2 ** 32) * samples.length)] ?? 0
  }
  const wholeMs = (operation: Operation, ms: number): number => {
    const due = ms + (left.get(operation) ?? 0)
    left.set(operation, due % 1)
    return Math.floor(due)
  }
  return {
    counts,
    setDelay: (operation, delay) => void delays.set(operation, delay),
    add: (failure) => void failures.push({ failure, left: failure.times ?? 1 }),
    expireTokens,
    reset() {
      delays.clear()
      left.clear()
      failures = []
      for (const name of operations) counts[name] = 0
    },
    meet(operation) {
      counts[operation]++
      const delay = delays.get(operation) ?? 0
      const entry = failures.find(({ failure, left }) => failure.operation === operation && left > 0)
      if (entry !== undefined && --entry.left === 0) failures = failures.filter((other) => other !== entry)
      const delayMs = wholeMs(operation, typeof delay === 'number' ? delay : draw(delay))
      return { delayMs, failure: entry?.failure }
    },
  }
}

/**
 * Applies what `POST /dev/faults` was sent: `reset`, `expire-tokens` (booleans), `delays` (by operation),
 * `failures` (a list).
 * @returns a sentence about the first thing that is wrong, after which nothing was applied; else undefined
 */
export function applyFaults(faults: Faults, body: unknown): string | undefined {
  if (!isRecord(body)) return 'The body must be an object.'
  const delays = Object.entries(isRecord(body.delays) ? body.delays : {})
  const failures = Array.isArray(body.failures) ? body.failures : []
  for (const [name, delay] of delays)
    if (!isOneOf(operations, name) || !isDelay(delay)) return `Not a delay: ${name}.`
  for (const failure of failures)
    if (!isRecord(failure) || !isOneOf(operations, failure.operation) || !isOneOf(effects, failure.effect))
      return `Not a failure: ${JSON.stringify(failure)}.`
  if (body.reset === true) faults.reset()
  if (body['expire-tokens'] === true) faults.expireTokens()
  for (const [name, delay] of delays) faults.setDelay(name as Operation, delay as Delay)
  for (const failure of failures) faults.add(failure as Failure)
  return undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isOneOf<T extends string>(names: readonly T[], value: unknown): value is T {
  return (names as readonly unknown[]).includes(value)
}

function isDelay(value: unknown): value is Delay {
  const samples: readonly unknown[] = Array.isArray(value) ? value : [value]
  return samples.length > 0 && samples.every((ms) => typeof ms === 'number' && ms >= 0 && ms <= 600_000)
}
