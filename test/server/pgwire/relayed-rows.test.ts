/** A cursor over a catalog statement goes back in few steps, and lets others run meanwhile. */

import { describe, expect, spyOn, test } from 'bun:test'
import type { FetchStmt } from 'libpg-query'
import { planFetch } from '../../../src/server/pgwire/cursor-plans.ts'
import { Outbox } from '../../../src/server/pgwire/outbox.ts'
import { emptyBinding } from '../../../src/server/pgwire/portal.ts'
import { RelayedRows } from '../../../src/server/pgwire/relayed-rows.ts'
import type { SessionState } from '../../../src/server/pgwire/session-state.ts'
import { MessageWriter } from '../../../src/wire/postgres/message-writer.ts'
import { backend } from '../../../src/wire/postgres/protocol.ts'

const { signal } = new AbortController()

/** The numbers from 1 on, as a catalog answers them. */
function numbered(count: number): RelayedRows {
  const out = new MessageWriter()
  for (let number = 1; number <= count; number++) {
    out.begin(backend.dataRow)
    out.int32(number)
    out.end()
  }
  return new RelayedRows(out.view().slice())
}

function cursor(rows: RelayedRows) {
  const sent: number[] = []
  const outbox = new Outbox({
    write(bytes) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
      for (let at = 0; at < bytes.length; at += 9) sent.push(view.getUint32(at + 5))
      return bytes.length
    },
  })
  const portals = new Map([['c', { portal: { rows }, hold: false }]])
  const session = { portals, outbox, tally: { rows: 0 } } as unknown as SessionState
  const fetch = async (tree: FetchStmt, stop = signal) => {
    const portal = await planFetch(session, { portalname: 'c', ...tree }).open(emptyBinding)
    const outcome = await portal.execute(0, stop)
    await outbox.flush()
    return { outcome, sent: sent.splice(0) }
  }
  return { fetch }
}

const all = 2_147_483_647n

describe('a cursor over the catalog', () => {
  test.each([1, 15, 16, 17, 100])('gives %i rows backwards, and each by its number', async (count) => {
    const numbers = Array.from({ length: count }, (_, index) => index + 1)
    const { fetch } = cursor(numbered(count))
    expect((await fetch({ direction: 'FETCH_FORWARD', howMany: all })).sent).toEqual(numbers)
    const { sent, outcome } = await fetch({ direction: 'FETCH_BACKWARD', howMany: all })
    expect(outcome).toEqual({ tag: `FETCH ${count}` })
    expect(sent).toEqual(numbers.toReversed())
    for (const number of numbers.toReversed())
      expect((await fetch({ direction: 'FETCH_ABSOLUTE', howMany: BigInt(number) })).sent).toEqual([number])
  })

  test('goes back in a bounded number of steps for each row', async () => {
    const count = 5_000
    const { fetch } = cursor(numbered(count))
    await fetch({ direction: 'FETCH_FORWARD', howMany: all })
    const steps = spyOn(DataView.prototype, 'getInt32')
    try {
      await fetch({ direction: 'FETCH_BACKWARD', howMany: all })
      expect(steps.mock.calls.length).toBeGreaterThan(count - 1)
      expect(steps.mock.calls.length).toBeLessThan(count * 20)
    } finally {
      steps.mockRestore()
    }
  })

  test.each(['FETCH_FORWARD', 'FETCH_BACKWARD'] as const)('is cancelled within a %s', async (direction) => {
    const count = 5_000
    const rows = numbered(count)
    const { fetch } = cursor(rows)
    if (direction === 'FETCH_BACKWARD') await rows.skip(0, signal)
    const stop = new AbortController()
    setImmediate(() => stop.abort(new Error('cancelled')))
    await expect(fetch({ direction, howMany: all }, stop.signal)).rejects.toThrow('cancelled')
  })

  test('is cancelled while it passes over rows', async () => {
    const stop = new AbortController()
    setImmediate(() => stop.abort(new Error('cancelled')))
    await expect(numbered(5_000).skip(0, stop.signal)).rejects.toThrow('cancelled')
  })
})
