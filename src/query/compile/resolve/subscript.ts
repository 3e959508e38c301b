/** Resolves an element of an array, and a slice of one. Fields of nested values are resolved in nested.ts. */

import type { A_Indirection, Node } from 'libpg-query'
import type { Expr } from '../base/ir.ts'
import { notSupported } from '../base/sql-error.ts'
import { spokenType } from '../base/types.ts'
import { slice } from '../functions/more.ts'
import * as special from '../functions/special.ts'
import { literalOf } from './coerce.ts'
import type { Env, Resolver } from './context.ts'
import { callOverload } from './overload.ts'

/** `array[index]` or `array[from:to]`. */
export function resolveSubscript(resolver: Resolver, node: A_Indirection, env: Env): Expr {
  const [index, ...more] = node.indirection ?? []
  if (node.arg === undefined || index === undefined || more.length > 0 || !('A_Indices' in index))
    throw notSupported('A field of a composite value')
  const { is_slice, lidx, uidx } = index.A_Indices
  if (is_slice) return resolveSlice(resolver, node.arg, lidx, uidx, env)
  if (lidx !== undefined || uidx === undefined) throw notSupported('A field of a composite value')
  const args = [resolver.expr(node.arg, env), resolver.expr(uidx, env)]
  return callOverload(
    [special.subscript],
    args,
    () => `subscript of ${spokenType(args[0]?.type ?? 'unknown')}`,
  )
}

/** The part of an array between two places; without one of them, from its start or to its end. */
function resolveSlice(
  resolver: Resolver,
  array: Node,
  from: Node | undefined,
  to: Node | undefined,
  env: Env,
): Expr {
  const arg = resolver.expr(array, env)
  const bound = (node: Node | undefined, otherwise: string) =>
    node === undefined ? literalOf(otherwise, 'int4') : resolver.expr(node, env)
  const args = [arg, bound(from, '1'), bound(to, '2147483647')]
  return callOverload([slice], args, () => `slice of ${spokenType(arg.type)}`)
}
