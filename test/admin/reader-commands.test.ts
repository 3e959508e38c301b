/** `covenant admin who-read` and `who-can-read`: what they print, and that they print nothing of another tenant. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { recordUsage } from '../../src/store/query/usage.ts'
import { commitColumns } from '../support/governed.ts'
import { type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { addTenant, openUncontracted } from '../support/service.ts'
import { usageRecord } from '../support/usage.ts'
import { runRemotely } from './command-line.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let steward: string
let analyst: string
let foreign: string

beforeAll(async () => {
  service = await startIdentityService()
  const { store, owner } = service
  const other = await addTenant(store, 'foreign', service.catalog.url)
  for (const principal of ['ann', 'o"hara', '=cmd()'])
    await recordUsage(store, owner.tenant, usageRecord({ principal }))
  await recordUsage(store, other.tenant, usageRecord({ principal: 'mallory' }))
  await commitColumns(store, owner.tenant, { namespace: ['sales'], name: 'orders' }, { id: 'long' })
  await openUncontracted(store, owner)
  steward = await session(service, owner.tenant, ['read'], ['steward'], 'stella')
  analyst = await session(service, owner.tenant, ['read'], ['analyst'], 'anna')
  foreign = await session(service, other.tenant, ['read'], ['steward'], 'mia')
})
afterAll(() => service[Symbol.asyncDispose]())

const run = (command: string, as = steward) =>
  runRemotely([...command.split(' '), '--url', service.app.url.origin], { env: { COVENANT_SESSION: as } })
const whoRead = 'who-read --table sales.orders --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z'

test('who-read prints a reader a line', async () => {
  const { status, stdout, stderr } = await run(`${whoRead} --column id`)
  expect([status, stderr]).toEqual([0, ''])
  const lines = stdout.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).principal)).toEqual(['=cmd()', 'ann', 'o"hara'])
})

test('who-read prints CSV that no spreadsheet runs', async () => {
  const { stdout } = await run(`${whoRead} --format csv`)
  const at = '2026-01-01T00:00:00.000Z'
  expect(stdout).toBe(
    [
      'principal,surface,session_id,session,roles,given,saw,reads,first_at,last_at',
      `'=cmd(),pgwire,,,,,whole,1,${at},${at}`,
      `ann,pgwire,,,,,whole,1,${at},${at}`,
      `"o""hara",pgwire,,,,,whole,1,${at},${at}`,
      '',
    ].join('\r\n'),
  )
})

test('who-can-read shows the sessions that may', async () => {
  const { status, stdout } = await run('who-can-read --table sales.orders')
  const shown = JSON.parse(stdout)
  expect(status).toBe(0)
  expect(shown.columns).toMatchObject([{ name: 'id', anyone: 'clear' }])
  expect(shown.sessions.map(({ name }: { name: string }) => name)).not.toContain('mia')
})

test('another tenant is shown its own readers, and who is no steward none', async () => {
  const { stdout } = await run(whoRead, foreign)
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).principal),
  ).toEqual(['mallory'])
  for (const command of [whoRead, 'who-can-read --table sales.orders']) {
    const { status, stdout: nothing } = await run(command, analyst)
    expect([status === 0, nothing]).toEqual([false, ''])
  }
})

test('they say what is missing before anything is sent', async () => {
  for (const [command, names] of [
    ['who-read --table sales.orders --from 2026-01-01T00:00:00Z', '--to'],
    ['who-read --from 2026-01-01T00:00:00Z --to 2026-01-01T00:00:00Z', '--table'],
    [`${whoRead} --saw everything`, '--saw'],
  ] as const) {
    const { status, stderr } = await run(command)
    expect([status, stderr.includes(names)]).toEqual([64, true])
  }
})
