/** The faults and delays that the development catalog is told to show. For tests and benchmarks. */

/** `read`: GET and HEAD of anything but one table; `other`: changes of the catalog that are no commits. */
const operations = ['config', 'token', 'load', 'conditional-load', 'commit', 'read', 'other'] as const
export type FaultOperation = (typeof operations)[number]

/**
 * - `fail`: answer `status` with an ErrorModel, having done nothing
 * - `conflict`: answer 409, having done nothing
 * - `drop-before`: close the connection, having done nothing
 * - `drop-after`: do it, then close the connection instead of answering
 * - `hang-after`: do it, then never answer
 */
const effects = ['fail', 'conflict', 'drop-before', 'drop-after', 'hang-after'] as const
export type FaultEffect = (typeof effects)[number]

export interface Failure {
  readonly operation: FaultOperation
  readonly effect: FaultEffect
  /** For `fail`; 500 by default. */
  readonly status?: number
  /** The ErrorModel `type`, for `fail`. */
  readonly type?: string
  /** How many requests it affects; 1 by default. */
  readonly times?: number
}

/**
 * Milliseconds before an operation is done: fixed, or samples of which each request draws one. Timers know whole
 * milliseconds only, so the fraction is carried over to the next request of the same operation.
 */
export type Delay = number | readonly number[]

export interface Faults {
  /** Requests seen, by operation. */
  readonly counts: Readonly<Record<FaultOperation, number>>
  setDelay(operation: FaultOperation, delay: Delay): void
  add(failure: Failure): void
  /** Refuses every token issued so far, as if it had expired. */
  expireTokens(): void
  /** Removes all delays and failures and sets the counts to zero. Tokens stay valid. */
  reset(): void
}

export interface FaultState extends Faults {
  /** Counts a request, and takes the delay and failure that it gets. */
  meet(operation: FaultOperation): { readonly delayMs: number; readonly failure: Failure | undefined }
}

/** @param expireTokens implements `Faults.expireTokens` */
export function createFaults(expireTokens: () => void): FaultState {
  const counts = Object.fromEntries(operations.map((name) => [name, 0])) as Record<FaultOperation, number>
  const delays = new Map<FaultOperation, Delay>()
  const left = new Map<FaultOperation, number>()
  let failures: { failure: Failure; left: number }[] = []
  let seed = 1
  const draw = (samples: readonly number[]): number => {
    // A linear congruential generator, so that two runs draw the same samples.
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return samples[Math.floor((seed / 2 ** 32) * samples.length)] ?? 0
  }
  const wholeMs = (operation: FaultOperation, ms: number): number => {
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
 * Applies the body of `POST /dev/faults`: `reset`, `expire-tokens` (booleans), `delays` (by operation), `failures` (a
 * list).
 * @returns a sentence about the first mistake, in which case nothing was applied; else undefined
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
  for (const [name, delay] of delays) faults.setDelay(name as FaultOperation, delay as Delay)
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
