/** Finds what the names in an MDX expression stand for in a cube, without reading rows. */

import type { MdxExpression, NamePart } from '../../wire/mdx/ast.ts'
import { isOneOf, mdxFlags } from '../../wire/mdx/words.ts'
import { type Cube, type Hierarchy, measuresName } from './model.ts'

/** What an expression may name. */
export interface CalculationNames {
  readonly cube: Pick<Cube, 'dimensions' | 'measures'>
  /** Unique names of hierarchies of which the reader sees no true values. */
  readonly masked: ReadonlySet<string>
  readonly sets: Set<string>
  readonly kpis: Set<string>
}

/** A hierarchy that a name leads to, and whether it names a member of it. */
interface Touched {
  readonly hierarchy: Hierarchy
  readonly isMember: boolean
}

type Call = Extract<MdxExpression, { kind: 'call' }>

/**
 * What hinders an expression from being one of the cube; undefined for nothing.
 * @param kpiFunctions names of the functions whose argument is the name of a KPI
 */
export function problemOfNames(
  names: CalculationNames,
  expression: MdxExpression,
  kpiFunctions: readonly string[],
): string | undefined {
  const nodes = nodesIn(expression)
  const calls = nodes.filter((node): node is Call => node.kind === 'call' && kpiFunctions.includes(node.name))
  const kpiNames = new Set<MdxExpression>()
  for (const { name, arguments: given } of calls) {
    const [text] = given
    if (text?.kind !== 'string') return `${name} needs the name of a KPI as a text.`
    if (!names.kpis.has(text.value)) return `There is no KPI \`${text.value}\` before it.`
    kpiNames.add(text)
  }
  if (nodes.some(({ kind }) => kind === 'parameter')) return 'It can have no parameter.'
  const aliases = new Set(nodes.flatMap((node) => (node.kind === 'alias' ? [node.name.toLowerCase()] : [])))
  const touched: Touched[] = []
  for (const node of nodes) {
    if (node.kind !== 'name') continue
    const found = resolved(names, node.parts, aliases)
    if (found === undefined)
      return `It names ${written(node.parts)}, which is no metric and no hierarchy of the cube.`
    touched.push(...found)
  }
  // Who sees masked values alone is shown no true one, which a text could be.
  const texts = nodes.some((node) => node.kind === 'string' && !kpiNames.has(node))
  const shows = touched.some(
    ({ hierarchy: { uniqueName }, isMember }) => names.masked.has(uniqueName) && (isMember || texts),
  )
  return shows ? 'It names values that a mask hides.' : undefined
}

/** Whether a name is that of the measures or of a dimension. */
export function isInCube({ dimensions }: CalculationNames['cube'], name: string): boolean {
  return [measuresName, ...dimensions.map((each) => each.name)].some((each) => isSame(each, name))
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
const isFlag = isOneOf(mdxFlags)

function nodesIn(tree: unknown): readonly MdxExpression[] {
  if (Array.isArray(tree)) return tree.flatMap(nodesIn)
  if (typeof tree !== 'object' || tree === null) return []
  const inner = Object.values(tree).flatMap(nodesIn)
  const isPart = 'quoted' in tree || 'key' in tree
  return 'kind' in tree && !isPart ? [tree as MdxExpression, ...inner] : inner
}

/** The hierarchies that a name leads to; undefined where it names nothing of the cube. */
function resolved(
  { cube, sets }: CalculationNames,
  parts: readonly NamePart[],
  aliases: ReadonlySet<string>,
): readonly Touched[] | undefined {
  const [first, second, ...more] = parts
  if (first?.kind !== 'name') return undefined
  if (second === undefined) {
    const isFree = [...sets].some((set) => isSame(set, first.name)) || aliases.has(first.name.toLowerCase())
    if (isFree || (!first.quoted && isFlag(first.name.toUpperCase()))) return []
  }
  if (isSame(first.name, measuresName)) return isMeasure(cube, parts.slice(1)) ? [] : undefined
  const dimension = cube.dimensions.find(({ name }) => isSame(name, first.name))
  if (dimension === undefined) return undefined
  const { hierarchies } = dimension
  if (second === undefined) return hierarchies.map((hierarchy) => ({ hierarchy, isMember: false }))
  const named = second.kind === 'name' ? hierarchies.find(({ name }) => isSame(name, second.name)) : undefined
  if (named !== undefined) return [{ hierarchy: named, isMember: isMemberOf(named, more) }]
  const [only, ...others] = hierarchies
  return only === undefined || others.length > 0 ? undefined : [{ hierarchy: only, isMember: true }]
}

function isMemberOf({ levels, allMember }: Hierarchy, rest: readonly NamePart[]): boolean {
  const [first, ...more] = rest
  if (first === undefined) return false
  const isShape =
    first.kind === 'name' &&
    [allMember.caption, ...levels.map(({ name }) => name)].some((name) => isSame(name, first.name))
  return !isShape || more.length > 0
}

function isMeasure({ measures }: CalculationNames['cube'], rest: readonly NamePart[]): boolean {
  const [first, second] = rest
  if (first === undefined) return true
  const isLevel = first.kind === 'name' && isSame(first.name, 'MeasuresLevel')
  const named = isLevel ? second : first
  if (named === undefined) return true
  return (
    named.kind === 'name' &&
    rest.length === (isLevel ? 2 : 1) &&
    measures.some(({ name, caption }) => isSame(name, named.name) || isSame(caption, named.name))
  )
}

function written(parts: readonly NamePart[]): string {
  return parts.map((part) => (part.kind === 'name' ? `[${part.name}]` : '&[…]')).join('.')
}
