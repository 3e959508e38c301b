/**
 * Random pivots, and what SQL by hand gives for each over the table as the same principal reads it: rows, columns, nested
 * fields, subselects and slicers.
 */

import type { Cellset } from '../../../src/semantics/mdx/cellset.ts'

interface Field {
  readonly name: string
  /** Its key level. */
  readonly level: string
  /** In SQL, as text. */
  readonly sql: string
}

const calendar = (level: string, grain: string): Field => ({
  name: '[orders].[day.Calendar]',
  level,
  sql: `date_trunc('${grain}', day::timestamp)::date::text`,
})
const plain = (name: string, sql = `${name}::text`): Field => ({
  name: `[orders].[${name}]`,
  level: name,
  sql,
})
const fields: readonly Field[] = [
  plain('region'),
  plain('email'),
  plain('paid', "CASE WHEN paid THEN 't' WHEN NOT paid THEN 'f' END"),
  plain('initial', 'left(region, 1)'),
  // Some are NULL.
  plain('note'),
  calendar('Month', 'month'),
  calendar('Quarter', 'quarter'),
  {
    name: '[area].[name]',
    level: 'name',
    sql: '(SELECT r.name FROM sales.regions r WHERE r.name = o.region)',
  },
]

const measures: readonly (readonly [string, string])[] = [
  ['revenue', 'sum(amount)::float8'],
  ['orders', 'count(*)::float8'],
  ['buyers', 'count(DISTINCT email)::float8'],
  ['basket', 'sum(amount)::float8 / count(*)'],
]

const absent = '~'
const parted = '^'

export interface Pivot {
  readonly shown: readonly string[]
  readonly rows: readonly Field[]
  readonly columns: readonly Field[]
  readonly within: readonly (readonly [Field, readonly string[]])[]
  readonly sliced: readonly (readonly [Field, string])[]
}

/** Runs SQL as the principal of the pivots; the lines of its answer, as readOverWire gives them. */
export type Ask = (text: string) => Promise<readonly string[]>

async function read(ask: Ask, text: string): Promise<readonly (readonly string[])[]> {
  const lines = await ask(text)
  const error = lines.find((line) => line.startsWith('E'))
  if (error !== undefined) throw new Error(`${text}\n${error}`)
  return lines.flatMap((line) => (line.startsWith('D ') ? [line.slice(2).split(parted)] : []))
}

const quoted = (text: string) => `'${text}'`
const keyOf = ({ sql }: Field) => `coalesce(${sql}, '${absent}')`
const memberOf = ({ name, level }: Field, key: string) =>
  `${name.includes('Calendar') ? `${name}.[${level}]` : name}.&${key === absent ? '' : `[${key}]`}`
const setOf = ({ name, level }: Field) => `{${name}.[All], ${name}.[${level}].Members}`

/** A pivot over the cube of cube-lake.ts, with members that the principal sees. */
export async function randomPivot(random: () => number, ask: Ask): Promise<Pivot> {
  const pick = <T>(items: readonly T[], count: number) => {
    const left = [...items]
    return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)).flat()
  }
  // Two levels of one calendar do not meet.
  const some = pick(fields, 5).filter(
    ({ name }, index, all) => all.findIndex((each) => each.name === name) === index,
  )
  // An address or a note for each row, crossed with another, is beyond what a test needs.
  const narrow = some.filter(({ level }) => !['email', 'note'].includes(level))
  const wide = random() < 0.3 ? some.slice(0, 1) : narrow.slice(0, 1 + Math.floor(random() * 2))
  const rest = narrow.filter((field) => !wide.includes(field))
  const columns = random() < 0.5 ? rest.slice(0, 1) : []
  const others = rest.filter((field) => !columns.includes(field))
  const membersOf = async (field: Field) =>
    (await read(ask, `SELECT ${keyOf(field)} FROM sales.orders o GROUP BY 1 ORDER BY 1`)).map(
      ([key = '']) => key,
    )
  const filtered = [...wide, ...others].filter(() => random() < 0.4)
  const within = await Promise.all(
    filtered.map(async (field) => {
      const keys = await membersOf(field)
      return [field, pick(keys, Math.min(keys.length, 1 + Math.floor(random() * 3)))] as const
    }),
  )
  const slicing = others.filter((field) => !filtered.includes(field) && random() < 0.5).slice(0, 1)
  const sliced = await Promise.all(
    slicing.map(async (field) => {
      const keys = await membersOf(field)
      return [field, keys[Math.floor(random() * keys.length)] ?? absent] as const
    }),
  )
  const shown = pick(measures, 1 + Math.floor(random() * 3)).map(([name]) => name)
  return { shown, rows: wide, columns, within, sliced }
}

/** Its statement in MDX. */
export function mdxOf({ shown, rows, columns, within, sliced }: Pivot, nonEmpty: boolean): string {
  const values = `{${shown.map((name) => `[Measures].[${name}]`).join(', ')}}`
  const empty = nonEmpty ? 'NON EMPTY ' : ''
  const crossed = (sets: readonly string[]) =>
    sets.length === 1 ? sets.join('') : `CrossJoin(${sets.join(', ')})`
  const from = within.reduce(
    (inner, [field, keys]) =>
      `(SELECT ({${keys.map((key) => memberOf(field, key)).join(', ')}}) ON COLUMNS FROM ${inner})`,
    '[sales.orders]',
  )
  const where =
    sliced.length === 0 ? '' : ` WHERE (${sliced.map(([field, key]) => memberOf(field, key)).join(', ')})`
  return `SELECT ${empty}${crossed([...columns.map(setOf), values])} ON COLUMNS, ${empty}Hierarchize(${crossed(rows.map(setOf))}) ON ROWS FROM ${from}${where}`
}

/** Values by the captions' keys, the columns' fields first. */
async function expected(ask: Ask, { shown, rows, columns, within, sliced }: Pivot) {
  const keys = [...columns, ...rows]
  const conditions = [...within, ...sliced.map(([field, key]) => [field, [key]] as const)].map(
    ([field, given]) => `${keyOf(field)} IN (${given.map(quoted).join(', ')})`,
  )
  const named = keys.map((field, index) => `${keyOf(field)} AS k${index}`)
  const inner = `SELECT *, ${named.join(', ')} FROM sales.orders o${conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''}`
  const places = keys.map((_, index) => `k${index}`)
  const values = shown.map((name) => measures.find(([each]) => each === name)?.[1] ?? '')
  const parts = [
    ...places.map((place) => `CASE WHEN GROUPING(${place}) = 1 THEN 'All' ELSE 'k:' || ${place} END`),
    ...values.map((value) => `(${value})::text`),
  ]
  const found = new Map<string, number>()
  const text = `SELECT concat_ws('${parted}', ${parts.join(', ')}) FROM (${inner}) s GROUP BY CUBE (${places.join(', ')}) HAVING count(*) > 0`
  for (const row of await read(ask, text))
    shown.forEach((name, index) => {
      found.set([...row.slice(0, keys.length), name].join(parted), Number(row[keys.length + index]))
    })
  return found
}

/** Values of a cellset by the same keys. */
function answered({ axes, cells }: Cellset): ReadonlyMap<string, number> {
  const [columns, rows] = axes.map(({ tuples }) =>
    tuples.map((tuple) =>
      tuple.map(({ uniqueName, levelNumber, hierarchy, caption }) => {
        if (hierarchy === '[Measures]') return caption
        if (levelNumber === 0) return 'All'
        return `k:${/&\[(.*)\]$/.exec(uniqueName)?.[1] ?? absent}`
      }),
    ),
  )
  const width = columns?.length ?? 1
  return new Map(
    cells.map(({ ordinal, value }) => {
      const across = columns?.[ordinal % width] ?? []
      const key = [
        ...across.slice(0, -1),
        ...(rows?.[Math.floor(ordinal / width)] ?? []),
        ...across.slice(-1),
      ]
      return [key.join(parted), Number(value)]
    }),
  )
}

const rounded = (values: ReadonlyMap<string, number>): readonly string[] =>
  [...values].map(([key, value]) => `${key} = ${value.toPrecision(11)}`).sort()

/** Every group of a pivot with its values, by SQL. */
export const groupsBySql = async (ask: Ask, pivot: Pivot) => rounded(await expected(ask, pivot))
/** The same of its cellset. */
export const groupsOf = (cellset: Cellset) => rounded(answered(cellset))
