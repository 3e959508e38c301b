/**
 * The intent of one commit on its way to the store: durable before anything is forwarded, and removed by the
 * transaction that writes the verdict (docs/reference/gateway.md 6.1). It may be declared before the table has loaded, on the base that the
 * cache holds, and again once the table turns out to have moved.
 */

import { Fault } from '../../base/fault.ts'
import type { CommitIntent } from '../../core/commit.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { closeIntent, openIntent } from '../../store/commit/commit-intents.ts'
import type { GatewayParts } from './parts.ts'
import type { StageTimes } from './stage-times.ts'

export class PendingIntent {
  #intent: CommitIntent | undefined
  #written: Promise<void> = Promise.resolve()
  #declaredAtMs = 0

  constructor(
    readonly parts: GatewayParts,
    readonly tenant: TenantId,
    readonly withoutBase: Omit<CommitIntent, 'baseMetadataLocation'>,
    readonly stages: StageTimes,
  ) {}

  /**
   * Begins to write the intent; does nothing where it already names this base. '' for no base.
   * @param write resolves once the intent is durable
   */
  declare(
    baseMetadataLocation: string,
    write = (intent: CommitIntent) =>
      openIntent(this.parts.store, this.tenant, intent, this.parts.intentTimes),
  ): void {
    if (this.#intent?.baseMetadataLocation === baseMetadataLocation) return
    const intent = this.on(baseMetadataLocation)
    if (this.#intent === undefined) this.#declaredAtMs = this.parts.clock.now()
    this.#intent = intent
    this.#written = this.#written.then(async () => {
      this.parts.passCrashPoint('intent-not-opened')
      await this.stages.time('intent', () => write(intent))
      this.parts.passCrashPoint('intent-opened')
    })
    this.#written.catch(() => {})
  }

  /** The intent as last declared, whether or not it is durable yet. */
  get intent(): CommitIntent {
    if (this.#intent === undefined) throw new Error('an intent was used before it was declared')
    return this.#intent
  }

  /**
   * @throws Fault `unavailable` where the store did not take the intent, or where a process that stood still
   *   could outlive its lease with a forward: recovery may have closed the intent by then
   */
  async durable(): Promise<void> {
    try {
      await this.#written
      const elapsedMs = this.parts.clock.now() - this.#declaredAtMs
      if (elapsedMs > limits.forwardWithinMs) throw new Error('the lease may not outlast the forward')
    } catch (cause) {
      if (cause instanceof Fault && cause.kind === 'bad_request') throw cause
      throw new Fault(
        'unavailable',
        'The commit could not be put on record, so it was not forwarded. Retry.',
        {
          cause,
        },
      )
    }
  }

  /** The intent with this base, whether or not it was ever declared. */
  on(baseMetadataLocation: string): CommitIntent {
    return { ...this.withoutBase, baseMetadataLocation }
  }

  /** Resolves once no write of the intent is under way, whether it succeeded or failed. Never rejects. */
  async idle(): Promise<void> {
    await this.#written.catch(() => {})
  }

  /** Removes the intent of a commit that the upstream surely did not take. What fails here is left to recovery. */
  async withdraw(): Promise<void> {
    if (this.#intent === undefined) return
    await this.idle()
    try {
      await closeIntent(this.parts.store, this.tenant, this.withoutBase.commitId)
    } catch (err) {
      this.parts.log.warn({ err, commitId: this.withoutBase.commitId }, 'an intent could not be withdrawn')
    }
  }
}
