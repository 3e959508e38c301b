/**
 * The jobs by which the key of plans turns: each replica reads the roots of plans every minute, and one ends a turn when
 * nothing counts any more that the root before made.
 */

import type { Core, Job } from '../http/feature.ts'
import { endPlanTurn, readPlanRoots } from '../store/keys/plan-roots.ts'

/** Both jobs. */
export function turnPlanKeys({ store, log }: Pick<Core, 'store' | 'log'>): readonly Job[] {
  return [
    {
      name: 'read-plan-keys',
      schedule: '* * * * *',
      everyReplica: true,
      run: async () => await readPlanRoots(store),
    },
    {
      name: 'end-plan-key-turn',
      schedule: '*/5 * * * *',
      async run() {
        if (await endPlanTurn(store))
          log.info('the key of plans has turned: what the one before signed has ended')
      },
    },
  ]
}
