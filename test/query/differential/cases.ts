/** The governance of a fixture's table, case by case. In each case only the rows of region 'eu' are visible. */

import type { MaskAction } from '../../../src/core/mask.ts'
import { columns, isList } from './columns.ts'
import type { FileName } from './file-names.ts'

export interface CaseMask {
  readonly action: MaskAction
  readonly expression?: string
}

export interface GovernanceCase {
  readonly name: string
  /** Each hides the rows of other regions than 'eu'. */
  readonly filter?: string
  readonly masks?: Readonly<Record<string, CaseMask>>
  readonly deletes?: 'position' | 'vector'
  readonly files: readonly FileName[]
}

/** The small ones more often than those whose chunks are of visible rows alone. */
const every: readonly FileName[] = [
  'mixed-dictionary',
  'mixed-dictionary',
  'mixed-plain',
  'mixed-plain',
  'sorted-dictionary',
  'sorted-groups',
  'runs-dictionary',
  'spark',
  'spark',
]
const pushed = "region = 'eu'"
const notPushed = "region LIKE 'e_' OR tier > 90"

/** The raw value of every column where a condition holds. */
const shownWhere = (condition: string, otherwise = 'NULL', from = 2) =>
  Object.fromEntries(
    columns.slice(from).map(({ name }): [string, CaseMask] => [
      name,
      {
        action: 'apply-expression',
        expression: `CASE WHEN ${condition} THEN ${name} ELSE ${otherwise} END`,
      },
    ]),
  )

const textMasks: Readonly<Record<string, CaseMask>> = {
  name: { action: 'mask-alphanum' },
  digits: { action: 'show-first-4' },
  code: { action: 'show-last-4' },
  pattern: { action: 'sha-256-global' },
  doc: { action: 'replace-with-null' },
  day_text: { action: 'mask-to-fixed-value' },
}
const otherMasks: Readonly<Record<string, CaseMask>> = {
  name: { action: 'show-last-4' },
  code: { action: 'show-first-4' },
  day: { action: 'truncate-to-year' },
  ts: { action: 'truncate-to-month' },
  tz: { action: 'truncate-to-year' },
  ts_ns: { action: 'truncate-to-month' },
  tz_ns: { action: 'truncate-to-year' },
  n4: { action: 'sha-256-global' },
  n8: { action: 'mask-to-fixed-value' },
  f8: { action: 'mask-to-fixed-value' },
  amount: { action: 'mask-to-fixed-value' },
  uid: { action: 'mask-to-fixed-value' },
  bytes: { action: 'sha-256-global' },
  clock: { action: 'mask-to-fixed-value' },
  flag: { action: 'mask-to-fixed-value' },
  ints: { action: 'replace-with-null' },
  tags: { action: 'apply-expression', expression: 'CASE WHEN tier > 2 THEN tags END' },
}

/** Expressions of the column's type that fail on hidden values, written alike in both dialects. */
const failing: Readonly<Record<string, string>> = {
  digits: 'CAST(CAST(digits AS integer) + 1 AS text)',
  day_text: 'CAST(CAST(day_text AS date) AS text)',
  n4: '100 % n4',
  f8: 'sqrt(f8)',
  ts: "ts + interval '1 month'",
}

export const cases: readonly GovernanceCase[] = [
  { name: 'a filter that is pushed down', filter: pushed, files: every },
  { name: 'a filter that is not pushed down', filter: notPushed, files: every },
  { name: 'a filter and masks of text', filter: pushed, masks: textMasks, files: every },
  { name: 'a filter and masks of other types', filter: notPushed, masks: otherMasks, files: every },
  {
    name: 'a filter and masks under a condition',
    filter: pushed,
    masks: shownWhere('tier < 4', 'NULL', 3),
    files: every,
  },
  { name: 'masks under a condition', masks: shownWhere(pushed), files: every },
  {
    name: 'masks under a condition of two columns',
    masks: shownWhere("region LIKE 'e_' OR id < 0"),
    files: every,
  },
  {
    name: 'masks that show ends of text',
    masks: {
      ...shownWhere(pushed),
      code: { action: 'show-last-4' },
      name: { action: 'show-last-4' },
      pattern: { action: 'show-first-4' },
      digits: { action: 'mask-alphanum' },
    },
    files: every,
  },
  {
    name: 'policies that fail on hidden values',
    filter: `CASE WHEN ${pushed} THEN coalesce('X' NOT LIKE replace(name, 'SECRET', '\\'), true) END`,
    masks: Object.fromEntries(
      Object.entries(failing).map(([column, value]): [string, CaseMask] => [
        column,
        { action: 'apply-expression', expression: `CASE WHEN ${pushed} THEN ${value} END` },
      ]),
    ),
    files: every,
  },
  { name: 'deletes by position', deletes: 'position', files: every },
  { name: 'deletes by vector', deletes: 'vector', files: every },
]

/** The case as contracts can have it: no expression can be saved for a column of lists. */
export function savable(governance: GovernanceCase): GovernanceCase {
  const { masks } = governance
  if (masks === undefined) return governance
  const isSaved = ([name, { action }]: [string, CaseMask]) =>
    action !== 'apply-expression' || columns.some((column) => column.name === name && !isList(column.type))
  return { ...governance, masks: Object.fromEntries(Object.entries(masks).filter(isSaved)) }
}
