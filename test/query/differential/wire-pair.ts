/** A pair of tables that a running service serves. */

import type { GovernanceCase } from './cases.ts'
import type { FileName } from './file-names.ts'
import { compareBy, type Pair } from './pairs.ts'
import type { WireTables } from './wire.ts'

/** The tables of the case must be among those that are served. */
export function wirePair(wire: WireTables, governance: GovernanceCase, file: FileName): Pair {
  const outcome: Pair['outcome'] = (statement, kind) => wire.outcome({ governance, file, kind }, statement)
  return { name: `${governance.name} / ${file} / wire`, outcome, compare: compareBy(outcome, governance) }
}
