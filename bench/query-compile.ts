/** Measures the time from statement text to protected SQL: three statements under no, five and fifty policies. */

import type { AttachedMask, GovernedTable } from '../src/core/governed-table.ts'
import { compileQuery } from '../src/query/compile/compile.ts'
import { renderSql } from '../src/query/compile/emit/render.ts'

const columnCount = 60
const principal = { sub: 'bench', roles: ['analyst'] }
const actions = ['mask-alphanum', 'show-last-4', 'sha-256-global', 'mask-to-fixed-value'] as const

/** Half of the policies filter rows, half mask columns. */
function tableWith(policies: number): GovernedTable {
  const masked = Math.floor(policies / 2)
  return {
    ref: { namespace: ['sales'], name: 'orders' },
    schemaName: 'sales',
    tableName: 'orders',
    relation: { duckdb: ['orders'], trino: ['iceberg', 'sales', 'orders'] },
    columns: Array.from({ length: columnCount }, (_, index) => {
      const mask: AttachedMask = {
        policyId: `m${index}`,
        origin: { kind: 'tag', tag: 'pii' },
        action: actions[index % actions.length] ?? 'mask-alphanum',
      }
      return {
        name: `c${index}`,
        fieldId: index + 1,
        type: 'string',
        required: false,
        masks: index < masked ? [mask] : [],
      }
    }),
    rowFilters: Array.from({ length: policies - masked }, (_, index) => ({
      policyId: `f${index}`,
      origin: { kind: 'table' as const },
      expression: `c${index} <> 'hidden-${index}' OR has_role('steward')`,
    })),
    contract: { id: 'contract', version: 1 },
  }
}

const typical = `SELECT o.c1 AS region, date_trunc('month', CAST(o.c2 AS timestamp)) AS m, count(*) AS n, sum(CASE WHEN o.c3 = 'paid' THEN CAST(o.c4 AS int) ELSE 0 END) AS paid FROM sales.orders o JOIN sales.orders p ON p.c5 = o.c5 WHERE o.c6 LIKE 'a%' AND o.c7 IN ('x', 'y', 'z') AND o.c8 IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY n DESC LIMIT 500`
const columns = Array.from(
  { length: columnCount },
  (_, index) =>
    `coalesce(nullif(trim(o.c${index}), ''), 'none') || '-' || upper(substr(o.c${index}, 1, 3)) AS x${index}`,
)
const statements = {
  short: 'SELECT c1, c2 FROM sales.orders WHERE c3 = $1 LIMIT 10',
  typical,
  '5KB': `SELECT ${columns.join(', ')} FROM sales.orders o WHERE o.c1 IN (SELECT c1 FROM sales.orders WHERE c2 > 'm') ORDER BY 1`,
}

export const queryCompile = {
  name: 'query-compile',
  about: 'statement text to protected SQL',
  options: {},
  run,
}

async function* run({ smoke }: { readonly smoke: boolean }) {
  const rounds = smoke ? 5 : 1_000
  const cases = Object.entries(statements).flatMap(([statement, text]) =>
    [0, 5, 50].map((policies) => ({
      statement,
      text,
      policies,
      tables: [tableWith(policies)],
      times: [] as number[],
    })),
  )
  // Cases take turns, so that other load on the machine affects all of them.
  for (let round = -rounds / 5; round < rounds; round++)
    for (const { text: statement, tables, times } of cases) {
      // Each text is different, because parsed statements are cached by their text.
      const text = `${statement} /* ${round} ${tables[0]?.rowFilters.length} */`
      const start = performance.now()
      renderSql(compileQuery({ text, principal, tables, searchPath: ['sales'] }).emit('duckdb'), 'duckdb')
      if (round >= 0) times.push(performance.now() - start)
    }
  for (const { statement, text, policies, times } of cases) {
    times.sort((a, b) => a - b)
    const at = (share: number) => Number((times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(3))
    yield {
      bench: 'query-compile',
      case: { statement, policies, bytes: text.length },
      figures: { p50_ms: at(0.5), p95_ms: at(0.95) },
    }
  }
}
