/** Sums the differences of the matrix up as lines of docs/sql.md, each with its reason. */

import type { Difference, DifferenceKind } from './compare.ts'

const spokenKinds: Readonly<Record<DifferenceKind, string>> = {
  value: 'another value or other digits',
  type: 'another type',
  accepted: 'answers where PostgreSQL fails',
  fails: 'fails where PostgreSQL answers',
  sqlstate: 'another SQLSTATE',
  refused: 'refused',
  typmod: 'says precision and scale',
}

interface Reason {
  readonly kinds: readonly DifferenceKind[]
  readonly name?: RegExp
  /** Of what is told here and there. */
  readonly text?: RegExp
  readonly reason: string
}

/** Sums of which the last digits depend on the order of the rows. */
const sums = /^(corr|covar_\w+|regr_\w+|avg|sum|stddev\w*|var\w+)$/

/** The first that fits is the reason. */
const reasons: readonly Reason[] = [
  { kinds: ['sqlstate'], name: /^make_interval$/, reason: 'the engine adds months up as integers' },
  {
    kinds: ['value'],
    name: /^avg$/,
    text: /years|mons|days/,
    reason: 'the engine divides intervals exactly',
  },
  { kinds: ['value'], name: /^right$/, reason: 'the least integer is no length' },
  {
    kinds: ['accepted'],
    name: /^pow(er)?$/,
    reason: 'floating-point results beyond the range are infinite or zero',
  },
  {
    kinds: ['refused'],
    text: /non-literal/,
    reason: 'the engine needs a literal there',
  },
  { kinds: ['refused'], reason: 'no engine has it, or it is refused above' },
  {
    kinds: ['fails', 'sqlstate', 'accepted'],
    name: sums,
    reason: 'an infinity or NaN among the values ends the sum in another way',
  },
  { kinds: ['fails'], name: /^(lpad|rpad|repeat)$/, reason: 'up to 10,000 characters, or times' },
  { kinds: ['fails'], name: /^make_(date|timestamp)/, reason: 'years before 1 are not made' },
  { kinds: ['fails'], name: /^to_(date|timestamp)$/, reason: 'text must have what the pattern has' },
  { kinds: ['typmod'], reason: 'a numeric is described as the decimal that the engine returns' },
  {
    kinds: ['fails', 'sqlstate'],
    text: /DECIMAL|decimal|22003/,
    reason: 'the widest decimal of the engines has 38 digits, and no NaN',
  },
  {
    kinds: ['accepted'],
    text: /Infinity|NaN/,
    reason: 'floating-point results beyond the range are infinite',
  },
  { kinds: ['accepted'], text: /22025/, reason: 'a pattern is read only as far as the text matches' },
  { kinds: ['accepted'], text: /infinity/, reason: 'a date beyond the range is infinite' },
  { kinds: ['value'], name: /^(ARRAY|\|\|)$/, reason: 'elements of a numeric[] share one scale' },
  {
    kinds: ['value', 'fails'],
    name: /^(\^|exp|ln|log|log10|pow|power|sqrt)$/,
    reason: 'powers, roots and logarithms are computed as double precision',
  },
  {
    kinds: ['value'],
    name: /^(stddev|variance|var_|avg)/,
    reason: 'beyond 15 digits a statistic is computed as double precision',
  },
  { kinds: ['value'], name: sums, reason: 'doubles are added up in another order' },
  {
    kinds: ['value'],
    name: /^div$/,
    reason: 'operands that have no room in 38 digits are divided as doubles',
  },
  { kinds: ['value'], name: /^array_/, reason: 'elements of a numeric[] share one scale' },
  { kinds: ['value'], name: /^jsonb_object_agg$/, reason: 'a key that is there twice is kept twice' },
  { kinds: ['type'], name: /^pg_typeof$/, reason: 'a type is named by a text' },
  { kinds: ['value'], text: /-0\b/, reason: 'of 0 and -0 the engine takes either' },
  {
    kinds: ['value'],
    name: /^(CASE|COALESCE|GREATEST|LEAST|NULLIF)$/,
    reason: 'beside a numeric of 38 digits, numerics share one scale',
  },
  { kinds: ['value'], reason: 'the engine writes or computes it so' },
  { kinds: ['fails'], reason: 'the engine reads fewer values' },
  { kinds: ['sqlstate'], reason: 'the fault is found by another rule' },
  { kinds: ['type'], reason: 'the form has another rule here' },
  { kinds: ['accepted'], reason: 'a literal without a type is read as text' },
]

function reasonOf({ kind, call, here, there }: Difference): string {
  const found = reasons.find(
    ({ kinds, name, text }) =>
      kinds.includes(kind) &&
      (name === undefined || name.test(call.name)) &&
      (text === undefined || text.test(`${here} ${there}`)),
  )
  return found?.reason ?? 'without a reason yet'
}

/** How many pairs of types a line names. */
const named = 3
const cell = (text: string): string => text.replaceAll('|', '\\|')

/** The table's lines: one for each operator, kind and reason. */
export function listing(differences: readonly Difference[]): readonly string[] {
  const groups = new Map<string, Difference[]>()
  for (const each of differences) {
    const key = [each.call.name, spokenKinds[each.kind], reasonOf(each)].join('\0')
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  const lines = [...groups].map(([key, group]) => {
    const [name = '', kind, reason] = key.split('\0')
    const types = group.slice(0, named).map(({ call }) => `\`${call.types.join(', ')}\``)
    const more = group.length > named ? ` and ${group.length - named} more` : ''
    return `| \`${cell(name)}\` | ${kind} | ${cell(types.join(', '))}${more} | ${reason} |`
  })
  return lines.sort((a, b) => (a < b ? -1 : 1))
}

const page = new URL('../../../docs/sql.md', import.meta.url)

/** Lines for differences of a kind that a table of docs/sql.md does not have of that operator or function. */
export async function unlisted(name: string, lines: readonly string[]): Promise<readonly string[]> {
  const text = await Bun.file(page).text()
  const table = text.slice(text.indexOf(`<!-- ${name}: begin -->`), text.indexOf(`<!-- ${name}: end -->`))
  // The types that a line names are some of those that differ.
  const withoutTypes = (line: string) => line.split(' | ').toSpliced(2, 1).join(' | ')
  const listed = new Set(table.split('\n').map(withoutTypes))
  return lines.filter((line) => !listed.has(withoutTypes(line)))
}

/** A table of docs/sql.md as it should be and as it is. `RECORD` in the environment writes it. */
export async function recordTable(
  name: string,
  heading: string,
  lines: readonly string[],
): Promise<{ readonly told: string; readonly listed: string }> {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`]
  const head = [`| ${heading} | What differs | Types | Why |`, '|---|---|---|---|']
  const told = [begin, '', ...head, ...lines, '', end].join('\n')
  const text = await Bun.file(page).text()
  const listed = text.slice(text.indexOf(begin), text.indexOf(end) + end.length)
  if (process.env.RECORD === undefined) return { told, listed }
  await Bun.write(
    page,
    text.replace(listed, () => told),
  )
  return { told, listed: told }
}
