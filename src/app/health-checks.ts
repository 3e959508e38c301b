/** What the probes ask of the database and of the journal, each remembered, bounded, and logged when it changes. */

import type { Logger } from 'pino'
import { Fault } from '../base/fault.ts'
import type { AcceptedJournal } from '../gateway/base/accepted-journal.ts'
import { bounded, remembered, reported } from '../server/checks.ts'
import type { Health } from '../server/ops.ts'
import type { Store } from '../store/store.ts'

/** Milliseconds for which a probe’s check of writes holds. */
const writeProbeMs = 1_000

/** Milliseconds after which a probe’s check of the database has failed. */
const probeMs = 1_500

/** Logs when a check begins to fail and when it passes again, because a probe's body says only which check failed. */
function logChange(log: Logger, failing: string, passing: string) {
  return (fault: Fault | undefined) =>
    fault === undefined ? log.info(passing) : log.error({ err: fault.cause ?? fault }, failing)
}

/** The probes' check of the journal of accepted changes, which passes where there is none. */
export function journalCheck(journal: AcceptedJournal | undefined, log: Logger): Pick<Health, 'journaling'> {
  const check = remembered(
    bounded(async () => await journal?.check(), probeMs),
    writeProbeMs,
  )
  return {
    journaling: reported(check, logChange(log, 'the journal refuses writes', 'the journal takes writes')),
  }
}

/** The probes' checks of the database. */
export function databaseChecks(store: Store, log: Logger): Pick<Health, 'healthy' | 'writable' | 'degraded'> {
  const answers = async () => {
    if (!(await store.healthy())) throw new Fault('unavailable', 'The database does not answer.')
  }
  let locked: readonly string[] = []
  const look = bounded(async () => {
    locked = await store.lockedTables()
  }, probeMs)
  const unlocked = async () => {
    locked = []
    // A database that does not answer is told by `healthy`.
    await look().catch(() => {})
    if (locked.length > 0)
      throw new Fault('unavailable', `Statements wait for the lock of ${locked.join(', ')}.`)
  }
  const isUnlocked = reported(
    remembered(unlocked, writeProbeMs),
    logChange(log, 'a table of the database is locked', 'no table of the database is locked any more'),
  )
  return {
    degraded: async () => !(await isUnlocked()),
    healthy: reported(
      bounded(answers, probeMs),
      logChange(log, 'the database does not answer', 'the database answers again'),
    ),
    writable: reported(
      remembered(
        bounded(() => store.checkWrites(), probeMs),
        writeProbeMs,
      ),
      logChange(log, 'the database refuses writes', 'the database takes writes again'),
    ),
  }
}
