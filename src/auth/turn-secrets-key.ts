/**
 * The job by which the secrets key turns: it seals every stored value again, and when a look at all of them finds none
 * under the former key, the database is that of the new one.
 */

import type { Core, Job } from '../http/feature.ts'
import { type SealedAgain, sealAgain } from '../store/keys/seal-again.ts'
import { endTurn, hasTurned } from '../store/keys/secrets-key.ts'

/** Milliseconds after which all values are looked at again once the key has turned. */
const lookAgainMs = 3_600_000

/** The job; on a process without a former key it does nothing. */
export function turnSecretsKey({ store, clock, log }: Pick<Core, 'store' | 'clock' | 'log'>): Job {
  const startedAtMs = clock.now()
  let lookedAtMs = Number.NEGATIVE_INFINITY
  return {
    name: 'turn-secrets-key',
    schedule: '* * * * *',
    async run(signal) {
      if (store.formerKey === undefined) return
      // Replicas of the step before may still seal by the former key.
      if (clock.now() - lookedAtMs < lookAgainMs && (await hasTurned(store))) return
      const first = await sealAgain(store, signal)
      let pass: SealedAgain = first
      while (pass.sealed > 0) {
        log.info(pass, 'stored secrets were sealed by the new secrets key')
        pass = await sealAgain(store, signal)
      }
      lookedAtMs = clock.now()
      if (pass.unreadable > 0)
        log.warn(pass, 'stored secrets are sealed by neither secrets key: they were lost before')
      if (await endTurn(store))
        log.info(pass, 'the secrets key has turned: the former key seals nothing more')
      // Not sooner, because the others may still be of the step before.
      else if (first.sealed === 0 && lookedAtMs - startedAtMs >= lookAgainMs)
        log.info(pass, 'no stored secret is sealed by the former key: it may be removed')
    },
  }
}
