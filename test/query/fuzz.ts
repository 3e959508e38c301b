/** Builds random and mutated statements for the fuzz tests from one seed. */

import { attacks } from './attacks/all.ts'
import { corpus } from './corpus/all.ts'

export interface Random {
  readonly below: (limit: number) => number
  readonly pick: <T>(items: readonly T[]) => T
}

/** A small generator of its own (xorshift32), so that a seed gives the same statements everywhere. */
export function randomFrom(seed: number): Random {
  let state = seed | 0 || 1
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  const below = (limit: number) => next() % Math.max(1, limit)
  return {
    below,
    pick: (items) => {
      const item = items[below(items.length)]
      if (item === undefined) throw new RangeError('nothing to pick from')
      return item
    },
  }
}

const sources = [
  ...corpus.map(({ sql }) => sql),
  ...attacks.flatMap(({ sql }) =>
    sql.length < 2_000 && !/^SELECT g FROM generate_series/.test(sql) ? [sql] : [],
  ),
]

const words =
  `SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET UNION ALL INTERSECT EXCEPT WITH AS JOIN LEFT RIGHT FULL CROSS LATERAL ON USING NATURAL DISTINCT CASE WHEN THEN ELSE END AND OR NOT IN IS NULL LIKE ILIKE SIMILAR TO BETWEEN EXISTS ANY ARRAY OVER PARTITION ROWS RANGE FILTER ROLLUP CUBE GROUPING SETS VALUES CAST ::text ::int ::date ::jsonb ( ) , . * + - / % || = <> < > ~ -> ->> @> [ ] ; ' " $1 $$ -- /* */ 0 1 2.5 'x' '{a}' 'CANARY' NULL true orders customers items employees base_orders _b t1 c1 c11 note email ssn region status id amount tags payload created_at SECRET sales hr main count(*) sum( max( coalesce( note(o) o.* (o).note interval '1 day' generate_series( unnest( FOR UPDATE INTO ONLY TABLESAMPLE COLLATE`.split(
    ' ',
  )

/** Random bytes as text. */
export function randomBytes(random: Random): string {
  return Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256))).toString('latin1')
}

/** Random words of the language. */
export function randomWords(random: Random): string {
  return `SELECT ${Array.from({ length: 1 + random.below(30) }, () => random.pick(words)).join(' ')}`
}

/** A legal or hostile statement, cut, spliced with another and sprinkled with words. */
export function mutated(random: Random): string {
  let text = random.pick(sources)
  const names =
    /\b(orders|customers|items|employees|status|region|note|email|phone|ssn|amount|quantity|tags|payload|created_at|id|name|city|sku)\b/g
  for (let edits = 1 + (random.below(3) === 0 ? random.below(4) : 0); edits > 0; edits--) {
    const parts = text.split(/(\s+|[(),.])/)
    const at = random.below(parts.length)
    const other = random.pick(sources).split(/(\s+|[(),.])/)
    const from = random.below(other.length)
    switch (random.below(8)) {
      case 0:
        parts.splice(at, 1 + random.below(4))
        break
      case 1:
        parts.splice(at, random.below(2), ` ${random.pick(words)} `)
        break
      case 2:
        parts.splice(at, 0, ...other.slice(from, from + 1 + random.below(12)))
        break
      case 3:
        parts.splice(at, 1, parts[random.below(parts.length)] ?? '')
        break
      default: {
        // One name for another of the fixture: often still a statement.
        const found = [...text.matchAll(names)]
        const one = found[random.below(found.length)]
        const other = [...random.pick(sources).matchAll(names)][0]?.[0] ?? 'note'
        if (one) text = text.slice(0, one.index) + other + text.slice(one.index + one[0].length)
        continue
      }
    }
    text = parts.join('')
  }
  return text.slice(0, 4_000)
}
