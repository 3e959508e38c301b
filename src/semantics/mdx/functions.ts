/** Every function of MDX that is read, by its name. */

import type { MdxFunction } from '../../wire/mdx/words.ts'
import type { RunFunction } from './arguments.ts'
import { dateFunctions } from './date-functions.ts'
import { drillFunctions } from './drill-functions.ts'
import { kpiMemberFunctions } from './kpi-functions.ts'
import { memberFunctions } from './member-functions.ts'
import { rankFunctions } from './rank-functions.ts'
import { setFunctions } from './set-functions.ts'
import { textFunctions } from './text-functions.ts'
import { totalFunctions } from './total-functions.ts'

export const functions = {
  ...dateFunctions,
  ...drillFunctions,
  ...kpiMemberFunctions,
  ...memberFunctions,
  ...rankFunctions,
  ...setFunctions,
  ...textFunctions,
  ...totalFunctions,
} satisfies Record<MdxFunction, RunFunction>
