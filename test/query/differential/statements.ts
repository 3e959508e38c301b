/** Builds random statements over the table `t`, with expressions in every place where hidden rows could fail. */

import type { SqlType } from '../../../src/core/sql-type.ts'
import { aggregates } from '../../../src/query/compile/functions/aggregates.ts'
import { type Random, randomFrom } from '../fuzz.ts'
import { constantOf } from './constants.ts'
import { comparable, expression, type Names, namesOf } from './expressions.ts'
import type { Statement } from './pairs.ts'

/** The statement of one seed. */
export function statementOf(random: Random): Statement {
  return random.pick(shapes)(random)
}

/** A generator for one pair of a run, so that a run can begin anywhere. */
export function randomOfPair(seed: number, index: number): Random {
  const random = randomFrom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b))
  // Seeds that are near one another begin alike.
  for (let skip = 0; skip < 8; skip++) random.below(2)
  return random
}

const depthOf = (random: Random) => 1 + random.below(3)
const own = namesOf('t')
const any = (random: Random, names: Names) => typed(random, names, random.pick(comparable))
const condition = (random: Random, names: Names) => typed(random, names, 'bool')

/** Most often one that reads a column. */
function typed(random: Random, names: Names, type: SqlType): string {
  let text = ''
  for (let attempts = 0; attempts < 4 && !/\b[tabsu]\.\w/.test(text); attempts++)
    text = expression(random, names, type, depthOf(random))
  return text
}

const where = (random: Random, names: Names) =>
  random.below(3) === 0 ? '' : ` WHERE ${condition(random, names)}`

/** The columns of two relations. */
function both(one: string, other: string): Names {
  const more = namesOf(other)
  return new Map([...namesOf(one)].map(([type, names]) => [type, [...names, ...(more.get(type) ?? [])]]))
}

/** Targets of a subquery, and what is known of them above it. */
function derived(random: Random, names: Names): { readonly list: string; readonly above: Names } {
  const types = Array.from({ length: 1 + random.below(3) }, () => random.pick(comparable))
  const list = types.map(
    (type, index) => `${expression(random, names, type, depthOf(random) - 1)} AS x${index}`,
  )
  const columns = types.map((sql, index) => ({ name: `x${index}`, sql }))
  return { list: list.join(', '), above: namesOf('s', columns) }
}

function aggregate(random: Random, names: Names): string {
  const filter = random.below(3) === 0 ? ` FILTER (WHERE ${condition(random, names)})` : ''
  const def = random.pick([...aggregates.values()].flat())
  if (def.duckdb === null || def.name === 'mode' || def.name === 'any_value')
    return `count(${any(random, names)})${filter}`
  if (def.ordered) {
    const key = def.args[1] as SqlType
    return `${def.name}(0.5) WITHIN GROUP (ORDER BY ${expression(random, names, key, depthOf(random))})${filter}`
  }
  const args = def.args.map((arg, index) => {
    if (def.literalArgs.includes(index)) return `','`
    const type =
      arg === 'any' || arg === 'anyelement'
        ? random.pick(['text', 'int4', 'date', 'float8', 'timestamp'] as const)
        : (arg as SqlType)
    return typed(random, names, type)
  })
  if (args.length === 0) return `count(*)${filter}`
  const order = def.keepsOrder ? ' ORDER BY t.id' : ''
  const written = `${def.name}(${!def.keepsOrder && random.below(6) === 0 ? 'DISTINCT ' : ''}${args.join(', ')}${order})${filter}`
  // What they give is as exact as the order of adding lets it be.
  return isStatistic.test(def.name) || (args.length > 1 && !def.keepsOrder) ? `(${written} IS NULL)` : written
}
const isStatistic = /^(stddev|var|corr|covar|regr|avg$)/

const targets = (random: Random, names: Names) =>
  Array.from({ length: 1 + random.below(3) }, () => any(random, names)).join(', ')

const unordered = (text: string): Statement => ({ text, ordered: false })
const ordered = (text: string): Statement => ({ text, ordered: true })

const shapes: readonly ((random: Random) => Statement)[] = [
  (random) => unordered(`SELECT ${targets(random, own)} FROM t${where(random, own)}`),
  (random) => unordered(`SELECT count(*) FROM t WHERE ${condition(random, own)}`),
  (random) =>
    ordered(
      `SELECT t.id, ${targets(random, own)} FROM t${where(random, own)} ORDER BY t.id${random.below(2) === 0 ? ' DESC' : ''}${random.below(2) === 0 ? ` LIMIT ${1 + random.below(20)}` : ''}`,
    ),
  (random) =>
    ordered(
      `SELECT t.id FROM t${where(random, own)} ORDER BY ${any(random, own)}, t.id${random.below(2) === 0 ? ' LIMIT 7' : ''}`,
    ),
  (random) =>
    unordered(`SELECT ${aggregate(random, own)}, ${aggregate(random, own)} FROM t${where(random, own)}`),
  (random) => {
    const key = any(random, own)
    const having = random.below(2) === 0 ? ` HAVING ${aggregate(random, own)} IS NOT NULL` : ''
    return unordered(
      `SELECT ${key} AS k, ${aggregate(random, own)} FROM t${where(random, own)} GROUP BY ${key}${having}`,
    )
  },
  (random) => unordered(`SELECT count(*) FROM t GROUP BY ${any(random, own)}`),
  (random) => unordered(`SELECT DISTINCT ${targets(random, own)} FROM t${where(random, own)}`),
  (random) => {
    const key = any(random, own)
    return unordered(`SELECT DISTINCT ON (${key}) t.id FROM t${where(random, own)} ORDER BY ${key}, t.id`)
  },
  (random) => {
    const { list, above } = derived(random, own)
    return unordered(
      `SELECT ${targets(random, above)} FROM (SELECT ${list} FROM t${where(random, own)} OFFSET 0) s${where(random, above)}`,
    )
  },
  (random) => {
    const { list, above } = derived(random, own)
    return unordered(
      `WITH s AS (SELECT ${list} FROM t${where(random, own)}) SELECT ${targets(random, above)} FROM s${where(random, above)}`,
    )
  },
  (random) => {
    const window = `OVER (PARTITION BY ${any(random, own)} ORDER BY t.id)`
    const value = any(random, own)
    const form = random.pick([
      `row_number()`,
      `lag(${value})`,
      `lead(${value}, 2)`,
      `first_value(${value})`,
      `count(${value})`,
      `max(t.n4)`,
    ])
    return unordered(`SELECT t.id, ${form} ${window} FROM t${where(random, own)}`)
  },
  (random) => {
    const names = both('a', 'b')
    const kind = random.pick(['JOIN', 'LEFT JOIN', 'FULL JOIN'])
    const more = kind === 'JOIN' ? ` AND ${condition(random, names)}` : ''
    return unordered(
      `SELECT ${targets(random, names)} FROM t a ${kind} t b ON a.id = b.id${more}${where(random, names)}`,
    )
  },
  (random) => {
    const type = random.pick(comparable)
    const side = () => `SELECT ${typed(random, own, type)} AS x FROM t${where(random, own)}`
    return unordered(`${side()} ${random.pick(['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT'])} ${side()}`)
  },
  (random) =>
    unordered(
      `SELECT ${targets(random, own)} FROM t WHERE t.id ${random.pick(['IN', 'NOT IN'])} (SELECT u.id FROM t u WHERE ${condition(random, namesOf('u'))})`,
    ),
  (random) =>
    unordered(
      `SELECT (SELECT ${aggregate(random, own)} FROM t${where(random, own)}), EXISTS (SELECT 1 FROM t WHERE ${condition(random, own)})`,
    ),
  (random) => {
    const element = random.pick(['text', 'int4', 'date', 'timestamp', 'float8', 'numeric'] as const)
    const names = namesOf('u', [{ name: 'x', sql: element }])
    return unordered(
      `SELECT ${targets(random, names)} FROM t, unnest(${expression(random, own, `${element}[]`, 1)}) AS u(x)${where(random, names)}`,
    )
  },
  (random) => {
    const type = random.pick(comparable)
    const s = namesOf('s', [{ name: 'x', sql: type }])
    return unordered(
      `SELECT count(*) FROM (SELECT t.id, ${expression(random, own, type, 1)} AS x FROM t OFFSET 0) s JOIN t ON t.id = s.id AND ${condition(random, s)}`,
    )
  },
  (random) => {
    const keys = [any(random, own), any(random, own)].join(', ')
    const sets = random.pick([`ROLLUP (${keys})`, `CUBE (${keys})`, `GROUPING SETS ((${keys}), ())`])
    return unordered(`SELECT ${aggregate(random, own)} FROM t${where(random, own)} GROUP BY ${sets}`)
  },
  (random) => {
    const outer = both('t', 'u')
    return unordered(
      `SELECT t.id, (SELECT max(u.id) FROM t u WHERE u.id = t.id AND ${condition(random, outer)}) FROM t WHERE ${condition(random, own)}`,
    )
  },
  (random) =>
    unordered(
      `SELECT count(*) FROM t WHERE ${random.pick(['', 'NOT '])}EXISTS (SELECT 1 FROM t u WHERE u.id = t.id AND ${condition(random, both('t', 'u'))})`,
    ),
  (random) => {
    const { list, above } = derived(random, own)
    const side = () => `SELECT ${list} FROM t${where(random, own)}`
    return unordered(
      `SELECT ${targets(random, above)} FROM (${side()} UNION ALL ${side()}) s${where(random, above)}`,
    )
  },
  (random) => {
    const { list, above } = derived(random, own)
    const inner = `SELECT ${list} FROM t${where(random, own)} ORDER BY t.id LIMIT ${1 + random.below(300)}`
    return unordered(`SELECT ${targets(random, above)} FROM (${inner}) s${where(random, above)}`)
  },
  (random) => {
    const { list, above } = derived(random, own)
    return unordered(
      `SELECT t.id, ${targets(random, above)} FROM t CROSS JOIN LATERAL (SELECT ${list}) s${where(random, above)}`,
    )
  },
  (random) => {
    const { list, above } = derived(random, own)
    return unordered(
      `SELECT count(*) FROM t LEFT JOIN (SELECT t.id AS i, ${list} FROM t${where(random, own)}) s ON t.id = s.i AND ${condition(random, above)}`,
    )
  },
  (random) => {
    const type = random.pick(['text', 'int4', 'date', 'timestamp', 'float8'] as const)
    const sign = random.pick(['= ANY', '<> ALL'])
    return unordered(
      `SELECT count(*) FROM t WHERE ${typed(random, own, type)} ${sign} (SELECT ${typed(random, namesOf('u'), type)} FROM t u WHERE ${condition(random, namesOf('u'))})`,
    )
  },
  (random) =>
    unordered(
      `SELECT t.id, sum(t.n4) OVER (ORDER BY t.id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), max(${typed(random, own, 'text')}) FILTER (WHERE ${condition(random, own)}) OVER (PARTITION BY t.tier) FROM t${where(random, own)}`,
    ),
  (random) => {
    const element = random.pick(['text', 'int4', 'date', 'timestamp', 'float8', 'numeric'] as const)
    const array = expression(random, own, `${element}[]`, 1)
    return unordered(`SELECT t.id, unnest(${array}), ${any(random, own)} FROM t${where(random, own)}`)
  },
  (random) =>
    unordered(
      `SELECT u.*, t.id FROM t CROSS JOIN LATERAL unnest(${expression(random, own, 'text[]', 1)}, ${expression(random, own, 'int4[]', 1)}) WITH ORDINALITY AS u(a, b, n)${where(random, own)}`,
    ),
  (random) => {
    const set = random.pick([
      `jsonb_array_elements_text(jsonb_build_array(${typed(random, own, 'text')}, ${typed(random, own, 'int4')}))`,
      `json_array_elements(${expression(random, own, 'json', 1)})`,
      `jsonb_object_keys(${expression(random, own, 'jsonb', 1)})`,
      `regexp_split_to_table(${typed(random, own, 'text')}, '[aeS]')`,
      `regexp_matches(${typed(random, own, 'text')}, '([a-z])([0-9A-Z])', 'g')`,
      `string_to_table(${typed(random, own, 'text')}, ${typed(random, own, 'text')})`,
      `generate_series(1, least(${typed(random, own, 'int4')}, 5))`,
    ])
    return random.below(2) === 0
      ? unordered(`SELECT t.id, ${set} AS x FROM t${where(random, own)}`)
      : unordered(`SELECT t.id, x FROM t, LATERAL ${set} AS x${where(random, own)}`)
  },
  (random) => {
    const { list } = derived(random, own)
    const row = random.pick(['row_to_json(s)', 'to_jsonb(s)', 'json_agg(s ORDER BY s.id)', 'count(s)'])
    return unordered(`SELECT ${row} FROM (SELECT t.id, ${list} FROM t${where(random, own)}) s`)
  },
  (random) => {
    const step = `SELECT t.id, ${typed(random, own, 'text')} || r.name FROM t JOIN r ON t.id = r.id + 1`
    const more = random.below(2) === 0 ? ` AND ${condition(random, own)}` : ''
    const base = `SELECT t.id, ${typed(random, own, 'text')} FROM t WHERE t.id < 3`
    return unordered(
      `WITH RECURSIVE r(id, name) AS (${base} UNION ${random.pick(['', 'ALL '])}${step}${more}) SELECT count(*), max(name) FROM r`,
    )
  },
  (random) => {
    const key = typed(random, own, random.pick(['text', 'int8', 'date'] as const))
    const hash = `('x' || md5((${key})::varchar))::bit(64)::bigint::DECIMAL(65) * 18446744073709551616 + ('x' || substr(md5((${key})::varchar), 17))::bit(64)::bigint::DECIMAL(65)`
    const value = `CAST(floor(coalesce(${typed(random, own, random.pick(['numeric', 'int4'] as const))}, 0) * (1000 * 1.0)) AS DECIMAL(65,0))`
    return unordered(
      `SELECT CAST(sum(DISTINCT ${value} + ${hash}) - sum(DISTINCT ${hash}) AS DOUBLE PRECISION) FROM t${where(random, own)}`,
    )
  },
  (random) => unordered(`SELECT ${hot(random)} FROM t`),
  (random) => unordered(`SELECT count(*) FROM t WHERE (${hot(random)}) IS NOT NULL`),
  (random) =>
    unordered(
      `SELECT count(*) FILTER (WHERE (${hot(random)}) IS NULL), max(t.id) FROM t${where(random, own)}`,
    ),
]

/** What is known to fail on hidden values where no barrier stands. */
function hot(random: Random): string {
  const sub = (type: SqlType) => expression(random, own, type, random.below(2))
  const arrays = [
    'text[]',
    'int4[]',
    'int8[]',
    'float8[]',
    'numeric[]',
    'date[]',
    'timestamp[]',
    'timestamptz[]',
  ] as const
  return random.pick([
    () => `'X' LIKE replace(${sub('text')}, 'SECRET', '\\')`,
    () => `'X' LIKE regexp_replace(${sub('text')}, '^S.*$', '\\\\')`,
    () => `${constantOf(random, 'text')} ILIKE (${sub('text')} || '\\')`,
    () => `extract(epoch FROM ${sub('date')})`,
    () => `age(${sub('timestamp')}, ${constantOf(random, 'timestamp')})`,
    () => `to_timestamp(${sub('float8')})`,
    () => `(${sub('timestamptz')} - ${constantOf(random, 'timestamptz')})`,
    () => {
      const from = random.pick(arrays)
      return `CAST(${sub(from)} AS ${random.pick(arrays.filter((to) => to !== from && to !== 'text[]'))})`
    },
    () => `date_trunc('day', ${sub('date')})`,
    () => `(${sub('timestamp')})::text`,
  ])()
}
