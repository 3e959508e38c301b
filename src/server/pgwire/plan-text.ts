/** Writes a plan as EXPLAIN shows it: in PostgreSQL's text, or as its JSON. */

import type { PlanNode } from '../../query/explain/explain-plan.ts'

export interface PlanOptions {
  readonly costs: boolean
  readonly verbose: boolean
}

/** What planning a scan elsewhere costs before its first row, and for each row, as postgres_fdw assumes it. */
const startCost = 100
const rowCost = 0.01

const totalCost = ({ rows }: PlanNode) => startCost + rows * rowCost

/** The plan in lines. The costs end the first line, where clients look for them. */
export function planLines(node: PlanNode, { costs, verbose }: PlanOptions): readonly string[] {
  const { type, rows, width, output, facts } = node
  const spent = `cost=${startCost.toFixed(2)}..${totalCost(node).toFixed(2)} rows=${rows} width=${width}`
  return [
    costs ? `${type}  (${spent})` : type,
    ...(verbose ? [`  Output: ${output.join(', ')}`] : []),
    ...Object.entries(facts).flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).map((each) => `  ${name}: ${each}`),
    ),
  ]
}

/** The plan as PostgreSQL's JSON. */
export function planJson(node: PlanNode, { costs, verbose }: PlanOptions): string {
  const { type, rows, width, output, facts, nulled } = node
  const base = (kind: string) => ({ 'Node Type': kind, 'Parallel Aware': false, 'Async Capable': false })
  const spent = {
    'Startup Cost': startCost,
    'Total Cost': totalCost(node),
    'Plan Rows': rows,
    'Plan Width': width,
  }
  const shown = (names: readonly string[]) => (verbose ? { Output: names } : {})
  // An outer join is shown by its two sides, by which clients see which columns it fills with NULL.
  const sides = nulled && {
    'Join Type': 'Left',
    Plans: [
      {
        ...base(type),
        'Parent Relationship': 'Outer',
        ...shown(output.filter((name) => !nulled.includes(name))),
      },
      { ...base(type), 'Parent Relationship': 'Inner', ...shown(nulled) },
    ],
  }
  const plan = { ...base(type), ...(costs && spent), ...shown(output), ...facts, ...sides }
  return JSON.stringify([{ Plan: plan }], undefined, 2)
}
