/** Log lines have the documented form and never hold credentials. */

import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/base/fault.ts'
import { Secret } from '../../src/base/secret.ts'
import { createLogger } from '../../src/telemetry/log.ts'

function capture(level = 'trace') {
  const lines: string[] = []
  const logger = createLogger({ level, destination: { write: (line: string) => void lines.push(line) } })
  return { logger, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') as Record<string, unknown> }
}

const canary = 'Zk4canaryQ9Zk4canaryQ9'

test('a line is one JSON object with level, time and message', () => {
  const { logger, lines, last } = capture()
  logger.info({ table: 'a.b' }, 'two\nlines')
  expect(lines).toHaveLength(1)
  expect(lines[0]?.match(/\n/g)).toHaveLength(1)
  expect(last()).toMatchObject({ level: 'info', msg: 'two\nlines', table: 'a.b' })
  expect(String(last().time)).toMatch(/^\d{4}-\d\d-\d\dT/)
})

test('levels below the set one are not written', () => {
  const { logger, lines } = capture('warn')
  logger.info('quiet')
  logger.warn('loud')
  expect(lines).toHaveLength(1)
})

test('bigints, dates, bytes, cycles and depth do not break a line', () => {
  const { logger, last } = capture()
  const cycle: Record<string, unknown> = {
    id: 9_007_199_254_740_993n,
    at: new Date(0),
    body: new Uint8Array(3),
  }
  cycle.self = cycle
  logger.info({ cycle }, 'odd')
  expect(last().cycle).toMatchObject({ id: '9007199254740993', body: '[3 bytes]' })
})

describe('credentials', () => {
  const headers = new Headers({ authorization: `Bearer ${canary}`, 'x-svc-session': canary, accept: 'a/b' })
  const driverError = Object.assign(new Error('refused'), {
    code: '28P01',
    parameters: [canary],
    query: canary,
  })
  const ways: [name: string, fields: object][] = [
    ['an Authorization header', { headers }],
    [
      'a header object',
      { headers: { Authorization: canary, 'X-Forwarded-Client-Cert': canary, Cookie: canary } },
    ],
    [
      'a nested config',
      { catalog: { config: [{ clientSecret: canary, client_secret: canary, token: canary }] } },
    ],
    ['a map', { config: new Map([['webhook_secret', canary]]) }],
    ['a Secret', { key: new Secret(canary) }],
    ['a database URL', { at: `postgres://svc:${canary}@db/svc` }],
    ['a database URL in an error', { err: new Error(`cannot reach postgres://svc:${canary}@db/svc`) }],
    ['what a driver hangs on its error', { err: driverError }],
    ['what a driver hangs on a cause', { err: new Fault('unavailable', 'Store.', { cause: driverError }) }],
    ['a bearer token in text', { note: `sent Bearer ${canary}` }],
    ['a JWT in text', { note: `eyJhbGciOi.${canary}.${canary}` }],
    ['a service secret in text', { note: `svc_${canary}${canary}` }],
    ['a presigned URL', { url: new URL(`https://s3.example/o?X-Amz-Signature=${canary}`) }],
  ]
  test.each(ways)('%s is redacted', (_, fields) => {
    const { logger, lines } = capture()
    logger.error(fields, 'x')
    logger.child(fields).error('x')
    expect(lines).toHaveLength(2)
    expect(lines.join('')).not.toContain(canary)
  })

  test('a message is redacted too', () => {
    const { logger, lines } = capture()
    logger.error(`postgres://svc:${canary}@db failed`)
    expect(lines.join('')).not.toContain(canary)
    expect(lines.join('')).toContain('postgres://svc:[redacted]@db failed')
  })

  test('text that a caller chose costs no more than its length, whatever it begins like', () => {
    const { logger, lines } = capture()
    // Of time that grows with the square of the length, each would take minutes.
    for (const text of ['a', 'eyJaaaa', 'eyJaaaa-', 'svc_aaaa-', 'a://b:'])
      logger.info({ path: text.repeat(400_000 / text.length) }, 'request')
    expect(lines).toHaveLength(5)
  })

  test('ordinary words and metric names are left alone', () => {
    const { logger, last } = capture()
    logger.info({ table: 'svc_gateway_commit_stage_duration_seconds', endpoint: 'https://h:8080/a@b' }, 'x')
    expect(last()).toMatchObject({
      table: 'svc_gateway_commit_stage_duration_seconds',
      endpoint: 'https://h:8080/a@b',
    })
  })
})

test('a fault shows kind, id, detail and causes', () => {
  const { logger, last } = capture()
  const fault = new Fault('unavailable', 'The store is away.', {
    detail: 'pool',
    cause: new Error('refused'),
  })
  logger.error({ err: fault }, 'x')
  expect(last().err).toMatchObject({
    type: 'Fault',
    kind: 'unavailable',
    id: fault.id,
    detail: 'pool',
    cause: { message: 'refused' },
  })
})

test('an error alone is logged under err', () => {
  const { logger, last } = capture()
  logger.error(new TypeError('bad'))
  expect(last()).toMatchObject({ msg: 'bad', err: { type: 'TypeError', message: 'bad' } })
})

test('standard output carries the lines of a process that exits at once', () => {
  const program = `
    import { createLogger } from ${JSON.stringify(new URL('../../src/telemetry/log.ts', import.meta.url).pathname)}
    createLogger({ level: 'info' }).info('last words')
    process.exit(0)`
  const { stdout } = Bun.spawnSync([process.execPath, '-e', program])
  expect(JSON.parse(stdout.toString())).toMatchObject({ msg: 'last words' })
})
