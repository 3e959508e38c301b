/**
 * The members and sets that a session of a client defines: what CREATE adds to them and DROP takes away. They are texts of
 * the reader; what a formula may read is told where a statement evaluates it.
 */

import { Fault } from '../../base/fault.ts'
import type { MdxExpression, MdxFormula, MdxStatement } from '../../wire/mdx/ast.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import type { Cube } from '../cube/model.ts'
import { exceeds } from './bounds.ts'
import { findNamed } from './find-named.ts'
import { calculatedMember, setNameOf } from './formulas.ts'
import { type Member, type Space, spaceOf } from './space.ts'

/** A member or set of a session. */
export interface SessionFormula {
  /** Of the cube. */
  readonly cube: string
  readonly formula: MdxFormula
}

/** Members and sets of one session, and characters of their trees as JSON. */
const sessionFormulasMax = 200
const sessionCharsMax = 1_000_000

/** Members by their unique name, sets by their own, without regard to case. */
function nameOf(space: Space, formula: MdxFormula): string {
  const found = formula.kind === 'set' ? setNameOf(formula.name) : calculatedMember(space, formula).uniqueName
  return found?.toLowerCase() ?? refuseMdx('the name of a set has one part')
}

/** What a session defines after CREATE. @throws Fault `bad_request` for a name that is there already */
export function created(
  space: Space,
  { formulas }: Extract<MdxStatement, { kind: 'create' }>,
  session: readonly SessionFormula[],
): readonly SessionFormula[] {
  const { name: cube, measures, formulas: formulasOfCube } = space.cube
  const own = session.filter((each) => each.cube === cube)
  const taken = new Set([
    ...measures.map(({ uniqueName }) => uniqueName.toLowerCase()),
    ...[...formulasOfCube, ...own.map(({ formula }) => formula)].flatMap((formula) =>
      formula.kind === 'set' || memberInCube(space, formula) ? [nameOf(space, formula)] : [],
    ),
  ])
  for (const formula of formulas) {
    const name = nameOf(space, formula)
    if (taken.has(name))
      refuseMdx(`there is a ${formula.kind} of this name already: drop it, or take another name`)
    taken.add(name)
  }
  const found = [...session, ...formulas.map((formula) => ({ cube, formula }))]
  if (found.length > sessionFormulasMax)
    refuseMdx(`a session has at most ${sessionFormulasMax} members and sets: drop some`)
  if (found.reduce((sum, each) => sum + JSON.stringify(each.formula).length, 0) > sessionCharsMax)
    exceeds(`the members and sets of a session have at most ${sessionCharsMax} characters`)
  return found
}

/** What a session defines after DROP. @throws Fault `bad_request` for a name that it does not define */
export function withoutDropped(
  { cube: { name: cube } }: Space,
  { of, names }: Extract<MdxStatement, { kind: 'drop' }>,
  session: readonly SessionFormula[],
): readonly SessionFormula[] {
  const keyOf = (name: MdxFormula['name']) =>
    name.map((part) => (part.kind === 'name' ? part.name : '&')).join('\u0000')
  const own = session.filter(({ cube: each, formula }) => each === cube && formula.kind === of)
  const dropped = names.map(
    (name) =>
      findNamed(own, ({ formula }) => [keyOf(formula.name)], keyOf(name)) ??
      refuseMdx(`the session has no such ${of}`),
  )
  return session.filter((each) => !dropped.includes(each))
}

/** A member or set of a session as clients list it. */
type ListedFormula =
  | { readonly kind: 'member'; readonly member: Extract<Member, { kind: 'calculated' }> }
  | {
      readonly kind: 'set'
      readonly name: string
      readonly formula: MdxFormula
      /** Unique names of the hierarchies of its tuples. */
      readonly hierarchies: readonly string[]
    }

/** Those of a cube that are listed, in the order of their definition. */
export function listedFormulas(cube: Cube, session: readonly SessionFormula[]): readonly ListedFormula[] {
  const space = spaceOf(cube)
  const own = session.filter((each) => each.cube === cube.name).map(({ formula }) => formula)
  const sets = new Map(
    own.flatMap((each) => (each.kind === 'set' ? [[setNameOf(each.name) ?? '', each] as const] : [])),
  )
  return own
    .filter((formula) => formula.isHidden !== true && isVisible(formula))
    .flatMap((formula): readonly ListedFormula[] => {
      if (formula.kind === 'member') {
        const member = memberInCube(space, formula)
        return member === undefined ? [] : [{ kind: 'member', member }]
      }
      const [part] = formula.name
      const name = part?.kind === 'name' ? part.name : ''
      const found = hierarchiesIn({ space, sets, seen: new Set(), depth: 0 }, formula.expression)
      return [{ kind: 'set', name, formula, hierarchies: [...new Set(found)] }]
    })
}

/** The member of a formula; undefined where its hierarchy has gone since it was defined. */
function memberInCube(space: Space, formula: MdxFormula) {
  try {
    return calculatedMember(space, formula)
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'bad_request') return undefined
    throw thrown
  }
}

/** VISIBLE = 0 or false hides. */
function isVisible({ properties }: MdxFormula): boolean {
  const value = properties.find(({ name }) => name === 'VISIBLE')?.value
  if (value?.kind === 'number') return value.value !== 0
  const word = value?.kind === 'name' && value.parts.length === 1 ? value.parts[0] : undefined
  return word?.kind !== 'name' || word.name.toLowerCase() !== 'false'
}

interface SetPlace {
  readonly space: Space
  readonly sets: ReadonlyMap<string, MdxFormula>
  /** Sets that were looked at. What one of them has is told already, so each is looked at once. */
  readonly seen: Set<MdxFormula>
  readonly depth: number
}

/** Functions whose set has the hierarchies of all their arguments. */
const crossing = new Set(['CROSSJOIN', 'NONEMPTYCROSSJOIN'])
const depthMax = 64

/** The hierarchies of a set, as far as its text tells them. */
function hierarchiesIn(place: SetPlace, expression: MdxExpression | undefined): readonly string[] {
  if (expression === undefined || place.depth === depthMax) return []
  const inner = (each: MdxExpression | undefined) => hierarchiesIn({ ...place, depth: place.depth + 1 }, each)
  switch (expression.kind) {
    case 'name':
      return hierarchyOfName(place, expression.parts, inner)
    case 'set':
      return inner(expression.items[0])
    case 'tuple':
      return expression.items.flatMap(inner)
    case 'property':
    case 'method':
    case 'alias':
      return inner(expression.of)
    case 'existing':
    case 'negative':
      return inner(expression.operand)
    case 'binary':
      return expression.operator === '*'
        ? [...inner(expression.left), ...inner(expression.right)]
        : inner(expression.left)
    case 'call': {
      const { name, arguments: given } = expression
      if (crossing.has(name)) return given.flatMap(inner)
      if (name === 'EXTRACT') return given.slice(1).flatMap(inner)
      return inner(given[name === 'GENERATE' ? 1 : 0])
    }
    default:
      return []
  }
}

function hierarchyOfName(
  { space: { hierarchies }, sets, seen }: SetPlace,
  parts: Extract<MdxExpression, { kind: 'name' }>['parts'],
  inner: (expression: MdxExpression) => readonly string[],
): readonly string[] {
  const named = sets.get(setNameOf(parts) ?? '')
  if (named !== undefined) {
    if (seen.has(named)) return []
    seen.add(named)
    return inner(named.expression)
  }
  const [first, second] = parts.map((part) => (part.kind === 'name' ? part.name.toLowerCase() : ''))
  const within = hierarchies.filter(({ dimension }) => dimension.name.toLowerCase() === first)
  const found = within.find(({ name }) => name.toLowerCase() === second) ?? within[0]
  return found === undefined ? [] : [found.uniqueName]
}
