/**
 * Compiles MATCH and OPTIONAL MATCH: a step for the node at which a path begins, and one for each edge or walk from
 * there. Conditions are put into the first step that has all their names.
 */

import type { EdgeLabel, VertexLabel } from '../store/database/names.ts'
import type { EdgePattern, Expression, MatchClause, NodePattern, PathPattern } from '../wire/cypher/ast.ts'
import { refuse } from '../wire/cypher/tokens.ts'
import { conjuncts, namesOf } from './conditions.ts'
import { condition } from './expression.ts'
import { type Audience, ends, labels, sees, types } from './schema.ts'
import type { Binding, Scope, StatementValues } from './scope.ts'
import { type Rows, rowBounds, type Stages } from './stages.ts'
import { edgeValue, isVisible, nodeValue } from './visible.ts'

/** What a statement is made with. */
export interface Making {
  readonly stages: Stages
  readonly statement: StatementValues
  readonly as: Audience
}

/** A node of a pattern. One without a name gets one that no text can have. */
interface Node {
  readonly name: string
  readonly label: VertexLabel
}

interface Edge {
  readonly name: string
  readonly type: EdgeLabel
  readonly direction: EdgePattern['direction']
  readonly hops: EdgePattern['hops']
}

interface Path {
  readonly name: string | undefined
  readonly nodes: readonly Node[]
  readonly edges: readonly Edge[]
}

/** One MATCH while it is compiled. */
interface Matching extends Making {
  from: string | undefined
  readonly names: Map<string, Binding>
  /** Columns that this MATCH has added. */
  readonly columns: string[]
  /** Conditions that wait for their names. */
  pending: { readonly expression: Expression; readonly names: ReadonlySet<string> }[]
  /** Columns with the edges of this MATCH, none of which is used twice: of one edge, or of a walk. */
  readonly used: { readonly column: string; readonly isWalk: boolean }[]
}

/** Adds the steps of a MATCH. @returns the rows after it */
export function compileMatch(clause: MatchClause, rows: Rows, making: Making): Rows {
  const { stages } = making
  const row = stages.fresh('r')
  const before = clause.optional ? numbered(rows, row, stages) : rows.from
  const matching: Matching = {
    ...making,
    from: before,
    names: new Map(rows.names),
    columns: [],
    pending: [],
    used: [],
  }
  const paths = resolvePaths(clause.paths, matching)
  for (const expression of clause.where === undefined ? [] : conjuncts(clause.where))
    matching.pending.push({ expression, names: namesOf(expression) })
  const left = [...paths]
  while (left.length > 0) {
    const next = left.find(({ nodes }) => nodes.some(({ name }) => matching.names.has(name))) ?? left[0]
    if (next === undefined) break
    left.splice(left.indexOf(next), 1)
    matchPath(next, matching)
  }
  // A name that nothing binds is refused here.
  if (matching.pending.length > 0) matching.from = step(matching, `select s.* from ${matching.from} s`, true)
  if (!clause.optional) return { from: matching.from, names: withoutInner(matching.names) }
  const added = matching.columns.map((column) => `, m.${column}`).join('')
  const from = stages.add(
    `select o.*${added} from ${before} o left join ${matching.from} m on m.${row} = o.${row}`,
  )
  return { from, names: withoutInner(matching.names) }
}

function numbered({ from }: Rows, row: string, stages: Stages): string {
  return stages.add(
    from === undefined ? `select 1 as ${row}` : `select s.*, row_number() over () as ${row} from ${from} s`,
  )
}

/** Names that the text gave. */
function withoutInner(names: ReadonlyMap<string, Binding>): ReadonlyMap<string, Binding> {
  return new Map([...names].filter(([name]) => !name.startsWith('#')))
}

/** Checks the patterns, and turns the properties in them into conditions. */
function resolvePaths(paths: readonly PathPattern[], matching: Matching): readonly Path[] {
  const { names, as, stages } = matching
  const given = new Map<string, string>()
  for (const { name, label } of paths.flatMap(({ nodes }) => nodes))
    if (name !== undefined && label !== undefined) {
      if ((given.get(name) ?? label) !== label) refuse('a node has one label')
      given.set(name, label)
    }
  const taken = new Set(names.keys())
  const take = (name: string | undefined) => {
    if (name === undefined) return stages.fresh('#')
    if (taken.has(name) || given.has(name)) refuse('a name stands for one node, edge or path')
    taken.add(name)
    return name
  }
  const addTests = (name: string, properties: NodePattern['properties']) => {
    for (const { name: of, value } of properties) {
      const test: Expression = { kind: 'property', of: name, name: of }
      const expression: Expression = { kind: 'binary', operator: '=', left: test, right: value }
      matching.pending.push({ expression, names: namesOf(expression) })
    }
  }
  const node = ({ name = stages.fresh('#'), label: own, properties }: NodePattern): Node => {
    const bound = names.get(name)
    if (bound !== undefined && bound.type !== 'node') refuse('a name stands for one node, edge or path')
    const label = labelNamed(own ?? given.get(name) ?? bound?.label, as)
    if (bound !== undefined && bound.label !== label) refuse('a node has one label')
    addTests(name, properties)
    return { name, label }
  }
  return paths.map((path) => {
    const nodes = path.nodes.map(node)
    const edges = path.edges.map(({ name, type, direction, hops, properties }): Edge => {
      if (hops !== undefined && properties.length > 0)
        refuse('properties of the edges of a walk are not compared')
      const edge = { name: take(name), type: typeNamed(type, as), direction, hops }
      addTests(edge.name, properties)
      return edge
    })
    return { name: path.name === undefined ? undefined : take(path.name), nodes, edges }
  })
}

/** The label of that name. @throws Fault `bad_request` for one that is not there, or not for this reader */
function labelNamed(name: string | undefined, as: Audience): VertexLabel {
  if (name === undefined) refuse('each node has a label')
  const declared = new Map(Object.entries(labels)).get(name)
  if (declared === undefined) refuse(`there is no such label; there are ${Object.keys(labels).join(', ')}`)
  if (!sees(as, declared.audience)) refuse(`the label ${name} is for stewards`)
  return name as VertexLabel
}

function typeNamed(name: string, as: Audience): EdgeLabel {
  const declared = new Map(Object.entries(types)).get(name)
  if (declared === undefined) refuse(`there is no such type; there are ${Object.keys(types).join(', ')}`)
  if (!sees(as, declared.audience)) refuse(`the type ${name} is for stewards`)
  return name as EdgeLabel
}

function matchPath({ name, nodes, edges }: Path, matching: Matching): void {
  const start = startOf(nodes, matching)
  beginAt(nodes[start] as Node, matching)
  for (let index = start; index < edges.length; index++)
    follow(nodes[index] as Node, edges[index] as Edge, nodes[index + 1] as Node, false, matching)
  for (let index = start - 1; index >= 0; index--)
    follow(nodes[index + 1] as Node, edges[index] as Edge, nodes[index] as Node, true, matching)
  if (name === undefined) return
  const column = matching.stages.fresh('c')
  matching.names.set(name, { type: 'path', column })
  matching.columns.push(column)
  const value = pathValue(nodes, edges, (index) => index < start, matching)
  addStep(matching, `select s.*, ${value} as ${column}`)
}

/** Labels of which a tenant has few nodes. */
const few: ReadonlySet<VertexLabel> = new Set(['Tag', 'Namespace', 'Contract', 'Table', 'Policy'])

/** The node from which the path is followed: one that is known, else one with a condition. */
function startOf(nodes: readonly Node[], { names, pending }: Matching): number {
  const score = ({ name, label }: Node): number => {
    if (names.has(name)) return 3
    const isTested = pending.some(
      ({ expression, names: needed }) =>
        needed.has(name) && needed.size === 1 && expression.kind === 'binary' && expression.operator === '=',
    )
    return isTested ? 2 : few.has(label) ? 1 : 0
  }
  const scores = nodes.map(score)
  return scores.indexOf(Math.max(...scores))
}

function beginAt({ name, label }: Node, matching: Matching): void {
  const { stages, as, from, names, columns } = matching
  const bound = names.get(name)
  if (bound !== undefined) {
    addStep(matching, 'select s.*', `s.${bound.column}i is not null`)
    return
  }
  const column = bindNode(name, label, matching)
  const found = `n.id as ${column}i, ${nodeValue(label, as, 'n')} as ${column}`
  columns.push(column, `${column}i`)
  if (from === undefined) {
    matching.from = step(matching, `select ${found} from "${label}" n where ${isVisible(label, 'n')}`)
    return
  }
  // Nothing joins the two, so the rows before are few.
  stages.exceeds(`(select count(*) from ${from}) > ${rowBounds.crossRowsMax}`)
  const before = `(select * from ${from} limit ${rowBounds.crossRowsMax}) s`
  matching.from = step(
    matching,
    `select s.*, ${found} from ${before} cross join "${label}" n where ${isVisible(label, 'n')}`,
  )
}

function bindNode(name: string, label: VertexLabel, { names, stages }: Matching): string {
  const column = stages.fresh('c')
  names.set(name, { type: 'node', column, label })
  return column
}

/** Adds a step over the rows so far. */
function addStep(matching: Matching, select: string, where?: string): void {
  const filter = where === undefined ? '' : ` where ${where}`
  matching.from = step(matching, `${select} from ${matching.from} s${filter}`)
}

/**
 * Adds a step with every condition whose names are known now.
 * @param all whether the others are put in as well
 * @returns its name
 */
function step(matching: Matching, select: string, all = false): string {
  const { names, statement, as, stages, pending } = matching
  const isReady = ({ names: needed }: Matching['pending'][number]) =>
    all || [...needed].every((name) => names.has(name))
  const ready = pending.filter(isReady)
  matching.pending = pending.filter((one) => !isReady(one))
  if (ready.length === 0) return stages.add(select)
  const scope: Scope = { names, statement, as }
  const conditions = ready.map(({ expression }) => condition(expression, scope))
  return stages.add(`select s.* from (${select} offset 0) s where ${conditions.join(' and ')}`)
}

/** The edges of a type at a node, with the node at the other end. @param back whether the pattern is read backwards */
export function edgesAt(
  type: EdgeLabel,
  direction: EdgePattern['direction'],
  back: boolean,
  node: string,
): string {
  const out = `select e.id, e.end_id as other, e.properties from "${type}" e where e.start_id = ${node}`
  const into = `select e.id, e.start_id as other, e.properties from "${type}" e where e.end_id = ${node}`
  if (direction === 'both') return `${out} union all ${into} and e.start_id <> e.end_id`
  return (direction === 'out') === back ? into : out
}

function follow(at: Node, edge: Edge, to: Node, back: boolean, matching: Matching): void {
  const { stages, names, columns, used, as } = matching
  const origin = `s.${names.get(at.name)?.column}i`
  const known = names.get(to.name)
  const column = stages.fresh('c')
  const isWalk = edge.hops !== undefined
  const walked = isWalk ? walk(edge, edge.hops, origin, back, matching) : undefined
  names.set(
    edge.name,
    isWalk ? { type: { list: 'edge' }, column } : { type: 'edge', column, edge: edge.type },
  )
  const selected = isWalk
    ? `e.edges as ${column}i, ${back ? reversed('e.relationships') : 'e.relationships'} as ${column}, e.nodes as ${column}n`
    : `e.id as ${column}i, ${edgeValue(edge.type, as, 'e.id', 'e.properties')} as ${column}`
  columns.push(column, `${column}i`, ...(isWalk ? [`${column}n`] : []))
  const source =
    walked === undefined
      ? `cross join lateral (${edgesAt(edge.type, edge.direction, back, origin)}) e`
      : `join ${walked} e on e.origin = ${origin} and e.hops >= ${edge.hops?.min}`
  const apart = used.map((other) => isApart(other, isWalk))
  used.push({ column: `${column}i`, isWalk })
  if (known !== undefined) {
    const where = [`e.other = s.${known.column}i`, ...apart].join(' and ')
    matching.from = step(matching, `select s.*, ${selected} from ${matching.from} s ${source} where ${where}`)
    return
  }
  const node = bindNode(to.name, to.label, matching)
  columns.push(node, `${node}i`)
  const where = [isVisible(to.label, 'n'), ...apart].join(' and ')
  matching.from = step(
    matching,
    `select s.*, ${selected}, n.id as ${node}i, ${nodeValue(to.label, as, 'n')} as ${node}
     from ${matching.from} s ${source} join "${to.label}" n on n.id = e.other where ${where}`,
  )
}

function isApart({ column, isWalk }: Matching['used'][number], isNewWalk: boolean): string {
  if (isNewWalk) return isWalk ? `not (e.edges && s.${column})` : `not (s.${column} = any (e.edges))`
  return isWalk ? `not (e.id = any (s.${column}))` : `e.id <> s.${column}`
}

/** Adds a step with every walk from the nodes in `origin`, which uses no edge twice and passes visible nodes only. */
function walk(
  { type, direction }: Edge,
  { max }: { readonly max: number },
  origin: string,
  back: boolean,
  { stages, from, as }: Matching,
): string {
  const isOut = (direction === 'out') !== back
  const reached = ends[type].flatMap(([start, end]) =>
    direction === 'both' ? [start, end] : [isOut ? end : start],
  )
  const passable = [...new Set(reached)].filter((label) => sees(as, labels[label].audience))
  const nodes = passable.map(
    (label) =>
      `select n.id, ${nodeValue(label, as, 'n')} as value from "${label}" n where n.id = e.other and ${isVisible(label, 'n')}`,
  )
  if (nodes.length === 0) nodes.push(`select e.other, '{}'::jsonb where false`)
  return stages.add(`with recursive walked (origin, other, edges, nodes, relationships, hops) as (
      select o.id, o.id, '{}'::graphid[], '[]'::jsonb, '[]'::jsonb, 0
      from (select distinct ${origin} as id from ${from} s where ${origin} is not null) o
      union all
      select w.origin, n.id, w.edges || e.id, w.nodes || jsonb_build_array(n.value),
        w.relationships || jsonb_build_array(${edgeValue(type, as, 'e.id', 'e.properties')}), w.hops + 1
      from walked w cross join lateral (${edgesAt(type, direction, back, 'w.other')}) e
        cross join lateral (${nodes.join(' union all ')}) n (id, value)
      where w.hops < ${max} and not (e.id = any (w.edges)))
    select * from walked where hops > 0`)
}

function reversed(list: string): string {
  return `(select coalesce(jsonb_agg(x.item order by x.place desc), '[]'::jsonb)
    from jsonb_array_elements(${list}) with ordinality x (item, place))`
}

function pathValue(
  nodes: readonly Node[],
  edges: readonly Edge[],
  isBack: (edge: number) => boolean,
  { names }: Matching,
): string {
  const shownOf = (name: string | undefined) => `s.${names.get(name ?? '')?.column}`
  const one = (value: string) => `jsonb_build_array(${value})`
  const passed = edges.map(({ name, hops }, index) => {
    const end = one(shownOf(nodes[index + 1]?.name))
    if (hops === undefined) return end
    // A walk has the nodes after its origin; read backwards, the last of them is the node before this edge.
    return isBack(index) ? `${reversed(`(${shownOf(name)}n - (-1))`)} || ${end}` : `${shownOf(name)}n`
  })
  const relationships = edges.map(({ name, hops }) =>
    hops === undefined ? one(shownOf(name)) : shownOf(name),
  )
  return `jsonb_build_object('nodes', ${[one(shownOf(nodes[0]?.name)), ...passed].join(' || ')},
    'relationships', ${relationships.length === 0 ? `'[]'::jsonb` : relationships.join(' || ')})`
}
