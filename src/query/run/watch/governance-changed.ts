/**
 * Repeats a read if its governance changed before its first rows, three tries at most. Each try loads everything again,
 * so no row by the old governance is given. It does not repeat a read that has given rows.
 */

import { SqlError } from '../../compile/base/sql-error.ts'

/** The governance, the territory or the catalog credential of a read has changed since its load. */
export class GovernanceChanged extends SqlError {
  constructor(message: string) {
    super('55000', message)
  }
}

/** Tries of one read in all. The time of its statement bounds them too. */
export const changeTriesMax = 3

/**
 * @param attempt one try, with the error that ended the previous one
 * @param setAside releases what that try still holds
 * @throws GovernanceChanged where the governance changed during each try; what `attempt` throws
 */
export async function againWhereChanged<T>(
  attempt: (changed: GovernanceChanged | undefined) => Promise<T>,
  setAside: () => Promise<void> = async () => {},
): Promise<T> {
  let changed: GovernanceChanged | undefined
  for (let triesLeft = changeTriesMax - 1; ; triesLeft--)
    try {
      return await attempt(changed)
    } catch (thrown) {
      if (!(thrown instanceof GovernanceChanged) || triesLeft === 0) throw thrown
      changed = thrown
      await setAside()
    }
}
