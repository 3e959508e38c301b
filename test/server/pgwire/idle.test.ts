/** The memory of its statements that an idle connection holds. */

import { heapStats } from 'bun:jsc'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { shownText } from '../../../src/server/pgwire/activity.ts'
import { Outbox } from '../../../src/server/pgwire/outbox.ts'
import { startWire, type WireService } from '../../support/pgwire.ts'
import { frames, type WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

const long = 'x'.repeat(500_000)
const clientCount = 20
/** Of one connection: the statement has 500. */
const keptKbMax = 100

const asks = (text: string) => frames.query(`show application_name /* ${text} */`)

let wire: WireService
let clients: WireClient[]
beforeAll(async () => {
  wire = await startWire()
  clients = await Promise.all(Array.from({ length: clientCount }, () => wire.logIn()))
})
afterAll(async () => {
  for (const client of clients) client.close()
  await wire[Symbol.asyncDispose]()
})

function liveBytes(): number {
  Bun.gc(true)
  return heapStats().heapSize
}

describe('a connection that waits', () => {
  test('keeps no long statement', async () => {
    for (const text of [long, '']) for (const client of clients) await client.ask(asks(text))
    const before = liveBytes()
    for (const client of clients) await client.ask(asks(long))
    expect((liveBytes() - before) / clientCount / 1000).toBeLessThan(keptKbMax)
  })

  test('has a small buffer again for what it sends', async () => {
    const outbox = new Outbox({ write: (bytes) => bytes.length })
    outbox.writer.ascii(long)
    await outbox.flush()
    expect(outbox.writer.bytes.length).toBeGreaterThan(long.length - 1)
    outbox.writer.ascii('more')
    await outbox.flush(true)
    expect(outbox.writer.bytes.length).toBeLessThan(5_000)
  })

  test('is shown with the beginning of its last statement', () => {
    expect(shownText('select 1')).toBe('select 1')
    expect(shownText(`select '${long}'`)).toBe(`select '${'x'.repeat(1016)}`)
  })
})
