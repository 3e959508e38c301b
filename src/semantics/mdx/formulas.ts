/** What a statement or its session defines: calculated members and named sets. Evaluating them is not done here. */

import { Fault } from '../../base/fault.ts'
import type { MdxFormula, NamePart } from '../../wire/mdx/ast.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { findNamed } from './find-named.ts'
import { childName, type Member, type Space, type SpaceHierarchy } from './space.ts'

export interface Formulas {
  /** In the order of their definition. */
  readonly members: readonly Member[]
  /** Sets by their name in lower case. */
  readonly sets: ReadonlyMap<string, Pick<MdxFormula, 'expression' | 'isStatic'>>
}

/** The name by which a set is found; undefined for a name of several parts. */
export function setNameOf(parts: readonly NamePart[]): string | undefined {
  const [part, ...more] = parts
  return part?.kind === 'name' && more.length === 0 ? part.name.toLowerCase() : undefined
}

const formulasMax = 500
/** Characters of a name, a caption or a format, each of which many members and cells of an answer repeat. */
const shownCharsMax = 1_000
const knownProperties = new Set([
  ...['FORMAT_STRING', 'SOLVE_ORDER', 'VISIBLE', 'CAPTION', 'LANGUAGE', 'BACK_COLOR', 'FORE_COLOR'],
  ...[
    'FONT_NAME',
    'FONT_SIZE',
    'FONT_FLAGS',
    'NON_EMPTY_BEHAVIOR',
    'DISPLAY_FOLDER',
    'ASSOCIATED_MEASURE_GROUP',
  ],
  ...['SCOPE_ISOLATION', 'DESCRIPTION', 'DYNAMIC', 'MEMBER_CAPTION'],
])

/** What a statement may name. A later definition takes the place of one with its name. @throws Fault `bad_request` */
export function collectFormulas(space: Space, given: readonly MdxFormula[]): Formulas {
  if (given.length - space.cube.formulas.length > formulasMax)
    refuseMdx(`at most ${formulasMax} members and sets are defined`)
  const members = new Map<string, Member>()
  const sets = new Map<string, MdxFormula>()
  for (const formula of given) {
    if (formula.kind === 'set') {
      const name = setNameOf(formula.name)
      if (name === undefined) refuseMdx('the name of a set has one part')
      sets.set(name ?? '', formula)
    } else {
      const member = calculatedMember(space, formula)
      members.set(member.uniqueName, member)
    }
  }
  return { members: [...members.values()], sets }
}

/** The member that a formula defines. @throws Fault `bad_request` for a place or a property that is none */
export function calculatedMember(
  space: Space,
  { name: parts, expression, properties, isHidden }: MdxFormula,
): Extract<Member, { kind: 'calculated' }> {
  const unknown = properties.find((property) => !knownProperties.has(property.name))
  if (unknown !== undefined)
    refuseMdx(`the property ${unknown.name.slice(0, 40)} of a member is not supported`)
  const names = parts.map((part) => (part.kind === 'name' ? part.name : refuseMdx('a new member has no key')))
  const name = names.at(-1) ?? ''
  const at = hierarchyOf(space, names.slice(0, -1))
  const isMeasure = at.index === 0
  const parent = isMeasure ? undefined : space.defaults[at.index]
  const level = at.levels[isMeasure ? 0 : 1]
  if (level === undefined) throw new Fault('internal', 'Internal error.')
  const text = (wanted: string) => {
    const value = properties.find((property) => property.name === wanted)?.value
    return value?.kind === 'string' ? value.value : value?.kind === 'number' ? String(value.value) : undefined
  }
  const caption = text('CAPTION') ?? text('MEMBER_CAPTION') ?? name
  const format = text('FORMAT_STRING')
  if ([name, caption, format ?? ''].some(({ length }) => length > shownCharsMax))
    refuseMdx(`a name, a caption and a format of a member have at most ${shownCharsMax} characters`)
  const solveOrder = Number(text('SOLVE_ORDER') ?? 0)
  return {
    ...{ kind: 'calculated', at, level, caption, uniqueName: childName(parent, at, name) },
    formula: {
      ...{ name, expression, parent, solveOrder, format, isHidden: isHidden === true },
      ...{ folder: text('DISPLAY_FOLDER'), description: text('DESCRIPTION') },
    },
  }
}

/** The hierarchy in whose `(All)` a member is defined. @throws Fault `bad_request` for another place */
function hierarchyOf({ hierarchies }: Space, names: readonly string[]): SpaceHierarchy {
  const [first = '', second, third] = names
  const dimensions = [...Map.groupBy(hierarchies, ({ dimension: { name } }) => name)]
  const within = findNamed(dimensions, ([name]) => [name], first)?.[1] ?? []
  const isMeasures = within.some(({ index }) => index === 0)
  const named =
    second === undefined || isMeasures ? undefined : findNamed(within, ({ name }) => [name], second)
  const isAll =
    third === undefined || third.toLowerCase() === named?.hierarchy?.allMember.caption.toLowerCase()
  const found = names.length === 1 ? within : named !== undefined && isAll ? [named] : []
  const [only] = found
  if (only === undefined || names.length > 3 || (found.length > 1 && names.length === 1))
    return refuseMdx('a new member stands in [Measures], in a hierarchy, or below its member All')
  return only
}
