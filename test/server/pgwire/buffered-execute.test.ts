/** A Parse is run together with its Execute only if all messages between have arrived and nothing else is between. */

import { describe, expect, test } from 'bun:test'
import { isExecuteBuffered } from '../../../src/server/pgwire/buffered-execute.ts'
import { FrameReader } from '../../../src/wire/postgres/frame-reader.ts'
import { frames } from '../../support/wire-client.ts'

function isAhead(statement: string, bytes: Uint8Array): boolean {
  const reader = new FrameReader()
  reader.phase = 'session'
  reader.push(bytes)
  return isExecuteBuffered(statement, reader.waiting())
}

const bind = frames.bind({ statement: 's', portal: 'p', parameters: ['1'] })
const execute = frames.execute('p')

describe('an Execute is ahead', () => {
  test.each([
    ['right behind its Bind', [bind, execute]],
    ['with Describe around its Bind', [frames.describe('S', 's'), bind, frames.describe('P', 'p'), execute]],
    ['with more behind it', [bind, execute, frames.execute('p'), frames.sync()]],
  ])('%s', (_, all) => {
    expect(isAhead('s', Buffer.concat(all))).toBe(true)
  })

  test('once its last byte is there', () => {
    const bytes = Buffer.concat([frames.describe('S', 's'), bind, frames.describe('P', 'p'), execute])
    for (let end = 0; end < bytes.length; end++) expect(isAhead('s', bytes.subarray(0, end))).toBe(false)
    expect(isAhead('s', bytes)).toBe(true)
  })
})

describe('no Execute is ahead', () => {
  test.each([
    ['where there is none', [bind, frames.sync()]],
    ['of another statement', [frames.bind({ statement: 'other', portal: 'p' }), execute]],
    ['of another portal', [bind, frames.execute('other'), execute]],
    ['without its Bind', [execute]],
    ['behind a second Bind', [bind, bind, execute]],
    ['behind Sync', [frames.sync(), bind, execute]],
    ['behind Flush', [bind, frames.flush(), execute]],
    ['behind another Parse', [frames.parse('SELECT 1'), bind, execute]],
    ['behind Close', [bind, frames.close('S', 's'), execute]],
    ['behind a Query', [frames.query('SELECT 1'), bind, execute]],
    ['behind a message that breaks the protocol', [bind, Uint8Array.of(0x7a, 0, 0, 0, 4), execute]],
    ['behind a Bind without names', [Uint8Array.of(0x42, 0, 0, 0, 6, 0x73, 0x73), execute]],
  ])('%s', (_, all) => {
    expect(isAhead('s', Buffer.concat(all))).toBe(false)
  })
})
