/** Writes and reads the values that jobs measured in their last run, for every replica. */

import type { Store } from '../store.ts'

/** Writes a job's value in place of the previous one. */
export async function putJobGauge(store: Store, job: string, value: number): Promise<void> {
  await store.adminQuery(
    `insert into svc.job_gauge (job, value) values ($1, $2::float8)
     on conflict (job) do update set value = excluded.value, measured_at = clock_timestamp()`,
    [job, value],
  )
}

/** The value of the job's last run; undefined before the first. */
export async function findJobGauge(store: Store, job: string): Promise<number | undefined> {
  const [row] = await store.adminQuery<{ value: number }>('select value from svc.job_gauge where job = $1', [
    job,
  ])
  return row?.value
}
