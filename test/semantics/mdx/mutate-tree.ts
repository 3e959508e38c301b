/**
 * Mutates syntax trees of MDX: nodes are swapped, dropped, wrapped, and replaced by nodes of the same kind out of other
 * statements, so that most of what comes out is read. Same-meaning changes leave what a statement gives.
 */

import type { MdxExpression, MdxSelect, MdxStatement } from '../../../src/wire/mdx/ast.ts'

type Node = Record<string, unknown>
interface Place {
  readonly holder: Node | unknown[]
  readonly at: string | number
  readonly node: MdxExpression
}

const kinds = new Set(
  'name number string null set tuple call property method binary not negative existing alias case'.split(' '),
)
/** A formula that defines a set is no set, and a cube has a name of its own. */
const isExpression = (value: unknown): value is MdxExpression =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  kinds.has(String(value.kind)) &&
  !('expression' in value)

/** Members of a tree below which there are names alone. */
const closed = new Set(['name', 'names', 'parts', 'properties', 'columns'])

/** Every place of an expression. The parts of names, and the names of cubes, are none. */
function placesIn(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found
  for (const [at, node] of Object.entries(value)) {
    if (closed.has(at)) continue
    if (isExpression(node)) found.push({ holder: value as Node, at, node })
    placesIn(node, found)
  }
  return found
}

/** Nodes of these statements by their kind. */
export function nodesOf(statements: readonly MdxStatement[]): ReadonlyMap<string, readonly MdxExpression[]> {
  return Map.groupBy(
    statements.flatMap((statement) => placesIn(statement).map(({ node }) => node)),
    ({ kind }) => kind,
  )
}

interface Chance {
  readonly below: (count: number) => number
  readonly nodes: ReadonlyMap<string, readonly MdxExpression[]>
}

/** Operands stand in parentheses, as the parser expects those that are operators themselves. */
const inPlace = (node: MdxExpression): MdxExpression =>
  ['binary', 'not', 'negative', 'existing', 'alias'].includes(node.kind)
    ? { kind: 'tuple', items: [node] }
    : node

function put({ holder, at }: Place, node: MdxExpression): void {
  ;(holder as Node)[at] = inPlace(structuredClone(node))
}

const setWraps: readonly ((set: MdxExpression) => MdxExpression)[] = [
  (set) => ({ kind: 'set', items: [set] }),
  (set) => ({ kind: 'tuple', items: [set] }),
  ...['HIERARCHIZE', 'DISTINCT', 'UNORDER'].map((name) => (set: MdxExpression) => ({
    kind: 'call' as const,
    name,
    arguments: [set],
  })),
  (set) => ({ kind: 'call', name: 'HEAD', arguments: [set, { kind: 'number', value: 100_000 }] }),
  (set) => ({ kind: 'call', name: 'UNION', arguments: [set, structuredClone(set)] }),
  (set) => ({ kind: 'call', name: 'INTERSECT', arguments: [set, structuredClone(set)] }),
  (set) => ({
    kind: 'call',
    name: 'FILTER',
    arguments: [
      set,
      {
        kind: 'binary',
        operator: '=',
        left: { kind: 'number', value: 1 },
        right: { kind: 'number', value: 1 },
      },
    ],
  }),
  (set) => ({ kind: 'call', name: 'EXCEPT', arguments: [set, { kind: 'set', items: [] }] }),
]

/** One change of a tree, in place. */
function change(tree: MdxStatement, { below, nodes }: Chance): void {
  const places = placesIn(tree)
  const place = places[below(places.length)]
  if (place === undefined) return
  const { node } = place
  const alike = places.filter((each) => each.node.kind === node.kind)
  switch (below(4)) {
    case 0: {
      const other = alike[below(alike.length)] as Place
      const [one, two] = [structuredClone(node), structuredClone(other.node)]
      put(place, two)
      put(other, one)
      break
    }
    case 1: {
      const items = node.kind === 'call' ? node.arguments : 'items' in node ? node.items : []
      if (items.length > 1) (items as unknown[]).splice(below(items.length), 1)
      break
    }
    case 2:
      put(place, (setWraps[below(setWraps.length)] ?? inPlace)(inPlace(structuredClone(node))))
      break
    default: {
      const pool = nodes.get(node.kind) ?? []
      put(place, pool[below(pool.length)] ?? node)
    }
  }
}

/** A copy of a statement with some changes. */
export function mutatedTree(statement: MdxStatement, chance: Chance): MdxStatement {
  const tree = structuredClone(statement)
  for (let count = 1 + chance.below(3); count > 0; count--) change(tree, chance)
  return tree
}

/** A copy of a pivot whose axes are written in other words that mean the same. */
export function sameMeaning(select: MdxSelect, below: (count: number) => number): MdxSelect {
  const wrapped = (set: MdxExpression) => {
    let found = set
    for (let count = 1 + below(3); count > 0; count--)
      found = (setWraps[below(setWraps.length)] ?? inPlace)(inPlace(found))
    return found
  }
  return { ...select, axes: select.axes.map((axis) => ({ ...axis, set: wrapped(axis.set) })) }
}
