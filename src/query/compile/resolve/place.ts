/** Places errors in the statement as PostgreSQL does, and keeps what columns are called there for messages. */

import type { Node } from 'libpg-query'
import type { Expr } from '../base/ir.ts'
import { SqlError } from '../base/sql-error.ts'
import { condition } from './coerce.ts'
import type { Env, Resolver } from './context.ts'

interface WrittenColumn {
  /** Qualified by its relation, as in `orders.region`. */
  readonly name: string
  readonly position: number | undefined
}

const written = new WeakMap<Expr, WrittenColumn>()

/** Keeps where a column is written. @returns the column, as an object of its own */
export function writtenColumn(expr: Expr, name: string, position: number | undefined): Expr {
  const copy = { ...expr }
  written.set(copy, { name, position })
  return copy
}

/** What a resolved column is called in the statement; undefined for one that the statement does not write. */
export function asWritten(expr: Expr): WrittenColumn | undefined {
  return written.get(expr)
}

/**
 * Resolves a node.
 * @throws SqlError with the place of the node, where the error has none
 */
export function placed(node: Node, resolve: () => Expr): Expr {
  try {
    return resolve()
  } catch (thrown) {
    const position = thrown instanceof SqlError && thrown.position === undefined && placeOf(node, thrown)
    throw typeof position === 'number' ? (thrown as SqlError).at(position) : thrown
  }
}

/** Resolves a condition. @param what the clause, for the message @throws SqlError 42804 where it is no boolean */
export function conditionAt(resolver: Resolver, node: Node, env: Env, what: string): Expr {
  return placed(node, () => condition(resolver.expr(node, env), what))
}

/** A value that cannot be read is at its literal, everything else at its operator, function or cast. */
function placeOf(node: Node, { sqlState }: SqlError): number | undefined {
  if (sqlState.startsWith('22')) {
    const literals = operandsOf(node).flatMap((each) =>
      each !== undefined && 'A_Const' in each && each.A_Const.sval ? each.A_Const : [],
    )
    if (literals.length === 1) return literals[0]?.location
  }
  const [fields] = Object.values(node) as readonly { readonly location?: number }[]
  return fields?.location
}

function operandsOf(node: Node): readonly (Node | undefined)[] {
  if ('TypeCast' in node) return [node.TypeCast.arg]
  if ('A_Expr' in node) return [node.A_Expr.lexpr, node.A_Expr.rexpr]
  return 'FuncCall' in node ? (node.FuncCall.args ?? []) : []
}
