/** Compiles CALL of the procedures that are listed; there are no others (docs/reference/graph.md 2.3). */

import { limits } from '../limits.ts'
import type { EdgeLabel, VertexLabel } from '../store/database/names.ts'
import type { CallClause, Expression, MatchClause, NodePattern } from '../wire/cypher/ast.ts'
import { refuse } from '../wire/cypher/tokens.ts'
import { compileExpression } from './expression.ts'
import { compileMatch, edgesAt, type Making } from './match.ts'
import { ends, labels, sees, types } from './schema.ts'
import type { Binding } from './scope.ts'
import type { Rows } from './stages.ts'
import { isVisible, nodeValue } from './visible.ts'

/** Paths that `covenant.path` gives. */
const pathsMax = 10

/** What a procedure yields. */
const results = {
  'covenant.columns_tagged': ['table', 'column'],
  'covenant.neighbours': ['node', 'type', 'direction'],
  'covenant.path': ['path'],
} as const

/** Hops that a call takes of those that a query has. */
export function hopsOf(call: CallClause): number {
  if (call.procedure === 'covenant.path') return pathHops(call)
  return call.procedure === 'covenant.neighbours' ? 1 : 2
}

/** Adds the steps of a call. @throws Fault `bad_request` for wrong arguments or results */
export function compileCall(call: CallClause, rows: Rows, making: Making): Rows {
  const known: readonly string[] = results[call.procedure]
  for (const { name } of call.yields)
    if (!known.includes(name)) refuse(`${call.procedure} yields ${known.join(', ')}`)
  const as = new Set(call.yields.map((one) => one.as))
  if (as.size < call.yields.length || [...as].some((name) => rows.names.has(name)))
    refuse('two results have the same name: write AS')
  switch (call.procedure) {
    case 'covenant.columns_tagged':
      return yielded(call, rows, compileMatch(taggedColumns(call), rows, making))
    case 'covenant.neighbours':
      return neighbours(call, rows, making)
    case 'covenant.path':
      return shortestPaths(call, rows, making)
  }
}

/** The rows after a call, with the names that it was asked for. */
function yielded({ yields }: CallClause, before: Rows, { from, names }: Rows): Rows {
  const found = yields.flatMap(({ name, as }): [string, Binding][] => {
    const binding = names.get(inner(name))
    return binding === undefined ? [] : [[as, binding]]
  })
  return { from, names: new Map([...before.names, ...found]) }
}

/** A name that the text of a query cannot have taken. */
const inner = (name: string) => `yield ${name}`

function taggedColumns({ arguments: args }: CallClause): MatchClause {
  const [tag] = args
  if (tag === undefined || args.length !== 1) refuse('covenant.columns_tagged takes the name of a tag')
  const node = (label: VertexLabel, name?: string): NodePattern => ({
    label,
    properties: [],
    ...(name !== undefined && { name: inner(name) }),
  })
  const edge = (type: EdgeLabel) => ({ type, properties: [], direction: 'out' }) as const
  return {
    kind: 'match',
    optional: false,
    paths: [
      {
        nodes: [
          node('Table', 'table'),
          node('Column', 'column'),
          { ...node('Tag'), properties: [{ name: 'name', value: tag }] },
        ],
        edges: [edge('HAS_COLUMN'), edge('TAGGED')],
      },
    ],
  }
}

function variableOf(
  expression: Expression | undefined,
  { names }: Rows,
  what: string,
): Binding & { name: string } {
  const binding = expression?.kind === 'variable' ? names.get(expression.name) : undefined
  if (expression?.kind !== 'variable' || binding?.type !== 'node') refuse(what)
  return { ...binding, name: expression.name }
}

function neighbours(call: CallClause, rows: Rows, { stages, as }: Making): Rows {
  const what = 'covenant.neighbours takes a node that MATCH has found'
  const { label, column } = variableOf(call.arguments[0], rows, what)
  if (label === undefined || call.arguments.length !== 1) refuse(what)
  const found = Object.entries(ends).flatMap(([name, pairs]) => {
    const type = name as EdgeLabel
    if (!sees(as, types[type].audience)) return []
    const to = (other: VertexLabel, direction: 'out' | 'in') => {
      if (!sees(as, labels[other].audience)) return []
      return [
        `select n.id, ${nodeValue(other, as, 'n')}, '${type}'::text, '${direction}'::text
         from (${edgesAt(type, direction, false, `s.${column}i`)}) e join "${other}" n on n.id = e.other
         where ${isVisible(other, 'n')}`,
      ]
    }
    return pairs.flatMap(([from, end]) => [
      ...(from === label ? to(end, 'out') : []),
      ...(end === label ? to(from, 'in') : []),
    ])
  })
  if (found.length === 0) refuse('nothing is joined to nodes of this label')
  const [node, type, direction] = [stages.fresh('c'), stages.fresh('c'), stages.fresh('c')]
  const from = stages.add(
    `select s.*, f.id as ${node}i, f.value as ${node}, f.type as ${type}, f.direction as ${direction}
     from ${rows.from} s cross join lateral (${found.join(' union all ')}) f (id, value, type, direction)`,
  )
  const names = new Map<string, Binding>([
    [inner('node'), { type: 'node', column: node }],
    [inner('type'), { type: 'text', column: type }],
    [inner('direction'), { type: 'text', column: direction }],
  ])
  return yielded(call, rows, { from, names })
}

function pathHops({ arguments: args }: CallClause): number {
  const [, , hops] = args
  if (hops === undefined) return limits.graphHopsDefault
  const value = hops.kind === 'literal' ? hops.value : undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > limits.graphHopsMax)
    refuse(`covenant.path takes 1 to ${limits.graphHopsMax} hops`)
  return value
}

function shortestPaths(call: CallClause, rows: Rows, making: Making): Rows {
  const what = 'covenant.path takes two Datasets that MATCH has found, and a number of hops'
  const [from, to] = call.arguments
  const ends = [variableOf(from, rows, what), variableOf(to, rows, what)]
  if (call.arguments.length > 3 || ends.some(({ label }) => label !== 'Dataset')) refuse(what)
  const walked = compileMatch(
    {
      kind: 'match',
      optional: false,
      paths: [
        {
          name: inner('path'),
          nodes: ends.map(({ name }) => ({ name, properties: [] })),
          edges: [
            { type: 'LINEAGE_OF', properties: [], direction: 'out', hops: { min: 1, max: pathHops(call) } },
          ],
        },
      ],
    },
    rows,
    making,
  )
  const path = compileExpression(
    { kind: 'call', name: 'length', arguments: [{ kind: 'variable', name: inner('path') }] },
    { names: walked.names, statement: making.statement, as: making.as },
  )
  const shortest = `select s.* from ${walked.from} s order by ${path.sql} limit ${pathsMax}`
  return yielded(call, rows, { ...walked, from: making.stages.add(`select s.* from (${shortest}) s`) })
}
