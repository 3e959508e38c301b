/**
 * Random and mutated MDX: it is answered or refused with a fault, never with another error, within time, and what a reader
 * may not see is in no answer. `test:soak` runs a million statements, and as long as it is told; a part of them reads rows.
 * On 2026-11-24 a million of the seed 73911 passed: 35,653 were read, and 78 of these ran on the engine.
 */

import { expect, test } from 'bun:test'
import { Fault } from '../../../src/base/fault.ts'
import { parseMdx } from '../../../src/wire/mdx/parse.ts'
import { printMdx } from '../../../src/wire/mdx/print.ts'
import { generator } from '../../support/generator.ts'
import { shapes } from '../../wire/mdx/shapes.ts'
import { runAs, startCubeLake } from './cube-lake.ts'

const soakSeconds = process.env.SVC_TEST_SOAK_SECONDS
const seconds = Number(soakSeconds ?? 2)
/** However long they take. */
const countMin = Number(process.env.SVC_TEST_SOAK_TEXTS ?? 0)
const seed = Number(process.env.SVC_TEST_SEED ?? 73_911)
const growthBytesMax = 300_000_000
/** Of rows that the filter hides, and of addresses before they are masked. */
const hidden = /\bsouth\b|user\d+@/
/** One statement in so many reads rows. */
const readEvery = 200

const random = generator(seed)
const below = (count: number) => Math.floor(random() * count)
const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T

// The cube has no status; its names are those of test/semantics/mdx/cube-lake.ts.
const statements = Object.values(shapes).map((text) =>
  text
    .replaceAll('status', 'paid')
    .replaceAll('north', 'east')
    .replaceAll('.&[paid]', '.&[t]')
    .replaceAll(',[orders].[region].&[it]]s]', ''),
)
const pieces = [
  ...statements.flatMap((text) => text.match(/\[[^\]]*\]|\w+|\S/g) ?? []),
  ...[
    '(',
    ')',
    '{',
    '}',
    ',',
    '.',
    '&',
    '*',
    '-',
    ':',
    '[',
    ']',
    '"',
    "'",
    '/*',
    '--',
    '.Children',
    '.Members',
    '.Parent',
  ],
  ...[
    '[Measures].[orders]',
    '[orders].[email].Members',
    '[orders].[day.Calendar].[Month].Members',
    'DRILLTHROUGH',
    'NULL',
  ],
]

function mutated(): string {
  const words = pick(statements).match(/\[[^\]]*\]|\s+|\w+|\S/g) ?? []
  for (let count = 1 + below(4); count > 0; count--) {
    const at = below(words.length)
    const kind = below(4)
    if (kind === 0) words.splice(at, 1 + below(3))
    else if (kind === 1) words.splice(at, 0, pick(pieces))
    else if (kind === 2) words.splice(at, 1, pick(pieces))
    else words.splice(at, 0, ...words.slice(at, at + below(8)))
  }
  return words.join('')
}

const randomText = () => Array.from({ length: below(60) }, () => pick(pieces)).join(random() < 0.5 ? ' ' : '')
const randomBytes = () => String.fromCharCode(...Array.from({ length: below(200) }, () => below(65_536)))

/** Resident bytes without garbage. */
function heldBytes(): number {
  Bun.gc(true)
  return process.memoryUsage().rss
}

test(
  `random and mutated MDX for ${seconds} s (seed ${seed})`,
  async () => {
    await using lake = await startCubeLake()
    const end = performance.now() + seconds * 1_000
    let start = 0
    let parsed = 0
    let answered = 0
    let count = 0
    for (; count < countMin || performance.now() < end; count++) {
      const text = pick([mutated, mutated, mutated, randomText, randomBytes])()
      try {
        const statement = parseMdx(text)
        expect(parseMdx(printMdx(statement))).toEqual(statement)
        parsed++
        if (parsed % (soakSeconds === undefined ? 20 : readEvery) !== 0 || hidden.test(text)) continue
        const { signal } = new AbortController()
        const answer = await runAs(lake, 'reader', text, {}, { signal, bounds: { timeMs: 20_000 } })
        const shown = answer.kind === 'cellset' ? [answer.cellset.axes, answer.cellset.cells] : answer
        if (hidden.test(JSON.stringify(shown))) throw new Error(`seed ${seed}: hidden values by: ${text}`)
        answered++
      } catch (thrown) {
        if (!(thrown instanceof Fault) || thrown.kind === 'internal')
          throw new Error(`seed ${seed}: ${text}`, { cause: thrown })
        if (hidden.test(thrown.publicMessage))
          throw new Error(`seed ${seed}: hidden values in an error: ${text}`)
      }
      // In the short form other tests of the same process grow beside it.
      if (soakSeconds !== undefined && count === 20_000) start = heldBytes()
    }
    if (soakSeconds !== undefined)
      console.log(`seed ${seed}: ${count} statements, ${parsed} read, ${answered} answered`)
    expect(parsed).toBeGreaterThan(0)
    expect(answered).toBeGreaterThan(0)
    if (start > 0) expect(heldBytes() - start).toBeLessThan(growthBytesMax)
  },
  // Ten thousand of a million read rows, and each of these may take some milliseconds.
  (seconds + 120) * 1_000 + countMin * 3,
)
