/** Resolves the functions that only expanded metrics call. No text of a client has their names. */

import type { FuncCall } from 'libpg-query'
import type { Expr } from '../base/ir.ts'
import { SqlError } from '../base/sql-error.ts'
import { isInteger } from '../base/types.ts'
import { periodOfDate } from '../functions/period.ts'
import { functions } from '../functions/registry.ts'
import { ownFits, ownPeriod } from '../metrics/own-names.ts'
import { applyOperator, logic } from './apply-operator.ts'
import { castTo, literalOf } from './coerce.ts'
import type { Env, Resolver } from './context.ts'
import { digitsMax } from './decimal.ts'
import { callOverload } from './overload.ts'

/** @returns undefined for the name of another function */
export function resolveOwnCall(resolver: Resolver, name: string, node: FuncCall, env: Env): Expr | undefined {
  if (name === ownPeriod) return resolvePeriod(resolver, node, env)
  return name === ownFits ? resolveFits(resolver, node, env) : undefined
}

/** A moment's period as a date. Only dates have a form that cannot fail. */
function resolvePeriod(resolver: Resolver, node: FuncCall, env: Env): Expr {
  const [grain, value] = (node.args ?? []).map((arg) => resolver.expr(arg, env))
  if (grain === undefined || value === undefined) throw new SqlError('42883', 'a period needs two arguments')
  const spoken = () => 'function period'
  if (value.type === 'date') return callOverload([periodOfDate], [grain, value], spoken)
  const moment = castTo(value, 'timestamp')
  return castTo(callOverload(functions.get('date_trunc'), [grain, moment], spoken), 'date')
}

/**
 * Below which numbers can be added up, and squared as doubles, on every engine. A digit is left, because doubles are not
 * exact. @returns undefined for what is no number, and for a numeric of which only the engine knows the digits
 */
function safeSum({ type, size }: Expr): string | undefined {
  if (type === 'numeric') return size && `1e${digitsMax - 1 - size[1]}`
  if (type === 'float4') return '1e37'
  return type === 'float8' ? '1e150' : undefined
}

/** Whether numbers of a column can be aggregated without an error, by the least, the greatest and their count. */
function resolveFits(resolver: Resolver, node: FuncCall, env: Env): Expr {
  const [value, least, most, count] = (node.args ?? []).map((arg) => resolver.expr(arg, env))
  if (value === undefined || least === undefined || most === undefined || count === undefined)
    throw new SqlError('42883', 'a test of a sum needs four arguments')
  const bound = safeSum(value)
  // Whole numbers are added up in a wider type.
  if (bound === undefined) return literalOf(String(isInteger(value.type)), 'bool')
  const total = (of: Expr) => applyOperator('*', [of, castTo(count, 'float8')])
  return logic('AND', [
    applyOperator('>', [total(least), literalOf(`-${bound}`, 'float8')]),
    applyOperator('<', [total(most), literalOf(bound, 'float8')]),
  ])
}
