/** Lists every supported scalar function by name. */

import { byName, type FunctionDef } from '../base/function-definition.ts'
import { collectionFunctions } from './collections.ts'
import { datetimeFunctions } from './datetime.ts'
import { mathFunctions } from './math.ts'
import { textFunctions } from './text.ts'

export const functions: ReadonlyMap<string, readonly FunctionDef[]> = byName([
  ...textFunctions,
  ...mathFunctions,
  ...datetimeFunctions,
  ...collectionFunctions,
])
