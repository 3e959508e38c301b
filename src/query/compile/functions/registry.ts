/** Lists every supported scalar function by name. */

import { byName, type FunctionDef } from '../base/function-definition.ts'
import { collectionFunctions } from './collections.ts'
import { datetimeFunctions } from './datetime.ts'
import { intervalFunctions } from './interval.ts'
import { jsonbSet } from './jsonb-set.ts'
import { mathFunctions } from './math.ts'
import { moreFunctions } from './more.ts'
import { regexFunctions } from './regex.ts'
import { textFunctions } from './text.ts'
import { truncateIn } from './zoned.ts'

export const functions: ReadonlyMap<string, readonly FunctionDef[]> = byName([
  ...textFunctions,
  ...mathFunctions,
  ...datetimeFunctions,
  ...collectionFunctions,
  ...jsonbSet,
  ...intervalFunctions,
  ...moreFunctions,
  ...regexFunctions,
  truncateIn,
])
