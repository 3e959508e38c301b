/**
 * docs/sql-coverage.md lists what PostgreSQL 18 has over the served types and the read path has not, with a reason each.
 * `RECORD=1` writes it again.
 */

import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { scalarTypes, typeOid } from '../../src/core/sql-type.ts'
import { aggregates, windowFunctions } from '../../src/query/compile/functions/aggregates.ts'
import { operators } from '../../src/query/compile/functions/operators.ts'
import { functions } from '../../src/query/compile/functions/registry.ts'
import { setFunctions } from '../../src/query/compile/functions/sets.ts'
import { startOracle } from '../query/support/postgres.ts'

const oracle = await startOracle()
afterAll(async () => await oracle?.stop())

const path = join(import.meta.dir, '../../docs/sql-coverage.md')

/** What has a place of its own in the resolver instead of one in a registry. */
const elsewhere: ReadonlySet<string> = new Set([
  ...['unnest', 'generate_series', 'row_to_json', 'version', 'like_escape', 'similar_to_escape'],
  ...['json_to_record', 'json_to_recordset', 'jsonb_to_record', 'jsonb_to_recordset'],
  ...['=', '<>', '<', '>', '<=', '>=', '~~', '!~~', '~~*', '!~~*'],
])

/** Why something is not served, by its name. The first that fits counts. */
const reasons: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /^(?:pg_|has_|lo_|lo(?:read|write)|txid_|inet_|ts_|row_security|lastval|set_config|current_(?:query|setting)|system_user|to_regtypemod)/,
    'tells of a server or its catalog, or changes it: the wire answers it beside the catalog, or there is no such thing here',
  ],
  [/^xml/, 'of XML, which is not served'],
  [
    /^(?:timeofday|icu_|unicode_|is_normalized|normalize|casefold|to_ascii|unistr)/,
    'depends on a locale or version of Unicode that each engine brings itself',
  ],
  [
    /_subdiff$|^(?:dexp|dlog1|dlog10|dround|dtrunc|int4inc|int8_sum|numeric_(?:exp|inc|ln|log|sqrt|div_trunc)|textlen|like|notlike|timestamp|timestamptz|similar_escape)$/,
    'another name of a function or operator that is served, for PostgreSQL itself',
  ],
  [/^(?:a?(?:sin|cos|tan)d|cotd|atan2d)$/, 'exact at whole angles in PostgreSQL, which engines are not'],
  [/^(?:erfc?|crc32c?|sha(?:224|384|512)|random_normal|array_s(?:ample|huffle))$/, 'no engine has it'],
  [/^(?:(?:min_)?scale|trim_scale)$/, 'engines do not keep how many digits a numeric was written with'],
  [
    /^(?:set_(?:bit|byte)|get_bit|parse_ident|quote_ident)$/,
    'not asked for yet; no engine has it as one function',
  ],
  [
    /^jsonb?_(?:.*_(?:strict|unique)|object|populate_.*|strip_nulls|insert|pretty|set|set_lax)$|^#-$|^array_to_json$/,
    'changes or checks a document in a way that the engines’ JSON has no equal of',
  ],
  [/^\*|^~[<>]/, 'compares by bytes, for PostgreSQL’s own indexes'],
  [/^@@$/, 'full-text search'],
  [
    /^(?:date_add|date_subtract|justify_interval|overlaps|array_fill|uuid_extract_.*)$/,
    'not asked for yet; operators and other functions do the same',
  ],
]

interface Unserved {
  readonly kind: 'Functions' | 'Operators'
  readonly name: string
}

const served = new Set([
  ...[...functions.keys(), ...aggregates.keys(), ...windowFunctions.keys(), ...setFunctions.keys()],
  ...[...operators.keys(), ...elsewhere],
])

async function unserved(): Promise<readonly Unserved[]> {
  if (oracle === undefined) return []
  const types = scalarTypes.flatMap((type) => [typeOid(type), typeOid(`${type}[]`)]).join()
  const accepted = `${types}, 2276, 2283, 2277, 5077, 5078, 2249`
  const internal = [
    ...['oprcode', 'oprrest', 'oprjoin'].map((column) => `SELECT ${column}::oid FROM pg_operator`),
    ...[
      'typinput',
      'typoutput',
      'typreceive',
      'typsend',
      'typmodin',
      'typmodout',
      'typanalyze',
      'typsubscript',
    ].map((column) => `SELECT ${column}::oid FROM pg_type`),
    ...['aggtransfn', 'aggfinalfn', 'aggcombinefn', 'aggserialfn', 'aggdeserialfn'].map(
      (column) => `SELECT ${column}::oid FROM pg_aggregate`,
    ),
    ...['aggmtransfn', 'aggminvtransfn', 'aggmfinalfn'].map(
      (column) => `SELECT ${column}::oid FROM pg_aggregate`,
    ),
    ...[
      'SELECT castfunc FROM pg_cast',
      'SELECT amproc::oid FROM pg_amproc',
      'SELECT prosupport::oid FROM pg_proc',
    ],
  ].join(' UNION ')
  const procedures = await oracle.admin.unsafe<{ name: string }[]>(`
    SELECT DISTINCT proname AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
    WHERE nspname = 'pg_catalog' AND prokind IN ('f', 'a', 'w') AND p.oid NOT IN (${internal})
      AND prorettype IN (${accepted}) AND NOT EXISTS (SELECT FROM unnest(proargtypes) t WHERE t NOT IN (${accepted}))`)
  const signs = await oracle.admin.unsafe<{ name: string }[]>(`
    SELECT DISTINCT oprname AS name FROM pg_operator
    WHERE (oprleft = 0 OR oprleft IN (${accepted})) AND oprright IN (${accepted})`)
  return [
    ...procedures.map(({ name }) => ({ kind: 'Functions', name }) as const),
    ...signs.map(({ name }) => ({ kind: 'Operators', name }) as const),
  ]
    .filter(({ name }) => !served.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

const reasonOf = ({ name }: Unserved) => reasons.find(([pattern]) => pattern.test(name))?.[1]

function written(lacking: readonly Unserved[]): string {
  const rows = reasons.flatMap(([, reason]) => {
    const names = lacking.filter((each) => reasonOf(each) === reason).map(({ name }) => `\`${name}\``)
    return names.length === 0 ? [] : [`| ${names.join(' ').replaceAll('|', '\\|')} | ${reason} |`]
  })
  return `# What PostgreSQL has and the read path has not

Of the functions and operators of PostgreSQL 18 whose arguments and results have [served types](sql.md#types), these names are not served. A test compares the catalog of a PostgreSQL 18 with the registries and writes this page; what a name has overloads of that differ is in [the page on SQL](sql.md#differences-from-postgresql).

| Names | Why |
|---|---|
${rows.join('\n')}
`
}

// Skipped where the platform has no packaged PostgreSQL.
test.skipIf(oracle === undefined)(
  'every name of PostgreSQL that is not served is listed with a reason',
  async () => {
    const lacking = await unserved()
    expect(lacking.filter((each) => reasonOf(each) === undefined)).toEqual([])
    const page = written(lacking)
    if (process.env.RECORD !== undefined) await Bun.write(path, page)
    expect(await Bun.file(path).text()).toBe(page)
  },
)

test('no reason is left that fits nothing', async () => {
  const page = await Bun.file(path).text()
  expect(reasons.filter(([, reason]) => !page.includes(`| ${reason} |`))).toEqual([])
})
