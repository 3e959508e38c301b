/** What jobs left when they last ran, on whichever replica. */

import type { Store } from '../store.ts'

/** Keeps what a run left, in place of what the one before it did. */
export async function keepJobGauge(store: Store, job: string, value: number): Promise<void> {
  await store.adminQuery(
    `insert into svc.job_gauge (job, value) values ($1, $2::float8)
     on conflict (job) do update set value = excluded.value, measured_at = clock_timestamp()`,
    [job, value],
  )
}

/** What the last run left; undefined where there was none. */
export async function findJobGauge(store: Store, job: string): Promise<number | undefined> {
  const [row] = await store.adminQuery<{ value: number }>('select value from svc.job_gauge where job = $1', [
    job,
  ])
  return row?.value
}
