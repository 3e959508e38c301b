/** The long form of fuzz.test.ts, which also checks that memory does not grow. */

import { expect, test } from 'bun:test'
import { mutated, randomBytes, randomFrom, randomWords } from './fuzz.ts'
import { openSubject } from './support/duckdb.ts'
import { canary } from './support/fixture.ts'

const soakSeconds = process.env.SVC_TEST_SOAK_SECONDS
const seconds = Number(soakSeconds ?? 2)
const seed = Number(process.env.SVC_TEST_SEED ?? 596_811)
const growthBytesMax = 300_000_000

test(`random and mutated statements for ${seconds} s (seed ${seed})`, async () => {
  const subject = await openSubject()
  const random = randomFrom(seed)
  const makers = [randomBytes, randomWords, mutated, mutated, mutated]
  const end = performance.now() + seconds * 1_000
  let start = 0
  let answered = 0
  for (let count = 0; performance.now() < end; count++) {
    const text = random.pick(makers)(random)
    const runs = !text.includes(canary) && !/\b(CROSS|generate_series|repeat)\b/i.test(text)
    let shown = ''
    try {
      if (!runs) subject.compile(text)
      else shown = JSON.stringify((await subject.run(text)).rows)
    } catch {
      // Refused, or the engine's own error: nothing was shown.
    }
    if (shown.includes(canary)) throw new Error(`seed ${seed}: a canary from: ${text}`)
    if (shown !== '') answered++
    // In the short form other tests of the same process grow beside it.
    if (soakSeconds !== undefined && count === 500) start = process.memoryUsage().rss
  }
  subject.close()
  expect(answered).toBeGreaterThan(0)
  if (start > 0) expect(process.memoryUsage().rss - start).toBeLessThan(growthBytesMax)
})
