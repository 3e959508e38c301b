/** `covenant access`: asking, deciding, renewing and breaking the glass as docs/access.md shows it, by commands alone. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { runCovenant } from '../../../src/admin/verbs.ts'
import { type AccessLake, accessDocument, startAccessLake } from '../../support/access.ts'

setDefaultTimeout(120_000)

let nowMs = Date.now()
let on: AccessLake
let rita: string
let olga: string
let stella: string
beforeAll(async () => {
  on = await startAccessLake({ now: () => nowMs })
  rita = await on.person('rita', ['oncall'], true)
  olga = await on.person('olga', ['clerk'], true)
  stella = await on.person('stella', ['steward'])
  const owners = [{ username: 'olga', role: 'owner' }]
  await on.put(stella, accessDocument({ owners, plan: { breakGlassRoles: ['oncall'] } }))
})
afterAll(() => on?.lake[Symbol.asyncDispose]())

/** What a command printed as JSON. */
async function run(secret: string, ...words: readonly string[]): Promise<Record<string, never>> {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCovenant(['access', ...words, '--json'], {
    env: { COVENANT_URL: on.lake.app.url.origin, COVENANT_SESSION: secret },
    stdin: async () => '',
    print: (text) => void out.push(text),
    complain: (text) => void err.push(text),
  })
  expect([status, err]).toEqual([0, []])
  return JSON.parse(out.join('\n')) as Record<string, never>
}

const asking = ['sales.orders', '--columns', 'email', '--purpose', 'Refunds', '--seconds', '3600']

test('an owner finds a request, sees what it reveals, decides it, and the grant is renewed', async () => {
  await run(rita, 'request', ...asking)
  const waiting = await run(olga, 'requests', '--everyone', '--table', 'sales.orders', '--state', 'waiting')
  const [{ id }] = waiting.items as unknown as [{ id: string }]
  const shown = await run(olga, 'show', id)
  expect(shown.reveals).toMatchObject({ columns: [{ name: 'email', roles: ['officer'] }] })
  const decided = await run(olga, 'decide', id, '--approves', 'true', '--sha256', shown.sha256 as never)
  const grant = decided.grant as unknown as { id: string; until: string }
  const renewal = await run(rita, 'renew', grant.id, '--seconds', '1800')
  expect(renewal).toMatchObject({
    state: 'waiting',
    renews: grant.id,
    purpose: 'Refunds',
    columns: ['email'],
  })
  const renewed = await run(
    stella,
    ...['decide', renewal.id as never, '--approves', 'true', '--sha256', renewal.sha256 as never],
  )
  expect(renewed.grant).toMatchObject({ from: grant.until })
  nowMs += 3_600_000
  expect(await on.isMasked('rita', rita)).toBe(false)
  nowMs += 1_800_000
  expect(await on.isMasked('rita', rita)).toBe(true)
})

test('break-glass opens at once, and a steward condemns it', async () => {
  const made = await run(rita, 'break-glass', ...asking, '--ticket', 'INC-7')
  expect(made).toMatchObject({ state: 'to_review', grant: { purpose: 'Refunds', ticket: 'INC-7' } })
  expect(await on.isMasked('rita', rita)).toBe(false)
  const found = await run(stella, 'requests', '--everyone', '--state', 'to_review')
  expect(found.items).toMatchObject([{ id: made.id, break_glass: true }] as never)
  await run(
    stella,
    ...['decide', made.id as never, '--approves', 'false', '--sha256', made.sha256 as never],
    ...['--comment', 'No outage'],
  )
  expect(await on.isMasked('rita', rita)).toBe(true)
})
