import { expect, test } from 'bun:test'
import { SendTurns } from '../../src/gateway/base/send-turns.ts'

const never = 2 ** 31 - 1

test('what is sent to one table waits for the turn before it, and what is sent to others does not', async () => {
  const turns = new SendTurns(never)
  const order: string[] = []
  const first = await turns.take(['a', 'b'])
  const second = turns.take(['b', 'c']).then((turn) => {
    order.push('second')
    return turn
  })
  using _other = await turns.take(['d'])
  order.push('other')
  first[Symbol.dispose]()
  const turn = await second
  expect(order).toEqual(['other', 'second'])
  turn[Symbol.dispose]()
  using _later = await turns.take(['a', 'b', 'c'])
})

test('two that take the same tables in other orders do not wait for each other', async () => {
  const turns = new SendTurns(never)
  const one = await turns.take(['a', 'b'])
  const other = turns.take(['b', 'a'])
  const third = turns.take(['a', 'b'])
  one[Symbol.dispose]()
  const second = await other
  second[Symbol.dispose]()
  const last = await third
  last[Symbol.dispose]()
})

test('a turn that does not end is waited for no longer than the bound', async () => {
  const turns = new SendTurns(1)
  using _first = await turns.take(['a'])
  using _second = await turns.take(['a'])
})
