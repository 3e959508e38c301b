/**
 * Watches the clock of this process, because policies read it as `commit.received_at`. A step backwards is found by
 * comparison with a clock that is never set; a difference to the database's clock by asking the database.
 */

import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Milliseconds by which a replica's clock may differ from the database's. */
const clockOffsetMs = 5_000

/** The least step backwards; correcting a clock by slowing it down stays far below. */
const clockStepMs = 100

/** Milliseconds between two looks at the clocks. */
const clockLookMs = 10_000

interface ClockWatchParts {
  readonly clock: Clock
  /** Milliseconds since any moment, of a clock that is never set. */
  readonly monotonicMs: () => number
  /** Milliseconds since the Unix epoch. It may throw. */
  readonly databaseMs: () => Promise<number>
  readonly metrics: Pick<Metrics, 'clockBackwardSteps' | 'clockOffsetSeconds'>
  readonly log: Logger
}

export class ClockWatch {
  #aheadOfMonotonicMs: number | undefined
  #differs = false
  #timer: Timer | undefined

  constructor(readonly parts: ClockWatchParts) {}

  /** Looks now and then until `stop`. */
  start(): void {
    const look = () =>
      this.look().catch((err: unknown) => this.parts.log.debug({ err }, 'the clocks could not be compared'))
    void look()
    this.#timer = setInterval(look, clockLookMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Looks once. @throws what `databaseMs` throws; a step is reported all the same */
  async look(): Promise<void> {
    this.#findStep()
    await this.#compare()
  }

  #findStep(): void {
    const { clock, monotonicMs, metrics, log } = this.parts
    const ahead = clock.now() - monotonicMs()
    const stepMs = ahead - (this.#aheadOfMonotonicMs ?? ahead)
    this.#aheadOfMonotonicMs = ahead
    if (stepMs > -clockStepMs) return
    metrics.clockBackwardSteps.inc()
    log.error({ stepMs: Math.round(stepMs) }, 'the clock of this machine was set back')
  }

  async #compare(): Promise<void> {
    const { clock, monotonicMs, databaseMs, metrics, log } = this.parts
    const beganMs = monotonicMs()
    const theirsMs = await databaseMs()
    const tookMs = monotonicMs() - beganMs
    // The database read its clock at some moment of the wait. Its middle is wrong by half of the wait at most.
    const offsetMs = clock.now() - tookMs / 2 - theirsMs
    metrics.clockOffsetSeconds.set(offsetMs / 1_000)
    const differs = Math.abs(offsetMs) - tookMs / 2 > clockOffsetMs
    if (differs === this.#differs) return
    this.#differs = differs
    const line = { offsetMs: Math.round(offsetMs) }
    if (differs) log.error(line, 'the clock of this machine differs from the clock of the database')
    else log.info(line, 'the clock of this machine agrees with the clock of the database again')
  }
}
