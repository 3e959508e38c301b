/**
 * Where the time of a commit goes: the duration of each stage, for the histogram and for `Server-Timing`. Stages
 * overlap, so they do not add up to the whole.
 */

import { inNextTurn } from '../../base/turn.ts'
import type { Session } from '../../core/session.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { GatewayParts } from './parts.ts'

/**
 * - `session`: session and catalog credential
 * - `body`: the rest of reading and hashing the body, once the session was found
 * - `load`: the table's metadata from the upstream
 * - `policies`: their load from the store
 * - `evaluate`: applying the updates and judging
 * - `intent`: until the intent was durable
 * - `forward`: the upstream's commit
 * - `record`: audit, edges and ingest
 */
export const commitStages = [
  'session',
  'body',
  'load',
  'policies',
  'evaluate',
  'intent',
  'forward',
  'record',
] as const
export type CommitStage = (typeof commitStages)[number]

export class StageTimes {
  readonly #taken: { readonly stage: CommitStage; readonly ms: number }[] = []

  constructor(readonly startMs = performance.now()) {}

  /** Adds the times of speculative work whose result is used. */
  adopt(speculative: StageTimes): void {
    this.#taken.push(...speculative.#taken)
  }

  /** For a commit that starts over: stages are timed from zero, the whole still from its beginning. */
  restarted(): StageTimes {
    return new StageTimes(this.startMs)
  }

  /** Times one stage from now until `work` ends, however it ends. */
  async time<T>(stage: CommitStage, work: () => Promise<T>): Promise<T> {
    const startMs = performance.now()
    try {
      return await work()
    } finally {
      this.#taken.push({ stage, ms: performance.now() - startMs })
    }
  }

  /** Adds what was timed to the histogram. */
  observe({ commitStageDurationMs }: Pick<Metrics, 'commitStageDurationMs'>): void {
    for (const { stage, ms } of this.#taken) commitStageDurationMs.observe({ stage }, ms)
  }

  /** The value of a `Server-Timing` header (W3C): stages in the order in which they ended, and the whole. */
  header(): string {
    const all = [...this.#taken, { stage: 'total', ms: performance.now() - this.startMs }]
    return all.map(({ stage, ms }) => `${stage};dur=${ms.toFixed(2)}`).join(', ')
  }
}

/** Adds one commit to the histograms, once its answer is on its way. */
export function countCommit(
  { metrics }: Pick<GatewayParts, 'metrics'>,
  stages: StageTimes,
  outcome: string,
): void {
  const ms = performance.now() - stages.startMs
  inNextTurn(() => {
    metrics.commitDurationMs.observe({ outcome }, ms)
    stages.observe(metrics)
  })
}

/** Adds `Server-Timing` where an administrator, or anyone in the demo, asks by `X-Svc-Timing: 1`. */
export function addTiming(
  { demo }: Pick<GatewayParts, 'demo'>,
  request: Request,
  session: Session | undefined,
  response: Response,
  stages: StageTimes,
): void {
  if (request.headers.get('x-svc-timing') !== '1') return
  if (demo || session?.scopes.includes('admin')) response.headers.set('server-timing', stages.header())
}
