/**
 * Compiles a graph query to one SELECT over the label tables. The text gives names of labels, types and properties by
 * closed lists, and values as parameters; it gives no piece of the statement.
 */

import { limits } from '../limits.ts'
import type { Clause, GraphQuery, UnwindClause } from '../wire/cypher/ast.ts'
import { refuse } from '../wire/cypher/tokens.ts'
import { sqlType } from './expression.ts'
import { compileMatch, type Making } from './match.ts'
import { compileCall, hopsOf } from './procedures.ts'
import { compileProject, type Projected } from './project.ts'
import type { Audience } from './schema.ts'
import { StatementValues, scalarOf, type Type } from './scope.ts'
import { type Rows, rowBounds, Stages } from './stages.ts'
import { sentinelSeen, visibleTables } from './visible.ts'

interface CompiledGraphQuery {
  readonly text: string
  readonly values: readonly (string | number | boolean)[]
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

interface CompileOptions {
  readonly parameters: Readonly<Record<string, unknown>>
  readonly as: Audience
  /** Rows of the answer; one more is asked for, which shows that there are more. */
  readonly limit: number
}

/**
 * Compiles a parsed query. The statement gives one row: `seen`, whether the tenant's sentinel was; `exceeded`, whether
 * a bound of rows was; `wide`, whether the answer has too many bytes; and `rows`, a JSON array of arrays, or null.
 * @throws Fault `bad_request` for what is not there, not for this reader, or beyond the bounds
 */
export function compileGraphQuery(query: GraphQuery, options: CompileOptions): CompiledGraphQuery {
  checkSize(query.clauses)
  const statement = new StatementValues(options.parameters)
  const stages = new Stages()
  const making: Making = { stages, statement, as: options.as }
  let rows: Rows = { from: undefined, names: new Map() }
  let result: Projected | undefined
  for (const clause of query.clauses) {
    result = undefined
    switch (clause.kind) {
      case 'match':
        rows = compileMatch(clause, rows, making)
        break
      case 'unwind':
        rows = compileUnwind(clause, rows, making)
        break
      case 'call':
        rows = compileCall(clause, rows, making)
        break
      default:
        result = compileProject(clause, rows, making)
        rows = result
    }
  }
  if (result === undefined) refuse('a query ends with RETURN')
  return finish(result, stages, statement, options.limit)
}

/** @throws Fault `bad_request` beyond the bounds of nodes and hops, which are sums over the whole query */
function checkSize(clauses: readonly Clause[]): void {
  const names = new Set<string>()
  let unnamed = 0
  let hops = 0
  for (const clause of clauses) {
    if (clause.kind === 'call') hops += hopsOf(clause)
    if (clause.kind !== 'match') continue
    for (const { name } of clause.paths.flatMap(({ nodes }) => nodes))
      if (name === undefined) unnamed++
      else names.add(name)
    for (const edge of clause.paths.flatMap(({ edges }) => edges)) hops += edge.hops?.max ?? 1
  }
  const { graphHopsMax } = limits
  if (hops > graphHopsMax) refuse(`a query has at most ${graphHopsMax} hops in sum`)
  if (names.size + unnamed > rowBounds.nodesMax) refuse(`a query has at most ${rowBounds.nodesMax} nodes`)
}

function compileUnwind({ parameter, as }: UnwindClause, rows: Rows, { stages, statement }: Making): Rows {
  const given = statement.given(parameter)
  if (given !== null && typeof given !== 'object') refuse('UNWIND takes a list')
  if (rows.names.has(as)) refuse('a name stands for one thing')
  const values = given ?? []
  const [first] = values
  const type = first === undefined ? 'text' : scalarOf(first)
  const column = stages.fresh('c')
  const source = rows.from === undefined ? '' : `${rows.from} s cross join `
  const from = stages.add(
    `select ${rows.from === undefined ? '' : 's.*, '}u.value::${sqlType(type)} as ${column}
     from ${source}jsonb_array_elements_text(${statement.addList(values)}) u (value)`,
  )
  return { from, names: new Map([...rows.names, [as, { type, column }]]) }
}

function finish(
  { from, place, items }: Projected,
  stages: Stages,
  statement: StatementValues,
  limit: number,
): CompiledGraphQuery {
  const values = items.map(({ binding }) => `s.${binding.column}`).join(', ')
  const text = `with recursive ${visibleTables},
  ${stages.steps.join(',\n  ')},
  result (item, place) as materialized (
    select jsonb_build_array(${values}), s.${place} from ${from} s order by s.${place} limit ${limit + 1}),
  bounds (seen, exceeded, wide) as materialized (
    select ${sentinelSeen}, ${stages.exceeded.join('\n      or ')},
      (select coalesce(sum(octet_length(item::text)), 0) from result) > ${rowBounds.bytesMax})
  select seen, exceeded, wide, case when seen and not exceeded and not wide then
    (select coalesce(jsonb_agg(item order by place), '[]'::jsonb)::text from result) end as rows
  from bounds`
  const columns = items.map(({ name, binding }) => ({ name, type: typeName(binding.type) }))
  return { text, values: statement.values, columns }
}

function typeName(type: Type): string {
  return typeof type === 'string' ? type : `list of ${type.list}`
}
