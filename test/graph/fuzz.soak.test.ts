/**
 * Texts of all kinds are parsed and compiled: a text is refused with `bad_request`, or becomes one SELECT over label
 * tables that holds nothing of the text. `test:soak` tries a million.
 */

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { loadModule, parseSync } from 'libpg-query'
import { Fault } from '../../src/base/fault.ts'
import { compileGraphQuery } from '../../src/graph/compile.ts'
import { edgeLabels, vertexLabels } from '../../src/store/database/names.ts'
import { parseGraphQuery } from '../../src/wire/cypher/parse.ts'
import { generator } from '../support/generator.ts'
import { Dice } from './random-graph.ts'
import { randomQuery } from './random-query.ts'

setDefaultTimeout(3_600_000)

const seed = Number(process.env.SVC_TEST_SEED ?? 28)
const texts = Number(process.env.SVC_TEST_SOAK_TEXTS ?? 5_000)

beforeAll(() => loadModule())

/** What texts are put together from: the words of Cypher and of SQL, and characters that end things. */
const pieces =
  `MATCH OPTIONAL WHERE WITH RETURN DISTINCT ORDER BY SKIP LIMIT UNWIND CALL YIELD AS AND OR XOR NOT IN IS NULL STARTS ENDS
   CONTAINS CREATE MERGE SET DELETE DETACH REMOVE UNION LOAD CSV FOREACH CASE EXISTS count( collect( size( labels( type(
   nodes( canary canary_fn( pg_sleep( set_config( cypher( select insert from ; -- /* */ $$ $covenant$ ' " \` \\ ( ) [ ] {
   } : , . .. * = <> < > <= >= =~ + - / % ^ | & ! ? # @ ~ (n:Table) (c:Column {name: $v1}) -[:HAS_COLUMN]-> -[:LINEAGE_OF*1..5]->
   <-[e:TAGGED]- (:Tag) n.name e.status 1 -1 0.5 1e9 0x10 'canary' "canary" $v1 $list $canary true false null covenant.path(
   covenant.neighbours(n) covenant.columns_tagged('canary') \u0000 \u00a0 \u202e \ud800 é 😀 \u2028 \n \t`
    .split(/[ \r\n]+/)
    .concat([' ', '\n', '\u0000'])

/** A query of the subset that was damaged, or a row of pieces. */
function damaged(dice: Dice): string {
  if (dice.chance(0.15)) return dice.times(40, () => dice.pick(pieces)).join(dice.pick([' ', '']))
  let { text } = randomQuery(dice, dice.pick(['reader', 'steward']))
  for (let count = dice.below(4); count > 0; count--) {
    const at = dice.below(text.length + 1)
    const end = Math.min(text.length, at + dice.below(8))
    text = dice.pick([
      () => text.slice(0, at) + text.slice(end),
      () => `${text.slice(0, at)} ${dice.pick(pieces)} ${text.slice(end)}`,
      () => text.slice(0, at) + dice.pick(pieces) + text.slice(at),
      () => text.slice(0, end) + text.slice(at),
      () => text.replace(/[nexr]\d+/, 'canary'),
    ])()
  }
  return text
}

const relations = new Set<string>([...vertexLabels, ...edgeLabels, 'read_setting', 'lineage_claim'])
const functions = new Set(
  `agtype_access_operator avg bool_or char_length coalesce count job_state jsonb_agg jsonb_array_elements jsonb_array_elements_text
   jsonb_array_length jsonb_build_array jsonb_build_object jsonb_strip_nulls jsonb_typeof length lower max min octet_length
   position right row_number starts_with string_agg sum to_jsonb upper`.split(/\s+/),
)

/** Kinds of nodes of a statement, with the names of relations and functions that it uses. */
function contentsOf(sql: string) {
  const { stmts = [] } = parseSync(sql)
  const found = { relations: new Set<string>(), functions: new Set<string>(), kinds: new Set<string>() }
  const steps = new Set<string>()
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) visit(one)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    for (const [kind, inner] of Object.entries(value)) {
      if (/^[A-Z]/.test(kind)) found.kinds.add(kind)
      const node = inner as Readonly<Record<string, never>>
      if (kind === 'CommonTableExpr') steps.add(node.ctename ?? '')
      if (kind === 'RangeVar') found.relations.add(node.relname ?? '')
      if (kind === 'FuncCall') {
        const names = (node.funcname ?? []) as readonly { readonly String: { readonly sval: string } }[]
        found.functions.add(names.at(-1)?.String.sval ?? '')
      }
      visit(inner)
    }
  }
  visit(stmts)
  return {
    ...found,
    relations: [...found.relations].filter((name) => !steps.has(name)),
    count: stmts.length,
    stmts,
  }
}

function expectInSubset(sql: string): void {
  expect(sql).not.toContain('canary')
  const { count, stmts, kinds, ...used } = contentsOf(sql)
  expect([count, Object.keys(stmts[0]?.stmt ?? {})]).toEqual([1, ['SelectStmt']])
  expect(
    [...kinds].filter((kind) => /(?:Insert|Update|Delete|Merge|Copy|Create|Set)Stmt/.test(kind)),
  ).toEqual([])
  expect(used.relations.filter((name) => !relations.has(name))).toEqual([])
  expect([...used.functions].filter((name) => !functions.has(name))).toEqual([])
}

const parameters = { v1: 'canary', v2: 2, v3: null, v4: true, list: ['canary', 'x'] }

test(`${texts} texts are refused or become a statement of the subset (seed ${seed})`, () => {
  const dice = new Dice(generator(seed))
  const options = { parameters, limit: 100 } as const
  let compiled = 0
  for (let count = 0; count < texts; count++) {
    const text = damaged(dice)
    try {
      const as = dice.pick(['reader', 'steward'] as const)
      const statement = compileGraphQuery(parseGraphQuery(text), { ...options, as })
      compiled++
      // The parser of PostgreSQL takes most of the time, so the million has it for some.
      if (texts <= 20_000 || count % 10 === 0) expectInSubset(statement.text)
      else expect(statement.text).not.toContain('canary')
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.kind === 'bad_request') continue
      throw new Error(`seed ${seed}, text ${count}: ${JSON.stringify(text)}`, { cause: thrown })
    }
  }
  expect(compiled).toBeGreaterThan(texts / 20)
})
