/** Writes the text of a boolean's type. */

import type { Expr } from '../base/ir.ts'
import { not } from './apply-operator.ts'
import { literalOf } from './coerce.ts'

/** A boolean as `t` or `f`, its type's own text; a cast to text gives `true` or `false`. */
export function shortBoolean(arg: Expr): Expr {
  const whens = [
    { when: arg, result: literalOf('t', 'text') },
    { when: not(arg), result: literalOf('f', 'text') },
  ]
  return { kind: 'case', type: 'text', whens }
}
