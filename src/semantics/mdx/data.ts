/**
 * What an evaluation has read so far, and what it still needs. Evaluation never waits: where something is missing it notes
 * the need and goes on or stops with {@link Missing}. Then all needs are read at once, and it begins again.
 */

import { createHash } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import type { Measure } from '../cube/model.ts'
import { exceeds } from './bounds.ts'
import {
  type KeyMember,
  type Member,
  memberOf,
  type SpaceHierarchy,
  type SpaceLevel,
  type Tuple,
} from './space.ts'

/** Tuples of members of levels with keys, of which a row must be in one; other coordinates of it are free. */
export interface Condition {
  /** What tells conditions apart. */
  readonly id: string
  readonly tuples: readonly (readonly KeyMember[])[]
}

/** Values of measures by levels. */
export interface CellNeed {
  readonly kind: 'cells'
  /** All of them hold. */
  readonly conditions: readonly Condition[]
  readonly levels: readonly SpaceLevel[]
  /** Unique name of the joined dimension whose rows are asked for; undefined for the cube's own. */
  readonly dimension?: string | undefined
  /** None where it is asked only which combinations of the levels have rows. */
  readonly measures: Map<string, Measure>
  /** For some of `levels`, by their unique name, the only keys that are needed. */
  readonly keys: Map<string, Set<string | null>>
}

/** The members of a level, or those of some keys that exist. */
export interface MemberNeed {
  readonly kind: 'members'
  readonly at: SpaceHierarchy
  readonly level: SpaceLevel
  /** Undefined for all. */
  readonly keys: Set<string> | undefined
  readonly conditions: readonly Condition[]
}

export type Need = CellNeed | MemberNeed

/** A value of a measure; undefined for none. */
export type MeasuredValue = number | bigint | string | boolean | undefined

export interface CellRow {
  /** In the order of the need's levels. */
  readonly keys: readonly (string | null)[]
  readonly values: ReadonlyMap<string, MeasuredValue>
}

/** Takes what was read. */
export interface NeedSink {
  putMembers(need: MemberNeed, found: readonly (string | null)[]): Promise<void>
  putCells(need: CellNeed, rows: readonly CellRow[]): Promise<void>
}

/** Stops an evaluation that cannot go on before its needs are read. */
export class Missing extends Error {
  override readonly name = 'Missing'
}

interface LoadedCells {
  readonly measures: ReadonlySet<string>
  readonly keys: ReadonlyMap<string, ReadonlySet<string | null>>
  readonly rows: ReadonlyMap<string, CellRow>
}

interface DataBounds {
  /** Values and members that are held. */
  readonly rowsMax: number
}

/** The data of one statement. */
export class MdxData {
  readonly #cells = new Map<string, LoadedCells[]>()
  readonly #lists = new Map<string, readonly KeyMember[]>()
  readonly #found = new Map<string, Map<string, boolean>>()
  readonly #needs = new Map<string, Need>()
  /** Unique names of levels whose members were read, under some condition. */
  readonly #listed = new Set<string>()
  readonly #mentioned: readonly Measure[]
  readonly #bounds: DataBounds
  #rows = 0

  /** @param mentioned measures that the statement names, which are read together */
  constructor(bounds: DataBounds, mentioned: readonly Measure[]) {
    this.#bounds = bounds
    this.#mentioned = mentioned
  }

  /** What must be read before the evaluation is repeated. */
  takeNeeds(): readonly Need[] {
    const needs = [...this.#needs.values()]
    this.#needs.clear()
    return needs
  }

  hasNeeds(): boolean {
    return this.#needs.size > 0
  }

  /** @throws Missing where something is needed */
  stopIfMissing(): void {
    if (this.#needs.size > 0) throw new Missing()
  }

  /** The members of a level in their order. @throws Missing */
  list(at: SpaceHierarchy, level: SpaceLevel, conditions: readonly Condition[]): readonly KeyMember[] {
    const id = listId(level, conditions)
    const found = this.#lists.get(id)
    if (found !== undefined) return found
    this.#needs.set(id, { kind: 'members', at, level, keys: undefined, conditions })
    throw new Missing()
  }

  /** Whether all members of a level were read. */
  isListed(level: SpaceLevel, conditions: readonly Condition[]): boolean {
    return this.#lists.has(listId(level, conditions))
  }

  /** Whether there is a member of that key. Undefined where that must be read first. */
  exists(at: SpaceHierarchy, level: SpaceLevel, key: string): boolean | undefined {
    const id = listId(level, [])
    const known = this.#found.get(id)?.get(key)
    if (known !== undefined) return known
    const need = this.#needs.get(`?${id}`)
    const keys = need?.kind === 'members' && need.keys !== undefined ? need.keys : new Set<string>()
    keys.add(key)
    this.#needs.set(`?${id}`, { kind: 'members', at, level, keys, conditions: [] })
    return undefined
  }

  /**
   * The value of a measure for members of different hierarchies. Where it must be read first, the need is noted, and the
   * value is undefined for now.
   */
  cell(measure: Measure, members: readonly KeyMember[], conditions: readonly Condition[]): MeasuredValue {
    const levels = members.map(({ level }) => level)
    const id = cellsId(levels, conditions)
    for (const { measures, keys, rows } of this.#cells.get(id) ?? []) {
      if (!measures.has(measure.name)) continue
      if (!members.every(({ level, key }) => keys.get(level.uniqueName)?.has(key) ?? true)) continue
      return rows.get(rowId(members.map(({ key }) => key)))?.values.get(measure.name)
    }
    this.#needCell(id, { measure, members, levels, conditions })
    return undefined
  }

  /**
   * The combinations of members of different levels that have rows, in the order of the levels. Where they must be read
   * first, the need is noted, and they are undefined for now.
   * @param measure one that is shown, where there is one, so that its values come with the rows
   * @param dimension a joined one, of whose own rows the levels are
   */
  combinations(
    measure: Measure | undefined,
    given: readonly { readonly level: SpaceLevel; readonly keys: ReadonlySet<string | null> }[],
    conditions: readonly Condition[],
    dimension?: string,
  ): readonly CellRow[] | undefined {
    const levels = given.map(({ level }) => level)
    const id = cellsId(levels, conditions, dimension)
    for (const { measures, keys: read, rows } of this.#cells.get(id) ?? []) {
      const holds = given.every(({ level, keys }) => {
        const known = read.get(level.uniqueName)
        return known === undefined || keys.isSubsetOf(known)
      })
      if ((measure === undefined || measures.has(measure.name)) && holds) return [...rows.values()]
    }
    const members = given.flatMap(({ level, keys }) => [...keys].map((key) => ({ level, key })))
    this.#needCell(id, { measure, members, levels, conditions, dimension })
    return undefined
  }

  #needCell(
    id: string,
    {
      measure,
      members,
      levels,
      conditions,
      dimension,
    }: {
      readonly measure: Measure | undefined
      readonly members: readonly Pick<KeyMember, 'level' | 'key'>[]
      readonly levels: readonly SpaceLevel[]
      readonly conditions: readonly Condition[]
      readonly dimension?: string | undefined
    },
  ): void {
    const found = this.#needs.get(id)
    const need =
      found?.kind === 'cells'
        ? found
        : {
            ...{ kind: 'cells' as const, conditions, levels, dimension },
            measures: new Map<string, Measure>(),
            // Where all members are known, most of them are shown.
            keys: new Map(
              levels.flatMap((level) =>
                this.#listed.has(level.uniqueName)
                  ? []
                  : [[level.uniqueName, new Set<string | null>()] as const],
              ),
            ),
          }
    const measures = dimension === undefined ? [...(measure ? [measure] : []), ...this.#mentioned] : []
    for (const each of measures) need.measures.set(each.name, each)
    for (const { level, key } of members) need.keys.get(level.uniqueName)?.add(key)
    this.#needs.set(id, need)
  }

  /** @throws Fault `unprocessable` beyond the bound */
  #hold(rows: number): void {
    this.#rows += rows
    if (this.#rows > this.#bounds.rowsMax)
      exceeds(`the statement reads more than ${this.#bounds.rowsMax} members and values`)
  }

  putMembers({ at, level, keys, conditions }: MemberNeed, found: readonly (string | null)[]): void {
    this.#hold(found.length)
    const id = listId(level, conditions)
    if (keys === undefined) {
      this.#listed.add(level.uniqueName)
      this.#lists.set(
        id,
        found.map((key) => memberOf(at, level, key)),
      )
      return
    }
    const known = this.#found.get(id) ?? new Map<string, boolean>()
    for (const key of keys) known.set(key, false)
    for (const key of found) if (key !== null) known.set(key, true)
    this.#found.set(id, known)
  }

  putCells({ levels, dimension, conditions, measures, keys }: CellNeed, rows: readonly CellRow[]): void {
    this.#hold(rows.length)
    const id = cellsId(levels, conditions, dimension)
    const loaded: LoadedCells = {
      measures: new Set(measures.keys()),
      keys,
      rows: new Map(rows.map((row) => [rowId(row.keys), row])),
    }
    this.#cells.set(id, [...(this.#cells.get(id) ?? []), loaded])
  }
}

const rowId = (keys: readonly (string | null)[]) => JSON.stringify(keys)
const conditionsId = (conditions: readonly Condition[]) => conditions.map(({ id }) => id).join('&')
const listId = (level: SpaceLevel, conditions: readonly Condition[]) =>
  `${level.uniqueName} ${conditionsId(conditions)}`
const cellsId = (levels: readonly SpaceLevel[], conditions: readonly Condition[], dimension = '') =>
  `${levels.map(({ uniqueName }) => uniqueName).join(' ')} / ${conditionsId(conditions)} ${dimension}`

/** The condition that a row is in one of the tuples. @returns undefined where every row is */
export function conditionOf(tuples: readonly Tuple[]): Condition | undefined {
  const given = new Map<string, readonly KeyMember[]>()
  for (const tuple of tuples) {
    const members = tuple.flatMap(keysOf)
    if (members.length === 0) return undefined
    const sorted = members.toSorted((one, other) => one.at.index - other.at.index)
    given.set(JSON.stringify(sorted.map(({ level, key }) => [level.uniqueName, key])), sorted)
  }
  const id = createHash('sha256')
    .update(JSON.stringify([...given.keys()].sort()))
    .digest('base64')
  return { id, tuples: [...given.values()] }
}

function keysOf(member: Member): readonly KeyMember[] {
  if (member.kind === 'key') return [member]
  if (member.kind === 'calculated')
    throw new Fault('bad_request', 'MDX: a calculated member cannot stand where rows are chosen.')
  return []
}
