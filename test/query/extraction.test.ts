/**
 * Failing statements do not reveal hidden values: over the wire, on files of pyarrow and Spark, through row filters,
 * partial masks and deletes. Each attack would succeed without a barrier.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { isLongForm, someInShortForm } from '../support/long-form.ts'
import type { CaseMask, GovernanceCase } from './differential/cases.ts'
import type { FileName } from './differential/file-names.ts'
import type { Outcome } from './differential/pairs.ts'
import { startWireTables, type WireTable, type WireTables } from './differential/wire.ts'
import { attacks, listAttacks, places, statementsOf } from './extraction/attacks.ts'

setDefaultTimeout(300_000)

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
  [wide, 'sorted-dictionary'],
  [masks, 'sorted-dictionary'],
  [positions, 'mixed-dictionary'],
  [vectors, 'sorted-dictionary'],
  [filter, 'spark'],
]

/** What may be seen is the same wherever whole rows are hidden. */
function twinOf(governance: GovernanceCase, file: FileName): WireTable {
  return { governance: governance.masks === undefined ? filter : governance, file, kind: 'twin' }
}

let wire: WireTables

beforeAll(async () => {
  const tables = tried.flatMap(([governance, file]): WireTable[] => [
    { governance, file, kind: 'hostile' },
    twinOf(governance, file),
  ])
  wire = await startWireTables([...new Map(tables.map((table) => [JSON.stringify(table), table])).values()])
})
afterAll(() => wire[Symbol.asyncDispose]())

// The short form has a filter, masks and deletes.
const tried = isLongForm ? governed : governed.filter((_, index) => [0, 2, 4].includes(index))
const named = tried.map(([governance, file], turn) => [governance.name, file, governance, turn] as const)

describe.each(named)('%s over %s', (_, file, governance, turn) => {
  const ask = (text: string) => wire.outcome({ governance, file, kind: 'hostile' }, { text, ordered: false })
  const askTwin = (text: string) => wire.outcome(twinOf(governance, file), { text, ordered: false })

  test('lets no attack fail on a hidden value', async () => {
    const expressions = governance.masks === undefined ? [...attacks, ...listAttacks] : attacks
    const told: string[] = []
    let answered = 0
    for (const { name, text } of statementsOf(expressions, turn)) {
      const seen = await ask(text)
      if ('rows' in seen) answered++
      // What is shown of a masked value may fail, as it does where nothing is hidden.
      else if (!Bun.deepEquals(seen, await askTwin(text))) told.push(name)
    }
    expect(told).toEqual([])
    expect(answered).toBeGreaterThan(40)
  })

  test.each(Object.keys(oracles))('keeps a hidden text from being read through %s', async (name) => {
    for (const place of someInShortForm(['WHERE', 'FILTER'] as const, 2, turn)) {
      const asked = (prefix: string) => places[place]?.(`nullif(${oracles[name]?.(prefix)}, false)`) ?? ''
      const shown = await lettersRead((prefix) => askTwin(asked(prefix)))
      expect(shown).not.toContain('S')
      expect(await lettersRead((prefix) => ask(asked(prefix)))).toBe(shown)
    }
  })
})

/** Conditions that fail on a row whose text begins with the prefix, a regular expression of one letter a character. */
const oracles: Readonly<Record<string, (prefix: string) => string>> = {
  regexp_replace: (prefix) => `'X' LIKE regexp_replace(replace(name, '\\', '/'), '^${prefix}.*$', '\\\\')`,
  '||': (prefix) => `'X' LIKE (regexp_replace(replace(name, '\\', '/'), '^${prefix}.*$', '\\\\') || '')`,
  'translate and substr': (prefix) =>
    `'X' LIKE translate(substr(regexp_replace(replace(name, '\\', '/'), '^${prefix}.*$', '~'), 1, 1), '~', '\\')`,
  'regexp_replace of what shows its end': (prefix) =>
    `'X' LIKE regexp_replace(replace(code, '\\', '/'), '^${prefix}.*$', '\\\\')`,
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** As an attacker goes about it: a set of letters is right where the outcome differs from that of an impossible one. */
async function lettersRead(ask: (prefix: string) => Promise<Outcome>): Promise<string> {
  const without = await ask('~')
  const isRight = async (prefix: string) => !Bun.deepEquals(await ask(prefix), without)
  let read = ''
  while (read.length < 6 && (await isRight(`${read}[${letters}]`))) {
    let among = letters
    while (among.length > 1) {
      const half = among.slice(0, among.length / 2)
      among = (await isRight(`${read}[${half}]`)) ? half : among.slice(half.length)
    }
    read += among
  }
  return read
}
