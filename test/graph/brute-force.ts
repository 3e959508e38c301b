/**
 * Evaluates a parsed graph query by trying everything, over a graph in memory. It shares the syntax tree and the list of
 * properties with the service, and neither the rules of visibility nor any step of the compiler.
 */

import { type Audience, type Declared, labels, sees, types } from '../../src/graph/schema.ts'
import type {
  Clause,
  EdgePattern,
  Expression,
  GraphQuery,
  MatchClause,
  NodePattern,
  PathPattern,
  ProjectClause,
} from '../../src/wire/cypher/ast.ts'
import type { StoredEdge, StoredGraph, StoredNode } from './random-graph.ts'

interface Path {
  readonly nodes: readonly StoredNode[]
  readonly edges: readonly StoredEdge[]
}

export type Value = null | string | number | boolean | StoredNode | StoredEdge | Path | readonly Value[]
type Bindings = ReadonlyMap<string, Value>

export interface World {
  readonly graph: StoredGraph
  readonly as: Audience
  readonly parameters: Readonly<Record<string, Value>>
}

/** What somebody sees of a graph, by the words of docs/reference/graph.md 2.2. */
export function visiblePart({ nodes, edges }: StoredGraph, as: Audience): StoredGraph {
  const seen = new Set<StoredNode>()
  const typed = (type: StoredEdge['type']) => edges.filter((edge) => edge.type === type)
  for (const { from, to } of typed('GOVERNS')) if (from.properties.state === 'active') seen.add(to)
  const tables = new Set(seen)
  const isTable = (id: unknown) => [...tables].some((table) => table.id === id)
  for (const { from, to } of typed('GOVERNS')) if (tables.has(to)) seen.add(from)
  for (const { from, to } of typed('HAS_COLUMN')) if (tables.has(from)) seen.add(to)
  for (const node of nodes) {
    if (node.label === 'Snapshot' && isTable(node.properties.table_id)) seen.add(node)
    const stored = node.properties.table_id
    if (node.label === 'Dataset' && (stored === undefined || isTable(stored))) seen.add(node)
  }
  for (const { from, to } of typed('PRODUCED_BY')) if (seen.has(from)) seen.add(to)
  for (let size = -1; size < seen.size; ) {
    size = seen.size
    for (const { from, to } of typed('IN_NAMESPACE')) if (seen.has(from)) seen.add(to)
  }
  for (const { from, to } of typed('TAGGED')) if (seen.has(from)) seen.add(to)
  for (const type of ['CLASSIFIED_AS'] as const)
    for (const { from, to } of typed(type)) if (seen.has(from)) seen.add(to)
  for (const type of ['SCHEMA_GOVERNS', 'FILTERS', 'MASKS', 'INTENDED_WRITE'] as const)
    for (const { from, to } of typed(type)) if (seen.has(to)) seen.add(from)
  const shown = new Set([...seen].filter(({ label }) => sees(as, labels[label].audience)))
  return {
    nodes: nodes.filter((node) => shown.has(node)),
    edges: edges.filter(
      ({ type, from, to }) => sees(as, types[type].audience) && shown.has(from) && shown.has(to),
    ),
  }
}

/** The rows of a query, in an order that fits its ORDER BY. */
export function evaluate({ clauses }: GraphQuery, world: World): readonly (readonly Value[])[] {
  const visible = { ...world, graph: visiblePart(world.graph, world.as) }
  let rows: readonly Bindings[] = [new Map()]
  for (const clause of clauses) rows = step(clause, rows, visible)
  const last = clauses.at(-1) as ProjectClause
  return rows.map((row) => last.items.map(({ as }) => row.get(as) ?? null))
}

function step(clause: Clause, rows: readonly Bindings[], world: World): readonly Bindings[] {
  switch (clause.kind) {
    case 'match':
      return rows.flatMap((row) => match(clause, row, world))
    case 'unwind': {
      const list = (world.parameters[clause.parameter] ?? []) as readonly Value[]
      return rows.flatMap((row) => list.map((value) => new Map([...row, [clause.as, value]])))
    }
    case 'call':
      throw new Error('procedures have tests of their own')
    default:
      return project(clause, rows, world)
  }
}

function match(clause: MatchClause, row: Bindings, world: World): readonly Bindings[] {
  let found: readonly Found[] = [{ row, used: [] }]
  for (const path of clause.paths) found = found.flatMap((one) => matchPath(path, one, world))
  const { where } = clause
  const kept = found
    .map((one) => one.row)
    .filter((one) => where === undefined || resultOf(where, one, world) === true)
  if (kept.length > 0 || !clause.optional) return kept
  const names = clause.paths.flatMap(({ name, nodes, edges }) => [
    name,
    ...nodes.map((node) => node.name),
    ...edges.map((edge) => edge.name),
  ])
  const missing = names.filter((name) => name !== undefined).filter((name) => !row.has(name))
  return [new Map([...row, ...missing.map((name): [string, Value] => [name, null])])]
}

interface Found {
  readonly row: Bindings
  readonly used: readonly StoredEdge[]
}

function matchPath({ name, nodes, edges }: PathPattern, start: Found, world: World): readonly Found[] {
  interface Partial extends Found {
    readonly path: Path
  }
  const enter = (
    pattern: NodePattern,
    node: StoredNode,
    found: Partial,
    via: readonly StoredEdge[],
  ): Partial[] => {
    if (pattern.label !== undefined && node.label !== pattern.label) return []
    const bound = pattern.name === undefined ? undefined : found.row.get(pattern.name)
    if (bound !== undefined && bound !== node) return []
    const row =
      pattern.name === undefined ? found.row : new Map([...found.row, [pattern.name, node as Value]])
    const fits = pattern.properties.every(
      ({ name: property, value }) =>
        equal(shownProperty(node, property, world.as), resultOf(value, row, world)) === true,
    )
    return fits
      ? [
          {
            row,
            used: [...found.used, ...via],
            path: { nodes: [...found.path.nodes, node], edges: [...found.path.edges, ...via] },
          },
        ]
      : []
  }
  let partial: Partial[] = world.graph.nodes.flatMap((node) =>
    enter(nodes[0] as NodePattern, node, { ...start, path: { nodes: [], edges: [] } }, []),
  )
  for (const [index, edge] of edges.entries())
    partial = partial.flatMap((found) =>
      walks(edge, found, found.path.nodes.at(-1) as StoredNode, world).flatMap(({ via, passed }) => {
        const end = passed.at(-1) as StoredNode
        const inside = passed.slice(0, -1)
        const before = { ...found, path: { ...found.path, nodes: [...found.path.nodes, ...inside] } }
        return enter(nodes[index + 1] as NodePattern, end, before, via).map((one) => ({
          ...one,
          row:
            edge.name === undefined
              ? one.row
              : new Map([...one.row, [edge.name, edge.hops ? via : (via[0] as Value)]]),
        }))
      }),
    )
  return partial.map(({ row, used, path }) => ({
    used,
    row: name === undefined ? row : new Map([...row, [name, path as Value]]),
  }))
}

function walks(
  { type, direction, hops = { min: 1, max: 1 }, properties }: EdgePattern,
  { used, row }: Found,
  from: StoredNode,
  world: World,
): readonly { readonly via: readonly StoredEdge[]; readonly passed: readonly StoredNode[] }[] {
  let now: { via: readonly StoredEdge[]; passed: readonly StoredNode[]; at: StoredNode }[] = [
    { via: [], passed: [], at: from },
  ]
  const found: typeof now = []
  for (let hop = 1; hop <= hops.max; hop++) {
    now = now.flatMap(({ via, passed, at }) =>
      world.graph.edges.flatMap((edge) => {
        if (edge.type !== type || used.includes(edge) || via.includes(edge)) return []
        const fits = properties.every(
          ({ name, value }) =>
            equal(shownProperty(edge, name, world.as), resultOf(value, row, world)) === true,
        )
        if (!fits) return []
        const out = direction !== 'in' && edge.from === at
        const into = direction !== 'out' && edge.to === at
        const other = out ? edge.to : into ? edge.from : undefined
        return other === undefined ? [] : [{ via: [...via, edge], passed: [...passed, other], at: other }]
      }),
    )
    if (hop >= hops.min) found.push(...now)
  }
  return found
}

const isEntity = (value: Value): value is StoredNode | StoredEdge =>
  typeof value === 'object' && value !== null && 'properties' in value

const declaredOf = (entity: StoredNode | StoredEdge): Declared =>
  'label' in entity ? labels[entity.label] : types[entity.type]

/** A property as somebody sees it; null where it is absent or of another type than is declared. */
export function shownProperty(entity: StoredNode | StoredEdge, name: string, as: Audience): Value {
  const declared = declaredOf(entity).properties[name]
  if (declared === undefined || !sees(as, declared.audience)) throw new Error(`no property ${name}`)
  // The store's own id is a property as well.
  const value = name === 'id' ? entity.id : entity.properties[name]
  if (declared.levels) return (value as readonly string[]).join('.')
  if (declared.type === 'boolean') return typeof value === 'boolean' ? value : null
  if (declared.type === 'number') return /^-?\d+(\.\d+)?$/.test(String(value)) ? Number(value) : null
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null
}

function resultOf(expression: Expression, row: Bindings, world: World): Value {
  const of = (one: Expression) => resultOf(one, row, world)
  switch (expression.kind) {
    case 'null':
      return null
    case 'literal':
      return expression.value
    case 'parameter':
      return world.parameters[expression.name] ?? null
    case 'variable':
      return row.get(expression.name) ?? null
    case 'property': {
      const entity = row.get(expression.of) ?? null
      return isEntity(entity) ? shownProperty(entity, expression.name, world.as) : null
    }
    case 'list':
      return expression.items.map(of)
    case 'not': {
      const value = of(expression.operand)
      return value === null ? null : !value
    }
    case 'isNull':
      return (of(expression.operand) === null) !== expression.negated
    case 'binary':
      return binary(expression.operator, of(expression.left), of(expression.right))
    case 'call':
      return callOf(expression.name, expression.arguments.map(of))
    case 'aggregate':
      throw new Error('an aggregate of one row')
  }
}

function equal(a: Value, b: Value): boolean | null {
  return a === null || b === null ? null : a === b
}

function binary(operator: string, a: Value, b: Value): Value {
  switch (operator) {
    case 'AND':
      return a === false || b === false ? false : a === null || b === null ? null : true
    case 'OR':
      return a === true || b === true ? true : a === null || b === null ? null : false
    case 'XOR':
      return a === null || b === null ? null : a !== b
    case 'IN': {
      if (b === null) return null
      const list = b as readonly Value[]
      return list.length === 0 ? false : a === null ? null : list.includes(a)
    }
  }
  if (a === null || b === null) return null
  switch (operator) {
    case '=':
      return a === b
    case '<>':
      return a !== b
    case 'STARTS WITH':
      return String(a).startsWith(String(b))
    case 'ENDS WITH':
      return String(a).endsWith(String(b))
    case 'CONTAINS':
      return String(a).includes(String(b))
    case '<':
      return order(a, b) < 0
    case '<=':
      return order(a, b) <= 0
    case '>':
      return order(a, b) > 0
    default:
      return order(a, b) >= 0
  }
}

/** Null is last; texts go by code point. */
function order(a: Value, b: Value): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  if (typeof a !== 'string' || typeof b !== 'string') return Number(a) - Number(b)
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function callOf(name: string, args: readonly Value[]): Value {
  const [value = null] = args
  if (name === 'coalesce') return args.find((one) => one !== null) ?? null
  if (value === null) return null
  switch (name) {
    case 'tolower':
      return String(value).toLowerCase()
    case 'toupper':
      return String(value).toUpperCase()
    case 'labels':
      return [(value as StoredNode).label]
    case 'type':
      return (value as StoredEdge).type
    case 'length':
      return (value as Path).edges.length
    case 'nodes':
      return (value as Path).nodes
    case 'relationships':
      return (value as Path).edges
    default:
      return typeof value === 'string' ? [...value].length : (value as readonly Value[]).length
  }
}

const identities = new WeakMap<object, number>()
let identity = 0

/** Equal for equal values: nodes and edges are themselves, whatever they show. */
function keyOf(value: Value): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(keyOf).join(',')}]`
  if ('nodes' in value) return `path ${keyOf(value.nodes)} ${keyOf(value.edges)}`
  const known = identities.get(value) ?? ++identity
  identities.set(value, known)
  return `#${known}`
}

function project(clause: ProjectClause, rows: readonly Bindings[], world: World): readonly Bindings[] {
  const aggregates = clause.items.filter(({ expression }) => expression.kind === 'aggregate')
  const plain = clause.items.filter(({ expression }) => expression.kind !== 'aggregate')
  let made: { readonly row: Bindings; readonly before: Bindings }[] = rows.map((before) => ({
    before,
    row: new Map(plain.map(({ expression, as }) => [as, resultOf(expression, before, world)])),
  }))
  if (aggregates.length > 0) {
    const groups = Map.groupBy(made, ({ row }) => keyOf(plain.map(({ as }) => row.get(as) ?? null)))
    if (plain.length === 0 && groups.size === 0) groups.set('', [])
    made = [...groups.values()].map((group) => ({
      before: new Map(),
      row: new Map([
        ...(group[0]?.row ?? []),
        ...aggregates.map(({ expression, as }): [string, Value] => [
          as,
          aggregate(
            expression as Aggregate,
            group.map(({ before }) => before),
            world,
          ),
        ]),
      ]),
    }))
  }
  if (clause.distinct) made = [...new Map(made.map((one) => [keyOf([...one.row.values()]), one])).values()]
  const keysOf = ({ row, before }: (typeof made)[number]) =>
    clause.orderBy.map(({ expression }) => {
      const item = clause.items.find(
        (one) =>
          JSON.stringify(one.expression) === JSON.stringify(expression) ||
          (expression.kind === 'variable' && expression.name === one.as),
      )
      return item ? (row.get(item.as) ?? null) : resultOf(expression, new Map([...before, ...row]), world)
    })
  const sorted = made
    .map((one) => ({ one, keys: keysOf(one) }))
    .sort((a, b) => {
      for (const [index, { descending }] of clause.orderBy.entries()) {
        const by = order(a.keys[index] ?? null, b.keys[index] ?? null)
        if (by !== 0) return descending ? -by : by
      }
      return 0
    })
    .map(({ one }) => one.row)
  const countOf = (expression: Expression | undefined) =>
    expression === undefined ? undefined : Number(resultOf(expression, new Map(), world))
  const from = countOf(clause.skip) ?? 0
  const limit = countOf(clause.limit)
  const page = sorted.slice(from, limit === undefined ? undefined : from + limit)
  const { where } = clause
  return where === undefined ? page : page.filter((row) => resultOf(where, row, world) === true)
}

type Aggregate = Extract<Expression, { kind: 'aggregate' }>

function aggregate({ name, distinct, argument }: Aggregate, rows: readonly Bindings[], world: World): Value {
  if (argument === undefined) return rows.length
  const all = rows.map((row) => resultOf(argument, row, world)).filter((value) => value !== null)
  const values = distinct ? [...new Map(all.map((value) => [keyOf(value), value])).values()] : all
  const sum = () => values.reduce<number>((total, value) => total + Number(value), 0)
  switch (name) {
    case 'count':
      return values.length
    case 'collect':
      return values
    case 'sum':
      return sum()
    case 'avg':
      return values.length === 0 ? null : sum() / values.length
    case 'min':
      return values.toSorted(order)[0] ?? null
    case 'max':
      return values.toSorted(order).at(-1) ?? null
  }
}

/** A value as an answer has it. */
export function answerOf(value: Value, as: Audience): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => answerOf(one, as))
  if ('nodes' in value) return { nodes: answerOf(value.nodes, as), relationships: answerOf(value.edges, as) }
  const entity = value as StoredNode | StoredEdge
  const names = Object.entries(declaredOf(entity).properties).filter(([, { audience }]) => sees(as, audience))
  const properties = Object.fromEntries(
    names
      .map(([name]) => [name, shownProperty(entity, name, as)] as const)
      .filter(([, shown]) => shown !== null),
  )
  return 'label' in entity ? { label: entity.label, properties } : { type: entity.type, properties }
}
