/** How owners share one bound on bytes: who waits, who is refused, who is served after whom. */

import { describe, expect, test } from 'bun:test'
import { ByteBudget } from '../../src/base/byte-budget.ts'
import { type ByteReservation, type ByteWork, byteKinds } from '../../src/base/byte-work.ts'
import { Fault } from '../../src/base/fault.ts'
import { asOwner, nobody } from '../../src/base/owner.ts'

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

describe('an owner that wants more than its share', () => {
  test('keeps no room from others that wait for theirs', async () => {
    const budget = budgetOf()
    const held = begin(budget, 'other', 20)
    const large = Array.from({ length: 20 }, () => begin(budget, 'large', 80))
    await settle()
    const small = [begin(budget, 'small', 30), begin(budget, 'third', 30)]
    await settle()
    expect([held, ...small].map(({ outcome }) => outcome)).toEqual(['granted', 'granted', 'granted'])
    expect(large.every(({ outcome }) => outcome === undefined)).toBe(true)
  })

  test('takes no room from bodies of another, nor is another refused for it', async () => {
    const budget = budgetOf({ keptForSmall: 0, smallBytesMax: 0, reclaimMs: 1, waitMs: 40 })
    const revoked: string[] = []
    const others = Array.from({ length: 6 }, () => begin(budget, 'other', 10))
    await settle()
    for (const { reservation } of others) reservation?.revocable(() => revoked.push('one'))
    const large = begin(budget, 'large', 95)
    const grown = grow(others[0] as Request, 10)
    while (large.outcome === undefined) await Bun.sleep(0)
    expect([large.outcome, grown.outcome, revoked]).toEqual(['overloaded', 'granted', []])
  })

  test('is not made of an owner by many that hold little', async () => {
    const budget = budgetOf({ keptForSmall: 0, smallBytesMax: 0 })
    for (let index = 0; index < 19; index++) begin(budget, `t${index}`, 1)
    const some = begin(budget, 'some', 30)
    await settle()
    begin(budget, 'waits', 70)
    await settle()
    const grown = grow(some, 1)
    await settle()
    expect(grown.outcome).toBe('granted')
  })
})

describe('the process itself', () => {
  test('has a place to wait, however many strangers wait', async () => {
    const budget = budgetOf({ waitingMax: 4 })
    const held = begin(budget, 'a', 80)
    await settle()
    for (let index = 0; index < 10; index++) begin(budget, nobody, 60)
    const engine = budget.reserveForProcessInTurn({ engine: 60 })
    await settle()
    expect(budget.waiting).toBe(5)
    held.work.release()
    await settle()
    expect(budget.held('engine') + budget.held('body')).toBe(60)
    void engine.catch(() => {})
  })

  test('refuses nobody by waiting', async () => {
    const budget = budgetOf({ keptForSmall: 0, smallBytesMax: 0 })
    const held = begin(budget, 'a', 60)
    await settle()
    void budget.reserveForProcessInTurn({ engine: 80 }).catch(() => {})
    const grown = grow(held, 10)
    held.reservation?.add({ parse: 5 })
    await settle()
    held.work.release()
    await settle()
    expect(grown.outcome).toBe('granted')
  })
})

test('a small request that begins is not refused where a large one would wait', async () => {
  const budget = budgetOf()
  begin(budget, 'a', 60)
  await settle()
  begin(budget, 'b', 45)
  const small = begin(budget, 'a', 2)
  await settle()
  expect(small.outcome).toBe('granted')
})

test('what is held instead of something else is never free in between', async () => {
  const budget = budgetOf()
  const one = begin(budget, 'a', 40)
  await settle()
  const next = begin(budget, 'b', 60)
  await one.reservation?.become({ body: 20, parse: 25 })
  expect([budget.held('body'), budget.held('parse'), next.outcome]).toEqual([20, 25, undefined])
  await one.reservation?.become({ body: 20, parse: 10 })
  await settle()
  expect([budget.held('parse'), budget.held('body'), next.outcome]).toEqual([10, 80, 'granted'])
})
