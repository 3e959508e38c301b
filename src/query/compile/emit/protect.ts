/**
 * Writes the rules of a transform plan as SQL, for writers that use INSERT … SELECT. The vectors of the transform hold it
 * to the libraries. A rule with a key is refused: SQL text lands in query logs and histories, and the key with it.
 */

import { quoteIdentifier, quoteInBackticks } from '../../../base/sql-text.ts'
import { type ColumnRule, problemOf } from '../../../transform/plan.ts'
import { redacted } from '../../../transform/protect-values.ts'
import { TransformRefused } from '../../../transform/refusal.ts'
import type { MaskDialect } from './dialect.ts'
import { duckdb } from './duckdb.ts'
import { emitMask } from './mask.ts'
import { spark } from './spark.ts'
import { trino } from './trino.ts'

interface WriterDialect {
  readonly masks: MaskDialect
  readonly quote: (name: string) => string
  /** Types that the engine does not write, or whose masks would lose nanoseconds. */
  readonly lacks: readonly string[]
}

const nanoseconds = ['timestamp_ns', 'timestamptz_ns']
const dialects = {
  duckdb: { masks: duckdb, quote: quoteIdentifier, lacks: nanoseconds },
  trino: { masks: trino, quote: quoteIdentifier, lacks: nanoseconds },
  spark: { masks: spark, quote: quoteInBackticks, lacks: [...nanoseconds, 'time'] },
} as const satisfies Record<string, WriterDialect>
export type WriterDialectName = keyof typeof dialects
export const writerDialects = Object.keys(dialects) as readonly WriterDialectName[]

/** One column of a SELECT, as the dialect writes it. */
export interface ProtectedColumn {
  readonly name: string
  /** The quoted name. */
  readonly quoted: string
  /** Over the column of that name. NULL in a required column stays NULL, so that the table refuses the write. */
  readonly sql: string
}

/**
 * The columns of a plan as SQL, all or none.
 *
 * @throws TransformRefused for a column that SQL cannot protect
 */
export function emitProtected(
  dialect: WriterDialectName,
  columns: readonly ColumnRule[],
): readonly ProtectedColumn[] {
  return columns.map((rule) => {
    const quoted = dialects[dialect].quote(rule.name)
    return { name: rule.name, quoted, sql: emitRule(dialect, rule, quoted) }
  })
}

function emitRule(name: WriterDialectName, rule: ColumnRule, column: string): string {
  const problem = problemOf(rule)
  if (problem !== undefined) throw new TransformRefused('malformed_plan', problem, rule.name)
  if (rule.action === 'keep') return column
  if (rule.action === 'tokenize' || rule.action === 'encrypt')
    throw new TransformRefused(
      'no_key',
      `${rule.action} by ${rule.method} needs a key, and a key in SQL would land in query logs; write with the library covenant-transform (Python) or covenant/transform (TypeScript)`,
      rule.name,
    )
  const dialect: WriterDialect = dialects[name]
  if (dialect.lacks.includes(rule.type))
    throw new TransformRefused('wrong_type', `SQL of ${name} does not protect ${rule.type}`, rule.name)
  const mask =
    rule.action === 'mask' ? rule.mask : redacted(rule) === null ? 'replace-with-null' : 'mask-to-fixed-value'
  if (mask === 'apply-expression' || mask === 'sha-256-query-local')
    throw new TransformRefused('malformed_plan', `${mask} is not for what is written`, rule.name)
  const masked = emitMask(dialect.masks, mask, column, rule.type, '')
  return rule.required && mask === 'mask-to-fixed-value'
    ? `CASE WHEN ${column} IS NULL THEN NULL ELSE ${masked} END`
    : masked
}
