/** Compiles statements over a written table and runs them on the embedded engine, as one reader. */

import type { IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import type { GovernedColumn, GovernedTable, RowFilter } from '../../../src/core/governed-table.ts'
import { fieldsIn } from '../../../src/core/iceberg-type.ts'
import type { MaskAction } from '../../../src/core/mask.ts'
import { compileQuery } from '../../../src/query/compile/compile.ts'
import { renderSql } from '../../../src/query/compile/emit/render.ts'
import { governed, rowsIn, runBy, snapshotOf, type TestEngine } from '../../support/engine.ts'

/** Masks by full name of a column or a field inside one: an action, or an expression. */
export type Masks = Readonly<Record<string, MaskAction | { readonly expression: string }>>

const principal = { sub: 'ann', roles: [] }

/** The table as a reader sees it under masks and filters. */
export function seenBy(
  writer: IcebergWriter,
  masks: Masks = {},
  filters: readonly string[] = [],
): GovernedTable {
  return underPolicies({ ...governed(writer.fields), contract: { id: 'c', version: 1 } }, masks, filters)
}

/** A table under masks and filters. */
export function underPolicies(
  table: GovernedTable,
  masks: Masks,
  filters: readonly string[] = [],
): GovernedTable {
  return {
    ...table,
    columns: table.columns.map((column) => masked(column, masks)),
    rowFilters: filters.map(
      (expression, index): RowFilter => ({ policyId: `f${index}`, origin: { kind: 'table' }, expression }),
    ),
  }
}

function masked(column: GovernedColumn, masks: Masks): GovernedColumn {
  const attached = (name: string) => {
    const mask = masks[name]
    if (mask === undefined) return []
    const action = typeof mask === 'string' ? { action: mask } : { action: 'apply-expression', ...mask }
    return [{ policyId: `m-${name}`, origin: { kind: 'column' } as const, ...action }]
  }
  const inside = namesIn(column.name, column.type).flatMap(([name, fieldId]) => {
    const found = attached(name)
    return found.length === 0 ? [] : [{ fieldId, masks: found }]
  })
  return { ...column, masks: attached(column.name), ...(inside.length > 0 && { nestedMasks: inside }) }
}

function namesIn(name: string, type: GovernedColumn['type']): readonly (readonly [string, number])[] {
  return fieldsIn(type).flatMap((field) => {
    const own = `${name}.${field.name}`
    return [[own, field.fieldId] as const, ...namesIn(own, field.type)]
  })
}

/** The names and rows of a result. @throws SqlError and EngineError */
export async function ask(
  { engine }: TestEngine,
  writer: IcebergWriter,
  table: GovernedTable,
  text: string,
): Promise<{
  readonly names: readonly string[]
  readonly types: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}> {
  const compiled = compileQuery({ text, principal, tables: [table], searchPath: ['s'] })
  const nested = compiled.nested.get(table)
  const run = { ...runBy() }
  const session = await engine.open([{ ...snapshotOf(writer), table, nested }], run)
  try {
    const sql = renderSql(
      compiled.emit('duckdb', new Set(session.hasDeletes(table) ? [table] : [])),
      'duckdb',
      {
        relation: session.relation,
        salt: new Uint8Array(16),
        parameters: [],
      },
    )
    const rows: unknown[][] = []
    for await (const batch of session.run({ sql, columns: compiled.columns })) rows.push(...rowsIn(batch))
    return {
      names: compiled.columns.map(({ name }) => name),
      types: compiled.columns.map(({ type }) => type),
      rows,
    }
  } finally {
    await session.close()
  }
}
