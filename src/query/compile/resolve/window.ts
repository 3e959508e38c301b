/** Resolves the clauses and the frame of a window. */

import type { Node, WindowDef } from 'libpg-query'
import { childrenOf, type Expr, type FrameBound, type SortKey, type WindowFrame } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { coerce } from './coerce.ts'
import type { Env, Resolver } from './context.ts'

/** How many query levels out each column of an expression is. */
export function columnLevels(expr: Expr): number[] {
  return expr.kind === 'column' ? [expr.levelsUp] : childrenOf(expr).flatMap(columnLevels)
}

interface WindowSpec {
  readonly partition: readonly Node[]
  readonly order: readonly Node[]
  readonly frame: WindowDef | undefined
}

/** The clauses of a window, with those of the named window that it is based on. */
export function windowSpec(env: Env, def: WindowDef, depth = 0): WindowSpec {
  const named = def.refname ?? (isEmptyWindow(def) ? def.name : undefined)
  const own: WindowSpec = {
    partition: def.partitionClause ?? [],
    order: def.orderClause ?? [],
    frame: ((def.frameOptions ?? 0) & frameBits.nonDefault) !== 0 ? def : undefined,
  }
  if (named === undefined || depth > 20) return own
  const base = env.scope.windows.get(named)
  if (base === undefined) throw new SqlError('42704', `window "${named}" does not exist`, def.location)
  const inherited = windowSpec(env, { ...base, name: '' }, depth + 1)
  if (own.partition.length > 0 || (own.order.length > 0 && inherited.order.length > 0))
    throw new SqlError('42P20', `cannot override a clause of window "${named}"`, def.location)
  return {
    partition: inherited.partition,
    order: own.order.length > 0 ? own.order : inherited.order,
    frame: own.frame ?? inherited.frame,
  }
}

function isEmptyWindow(def: WindowDef): boolean {
  return def.name !== undefined && def.name !== '' && !def.partitionClause && !def.orderClause
}

/** FRAMEOPTION_* of PostgreSQL's parse nodes. */
const frameBits = {
  nonDefault: 0x1,
  range: 0x2,
  rows: 0x4,
  groups: 0x8,
  between: 0x10,
  startUnboundedPreceding: 0x20,
  endUnboundedFollowing: 0x100,
  startCurrentRow: 0x200,
  endCurrentRow: 0x400,
  startPreceding: 0x800,
  endPreceding: 0x1000,
  startFollowing: 0x2000,
  endFollowing: 0x4000,
} as const
const knownFrameBits = Object.values(frameBits).reduce((all, bit) => all | bit, 0)

/** Window functions of the whole partition, whatever the frame. */
export const ignoresFrames: ReadonlySet<string> = new Set([
  ...['row_number', 'rank', 'dense_rank', 'percent_rank', 'cume_dist', 'ntile', 'lag', 'lead'],
])

/** Whether a bound cannot fail when the statement runs. */
export const isSound = ({ offset }: FrameBound): boolean => offset === undefined || offset.kind === 'literal'

/** The frame of a window. @throws SqlError 0A000 for EXCLUDE; 22023 for an offset that is no count */
export function resolveFrame(
  resolver: Resolver,
  def: WindowDef,
  orderBy: readonly SortKey[],
  env: Env,
): WindowFrame {
  const options = def.frameOptions ?? 0
  const has = (bit: number) => (options & bit) !== 0
  if ((options & ~knownFrameBits) !== 0) throw notSupported('This frame, or EXCLUDE,', def.location)
  const mode = has(frameBits.rows) ? 'ROWS' : has(frameBits.groups) ? 'GROUPS' : 'RANGE'
  const offset = (node: Node | undefined) => {
    if (node === undefined) throw new SqlError('42P20', 'a frame offset is missing')
    const expr = resolver.expr(node, { ...env, noAggregates: 'window frames' })
    if (columnLevels(expr).length > 0) throw notSupported('A frame offset with columns', def.location)
    if (expr.kind === 'literal' && expr.value?.startsWith('-'))
      throw new SqlError('22023', 'a frame offset must not be negative', def.location)
    if (expr.kind === 'literal' && expr.value === null)
      throw new SqlError('22023', 'a frame offset must not be null', def.location)
    if (mode === 'RANGE') {
      const key = orderBy[0]?.expr.type
      const temporal = key === 'date' || key === 'timestamp' || key === 'timestamptz'
      return coerce(expr, temporal ? 'interval' : expr.type === 'unknown' ? 'int8' : expr.type)
    }
    return coerce(expr, 'int8')
  }
  const bound = (flags: readonly [number, FrameBound['bound']][], node: Node | undefined): FrameBound => {
    const found = flags.find(([bit]) => has(bit))?.[1]
    if (found === undefined) throw notSupported('This frame', def.location)
    return found === 'PRECEDING' || found === 'FOLLOWING'
      ? { bound: found, offset: offset(node) }
      : { bound: found }
  }
  return {
    mode,
    start: bound(
      [
        [frameBits.startUnboundedPreceding, 'UNBOUNDED PRECEDING'],
        [frameBits.startCurrentRow, 'CURRENT ROW'],
        [frameBits.startPreceding, 'PRECEDING'],
        [frameBits.startFollowing, 'FOLLOWING'],
      ],
      def.startOffset,
    ),
    end: bound(
      [
        [frameBits.endUnboundedFollowing, 'UNBOUNDED FOLLOWING'],
        [frameBits.endCurrentRow, 'CURRENT ROW'],
        [frameBits.endPreceding, 'PRECEDING'],
        [frameBits.endFollowing, 'FOLLOWING'],
      ],
      def.endOffset,
    ),
  }
}
