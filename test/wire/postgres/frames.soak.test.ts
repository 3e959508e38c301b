/** Randomly damaged messages: the codecs read them or refuse them. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { ProtocolViolation } from '../../../src/wire/postgres/byte-reader.ts'
import { conversation, readAll, readStartup } from './conversation.ts'
import { seeded } from './samples.ts'

setDefaultTimeout(600_000)
// The long form runs under `bun run test:soak`: a million messages and more.
const seconds = Number(process.env.SVC_TEST_SOAK_SECONDS ?? 0)
const seed = 7_331

test(`frames of seed ${seed} that are bent at random are read or refused, never anything else`, () => {
  const random = seeded(seed)
  const conversations = seconds > 0 ? 1_000_000 : 20_000
  const outcomes = { read: 0, refused: 0 }
  for (let count = 0; count < conversations; count++) {
    const bytes = Buffer.from(conversation)
    for (let bend = 0; bend < 1 + random() * 4; bend++)
      bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256)
    const start = Math.floor(random() * 3) === 0 ? Math.floor(random() * bytes.length) : 0
    const phase = (['session', 'authentication', 'startup'] as const)[Math.floor(random() * 8)] ?? 'session'
    try {
      if (phase === 'startup') readStartup(bytes.subarray(start))
      else readAll([bytes.subarray(start)], phase)
      outcomes.read++
    } catch (thrown) {
      if (!(thrown instanceof ProtocolViolation)) throw thrown
      outcomes.refused++
    }
  }
  expect(outcomes.read).toBeGreaterThan(0)
  expect(outcomes.refused).toBeGreaterThan(0)
})
