/** The arguments of a function: expressions in their places, and flags such as BDESC. */

import type { MdxExpression } from '../../wire/mdx/ast.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import type { Context, Result } from './context.ts'

export interface Arguments {
  readonly name: string
  readonly expressions: readonly (MdxExpression | undefined)[]
  readonly flags: readonly string[]
}

export type RunFunction = (context: Context, given: Arguments) => Result

/** An argument that must be there. @throws Fault `bad_request` */
export function required({ name, expressions }: Arguments, index: number): MdxExpression {
  return expressions[index] ?? refuseMdx(`argument ${index + 1} of ${name} is missing`)
}

/** @throws Fault `bad_request` for more arguments, or another flag, than the function takes */
export function atMost(
  { name, expressions, flags }: Arguments,
  count: number,
  known: readonly string[] = [],
): void {
  if (expressions.length > count) refuseMdx(`${name} with ${expressions.length} arguments is not supported`)
  const other = flags.find((flag) => !known.includes(flag))
  if (other !== undefined) refuseMdx(`${other} in ${name} is not supported`)
}
