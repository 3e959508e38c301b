/** What upstreams answer takes bytes of the process's budget, and is refused where there is no room for it. */

import { afterEach, describe, expect, test } from 'bun:test'
import { ByteBudget } from '../../src/base/byte-budget.ts'
import type { Catalog } from '../../src/catalog/catalog.ts'
import { limits } from '../../src/limits.ts'
import {
  openTestCatalog,
  rejection,
  startUpstream,
  type TestUpstream,
  table,
  tableResult,
} from './upstream.ts'

const MiB = 1024 * 1024
const body = new TextEncoder().encode('{"requirements":[],"updates":[]}')
const bytesMax = 10 * MiB * (1 + limits.parsedBytesPerByte)
const part = new Uint8Array(64 * 1024).fill(32)

let upstream: TestUpstream | undefined
let catalog: Catalog | undefined
afterEach(async () => {
  catalog?.close()
  await upstream?.stop()
})

const held = (budget: ByteBudget) => budget.held('upstream') + budget.held('parse')

/** An upstream, and an adapter over it whose answers are counted in a budget. */
async function start(answer: (request: Request) => Response) {
  const budget = new ByteBudget({ bytesMax, keptForSmall: 0, smallBytesMax: 0 })
  upstream = startUpstream(answer)
  catalog = openTestCatalog(upstream.url, { budget })
  // Its configuration is an answer, too.
  await catalog.offer()
  return { budget, catalog, upstream }
}

/** A LoadTableResult of this many bytes, white space for the most part; without a length where it is streamed. */
function resultOf(bytes: number): string {
  return tableResult().padEnd(bytes, ' ')
}

/** Sends white space until it is stopped. */
function endless(sent: { bytes: number; stopped: boolean }): Response {
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        sent.bytes += part.length
        controller.enqueue(part)
      },
      cancel() {
        sent.stopped = true
      },
    }),
  )
}

describe('a load', () => {
  test('holds its answer, and what it is once parsed, as long as the work that it belongs to', async () => {
    const { budget, catalog } = await start(() => new Response(resultOf(MiB)))
    await budget.during(async () => {
      await catalog.loadTable(table)
      expect(held(budget)).toBe(MiB * (1 + limits.parsedBytesPerByte))
    })
    expect(held(budget)).toBe(0)
  })

  test('of a declared length that does not fit is refused before it is read', async () => {
    const { budget, catalog } = await start(() => new Response(resultOf(11 * MiB)))
    await budget.during(async () => {
      expect(await rejection(catalog.loadTable(table))).toMatchObject({ kind: 'overloaded' })
      expect(held(budget)).toBe(0)
    })
  })

  test('of many small values is refused before it is parsed where only its bytes would fit', async () => {
    const { budget, catalog } = await start(() => new Response(`[${'[],'.repeat(MiB)}0]`))
    expect(await rejection(catalog.loadTable(table))).toMatchObject({ kind: 'overloaded' })
    expect(held(budget)).toBe(0)
  })

  test('of no length is ended as soon as it no longer fits', async () => {
    const sent = { bytes: 0, stopped: false }
    const { budget, catalog } = await start(() => endless(sent))
    expect(await rejection(catalog.loadTable(table))).toMatchObject({ kind: 'overloaded' })
    expect(held(budget)).toBe(0)
    // The rest is what was under way in buffers.
    expect(sent.bytes).toBeLessThan(bytesMax)
  })

  test('of many at once reads no more than fits, and the others succeed afterwards', async () => {
    const { budget, catalog } = await start(() => new Response(resultOf(4 * MiB)))
    const loads = await budget.during(() =>
      Promise.allSettled(Array.from({ length: 8 }, () => catalog.loadTable(table))),
    )
    const refused = loads.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBe(6)
    expect(held(budget)).toBe(0)
    await Promise.all([1, 2].map(() => budget.during(() => catalog.loadTable(table))))
  })

  test.each([
    ['is encoded', () => new Response('{}', { headers: { 'content-encoding': 'br' } })],
    ['is refused', () => new Response('{"error":{}}', { status: 409 })],
  ])('that %s holds nothing afterwards', async (_, answer) => {
    const { budget, catalog } = await start(answer)
    await budget.during(async () => {
      await rejection(catalog.loadTable(table))
      expect(held(budget)).toBe(0)
    })
  })
})

describe('a commit', () => {
  test('is not sent where there is no room for an answer as long as the last one of its table', async () => {
    const { budget, catalog, upstream } = await start(() => new Response(resultOf(4 * MiB)))
    await budget.during(() => catalog.loadTable(table))
    budget.reserve({ body: bytesMax - 5 * MiB })
    const sent = upstream.seen.length
    expect(await rejection(catalog.commitTable(table, body))).toMatchObject({ kind: 'overloaded' })
    expect(upstream.seen.length).toBe(sent)
  })

  test('that was sent is read whole even beyond the budget, because it was made', async () => {
    const { budget, catalog } = await start(() => new Response(resultOf(4 * MiB)))
    budget.reserve({ body: bytesMax })
    await budget.during(async () => {
      const { body: answered } = await catalog.commitTable(table, body)
      expect(answered.length).toBe(4 * MiB)
      expect(budget.held('upstream')).toBe(4 * MiB)
      expect(await rejection(catalog.loadTable(table))).toMatchObject({ kind: 'overloaded' })
    })
    expect(held(budget)).toBe(0)
  })

  test('counts the bytes once that were reserved before it was sent', async () => {
    const { budget, catalog } = await start(() => new Response(resultOf(MiB)))
    await budget.during(() => catalog.loadTable(table))
    await budget.during(async () => {
      await catalog.commitTable(table, body)
      expect(budget.held('upstream')).toBe(MiB)
    })
  })
})

test('an answer that is passed on as a stream is not held', async () => {
  const { budget, catalog } = await start(() => new Response(resultOf(20 * MiB)))
  await budget.during(async () => {
    const request = { method: 'GET', path: ['namespaces'], mutates: false, subject: 'Namespaces' } as const
    const { body: passed } = await catalog.forward(request)
    expect((await new Response(passed as ReadableStream<Uint8Array>).bytes()).length).toBe(20 * MiB)
    expect(held(budget)).toBe(0)
  })
})

test('an answer that is asked for whole is held', async () => {
  const { budget, catalog } = await start(() => new Response(resultOf(MiB)))
  await budget.during(async () => {
    const request = { method: 'GET', path: ['namespaces'], mutates: false, subject: 'Namespaces' } as const
    await catalog.forward({ ...request, whole: true })
    expect(budget.held('upstream')).toBe(MiB)
  })
})
