/** What one connection holds and for how long, and sessions: on a socket and a clock of the test. */

import { describe, expect, test } from 'bun:test'
import type { SessionFormula } from '../../../src/semantics/mdx/session.ts'
import { xmlaBounds } from '../../../src/server/xmla/bounds.ts'
import { Connection, ConnectionClosed } from '../../../src/server/xmla/connection.ts'
import { XmlaSessions } from '../../../src/server/xmla/sessions.ts'

class TestSocket {
  /** Bytes that are taken with the next write. */
  room = Number.POSITIVE_INFINITY
  taken: Buffer[] = []
  ended = false
  terminated = false

  write(bytes: Uint8Array): number {
    const count = Math.min(this.room, bytes.length)
    this.room -= count
    this.taken.push(Buffer.from(bytes.subarray(0, count)))
    return count
  }

  end(): void {
    this.ended = true
  }

  terminate(): void {
    this.terminated = true
  }
}

const never = new AbortController().signal

function open(bounds: Partial<Record<keyof typeof xmlaBounds, number>> = {}) {
  const socket = new TestSocket()
  const connection = new Connection(socket as never, '127.0.0.1', false, true, { ...xmlaBounds, ...bounds })
  return { socket, connection }
}

const head = 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n'

describe('a connection', () => {
  test('shows the head before the body is there, then the request', async () => {
    const { connection } = open()
    connection.received(Buffer.from(head))
    expect((await connection.receive(never)).kind).toBe('head')
    connection.received(Buffer.from('ok'))
    const next = await connection.receive(never)
    expect(next.kind === 'request' && Buffer.from(next.request.body).toString()).toBe('ok')
  })

  test.each([
    ['between requests', '', { idleMs: 1 }, false],
    ['within a head', 'POST', { headMs: 1 }, true],
    ['within a body', `${head}o`, { bodyMs: 1 }, true],
  ])('is late %s', async (_, sent, bounds, begun) => {
    const { connection } = open(bounds)
    connection.received(Buffer.from(sent))
    let next = await connection.receive(never)
    if (next.kind === 'head') next = await connection.receive(never)
    expect(next).toEqual({ kind: 'late', begun })
  })

  test('sends what the client takes, and waits for the rest', async () => {
    const { socket, connection } = open()
    socket.room = 3
    const sent = connection.send(Buffer.from('hello'))
    expect(Buffer.concat(socket.taken).toString()).toBe('hel')
    socket.room = 10
    connection.drained()
    await sent
    expect(Buffer.concat(socket.taken).toString()).toBe('hello')
  })

  test('ends with a client that takes nothing', async () => {
    const { socket, connection } = open({ sendMs: 1 })
    socket.room = 0
    const thrown = await connection.send(Buffer.from('hello')).catch((cause: unknown) => cause)
    expect(thrown).toBeInstanceOf(ConnectionClosed)
    expect(socket.terminated).toBe(true)
  })

  test('ends with a client that sends on without waiting for an answer', async () => {
    const { socket, connection } = open()
    connection.received(Buffer.from(`${head}ok`))
    await connection.receive(never)
    connection.received(Buffer.alloc(60_000))
    expect(socket.terminated).toBe(false)
    connection.received(Buffer.alloc(60_000))
    expect(socket.terminated).toBe(true)
  })

  test('is over at once where it is idle and no request is wanted', async () => {
    const { connection } = open()
    const ends = new AbortController()
    const next = connection.receive(ends.signal)
    ends.abort()
    expect(await next).toEqual({ kind: 'gone', begun: false })
  })

  test('is over when the client leaves', async () => {
    const { connection } = open()
    const next = connection.receive(never)
    connection.closed()
    expect(await next).toEqual({ kind: 'gone', begun: false })
    expect(connection.gone.aborted).toBe(true)
  })
})

describe('sessions', () => {
  const bounds = {
    sessionsMax: 3,
    principalSessionsMax: 2,
    sessionIdleMs: 100,
    principalFormulaCharsMax: 400,
  }
  const ann = { tenant: 'tenant', sub: 'ann', catalog: 'lake' }
  const bob = { ...ann, sub: 'bob' }

  function sessions() {
    let nowMs = 0
    const found = new XmlaSessions(bounds, { now: () => nowMs })
    return {
      found,
      pass: (ms: number) => {
        nowMs += ms
      },
    }
  }

  test('are found by their owner alone, and never twice the same', () => {
    const { found } = sessions()
    const [one, other] = [found.begin(ann), found.begin(ann)]
    expect(one.id).not.toBe(other.id)
    expect(found.find(one.id, ann)).toBe(one)
    expect(found.find(one.id, bob)).toBeUndefined()
    expect(found.find(one.id, { tenant: 'tenant', sub: 'ann lake', catalog: '' })).toBeUndefined()
    expect(found.find(one.id, { ...ann, tenant: 'other' })).toBeUndefined()
    expect(found.find(one.id, { ...ann, catalog: 'other' })).toBeUndefined()
  })

  test('end after they were idle, and not while a request is at work', () => {
    const { found, pass } = sessions()
    const [idle, busy] = [found.begin(ann), found.begin(ann)]
    busy.running.add(new AbortController())
    pass(101)
    expect(found.find(idle.id, ann)).toBeUndefined()
    expect(found.find(busy.id, ann)).toBe(busy)
  })

  test('of a principal define so much together, whatever the catalog, and another is not told', () => {
    const { found } = sessions()
    const [one, other, bobs] = [found.begin(ann), found.begin({ ...ann, catalog: 'other' }), found.begin(bob)]
    const set = (name: string): SessionFormula => ({
      cube: 'c',
      formula: {
        ...{ kind: 'set', name: [{ kind: 'name', name, quoted: true }], properties: [] },
        expression: { kind: 'string', value: 'x'.repeat(100) },
      },
    })
    found.define(one, [set('a')])
    expect(() => found.define(other, [set('a')])).toThrow('too many members and sets')
    expect(other.formulas).toEqual([])
    found.define(bobs, [set('a')])
    // What is dropped makes room, and so does a session that ends.
    found.define(one, [])
    found.define(other, [set('a')])
    found.end(other)
    found.define(one, [set('b')])
    expect(one.formulas).toHaveLength(1)
  })

  test('of a principal take the place of its oldest, never of another', () => {
    const { found } = sessions()
    const other = found.begin(bob)
    const [first, second] = [found.begin(ann), found.begin(ann)]
    expect(found.find(first.id, ann)).toBe(first)
    const third = found.begin(ann)
    expect(found.find(second.id, ann)).toBeUndefined()
    expect(found.find(third.id, ann)).toBe(third)
    expect(found.find(other.id, bob)).toBe(other)
    expect(found.count).toBe(3)
  })

  test('are refused where all are at work', () => {
    const { found } = sessions()
    for (const session of [found.begin(ann), found.begin(ann)]) session.running.add(new AbortController())
    expect(() => found.begin(ann)).toThrow('too many sessions')
  })

  test('end what runs in them', () => {
    const { found } = sessions()
    const session = found.begin(ann)
    const controller = new AbortController()
    session.running.add(controller)
    found.end(session)
    expect(controller.signal.aborted).toBe(true)
    expect(found.find(session.id, ann)).toBeUndefined()
  })
})
