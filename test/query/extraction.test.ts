/**
 * Hidden values cannot be read by which statements fail: over the wire, on files of pyarrow and Spark, through row
 * filters, masks that show some raw values, and deletes. Each attack is one that read values where no barrier stood.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { CaseMask, GovernanceCase } from './differential/cases.ts'
import type { FileName } from './differential/files.ts'
import type { Outcome } from './differential/pairs.ts'
import { startWireTables, type WireTable, type WireTables } from './differential/wire.ts'
import { attacks, listAttacks, statementsOf } from './extraction/attacks.ts'

setDefaultTimeout(120_000)

const shown = (column: string): CaseMask => ({
  action: 'apply-expression',
  expression: `CASE WHEN region = 'eu' THEN ${column} END`,
})
const masked = ['name', 'digits', 'day_text', 'doc', 'n4', 'f8', 'amount', 'day', 'ts', 'tz']
const filter: GovernanceCase = { name: 'a filter', filter: "region = 'eu'", files: [] }
const wide: GovernanceCase = {
  name: 'a filter of two columns',
  filter: "region LIKE 'e_' OR tier > 90",
  files: [],
}
const masks: GovernanceCase = {
  name: 'apply-expression and show-last-4',
  masks: {
    ...Object.fromEntries(masked.map((column) => [column, shown(column)])),
    code: { action: 'show-last-4' },
  },
  files: [],
}
const positions: GovernanceCase = { name: 'position deletes', deletes: 'position', files: [] }
const vectors: GovernanceCase = { name: 'deletion vectors', deletes: 'vector', files: [] }

const governed: readonly (readonly [GovernanceCase, FileName])[] = [
  [filter, 'mixed-dictionary'],
  [filter, 'sorted-dictionary'],
  [wide, 'sorted-dictionary'],
  [masks, 'sorted-dictionary'],
  [masks, 'mixed-dictionary'],
  [positions, 'mixed-dictionary'],
  [vectors, 'sorted-dictionary'],
  [filter, 'spark'],
]

/** What may be seen is the same wherever whole rows are hidden. */
function twinOf(governance: GovernanceCase, file: FileName): WireTable {
  return { governance: governance.masks === undefined ? filter : governance, file, kind: 'twin' }
}

let wire: WireTables
const expected = new Map<string, Promise<Outcome>>()

beforeAll(async () => {
  const tables = governed.flatMap(([governance, file]): WireTable[] => [
    { governance, file, kind: 'hostile' },
    twinOf(governance, file),
  ])
  wire = await startWireTables([...new Map(tables.map((table) => [JSON.stringify(table), table])).values()])
})
afterAll(() => wire[Symbol.asyncDispose]())

const see = (governance: GovernanceCase, file: FileName, text: string) =>
  wire.outcome({ governance, file, kind: 'hostile' }, { text, ordered: false })

/** What the twin answers, asked for once. */
function twinSees(governance: GovernanceCase, file: FileName, text: string): Promise<Outcome> {
  const twin = twinOf(governance, file)
  const key = JSON.stringify([twin, text])
  const outcome = expected.get(key) ?? wire.outcome(twin, { text, ordered: false })
  expected.set(key, outcome)
  return outcome
}

const named = governed.map(([governance, file]) => [governance.name, file, governance] as const)

describe.each(named)('%s over %s', (_, file, governance) => {
  test('lets no attack tell hostile hidden values from none', async () => {
    const tried = governance.masks === undefined ? [...attacks, ...listAttacks] : attacks
    const told: string[] = []
    let answered = 0
    for (const { name, text } of statementsOf(tried)) {
      const twin = await twinSees(governance, file, text)
      if ('rows' in twin) answered++
      if (!Bun.deepEquals(await see(governance, file, text), twin)) told.push(name)
    }
    expect(told).toEqual([])
    // An attack that fails on what everybody sees would show nothing.
    expect(answered).toBeGreaterThan(100)
  })

  const oracles: readonly (readonly [string, (prefix: string) => string])[] = [
    ['regexp_replace', (prefix) => `'X' LIKE regexp_replace(name, '^${prefix}.*$', '\\\\')`],
    ['replace', (prefix) => `'X' LIKE CASE WHEN starts_with(name, '${prefix}') THEN '\\' ELSE 'a' END`],
    [
      'translate and ||',
      (prefix) =>
        `'X' LIKE (translate(substr(name, 1, ${prefix.length}), '${prefix}', '${'\\'.repeat(prefix.length)}') || '')`,
    ],
    [
      'regexp_replace of what shows its end',
      (prefix) => `'X' LIKE regexp_replace(code, '^${prefix}.*$', '\\\\')`,
    ],
  ]
  test.each(oracles)('a hidden text cannot be read letter by letter through %s', async (_, ask) => {
    for (const place of [
      (e: string) => `SELECT count(*) FROM t WHERE ${e}`,
      (e: string) => `SELECT ${e} FROM t`,
    ])
      expect(await lettersRead((prefix) => see(governance, file, place(ask(prefix))))).toBe('')
  })

  const bounds: readonly (readonly [string, (step: number) => string])[] = [
    ['to_timestamp', (step) => `SELECT count(to_timestamp(f8 * ${10 ** step})) FROM t`],
    ['epoch', (step) => `SELECT count(extract(epoch FROM day + ${2 ** step * 1_000})) FROM t`],
    [
      'age',
      (step) => `SELECT count(age(ts + interval '${2 ** step} months', timestamp '2024-01-01')) FROM t`,
    ],
    ['an array cast', (step) => `SELECT count(CAST(ARRAY[f8 * ${10 ** step}] AS int[])) FROM t`],
  ]
  test.each(bounds)('no hidden number can be bounded through %s', async (_, ask) => {
    const first = async (sees: (text: string) => Promise<Outcome>) => {
      for (let step = 0; step < 20; step++) if ('error' in (await sees(ask(step)))) return step
      return 20
    }
    const fails = await first((text) => twinSees(governance, file, text))
    expect(fails).toBeGreaterThan(0)
    expect(await first((text) => see(governance, file, text))).toBe(fails)
  })
})

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** As an attacker goes about it: a letter is right where the outcome differs from that of an impossible one. */
async function lettersRead(ask: (prefix: string) => Promise<Outcome>): Promise<string> {
  const without = await ask('~')
  let read = ''
  while (read.length < 6) {
    let next: string | undefined
    for (const letter of letters)
      if (!Bun.deepEquals(await ask(read + letter), without)) {
        next = letter
        break
      }
    if (next === undefined) break
    read += next
  }
  return read
}
