/** Clients that send random messages and disconnect at random: the service survives and holds nothing of theirs. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { LoginThrottle } from '../../../src/server/pgwire/login-throttle.ts'
import { eventually } from '../../support/eventually.ts'
import { endless, numbers, startWire } from '../../support/pgwire.ts'
import { frames, spoken, WireClient } from '../../support/wire-client.ts'
import { seeded } from '../../wire/postgres/samples.ts'

setDefaultTimeout(600_000)
const { query, parse, bind, describe: describeFrame, execute, sync, close, flush, terminate } = frames
// The long forms run under `bun run test:soak`, for as many seconds as it says.
const soakMs = Number(process.env.SVC_TEST_SOAK_SECONDS ?? 0) * 1_000
const goesOn = (count: number, enough: number, startedMs: number) =>
  count < enough || performance.now() - startedMs < soakMs
const seed = 424_242

const conversation = Buffer.concat([
  query('select many; begin; select nowhere; rollback'),
  parse('select $1', 's', [25]),
  describeFrame('S', 's'),
  bind({ statement: 's', parameters: ['x'], resultFormats: [1] }),
  execute('', 1),
  flush(),
  close('S', 's'),
  sync(),
  query('declare c cursor with hold for select many; fetch 5 from c; set a.b = 1; show all; close all'),
  query('copy (select many) to stdout (format binary)'),
  sync(),
])
const startUp = Buffer.concat([
  frames.startup({ user: 'ada', database: 'main', application_name: 'fuzz' }),
  frames.password('svc_wrong'),
])

const queries = {
  'select many': numbers(500),
  'select endless': endless(),
  'select 1': numbers(1),
  'select $1': { ...numbers(3), parameters: ['text' as const] },
}

/** Some bytes of a conversation changed, dropped or doubled. */
function bend(bytes: Buffer, random: () => number): Buffer {
  const bent = Buffer.from(bytes)
  for (let count = 0; count < 1 + random() * 5; count++)
    bent[Math.floor(random() * bent.length)] = Math.floor(random() * 256)
  const at = Math.floor(random() * bent.length)
  const kind = Math.floor(random() * 4)
  if (kind === 0) return bent.subarray(0, at)
  if (kind === 1) return Buffer.concat([bent.subarray(at), bent])
  return bent
}

describe(`bent frames of seed ${seed}`, () => {
  test('before the client is let in end its connection and nothing else', async () => {
    let hours = 0
    const throttle = new LoginThrottle({ now: () => (hours += 3_600_000) })
    await using wire = await startWire({ queries, parts: { authenticationMs: 2_000, throttle } })
    const random = seeded(seed)
    const startedMs = performance.now()
    for (let count = 0; goesOn(count, 150, startedMs); count++) {
      const client = await WireClient.connect(wire.options)
      client.send(bend(startUp, random))
      if (random() < 0.5) client.vanish()
      else client.close()
    }
    await eventually(() => wire.server.connections() === 0)
    const healthy = await wire.logIn()
    expect(await healthy.ask(query('select 1'))).toContain('C SELECT 1')
    healthy.close()
    expect(wire.log()).not.toContain('unexpectedly')
  })

  test('after it are answered or end the connection, and never stop the server', async () => {
    await using wire = await startWire({ queries })
    const random = seeded(seed)
    // A conversation holds some 20 frames.
    const startedMs = performance.now()
    for (let count = 0; goesOn(count, 150, startedMs); count++) {
      const client = await wire.logIn()
      client.send(bend(conversation, random), terminate())
      if (random() < 0.3) client.vanish()
      else {
        client.close()
        const answers = await client.until('never')
        expect(answers.every((answer) => !spoken(answer).startsWith('E XX'))).toBe(true)
      }
    }
    await eventually(() => wire.server.connections() === 0)
    const healthy = await wire.logIn()
    expect(await healthy.ask(query('select 1'))).toContain('C SELECT 1')
    healthy.close()
    expect(wire.log()).not.toContain('unexpectedly')
  })
})

describe('clients that vanish', () => {
  test('at random moments leave no query running and no connection', async () => {
    await using wire = await startWire({ queries })
    const random = seeded(seed)
    const startedMs = performance.now()
    for (let round = 0; goesOn(round, 2, startedMs); round++)
      await Promise.all(
        Array.from({ length: 100 }, async () => {
          const client = await wire.logIn()
          client.send(random() < 0.5 ? query('select endless') : conversation)
          await Bun.sleep(random() * 20)
          client.vanish()
        }),
      )
    await eventually(() => wire.server.connections() === 0)
    await eventually(() => wire.runs.every(({ state }) => state !== 'running'))
    const scraped = await wire.metrics.registry.metrics()
    expect(scraped).toMatch(/svc_pgwire_connections\{[^}]*\} 0\n/)
  })
})
