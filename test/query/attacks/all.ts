/** Lists the whole attack suite. */

import type { Attack } from './attack.ts'
import { constructAttacks } from './constructs.ts'
import { inferenceAttacks } from './inference.ts'
import { nameAttacks } from './names.ts'
import { rowAttacks } from './rows.ts'
import { statementAttacks } from './statements.ts'

export const attacks: readonly Attack[] = [
  ...statementAttacks,
  ...nameAttacks,
  ...constructAttacks,
  ...inferenceAttacks,
  ...rowAttacks,
]
