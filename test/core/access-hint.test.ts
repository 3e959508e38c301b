/** The words by which access is asked for. */

import { expect, test } from 'bun:test'
import { accessHint, accessLink, agentAccessHint, askableOf } from '../../src/core/access-hint.ts'

const table = { namespace: ['sales'], name: 'orders' }
const mask = (column: string) => ({ kind: 'column_mask', table, column })
const page = () => new URL('https://covenant.example')

test('masks alone are asked for by columns, each once', () => {
  expect(accessHint(page, askableOf([mask('email'), mask('card'), mask('email')]))).toBe(
    'Access for a time: covenant access request sales.orders --columns email,card, or https://covenant.example/console/request?table=sales.orders&columns=email%2Ccard.',
  )
})

test('where rows are filtered too, all that is hidden is asked for', () => {
  const hidden = askableOf([mask('email'), { kind: 'row_filter', table }])
  expect(accessHint(undefined, hidden)).toBe('Access for a time: covenant access request sales.orders.')
  expect(agentAccessHint(hidden)).toBe(
    'Access for a time: call request_access for sales.orders, or let your user run: covenant access request sales.orders.',
  )
})

test('a revealed column and a grant hide nothing, so nothing is asked for', () => {
  const others = askableOf([
    { kind: 'reveal', table, column: 'card' },
    { kind: 'grant', table },
  ])
  expect([others, accessHint(page, others), agentAccessHint(others)]).toEqual([[], undefined, undefined])
})

test.each(["o'clock", 'a,b', '$(rm)', 'two words', '`x`', 'über', ''])(
  'the column %j stands in no command and no link',
  (column) => {
    const hint = accessHint(page, askableOf([mask('email'), mask(column)]))
    expect(hint).toBe(
      'Access for a time: covenant access request sales.orders, or https://covenant.example/console/request?table=sales.orders.',
    )
  },
)

test('more columns than a hint names are asked for as all of the table', () => {
  const many = Array.from({ length: 11 }, (_, index) => mask(`c${index}`))
  expect(accessLink(page, askableOf(many)[0] ?? { table })).toBe(
    'https://covenant.example/console/request?table=sales.orders',
  )
})
