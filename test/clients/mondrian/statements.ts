/** Random statements in MDX over the star: sets, values, calculated members, slicers. The same seed gives the same ones. */

import { generator } from '../../support/generator.ts'
import { cubeName, measures } from './star.ts'

/** Levels below `(All)` with the keys of their members; null for the member of NULL. */
export interface StarHierarchy {
  readonly name: string
  readonly levels: readonly { readonly name: string; readonly keys: readonly (string | null)[] }[]
}

export interface GeneratedStatement {
  readonly text: string
  /** The functions that it uses. */
  readonly functions: ReadonlySet<string>
}

/** An endless sequence of statements. */
export function* starStatements(
  seed: number,
  hierarchies: readonly StarHierarchy[],
): Generator<GeneratedStatement, never> {
  const random = generator(seed)
  for (;;) {
    const writer = new Writer(random, hierarchies)
    yield { text: writer.statement(), functions: writer.functions }
  }
}

/** Where some days have no rows, Mondrian counts those that have. */
const withoutDays = ({ name, levels }: StarHierarchy): StarHierarchy => ({ name, levels: levels.slice(0, 3) })

/** How deep sets are made of sets. */
const depthMax = 3
const names = Object.keys(measures)
/** Of these, no two members have the same value by chance. */
const ranking = '[Measures].[revenue]'

class Writer {
  readonly functions = new Set<string>()
  readonly #random: () => number
  readonly #hierarchies: readonly StarHierarchy[]

  constructor(random: () => number, hierarchies: readonly StarHierarchy[]) {
    this.#random = random
    this.#hierarchies = hierarchies
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T
  }

  #several<T>(items: readonly T[], count: number): readonly T[] {
    const left = [...items]
    return Array.from({ length: count }, () => left.splice(this.#below(left.length), 1)).flat()
  }

  #call(name: string, ...given: readonly string[]): string {
    this.functions.add(name)
    return `${name}(${given.join(', ')})`
  }

  statement(): string {
    const [first, second, sliced] = this.#several(this.#hierarchies, 3) as [
      StarHierarchy,
      StarHierarchy,
      StarHierarchy,
    ]
    const isCrossed = this.#random() < 0.4
    const isAcross = !isCrossed && this.#random() < 0.3
    const shown = this.#several(names, 1 + this.#below(3)).map((name) => `[Measures].[${name}]`)
    const formulas: string[] = []
    if (this.#random() < 0.45) {
      formulas.push(`MEMBER [Measures].[x] AS ${this.#value(first, 0)}`)
      shown.push('[Measures].[x]')
    }
    const rows = this.#set(first, 0)
    if (this.#random() < 0.15) formulas.push(`SET [chosen] AS ${rows}`)
    const named = formulas.some((text) => text.startsWith('SET')) ? '[chosen]' : rows
    const crossed = isCrossed ? this.#call('CrossJoin', named, this.#set(second, 1)) : named
    const values = `{${shown.join(', ')}}`
    const columns = isAcross ? this.#call('CrossJoin', this.#set(second, 2), values) : values
    const empty = () => (this.#random() < 0.5 ? 'NON EMPTY ' : '')
    const where = this.#random() < 0.4 ? ` WHERE (${this.#member(sliced)})` : ''
    const with_ = formulas.length > 0 ? `WITH ${formulas.join(' ')} ` : ''
    return `${with_}SELECT ${empty()}${columns} ON COLUMNS, ${empty()}${crossed} ON ROWS FROM [${cubeName}]${where}`
  }

  #level(at: StarHierarchy) {
    return this.#pick(at.levels)
  }

  #levelName(at: StarHierarchy): string {
    return `${at.name}.[${this.#level(at).name}]`
  }

  /** A member by its key. */
  #member(at: StarHierarchy): string {
    const level = this.#level(at)
    const keys = level.keys.filter((key) => key !== null)
    return `${at.name}.[${level.name}].&[${this.#pick(keys)}]`
  }

  /** A member, or one that is found by another. */
  #anyMember(at: StarHierarchy): string {
    const member = this.#member(at)
    const kind = this.#below(9)
    if (kind === 0) return `${at.name}.[All]`
    if (kind === 1) return `${member}.Parent`
    if (kind === 2) return `${at.name}.[All].FirstChild`
    if (kind === 3) return `${member}.LastSibling`
    if (kind === 4) return `${member}.Lag(${this.#below(3)})`
    return member
  }

  #set(at: StarHierarchy, depth: number): string {
    return depth >= depthMax || this.#random() < 0.3 ? this.#plainSet(at) : this.#madeSet(at, depth + 1)
  }

  #plainSet(at: StarHierarchy): string {
    const kind = this.#below(8)
    if (kind === 0) return `${at.name}.Members`
    if (kind === 1) return `{${at.name}.[All], ${this.#levelName(at)}.Members}`
    if (kind === 2) return this.#call('Distinct', `{${this.#anyMember(at)}, ${this.#anyMember(at)}}`)
    if (kind === 3) return `${at.name}.[All].Children`
    if (kind === 4) return `${this.#member(at)}.Siblings`
    if (kind === 5) return this.#range(at)
    return `${this.#levelName(at)}.Members`
  }

  #range(at: StarHierarchy): string {
    const { name, keys } = this.#level(at)
    const known = keys.filter((key) => key !== null)
    const [one = 0, other = 0] = [this.#below(known.length), this.#below(known.length)].sort((a, b) => a - b)
    const member = (index: number) => `${at.name}.[${name}].&[${known[index]}]`
    return `{${member(one)} : ${member(other)}}`
  }

  #madeSet(at: StarHierarchy, depth: number): string {
    const set = () => this.#set(at, depth)
    const count = () => String(1 + this.#below(5))
    const makers: readonly (() => string)[] = [
      () => this.#call(this.#pick(['Head', 'Tail']), set(), count()),
      () => this.#call('Subset', set(), String(this.#below(3)), count()),
      () => this.#call('Filter', set(), this.#condition(at, depth)),
      () => this.#call('Order', set(), ranking, this.#pick(['BASC', 'BDESC'])),
      () => this.#call(this.#pick(['TopCount', 'BottomCount']), set(), count(), ranking),
      () => this.#call('TopPercent', this.#oneLevel(at), String(10 + this.#below(80)), ranking),
      () => this.#call('TopSum', this.#oneLevel(at), String(this.#below(4_000)), ranking),
      () => this.#call('BottomPercent', this.#oneLevel(at), String(10 + this.#below(80)), ranking),
      () => this.#call(this.#pick(['Union', 'Except', 'Intersect']), set(), set()),
      () => this.#call('Distinct', `{${set()}, ${set()}}`),
      () =>
        this.#call('Hierarchize', this.#call('Distinct', set()), ...(this.#random() < 0.3 ? ['POST'] : [])),
      () => this.#call('Generate', set(), `{${at.name}.CurrentMember.Parent, ${at.name}.CurrentMember}`),
      () => this.#call('Descendants', this.#member(at), this.#levelName(at), this.#flag()),
      () => this.#call('DrilldownMember', this.#oneLevel(at), `{${this.#member(at)}, ${this.#member(at)}}`),
      () => this.#call('DrilldownLevel', `{${at.name}.[All]}`, `${at.name}.[(All)]`),
      () => this.#call('Ascendants', this.#member(at)),
      () => this.#call('Extract', this.#call('CrossJoin', set(), this.#plainSet(this.#other(at))), at.name),
      () => this.#call('PeriodsToDate', this.#levelName(at), this.#member(at)),
      () => this.#call('LastPeriods', count(), this.#member(at)),
      () => `{${this.#call('Ancestor', this.#member(at), `${at.name}.[(All)]`)}}`,
      () => `{${this.#call('ParallelPeriod', this.#levelName(at), count(), this.#member(withoutDays(at)))}}`,
      () =>
        `{${this.#call(this.#pick(['OpeningPeriod', 'ClosingPeriod']), this.#levelName(at), `${at.name}.[All]`)}}`,
    ]
    return this.#pick(makers)()
  }

  #other(at: StarHierarchy): StarHierarchy {
    return this.#pick(this.#hierarchies.filter(({ name }) => name !== at.name))
  }

  #oneLevel(at: StarHierarchy): string {
    return `${this.#levelName(at)}.Members`
  }

  #flag(): string {
    return this.#pick(['SELF', 'AFTER', 'BEFORE', 'SELF_AND_AFTER', 'SELF_AND_BEFORE', 'SELF_BEFORE_AFTER'])
  }

  #condition(at: StarHierarchy, depth: number): string {
    const current = `${at.name}.CurrentMember`
    const conditions: readonly (() => string)[] = [
      () => `${this.#number(at, depth)} > ${this.#below(300)}`,
      () => `NOT ${this.#call('IsEmpty', ranking)}`,
      () => `${current} IS ${this.#member(at)}`,
      () => `${current}.Level.Ordinal > 0 AND ${ranking} > ${this.#below(400)}`,
      () => `${this.#call('Count', this.#set(at, depth + 1))} > 2 OR ${ranking} > ${this.#below(400)}`,
    ]
    return this.#pick(conditions)()
  }

  /** A value that is never empty where there are rows. */
  #number(at: StarHierarchy, depth: number): string {
    return this.#random() < 0.7 ? `[Measures].[${this.#pick(names)}]` : this.#value(at, depth)
  }

  #value(at: StarHierarchy, depth: number): string {
    const measure = () => `[Measures].[${this.#pick(names)}]`
    // A sum over days at each day takes long.
    const set = () => this.#set(withoutDays(at), Math.max(1, depth + 1))
    const values: readonly (() => string)[] = [
      () => `${measure()} ${this.#pick(['+', '-', '*'])} ${measure()}`,
      () => `${measure()} / 4 + 1`,
      () => `([Measures].[revenue], ${at.name}.[All])`,
      () => `[Measures].[revenue] / ([Measures].[revenue], ${at.name}.[All])`,
      () => `(${measure()}, ${this.#member(at)})`,
      () => `(${measure()}, ${at.name}.CurrentMember.Parent)`,
      () => this.#call(this.#pick(['Sum', 'Min', 'Max', 'Avg']), set(), measure()),
      () => this.#call('Count', set()),
      () => this.#call('Count', set(), 'EXCLUDEEMPTY'),
      () =>
        this.#call(
          'Aggregate',
          this.#oneLevel(at),
          this.#pick(['[Measures].[revenue]', '[Measures].[sales]']),
        ),
      () =>
        this.#call('IIF', `${ranking} > ${this.#below(500)}`, measure(), this.#pick([measure(), '0', '7'])),
      () => this.#call('CoalesceEmpty', measure(), '0'),
      () => this.#call('Rank', `${at.name}.CurrentMember`, this.#oneLevel(at)),
      () => `${at.name}.CurrentMember.Level.Ordinal`,
      () => `CASE WHEN ${ranking} > ${this.#below(500)} THEN 1 ELSE 2 END`,
    ]
    return this.#pick(values)()
  }
}
