/**
 * Measures the stages of a commit, for the histogram and for `Server-Timing`. Stages overlap, so their durations do not
 * add up to the total.
 */

import { inNextTurn } from '../../base/turn.ts'
import type { Session } from '../../core/session.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { SpanPart } from '../../telemetry/tracing.ts'
import type { GatewayParts } from './parts.ts'

/**
 * - `session`: looking up the session and the catalog credential
 * - `body`: reading and hashing the rest of the body, after the session was found
 * - `load`: loading the table's metadata from the upstream
 * - `policies`: loading policies from the store
 * - `evaluate`: applying the updates and evaluating the policies
 * - `intent`: making the intent durable
 * - `forward`: the upstream's commit
 * - `record`: writing audit and edges, ingesting the snapshot
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
type CommitStage = (typeof commitStages)[number]

interface TakenStage {
  readonly stage: CommitStage
  readonly startMs: number
  readonly ms: number
}

export class StageTimes {
  readonly #taken: TakenStage[] = []

  constructor(readonly startMs = performance.now()) {}

  /** Adds the times of speculative work whose result is used. */
  adopt(speculative: StageTimes): void {
    this.#taken.push(...speculative.#taken)
  }

  /** For a commit that starts over: its stages are dropped, its total still runs from the start. */
  restarted(): StageTimes {
    return new StageTimes(this.startMs)
  }

  /** Times one stage until `work` ends, even if it fails. */
  async time<T>(stage: CommitStage, work: () => Promise<T>): Promise<T> {
    const startMs = performance.now()
    try {
      return await work()
    } finally {
      this.#taken.push({ stage, startMs, ms: performance.now() - startMs })
    }
  }

  /** Adds the stages to the histogram. */
  observe({ commitStageSeconds }: Pick<Metrics, 'commitStageSeconds'>): void {
    for (const { stage, ms } of this.#taken) commitStageSeconds.observe({ stage }, ms / 1_000)
  }

  /** The stages for a trace. */
  parts(): readonly SpanPart[] {
    return this.#taken.map(({ stage, startMs, ms }) => ({ name: stage, startMs, endMs: startMs + ms }))
  }

  /** The value of a `Server-Timing` header (W3C): stages in the order in which they ended, then the total. */
  header(): string {
    const all = [...this.#taken, { stage: 'total', ms: performance.now() - this.startMs }]
    return all.map(({ stage, ms }) => `${stage};dur=${ms.toFixed(2)}`).join(', ')
  }
}

/** Adds one commit to the histograms, while its response is being sent. */
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

/** Adds `Server-Timing` if an administrator, or in the demo any client, sends `X-Svc-Timing: 1`. */
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
