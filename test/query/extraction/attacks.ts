/** Expressions that fail on values of hidden rows, and the places of a statement into which they are put. */

export interface ErrorAttack {
  readonly name: string
  /** SQL over the columns of the differential fixtures; it does not fail on what they show. */
  readonly expression: string
}

const textAttacks: readonly ErrorAttack[] = [
  ['LIKE of replace', `'X' LIKE replace(name, 'SECRET', '\\')`],
  ['LIKE of regexp_replace', `'X' LIKE regexp_replace(name, '^S.*$', '\\\\')`],
  ['LIKE of translate', `'X' LIKE translate(name, 'T', '\\')`],
  ['LIKE of ||', `'X' LIKE (name || '')`],
  ['LIKE of substr', `'X' LIKE substr(name, 2, 1)`],
  ['NOT LIKE of a column', `'X' NOT LIKE name`],
  ['ILIKE of a column', `doc ILIKE name`],
  ['LIKE of reverse and lower', `'X' LIKE replace(lower(reverse(name)), 'terces', '\\')`],
  ['LIKE of CASE', `'X' LIKE CASE WHEN name LIKE 'SEC%' THEN '\\' ELSE name END`],
  ['LIKE of what shows its end', `'X' LIKE code`],
  ['LIKE of replace in what shows its end', `'X' LIKE replace(code, 'SECRET-%', '')`],
].map(([name = '', expression = '']) => ({ name, expression }))

const otherAttacks: readonly ErrorAttack[] = [
  ['epoch of a date', 'extract(epoch FROM day)'],
  ['date_trunc of a date', `date_trunc('day', day)`],
  ['a date as a timestamp', 'CAST(day AS timestamp)'],
  ['age', `age(ts, timestamp '2024-01-01')`],
  ['a timestamp as text', 'CAST(ts AS text)'],
  ['date_trunc of a timestamp', `date_trunc('month', ts)`],
  ['an instant minus an instant', `tz - timestamptz '2024-01-01 00:00:00+00'`],
  ['an instant plus an interval', `tz + interval '1 month'`],
  ['to_timestamp', 'to_timestamp(f8)'],
  ['a float as an integer', 'CAST(f8 AS integer)'],
  ['sqrt', 'sqrt(f8)'],
  ['division', '100 / n4'],
  ['an overflow', 'n4 * n4'],
  ['a decimal to fewer digits', 'CAST(amount AS numeric(5,2))'],
  ['text as a number', 'CAST(digits AS integer)'],
  ['text as a date', 'CAST(day_text AS date)'],
  ['text as JSON', 'CAST(doc AS jsonb)'],
  ['a list made of text as numbers', `CAST(string_to_array(digits, ',') AS int[])`],
  ['a list around text as numbers', 'CAST(ARRAY[digits] AS int[])'],
].map(([name = '', expression = '']) => ({ name, expression }))

/** Not under masks: no mask with an expression can be saved for a column of lists. */
export const listAttacks: readonly ErrorAttack[] = [
  ['text[] as int[]', 'CAST(tags AS int[])'],
  ['bigint[] as int[]', 'CAST(longs AS int[])'],
  ['float8[] as int[]', 'CAST(reals AS int[])'],
  ['numeric[] as smallint[]', 'CAST(decs AS smallint[])'],
  ['date[] as timestamp[]', 'CAST(days AS timestamp[])'],
  ['timestamp[] as text[]', 'CAST(times AS text[])'],
].map(([name = '', expression = '']) => ({ name, expression }))

export const attacks: readonly ErrorAttack[] = [...textAttacks, ...otherAttacks]

/** Statements over the table `t` around an expression. */
export const places: Readonly<Record<string, (expression: string) => string>> = {
  'select list': (e) => `SELECT ${e} FROM t`,
  WHERE: (e) => `SELECT count(*) FROM t WHERE (${e}) IS NOT NULL`,
  FILTER: (e) => `SELECT count(*) FILTER (WHERE (${e}) IS NOT NULL) FROM t`,
  'GROUP BY': (e) => `SELECT count(*) FROM t GROUP BY ${e}`,
  'above OFFSET 0': (e) => `SELECT count(*) FROM (SELECT * FROM t OFFSET 0) AS t WHERE (${e}) IS NOT NULL`,
  HAVING: (e) => `SELECT region FROM t GROUP BY region HAVING count(${e}) >= 0`,
  'ORDER BY': (e) => `SELECT id FROM t ORDER BY (${e}) IS NULL, id LIMIT 3`,
  window: (e) => `SELECT id, count(*) OVER (PARTITION BY (${e}) IS NULL) FROM t`,
  aggregate: (e) => `SELECT count(DISTINCT ${e}), count(*) FROM t`,
  join: (e) => `SELECT count(*) FROM t JOIN (SELECT id AS i FROM t) AS u ON id = i AND (${e}) IS NOT NULL`,
  subquery: (e) => `SELECT count(*) FROM t WHERE id IN (SELECT id FROM t WHERE (${e}) IS NOT NULL)`,
  CASE: (e) => `SELECT CASE WHEN tier > 0 THEN (${e}) IS NULL END FROM t`,
  coalesce: (e) => `SELECT coalesce(${e}, NULL) FROM t`,
  CTE: (e) => `WITH s AS (SELECT (${e}) IS NULL AS x FROM t) SELECT x, count(*) FROM s GROUP BY x`,
}

export interface PlacedAttack {
  readonly name: string
  readonly text: string
}

/**
 * Attacks as statements: the first in every place, since it can ask anything of a text, the others in one.
 * @param turn another number gives other places
 */
export function statementsOf(tried: readonly ErrorAttack[], turn: number): readonly PlacedAttack[] {
  const names = Object.keys(places)
  return tried.flatMap((attack, index) => {
    const one = names[(index + 2 * turn) % names.length] ?? 'WHERE'
    return (index === 0 ? names : [one]).map((place) => ({
      name: `${attack.name} in ${place}`,
      text: places[place]?.(attack.expression) ?? '',
    }))
  })
}
