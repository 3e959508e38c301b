/**
 * Warns the author of a row filter or mask of an expression that can be applied and is hardly what was meant: one that
 * is the same for every row and everyone, one that differs at each reading, and one that fails whenever it is
 * read. Whether an expression can be applied at all is protect.ts's task.
 */

import { childrenOf, type Expr } from '../base/ir.ts'
import { volatileNames } from '../resolve/volatile.ts'

/** What an expression is attached as. */
export type PolicyUse = 'row filter' | 'mask'

/** Functions whose result differs between statements. */
const timed: ReadonlySet<string> = new Set([
  'now',
  'transaction_timestamp',
  'statement_timestamp',
  'clock_timestamp',
  'current_date',
  'current_timestamp',
  'localtimestamp',
])
const divisions: ReadonlySet<string> = new Set(['/', '%', 'div', 'mod'])

/**
 * The warnings about a resolved expression, in plain sentences.
 * @param asksPrincipal whether it asks who reads; such a call is resolved to a literal
 */
export function policyWarnings(
  expr: Expr,
  { use, asksPrincipal }: { readonly use: PolicyUse; readonly asksPrincipal: boolean },
): readonly string[] {
  const all = [...everyNode(expr)]
  const calls = all.flatMap((each) => (each.kind === 'call' ? [each.def.name] : []))
  const changing = [...new Set(calls.filter((name) => volatileNames.has(name)))]
  const warnings: string[] = []
  if (changing.length > 0)
    warnings.push(
      `The ${use} calls ${changing.join(' and ')}, so each reading gives other ${use === 'mask' ? 'values' : 'rows'}.`,
    )
  if (failsAlways(expr)) warnings.push(`The ${use} divides by zero: whatever it concerns cannot be read.`)
  // A mask may well be the same for all.
  if (use === 'mask' || warnings.length > 0) return warnings
  if (isNullLiteral(expr)) return ['The row filter is NULL: those whom it concerns read no row.']
  const isSame =
    !asksPrincipal && all.every(({ kind }) => kind !== 'column') && !calls.some((name) => timed.has(name))
  // TRUE and FALSE are written on purpose.
  return isSame && expr.kind !== 'literal'
    ? [
        'The row filter reads no column and does not ask who reads: it is the same for every row and everyone.',
      ]
    : []
}

function* everyNode(expr: Expr): Generator<Expr> {
  yield expr
  for (const child of childrenOf(expr)) yield* everyNode(child)
}

/** Whether a part that is always computed divides by a literal zero. Branches of CASE and the like may not be. */
function failsAlways(expr: Expr): boolean {
  if (expr.kind === 'case') {
    const [first] = expr.whens
    return first !== undefined && failsAlways(first.when)
  }
  if (expr.kind === 'logic' && expr.op !== 'NOT') return expr.args.slice(0, 1).some(failsAlways)
  if (expr.kind === 'call' && divisions.has(expr.def.name)) {
    const [dividend, divisor] = expr.args
    if (divisor !== undefined && isZero(divisor) && !(dividend && isNullLiteral(dividend))) return true
  }
  if (expr.kind === 'call' && expr.def.name === 'coalesce') return expr.args.slice(0, 1).some(failsAlways)
  return childrenOf(expr).some(failsAlways)
}

function isZero(expr: Expr): boolean {
  if (expr.kind === 'cast') return isZero(expr.arg)
  return expr.kind === 'literal' && expr.value !== null && /^-?0*\.?0+$/.test(expr.value)
}

function isNullLiteral(expr: Expr): boolean {
  if (expr.kind === 'cast') return isNullLiteral(expr.arg)
  return expr.kind === 'literal' && expr.value === null
}
