/**
 * Chooses one of several operators or functions of a name for the types of its arguments, by PostgreSQL's rules (its
 * manual, 10.2 and 10.3) over the facts of its catalogs. Types are names of PostgreSQL, `_int4` an array of `int4`; some
 * are not served.
 */

import { isScalar, type SqlType } from '../../../core/sql-type.ts'
import { castFacts, typeFacts } from '../base/operator-facts.ts'

/** The types of the arguments and of the result. */
export interface Candidate {
  readonly operands: readonly string[]
  readonly result: string
}

export type CandidateChoice = Candidate | 'none' | 'ambiguous'

interface Category {
  readonly category: string
  readonly isPreferred: boolean
}

const categories: ReadonlyMap<string, Category> = new Map(
  typeFacts.split(' ').map((each) => {
    const [name = '', mark = ''] = each.split(':')
    return [name, { category: mark.slice(0, 1), isPreferred: mark.endsWith('*') }]
  }),
)
const ofArrays: Category = { category: 'A', isPreferred: false }
const categoryOf = (type: string): Category | undefined =>
  isArrayName(type) ? ofArrays : categories.get(type)

const casts: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(castFacts).map(([from, to]) => [from, new Set(to.split(' '))]),
)

const isArrayName = (type: string): boolean => type.startsWith('_')

/** PostgreSQL's name of a type that is served. */
export const nameOf = (type: SqlType): string => (type.endsWith('[]') ? `_${type.slice(0, -2)}` : type)

/** The type that is served of a name of PostgreSQL. Its names of things are texts. */
export function servedNamed(name: string): SqlType | undefined {
  if (name === 'name') return 'text'
  const element = isArrayName(name) ? name.slice(1) : name
  if (!isScalar(element)) return undefined
  return isArrayName(name) ? `${element}[]` : element
}

const sameTypes = new Set(['anyelement', 'anynonarray', 'anyarray', 'anyenum', 'anyrange', 'anymultirange'])
const commonTypes = new Set(['anycompatible', 'anycompatiblenonarray', 'anycompatiblearray'])

/** Whether an argument may be of many types, of which others depend. */
export const isPolymorphicName = (type: string): boolean => sameTypes.has(type) || commonTypes.has(type)

function converts(from: string, to: string): boolean {
  if (from === to || from === 'unknown' || to === 'any') return true
  if (isPolymorphicName(to)) {
    if (to === 'anyenum' || to.endsWith('range')) return false
    if (to.endsWith('nonarray')) return !isArrayName(from)
    return !to.endsWith('array') || isArrayName(from)
  }
  if (isArrayName(from) && isArrayName(to)) return converts(from.slice(1), to.slice(1))
  return casts.get(from)?.has(to) === true
}

/** The type of what polymorphic arguments have in common; undefined where no argument tells, `none` where they differ. */
interface Shared {
  readonly same: string | undefined
  readonly common: string | undefined
}

function sharedBy(operands: readonly string[], types: readonly string[]): Shared | 'none' {
  const seen = (family: ReadonlySet<string>) =>
    operands.flatMap((operand, index) => {
      const type = types[index] ?? 'unknown'
      if (!family.has(operand) || type === 'unknown') return []
      return [operand.endsWith('nonarray') || !operand.endsWith('array') ? type : type.slice(1)]
    })
  const same = seen(sameTypes)
  if (new Set(same).size > 1) return 'none'
  const common = commonOf(seen(commonTypes))
  return common === 'none' ? 'none' : { same: same[0], common }
}

/** As select_common_type. */
function commonOf(types: readonly string[]): string | undefined {
  let [chosen] = types
  if (chosen === undefined) return undefined
  for (const type of types) {
    if (type === chosen) continue
    const [own, other] = [categoryOf(chosen), categoryOf(type)]
    if (own?.category !== other?.category) return 'none'
    if (own?.isPreferred !== true && converts(chosen, type) && !converts(type, chosen)) chosen = type
  }
  const common = chosen
  return types.every((type) => converts(type, common)) ? common : 'none'
}

function fits(operands: readonly string[], types: readonly string[]): boolean {
  if (!operands.every((each, index) => converts(types[index] ?? 'unknown', each))) return false
  return !operands.some(isPolymorphicName) || sharedBy(operands, types) !== 'none'
}

/** As func_select_candidate, after those that fit. None of them has these very types. */
export function selectCandidate(candidates: readonly Candidate[], types: readonly string[]): CandidateChoice {
  const fitting = candidates.filter(({ operands }) => fits(operands, types))
  if (fitting.length <= 1) return fitting[0] ?? 'none'
  const best = (list: readonly Candidate[], count: (type: string, index: number) => boolean) => {
    const scores = list.map(({ operands }) => operands.filter(count).length)
    const most = Math.max(...scores)
    return list.filter((_, index) => scores[index] === most)
  }
  const isSame = (type: string, index: number) => type === types[index]
  const isLiked = (type: string, index: number) => {
    const given = types[index] ?? 'unknown'
    if (given === 'unknown') return false
    const other = categoryOf(type)
    return type === given || (other?.isPreferred === true && other.category === categoryOf(given)?.category)
  }
  let list: readonly Candidate[] = best(fitting, isSame)
  if (list.length > 1) list = best(list, isLiked)
  const places = types.flatMap((type, index) => (type === 'unknown' ? [index] : []))
  if (list.length > 1 && places.length > 0) list = byCategory(list, places)
  if (list.length === 1) return list[0] ?? 'none'
  const typed = new Set(types.filter((type) => type !== 'unknown'))
  if (places.length > 0 && typed.size === 1) {
    const [type = 'text'] = typed
    const same = list.filter(({ operands }) =>
      fits(
        operands,
        types.map(() => type),
      ),
    )
    if (same.length === 1) return same[0] ?? 'none'
  }
  return 'ambiguous'
}

/** Literals without a type are texts where a candidate takes texts, else of the category of all candidates. */
function byCategory(list: readonly Candidate[], places: readonly number[]): readonly Candidate[] {
  const wanted = new Map<number, { category: string; hasPreferred: boolean }>()
  for (const place of places) {
    const kinds = list.map(({ operands }) => categoryOf(operands[place] ?? ''))
    const isText = kinds.some((kind) => kind?.category === 'S')
    const category = isText ? 'S' : kinds[0]?.category
    if (category === undefined || (!isText && kinds.some((kind) => kind?.category !== category))) return list
    const hasPreferred = kinds.some((kind) => kind?.category === category && kind.isPreferred)
    wanted.set(place, { category, hasPreferred })
  }
  const kept = list.filter(({ operands }) =>
    places.every((place) => {
      const kind = categoryOf(operands[place] ?? '')
      const want = wanted.get(place)
      return kind?.category === want?.category && (!want?.hasPreferred || kind?.isPreferred === true)
    }),
  )
  return kept.length > 0 ? kept : list
}

/** Why the types of a call that is chosen cannot be told. */
export type Undetermined = { readonly missing: 'type' } | { readonly missing: 'array'; readonly of: string }

/** A candidate with the types that these arguments give to polymorphic ones. `any` stays the argument's own type. */
export function determined(
  { operands, result }: Candidate,
  types: readonly string[],
): Candidate | Undetermined {
  const shared = sharedBy(operands, types)
  if (shared === 'none') return { missing: 'type' }
  const named = [...operands, result]
  const [same, common] = [shared.same, shared.common ?? 'text']
  if (same === undefined && named.some((each) => sameTypes.has(each))) return { missing: 'type' }
  const element = named.some((each) => commonTypes.has(each)) ? common : same
  if (element !== undefined && isArrayName(element)) {
    const isWhole = (each: string) => each.endsWith('array') && !each.endsWith('nonarray')
    const isOwn = operands.some((each, index) => isWhole(each) && types[index] !== 'unknown')
    const isNeeded = named.some((each) => isPolymorphicName(each) && isWhole(each))
    if (isNeeded && !isOwn) return { missing: 'array', of: element }
  }
  const typeOf = (name: string, given?: string): string => {
    if (name === 'any') return given ?? name
    if (!isPolymorphicName(name)) return name
    const type = (commonTypes.has(name) ? common : same) ?? 'text'
    return name.endsWith('array') && !name.endsWith('nonarray') ? `_${type}` : type
  }
  return {
    operands: operands.map((each, index) => typeOf(each, types[index] ?? 'unknown')),
    result: typeOf(result),
  }
}
