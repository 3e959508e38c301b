/**
 * Writes the intent of one commit to the store. It must be durable before anything is forwarded, and the transaction
 * that writes the verdict removes it (docs/reference/gateway.md 6.1). It may be declared on the cached base before the
 * table has loaded, and again if the table has changed since.
 */

import { Fault } from '../../base/fault.ts'
import type { CommitIntent } from '../../core/commit.ts'
import { RepeatedRequest } from '../../core/idempotency.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { closeIntent, endLease, openIntent } from '../../store/commit/commit-intents.ts'
import type { GatewayParts } from './parts.ts'
import type { StageTimes } from './stage-times.ts'

export class PendingIntent {
  #intent: CommitIntent | undefined
  #written: Promise<void> = Promise.resolve()
  /** By the monotonic clock, because the other may be set back. */
  #declaredAtMs = 0
  #isOpen = false

  constructor(
    readonly parts: GatewayParts,
    readonly tenant: TenantId,
    readonly withoutBase: Omit<CommitIntent, 'baseMetadataLocation' | 'baseHeld'>,
    readonly stages: StageTimes,
  ) {}

  /**
   * Starts to write the intent; does nothing if it already names this base, held in the same way.
   * @param baseMetadataLocation '' for no base
   * @param held see `CommitIntent.baseHeld`
   * @param write resolves once the intent is durable
   */
  declare(
    baseMetadataLocation: string,
    held?: CommitIntent['baseHeld'],
    write = (intent: CommitIntent) =>
      openIntent(this.parts.store, this.tenant, intent, this.parts.intentTimes),
  ): void {
    const isDeclared =
      this.#intent?.baseMetadataLocation === baseMetadataLocation && this.#intent.baseHeld === held
    if (this.#isOpen && isDeclared) return
    const intent = this.on(baseMetadataLocation, held)
    if (!this.#isOpen) this.#declaredAtMs = performance.now()
    this.#isOpen = true
    this.#intent = intent
    this.#written = this.#written.then(async () => {
      this.parts.passCrashPoint('intent-not-opened')
      await this.stages.time('intent', () => write(intent))
      this.parts.passCrashPoint('intent-opened')
    })
    this.#written.catch(() => {})
  }

  /** The intent as last declared, durable or not. */
  get intent(): CommitIntent {
    if (this.#intent === undefined) throw new Error('an intent was used before it was declared')
    return this.#intent
  }

  /**
   * Waits until the intent is durable.
   * @throws RepeatedRequest if another request has its Idempotency-Key; Fault `unavailable` if the store did not take it.
   *   Also if a stalled process could forward after its lease: recovery may have closed the intent by then
   */
  async durable(): Promise<void> {
    try {
      await this.#written
      const elapsedMs = performance.now() - this.#declaredAtMs
      if (elapsedMs > limits.forwardWithinMs)
        throw new Error('the lease could expire before the forward ends')
    } catch (cause) {
      if (cause instanceof RepeatedRequest) throw cause
      if (cause instanceof Fault && cause.kind === 'bad_request') throw cause
      throw new Fault('unavailable', 'The commit could not be recorded, so it was not forwarded. Retry.', {
        cause,
      })
    }
  }

  /** The intent with this base, declared or not. */
  on(baseMetadataLocation: string, baseHeld?: CommitIntent['baseHeld']): CommitIntent {
    return { ...this.withoutBase, baseMetadataLocation, ...(baseHeld && { baseHeld }) }
  }

  /**
   * Before a verdict is recorded that is no allowance: waits until no write of the intent is in flight, whether it
   * succeeded or failed. An intent with an Idempotency-Key is declared for that, because only the store knows whether
   * the key is new.
   * @param base as for `declare`
   * @throws RepeatedRequest if another request has its Idempotency-Key
   */
  async assertNew(base: string): Promise<void> {
    if (this.withoutBase.claim !== undefined && !this.#isOpen) this.declare(base)
    await this.#written.catch((cause: unknown) => {
      if (cause instanceof RepeatedRequest) throw cause
    })
  }

  /** Resolves once no write of the intent is in flight, whether it succeeded or failed. Never rejects. */
  async idle(): Promise<void> {
    await this.#written.catch(() => {})
  }

  /**
   * Leaves the intent to recovery, because it is unknown whether the change was made: the request has ended, and its lease
   * with it. Never throws: a lease that could not be ended runs out.
   * @param answered whether the upstream itself said that its work has ended
   */
  async leave(answered: boolean): Promise<void> {
    try {
      await endLease(this.parts.store, this.tenant, this.withoutBase.commitId, answered)
    } catch (err) {
      this.parts.log.warn(
        { err, commitId: this.withoutBase.commitId },
        'the lease of an intent could not be ended; recovery waits until it runs out',
      )
    }
  }

  /**
   * Removes the intent of a commit that the upstream certainly did not take. If this fails, recovery closes it. It may be
   * declared again.
   */
  async withdraw(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.idle()
    try {
      await closeIntent(this.parts.store, this.tenant, this.withoutBase.commitId)
    } catch (err) {
      this.parts.log.warn(
        { err, commitId: this.withoutBase.commitId },
        'an intent could not be removed; recovery will close it',
      )
    }
  }
}
