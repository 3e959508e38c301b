/** A gzip body is reserved in the budget of the process while it is inflated, and after it as what it became. */

import { expect, test } from 'bun:test'
import { ByteBudget } from '../../src/base/byte-budget.ts'
import { Fault } from '../../src/base/fault.ts'
import { rememberRequest } from '../../src/http/about-request.ts'
import { inflateBody } from '../../src/http/inflate-body.ts'
import { limits } from '../../src/limits.ts'

const bytesMax = 1_000

/** Inflates in a piece of work; tells what is held at its end. */
async function inflateWithin(budgetBytes: number, body: Uint8Array) {
  const budget = new ByteBudget({ bytesMax: budgetBytes, keptForSmall: 0, smallBytesMax: 0 })
  const request = new Request('http://localhost/', { method: 'POST' })
  rememberRequest(request, { budget })
  const held = () => budget.held('body') + budget.held('parse')
  const ended = await budget.during(async () => {
    try {
      return { bytes: (await inflateBody(request, body, bytesMax)).length, held: held() }
    } catch (error) {
      return { refused: error instanceof Fault ? error.kind : String(error), held: held() }
    }
  })
  return { ...ended, after: held() }
}

test('holds the inflated bytes and what they take once parsed, until the work is over', async () => {
  const held = 100 * (1 + limits.parsedBytesPerByte)
  expect(await inflateWithin(100_000, Bun.gzipSync('x'.repeat(100)))).toEqual({ bytes: 100, held, after: 0 })
})

test('holds nothing of a body that is refused', async () => {
  const refused = (kind: string) => ({ refused: kind, held: 0, after: 0 })
  expect(await inflateWithin(999, Bun.gzipSync('{}'))).toEqual(refused('overloaded'))
  expect(await inflateWithin(100_000, Bun.gzipSync('x'.repeat(1_001)))).toEqual(refused('payload_too_large'))
  expect(await inflateWithin(100_000, new Uint8Array([1, 2]))).toEqual(refused('bad_request'))
  // It can be inflated, but not parsed.
  expect(await inflateWithin(1_500, Bun.gzipSync('x'.repeat(900)))).toEqual(refused('overloaded'))
})
