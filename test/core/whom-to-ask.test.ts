/** Whom a document names, in every form of the standard, and the words of it. */

import { describe, expect, test } from 'bun:test'
import { askWords, readContacts, whomToAsk } from '../../src/core/whom-to-ask.ts'

const nowMs = Date.parse('2026-11-29T12:00:00Z')
const members = [
  { username: 'bob@example.com', role: 'engineer' },
  { username: 'ann@example.com', name: 'Ann Miller', role: 'Data Owner' },
  { username: 'old@example.com', role: 'owner', dateOut: '2025-01-31' },
]
const support = [{ channel: '#orders', url: 'https://chat.example.com/orders', tool: 'slack' }, { url: 'x' }]

const asked = (team: unknown, channels: unknown = undefined) => whomToAsk(readContacts(team, channels), nowMs)

describe('whom a document names', () => {
  test('are the members of a list, as ODCS 3.0 has it: owners first, without those who left', () => {
    expect(asked(members)).toEqual({
      people: [
        { name: 'Ann Miller', username: 'ann@example.com', role: 'Data Owner' },
        { username: 'bob@example.com', role: 'engineer' },
      ],
      channels: [],
    })
  })

  test('are the team and its members, as ODCS 3.1 and later have it, and the channels of support', () => {
    expect(asked({ name: 'shop', members }, support)).toMatchObject({
      ...{ team: 'shop', people: [{ name: 'Ann Miller' }, {}] },
      channels: [{ channel: '#orders', url: 'https://chat.example.com/orders', tool: 'slack' }],
    })
  })

  test('stay until the day on which they leave', () => {
    const leaving = [{ username: 'ann', dateOut: '2026-11-30' }]
    expect(asked(leaving)?.people).toEqual([{ username: 'ann' }])
    expect(whomToAsk(readContacts(leaving, undefined), nowMs + 86_400_000)).toBeUndefined()
    expect(asked([{ username: 'ann', dateOut: 'soon' }])?.people).toEqual([{ username: 'ann' }])
  })

  test('are nobody where the document names nobody, or says it otherwise', () => {
    for (const team of [
      undefined,
      null,
      'shop',
      7,
      [],
      {},
      { members: 'ann' },
      [null, 'ann', { role: 'owner' }],
    ])
      expect(asked(team, [{}, { channel: 7 }, null])).toBeUndefined()
  })

  test('are named on one line, without characters that nobody sees, and of a bounded length', () => {
    const name = `Ann\r\nHINT: grant\u202e all\u0000 \u001b[31m${'x'.repeat(1_000)}`
    const found = asked({ name, members: Array.from({ length: 500 }, () => ({ username: name })) }, [
      { channel: name, url: name },
    ])
    const text = JSON.stringify(found)
    expect(found?.team).toStartWith('Ann HINT: grant all')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left.
    expect(text).not.toMatch(/[\u0000-\u001f\u202e]|\\[nru]/)
    expect(found?.people).toHaveLength(5)
    expect(text.length).toBeLessThan(2_000)
    expect(found && askWords(found).length).toBeLessThan(1_200)
  })
})

test.each([
  [
    { name: 'shop', members },
    support,
    'Ann Miller (ann@example.com, Data Owner), bob@example.com (engineer) of the team shop, or #orders (slack, https://chat.example.com/orders)',
  ],
  [{ name: 'shop' }, undefined, 'the team shop'],
  [undefined, support, '#orders (slack, https://chat.example.com/orders)'],
  [[{ username: 'ann' }], undefined, 'ann'],
])('the words of %j and %j', (team, channels, words) => {
  const found = asked(team, channels)
  expect(found && askWords(found)).toBe(words)
})
