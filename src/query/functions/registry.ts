/** Lists every supported scalar function by name. */

import { collectionFunctions } from './collections.ts'
import { datetimeFunctions } from './datetime.ts'
import { byName, type FunctionDef } from './definition.ts'
import { mathFunctions } from './math.ts'
import { textFunctions } from './text.ts'

export const functions: ReadonlyMap<string, readonly FunctionDef[]> = byName([
  ...textFunctions,
  ...mathFunctions,
  ...datetimeFunctions,
  ...collectionFunctions,
])
