import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ByteBudget } from '../../src/base/byte-budget.ts'
import { type ByteKind, type ByteReservation, byteKinds } from '../../src/base/byte-work.ts'
import { Fault } from '../../src/base/fault.ts'

const refused: ByteKind[] = []
const budgetOf = (bytesMax: number) =>
  new ByteBudget({ bytesMax, keptForSmall: 20, smallBytesMax: 10, onRefused: (kind) => refused.push(kind) })
const total = (budget: ByteBudget) => byteKinds.reduce((sum, kind) => sum + budget.held(kind), 0)

function kindOf(act: () => unknown): string {
  try {
    act()
    return 'granted'
  } catch (thrown) {
    return thrown instanceof Fault ? thrown.kind : String(thrown)
  }
}

describe('a reservation', () => {
  test('is counted by kind until it is released, once', () => {
    const budget = budgetOf(100)
    const reservation = budget.reserve({ body: 10, parse: 30 })
    expect([budget.held('body'), budget.held('parse'), budget.held('upstream')]).toEqual([10, 30, 0])
    reservation.release()
    reservation.release()
    expect(total(budget)).toBe(0)
  })

  test('that does not fit is refused at once, counted, and holds nothing', () => {
    const budget = budgetOf(100)
    budget.reserve({ body: 50 })
    refused.length = 0
    expect(kindOf(() => budget.reserve({ upstream: 20, parse: 20 }))).toBe('overloaded')
    expect(refused).toEqual(['upstream'])
    expect(total(budget)).toBe(50)
  })

  test('that cannot grow keeps what it has', () => {
    const budget = budgetOf(100)
    const reservation = budget.reserve({ body: 40 })
    expect(kindOf(() => reservation.add({ body: 60 }))).toBe('overloaded')
    expect(total(budget)).toBe(40)
    reservation.release()
    expect(total(budget)).toBe(0)
  })

  test('may hold bytes beyond the bound that are there already, and all others are refused meanwhile', () => {
    const budget = budgetOf(100)
    const reservation = budget.reserve({ upstream: 40 })
    reservation.addAnyway({ upstream: 100 })
    expect(total(budget)).toBe(140)
    expect(kindOf(() => budget.reserve({ body: 1 }))).toBe('overloaded')
    reservation.release()
    expect(kindOf(() => budget.reserve({ body: 1 }))).toBe('granted')
  })
})

describe('where large reservations have filled their part', () => {
  const full = () => {
    const budget = budgetOf(100)
    budget.reserve({ body: 80 })
    return budget
  }

  test('a small one is granted, up to the whole bound', () => {
    const budget = full()
    expect(kindOf(() => budget.reserve({ body: 2, parse: 8 }))).toBe('granted')
    expect(kindOf(() => budget.reserve({ body: 10 }))).toBe('granted')
    expect(kindOf(() => budget.reserve({ body: 1 }))).toBe('overloaded')
  })

  test('one that is no longer small once it has grown is refused', () => {
    const reservation = full().reserve({ body: 10 })
    expect(kindOf(() => reservation.add({ body: 1 }))).toBe('overloaded')
  })
})

describe('a piece of work', () => {
  test('holds what was reserved in it, through awaits, until it is over', async () => {
    const budget = budgetOf(100)
    const rest = Promise.withResolvers<void>()
    const working = budget.during(async () => {
      await Promise.resolve()
      budget.reserve({ upstream: 10 }).leave()
      await rest.promise
    })
    await Promise.resolve()
    await Promise.resolve()
    expect(total(budget)).toBe(10)
    rest.resolve()
    await working
    expect(total(budget)).toBe(0)
  })

  test('releases everything where it throws', async () => {
    const budget = budgetOf(100)
    const failing = budget.during(async () => {
      budget.reserve({ upstream: 10 }).leave()
      throw new Error('broken')
    })
    expect(await failing.catch(String)).toBe('Error: broken')
    expect(total(budget)).toBe(0)
  })

  test('does not hold what others reserve', async () => {
    const budget = budgetOf(100)
    const other = budget.open()
    other.run(() => budget.reserve({ body: 5 }))
    await budget.during(async () => budget.reserve({ body: 10 }).leave())
    expect(total(budget)).toBe(5)
    expect(other.bytes).toBe(5)
  })

  test('that is over holds nothing of what is still being read', () => {
    const budget = budgetOf(100)
    const work = budget.open()
    const reservation = work.run(() => budget.reserve({ upstream: 10 }))
    work.release()
    expect(total(budget)).toBe(0)
    reservation.add({ upstream: 20 })
    expect(total(budget)).toBe(20)
    reservation.leave()
    expect(total(budget)).toBe(0)
  })
})

test('bytes of no piece of work are released once they were read', () => {
  const budget = budgetOf(100)
  const reservation = budget.reserve({ upstream: 10 })
  expect(total(budget)).toBe(10)
  reservation.leave()
  expect(total(budget)).toBe(0)
})

test('whatever is reserved, grown, left and released in any order, the bound holds and nothing stays (seed 7)', () => {
  const step = fc.record({
    act: fc.constantFrom('open', 'reserve', 'add', 'leave', 'release', 'end'),
    at: fc.nat(9),
    kind: fc.constantFrom(...byteKinds),
    bytes: fc.nat(60),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const budget = budgetOf(200)
      const works = [budget.open()]
      const reservations: ByteReservation[] = []
      for (const { act, at, kind, bytes } of steps) {
        const work = works[at % works.length]
        const reservation = reservations[at % Math.max(reservations.length, 1)]
        if (act === 'open') works.push(budget.open())
        if (act === 'reserve')
          kindOf(() => work?.run(() => reservations.push(budget.reserve({ [kind]: bytes }))))
        if (act === 'add') kindOf(() => reservation?.add({ [kind]: bytes }))
        if (act === 'leave') reservation?.leave()
        if (act === 'release') reservation?.release()
        if (act === 'end') work?.release()
        expect(total(budget)).toBeLessThanOrEqual(200)
        expect(total(budget)).toBe(reservations.reduce((sum, one) => sum + one.bytes, 0))
      }
      for (const work of works) work.release()
      for (const reservation of reservations) reservation.leave()
      expect(byteKinds.map((kind) => budget.held(kind))).toEqual([0, 0, 0, 0])
    }),
    { seed: 7, numRuns: 300 },
  )
})

test('memory is collected once as many bytes were released as may stay as garbage, and then again', () => {
  let collected = 0
  const garbage = { bytesMax: 50, collect: () => void collected++ }
  const budget = new ByteBudget({ bytesMax: 100, keptForSmall: 20, smallBytesMax: 10, garbage })
  const after = [30, 19, 1, 49, 1].map((bytes) => {
    budget.reserve({ body: bytes }).release()
    return collected
  })
  expect(after).toEqual([0, 0, 1, 1, 2])
})
