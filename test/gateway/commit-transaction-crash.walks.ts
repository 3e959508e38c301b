/** A transaction of two tables, killed at the second pass of each point. */

import { setDefaultTimeout, test } from 'bun:test'
import type { CrashPoint } from '../../src/gateway/base/crash-points.ts'
import { killTransactionAt } from './kills.ts'

setDefaultTimeout(300_000)

/** Between and within the forwards; what stands upstream of the second table when the process dies there. */
const secondPasses: readonly (readonly [CrashPoint, number])[] = [
  ['intent-not-opened', 0],
  ['intent-opened', 0],
  ['commit-not-forwarded', 0],
  ['commit-forwarded', 1],
  ['approval-recorded', 1],
]

test.each(secondPasses)(
  'a transaction killed at the second pass of %s is audited for the tables that the upstream accepted, each once',
  (crashAt, acceptedOfSecond) => killTransactionAt(crashAt, acceptedOfSecond),
)
