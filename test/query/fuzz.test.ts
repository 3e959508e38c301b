/** Random bytes, words and mutated statements: each is compiled or refused, and what runs shows no canary. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SqlError } from '../../src/query/sql-error.ts'
import { mutated, randomBytes, randomFrom, randomWords } from './fuzz.ts'
import { openSubject, type Subject } from './support/duckdb.ts'
import { canary } from './support/fixture.ts'

const seed = 20_260_601
let subject: Subject

beforeAll(async () => {
  subject = await openSubject()
})
afterAll(() => subject.close())

test.each([
  ['random bytes', randomBytes, 4_000],
  ['random words', randomWords, 3_000],
  ['mutated statements', mutated, 3_000],
] as const)(`%s compile or are refused with a SQLSTATE (seed ${seed})`, (_, make, count) => {
  const random = randomFrom(seed)
  for (let index = 0; index < count; index++) {
    const text = make(random)
    try {
      const compiled = subject.compile(text)
      for (const dialect of ['duckdb', 'trino'] as const)
        try {
          compiled.emit(dialect)
        } catch (error) {
          checkRefusal(error, text)
        }
    } catch (error) {
      checkRefusal(error, text)
    }
  }
})

test(`what a mutated statement shows holds no canary (seed ${seed})`, async () => {
  const random = randomFrom(seed + 1)
  let answered = 0
  for (let index = 0; index < 1_500; index++) {
    const text = mutated(random)
    // What the statement itself spells out may come back.
    if (text.includes(canary) || /\b(CROSS|generate_series|repeat)\b/i.test(text)) continue
    try {
      const { rows } = await subject.run(text)
      answered++
      if (JSON.stringify(rows).includes(canary)) throw new Error(`a canary from: ${text}`)
    } catch (error) {
      if (String(error).includes('a canary from')) throw error
    }
  }
  expect(answered).toBeGreaterThan(100)
}, 60_000)

/** An internal error is a hole in the compiler: it refuses, but should have known why. */
function checkRefusal(error: unknown, text: string): void {
  if (!(error instanceof SqlError) || error.sqlState === 'XX000')
    throw new Error(`not refused but failed: ${JSON.stringify(text)}`, { cause: error })
}
