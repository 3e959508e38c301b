import { describe, expect, test } from 'bun:test'
import { ByteBudget } from '../../src/base/byte-budget.ts'
import { Fault } from '../../src/base/fault.ts'
import { nextTurn } from '../../src/base/turn.ts'
import { rememberRequest } from '../../src/http/about-request.ts'
import { readBody, readBodyOf } from '../../src/http/read-body.ts'
import { limits } from '../../src/limits.ts'

const bytesMax = 1_000

async function kindOf(request: Request): Promise<string> {
  try {
    await readBody(request, bytesMax)
    return 'read'
  } catch (error) {
    return error instanceof Fault ? error.kind : String(error)
  }
}

function streamed(
  pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
  onCancel?: () => void,
): Request {
  const body = new ReadableStream<Uint8Array>({ pull, cancel: () => onCancel?.() }, { highWaterMark: 0 })
  return new Request('http://localhost/', { method: 'POST', body })
}

describe('a body under its cap', () => {
  test('comes back whole, with its SHA-256', async () => {
    const body = await readBody(new Request('http://localhost/', { method: 'POST', body: 'abc' }), bytesMax)
    expect(Buffer.from(body.bytes).toString()).toBe('abc')
    expect(body.sha256).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  test('has the same digest whether it is small or large', async () => {
    const bytes = new Uint8Array(700_000).fill(7)
    const { sha256 } = await readBody(
      new Request('http://localhost/', { method: 'POST', body: bytes }),
      1_000_000,
    )
    expect(sha256).toBe(new Bun.CryptoHasher('sha256').update(bytes).digest('hex'))
  })

  test('may be exactly as large as the cap', async () => {
    expect(
      await kindOf(new Request('http://localhost/', { method: 'POST', body: 'x'.repeat(bytesMax) })),
    ).toBe('read')
  })

  test('may be absent', async () => {
    expect(
      (await readBody(new Request('http://localhost/', { method: 'POST' }), bytesMax)).bytes.length,
    ).toBe(0)
  })
})

describe('a body above its cap', () => {
  test('is 413 by its Content-Length, before a byte of it is read', async () => {
    let pulled = 0
    const request = streamed(() => void pulled++)
    request.headers.set('content-length', String(bytesMax + 1))
    const before = pulled
    expect(await kindOf(request)).toBe('payload_too_large')
    expect(pulled).toBe(before)
  })

  test('is 413 as soon as a stream without a length passes the cap, and the stream is cancelled', async () => {
    let sent = 0
    let cancelled = false
    const request = streamed(
      (controller) => {
        sent += 400
        controller.enqueue(new Uint8Array(400))
      },
      () => {
        cancelled = true
      },
    )
    expect(await kindOf(request)).toBe('payload_too_large')
    expect(cancelled).toBe(true)
    expect(sent).toBeLessThan(bytesMax * 4)
  })
})

test('a client that breaks off in the middle gets 400', async () => {
  const request = streamed((controller) => controller.error(new Error('reset')))
  expect(await kindOf(request)).toBe('bad_request')
})

describe('the sender of a body', () => {
  async function timesAsked(request: Request, then: () => void = () => {}): Promise<number> {
    let asked = 0
    const reading = readBodyOf(request, bytesMax, async () => asked++)
    await nextTurn()
    await nextTurn()
    expect(asked).toBe(0)
    then()
    await reading
    return asked
  }

  test('is asked about once more where it was not whole at once', async () => {
    const rest = Promise.withResolvers<void>()
    const request = new Request('http://localhost/', {
      method: 'POST',
      body: new ReadableStream<Uint8Array>({
        async pull(controller) {
          await rest.promise
          controller.enqueue(Buffer.from('abc'))
          controller.close()
        },
      }),
    })
    expect(await timesAsked(request, rest.resolve)).toBe(1)
  })

  test('is not asked about again where it was there', async () => {
    expect(await timesAsked(new Request('http://localhost/', { method: 'POST', body: 'abc' }))).toBe(0)
  })

  test('who may no more has not sent it', async () => {
    const request = streamed((controller) => {
      setImmediate(() => setImmediate(() => controller.close()))
    })
    const refusal = new Fault('unauthenticated', 'The session is revoked.')
    const outcome = await readBodyOf(request, bytesMax, () => Promise.reject(refusal)).catch(
      (thrown) => thrown,
    )
    expect(outcome).toBe(refusal)
  })
})

describe('a body in the budget of the process', () => {
  const budgetOf = () => new ByteBudget({ bytesMax: 10_000, keptForSmall: 0, smallBytesMax: 0 })
  const known = (request: Request, budget: ByteBudget) => {
    rememberRequest(request, { budget })
    return request
  }
  const held = (budget: ByteBudget) => [budget.held('body'), budget.held('parse')]

  test('of declared length is reserved with what it is once parsed, before a byte of it is read', async () => {
    const budget = budgetOf()
    let pulled = 0
    const request = streamed(() => void pulled++)
    request.headers.set('content-length', '900')
    budget.reserve({ engine: 9_000 })
    const before = pulled
    expect(await kindOf(known(request, budget))).toBe('overloaded')
    expect(pulled).toBe(before)
    expect(held(budget)).toEqual([0, 0])
  })

  test('is held for as long as the work that it belongs to', async () => {
    const budget = budgetOf()
    const request = new Request('http://localhost/', { method: 'POST', body: 'x'.repeat(100) })
    request.headers.set('content-length', '100')
    const work = budget.open()
    await work.run(() => readBody(known(request, budget), bytesMax))
    expect(held(budget)).toEqual([100, 100 * limits.parsedBytesPerByte])
    work.release()
    expect(held(budget)).toEqual([0, 0])
  })

  test('of many small values is refused before it is parsed where only its bytes would fit', async () => {
    const budget = budgetOf()
    const text = `[${'[],'.repeat(200)}0]`
    const sent = () => {
      const request = new Request('http://localhost/', { method: 'POST', body: text })
      request.headers.set('content-length', String(text.length))
      return known(request, budget)
    }
    expect(await kindOf(sent())).toBe('overloaded')
    expect(held(budget)).toEqual([0, 0])
    const plain = new Request('http://localhost/', { method: 'POST', body: 'x'.repeat(text.length) })
    plain.headers.set('content-length', String(text.length))
    expect(await kindOf(known(plain, budget))).toBe('read')
  })

  test('without a length is refused as soon as it no longer fits, and its stream is cancelled', async () => {
    const budget = budgetOf()
    let cancelled = false
    const request = streamed(
      (controller) => controller.enqueue(new Uint8Array(100)),
      () => {
        cancelled = true
      },
    )
    budget.reserve({ engine: 9_000 })
    expect(await kindOf(known(request, budget))).toBe('overloaded')
    expect(cancelled).toBe(true)
    expect(held(budget)).toEqual([0, 0])
  })

  test.each([
    ['breaks off', streamed((controller) => controller.error(new Error('reset'))), 'bad_request'],
    [
      'passes its cap',
      streamed((controller) => controller.enqueue(new Uint8Array(400))),
      'payload_too_large',
    ],
  ])('that %s holds nothing afterwards, even within its work', async (_, request, kind) => {
    const budget = budgetOf()
    const work = budget.open()
    expect(await work.run(() => kindOf(known(request, budget)))).toBe(kind)
    expect(held(budget)).toEqual([0, 0])
  })
})
