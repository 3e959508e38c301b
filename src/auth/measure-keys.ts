/** The job that measures how old keys are. Each replica does it, so that none shows the age from before a turn. */

import type { Core, Job } from '../http/feature.ts'
import { keyAges } from '../store/keys/list-keys.ts'

/** The job: the age of the oldest present key of each kind. */
export function measureKeys({ store, metrics: { keyAgeSeconds } }: Pick<Core, 'store' | 'metrics'>): Job {
  return {
    name: 'measure-keys',
    schedule: '*/5 * * * *',
    everyReplica: true,
    async run() {
      const ages = await keyAges(store)
      keyAgeSeconds.reset()
      for (const [kind, seconds] of ages) keyAgeSeconds.set({ kind }, seconds)
    },
  }
}
