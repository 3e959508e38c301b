import { expect, test } from 'bun:test'
import { parseJsonInTurns } from '../../src/base/json.ts'
import { outsideOfRequests } from '../../src/base/outside.ts'
import { asOwner, becomeOwned, currentOwner, nobody } from '../../src/base/owner.ts'
import { parsedBeyond } from '../../src/base/parsed-size.ts'
import { slicesWaiting, threadTurn } from '../../src/base/thread-turns.ts'

/** Takes turns for an owner, and writes down each. */
async function slices(owner: string, count: number, taken: string[]): Promise<void> {
  await asOwner(owner, async () => {
    for (let slice = 0; slice < count; slice++) {
      await threadTurn()
      taken.push(owner)
    }
  })
}

/** Counts turns of the event loop until it is told to stop. */
function loopTurns(): { readonly stop: () => number } {
  let [turns, isOver] = [0, false]
  const count = () => {
    if (isOver) return
    turns++
    setImmediate(count)
  }
  setImmediate(count)
  return {
    stop() {
      isOver = true
      return turns
    },
  }
}

test('ten pieces of one owner leave every second slice to another', async () => {
  const taken: string[] = []
  const flood = Array.from({ length: 10 }, () => slices('loud', 20, taken))
  await slices('quiet', 20, taken)
  expect(taken.filter((owner) => owner === 'loud').length).toBeLessThanOrEqual(21)
  await Promise.all(flood)
  expect(taken).toHaveLength(220)
  expect(slicesWaiting()).toBe(0)
})

test('no turn of the event loop has two slices', async () => {
  const taken: string[] = []
  const turns = loopTurns()
  await Promise.all(Array.from({ length: 10 }, () => slices('loud', 20, taken)))
  expect(turns.stop()).toBeGreaterThanOrEqual(199)
})

const rows = (count: number) =>
  Buffer.from(JSON.stringify(Array.from({ length: count }, (_, id) => ({ id }))))

test('a document of one owner is parsed beside ten large ones of another after as many slices as its own', async () => {
  const ended: string[] = []
  const parse = (owner: string, bytes: Uint8Array) =>
    asOwner(owner, () => parseJsonInTurns(bytes)).then(() => ended.push(owner))
  const [large, small] = [rows(40_000), rows(4_000)]
  const flood = Array.from({ length: 10 }, () => parse('loud', large))
  const turns = loopTurns()
  await parse('quiet', small)
  // Two turns for each slice of its own, and those before the counting began.
  expect(turns.stop()).toBeLessThan(2 * Math.ceil(small.length / (16 * 1024)) + 10)
  expect(ended).toEqual(['quiet'])
  await Promise.all(flood)
})

test('looking at 5 MB of brackets takes turns as parsing does', async () => {
  const hostile = Buffer.alloc(5_000_000, '[')
  const flood = Array.from({ length: 10 }, () => asOwner('loud', () => parsedBeyond(hostile, 0)))
  const taken: string[] = []
  await slices('quiet', 5, taken)
  expect(taken).toHaveLength(5)
  expect(slicesWaiting()).toBeGreaterThan(0)
  expect(await flood[9]).toBe(5_000_000 * 256)
  await Promise.all(flood)
})

test('work belongs to nobody until its owner is known, and to one owner in all that it calls', async () => {
  await asOwner(nobody, async () => {
    expect(currentOwner()).toBe(nobody)
    const called = async () => {
      await Promise.resolve()
      becomeOwned('acme')
    }
    await called()
    expect(currentOwner()).toBe('acme')
  })
})

test('work that no request asked for is an owner beside strangers, also where a request wakes it', () => {
  const background = currentOwner()
  becomeOwned('acme')
  expect(currentOwner()).toBe(background)
  expect(background).not.toBe(nobody)
  expect(asOwner('acme', () => outsideOfRequests(currentOwner))).toBe(background)
})
