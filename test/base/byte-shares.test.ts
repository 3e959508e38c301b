/** How owners share one bound on bytes: who waits, who is refused, who is served after whom. */

import { describe, expect, test } from 'bun:test'
import { ByteBudget, type ByteReservation, type ByteWork, byteKinds } from '../../src/base/byte-budget.ts'
import { Fault } from '../../src/base/fault.ts'
import { asOwner } from '../../src/base/owner.ts'

/** Room for three commits of 30, and a small part beside it. */
const budgetOf = (more: object = {}) =>
  new ByteBudget({
    bytesMax: 110,
    keptForSmall: 20,
    smallBytesMax: 5,
    waitMs: 60_000,
    reclaimMs: 60_000,
    ...more,
  })
const total = (budget: ByteBudget) => byteKinds.reduce((sum, kind) => sum + budget.held(kind), 0)
const kind = (thrown: unknown) => (thrown instanceof Fault ? thrown.kind : thrown)
const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

interface Request {
  readonly work: ByteWork
  /** Undefined while it waits. */
  outcome: string | undefined
  reservation?: ByteReservation
}

/** A request that reserves so much and holds it until it is released. */
function begin(budget: ByteBudget, owner: string, bytes = 30): Request {
  const request: Request = { work: budget.open(), outcome: undefined }
  asOwner(owner, () =>
    request.work.run(() =>
      budget.reserveInTurn({ body: bytes }).then(
        (reservation) => Object.assign(request, { reservation, outcome: 'granted' }),
        (thrown: unknown) => Object.assign(request, { outcome: kind(thrown) }),
      ),
    ),
  )
  return request
}

/** Work that has begun asks for more. */
function grow(request: Request, bytes: number): { outcome: unknown } {
  const grown = { outcome: undefined as unknown }
  request.reservation?.addInTurn({ parse: bytes }).then(
    () => Object.assign(grown, { outcome: 'granted' }),
    (thrown: unknown) => Object.assign(grown, { outcome: kind(thrown) }),
  )
  return grown
}

describe('a flood by one owner', () => {
  test('takes all the room while nobody else asks, and the rest of it waits', async () => {
    const budget = budgetOf()
    const flood = Array.from({ length: 10 }, () => begin(budget, 'loud'))
    await settle()
    expect(flood.filter(({ outcome }) => outcome === 'granted')).toHaveLength(3)
    expect([total(budget), budget.waiting]).toEqual([90, 7])
  })

  test('leaves another served after one of its own at most, and never refused', async () => {
    const budget = budgetOf()
    const flood = Array.from({ length: 50 }, () => begin(budget, 'loud'))
    await settle()
    for (let round = 0; round < 20; round++) {
      const quiet = begin(budget, 'quiet')
      let released = 0
      for (; released < 3 && quiet.outcome === undefined; released++) {
        flood.find(({ outcome, work }) => outcome === 'granted' && !work.isOver)?.work.release()
        await settle()
      }
      expect([quiet.outcome, released <= 2]).toEqual(['granted', true])
      quiet.work.release()
      flood.push(begin(budget, 'loud'))
      await settle()
    }
  })

  test('is refused what it asks for beyond its share while another waits, which is then served', async () => {
    const budget = budgetOf()
    const [first, second] = [begin(budget, 'loud'), begin(budget, 'loud')]
    begin(budget, 'loud', 20)
    await settle()
    const quiet = begin(budget, 'quiet')
    await settle()
    expect(quiet.outcome).toBeUndefined()
    const more = grow(first, 30)
    await settle()
    expect(more.outcome).toBe('overloaded')
    first.work.release()
    second.work.release()
    await settle()
    expect(quiet.outcome).toBe('granted')
  })

  test('whose works wait for one another gives way as soon as another waits', async () => {
    const budget = budgetOf()
    const works = [begin(budget, 'loud'), begin(budget, 'loud'), begin(budget, 'loud')]
    await settle()
    const grown = works.map((work) => grow(work, 30))
    await settle()
    expect(grown.map(({ outcome }) => outcome)).toEqual([undefined, undefined, undefined])
    const quiet = begin(budget, 'quiet')
    await settle()
    expect(grown.map(({ outcome }) => outcome)).toEqual(['overloaded', 'overloaded', 'overloaded'])
    works[0]?.work.release()
    await settle()
    expect(quiet.outcome).toBe('granted')
  })

  test('that sends its bodies slowly loses the newest of them to who has waited for a while', async () => {
    const budget = budgetOf({ reclaimMs: 1 })
    const flood = Array.from({ length: 3 }, () => begin(budget, 'loud'))
    await settle()
    const revoked: number[] = []
    for (const [index, { reservation, work }] of flood.entries())
      reservation?.revocable(() => {
        revoked.push(index)
        work.release()
      })
    const served = await asOwner('quiet', () => budget.reserveInTurn({ body: 30 }))
    expect([revoked, served.bytes]).toEqual([[2], 30])
  })

  test('waits in a bounded number of places, of which none is another’s', async () => {
    const budget = budgetOf({ waitingMax: 2 })
    const flood = Array.from({ length: 8 }, () => begin(budget, 'loud'))
    const quiet = begin(budget, 'quiet')
    await settle()
    expect(flood.map(({ outcome }) => outcome)).toEqual([
      ...['granted', 'granted', 'granted', undefined, undefined],
      ...['overloaded', 'overloaded', 'overloaded'],
    ])
    expect(quiet.outcome).toBeUndefined()
  })
})

test('small reservations pass those that wait', async () => {
  const budget = budgetOf()
  for (let count = 0; count < 5; count++) begin(budget, 'loud')
  const small = begin(budget, 'quiet', 5)
  await settle()
  expect(small.outcome).toBe('granted')
})

test('what could never fit is refused at once', async () => {
  const budget = budgetOf()
  const hostile = begin(budget, 'loud', 500)
  await settle()
  expect([hostile.outcome, budget.waiting]).toEqual(['overloaded', 0])
})

test('who waits for too long is refused, and holds nothing', async () => {
  const budget = budgetOf({ waitMs: 1 })
  const held = Array.from({ length: 3 }, () => begin(budget, 'loud'))
  await settle()
  const late = await asOwner('quiet', () => budget.reserveInTurn({ body: 30 })).catch(kind)
  expect([late, total(budget), budget.waiting]).toEqual(['overloaded', 90, 0])
  for (const { work } of held) work.release()
  expect(total(budget)).toBe(0)
})

test('room that the process itself takes is in no share', async () => {
  const budget = budgetOf()
  budget.reserveForProcess({ engine: 60 })
  const flood = [begin(budget, 'loud'), begin(budget, 'loud')]
  const quiet = begin(budget, 'quiet')
  await settle()
  expect([flood[0]?.outcome, flood[1]?.outcome, quiet.outcome]).toEqual(['granted', undefined, undefined])
  flood[0]?.work.release()
  await settle()
  expect([flood[1]?.outcome, quiet.outcome]).toEqual(['granted', undefined])
  flood[1]?.work.release()
  await settle()
  expect(quiet.outcome).toBe('granted')
})
