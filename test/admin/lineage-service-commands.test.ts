/** Sending events of lineage and asking for it on the command line, over HTTP, as a session. A foreign tenant has events too. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { datasetNode, lineageEvent } from '../support/lineage.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'
import { runRemotely } from './command-line.ts'

let service: TestService
let foreign: TestTenant
let secret: string
beforeAll(async () => {
  service = await startTestService()
  foreign = await addTenant(service.store, 'other', service.catalog.url)
  ;({ secret } = await createServiceSession(service.store, service.owner.tenant, {
    name: 'sam',
    principal: { sub: 'sam', roles: ['steward'] },
    scopes: ['lineage', 'read'],
  }))
  const events = JSON.stringify([lineageEvent({ inputs: ['d0'], outputs: ['theirs'] })])
  expect(await run('lineage send --file -', { stdin: events, as: foreign.secret })).toMatchObject({
    status: 0,
  })
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

function run(command: string, { stdin = '', as = secret }: { stdin?: string; as?: string } = {}) {
  const args = [...command.split(' '), '--url', service.app.url.origin]
  return runRemotely(args, { env: { COVENANT_SESSION: as }, stdin })
}
const chain = (length: number) =>
  Array.from({ length }, (_, at) => lineageEvent({ inputs: [`d${at}`], outputs: [`d${at + 1}`] }))

describe('lineage send', () => {
  test('sends a list of events, or one a line, in batches, and says how many were accepted', async () => {
    const lines = chain(9).map((event) => JSON.stringify(event))
    const listed = await run('lineage send --file -', { stdin: `[${lines.join(',')}]` })
    expect(JSON.parse(listed.stdout)).toEqual({ received: 9, accepted: 9, not_accepted: [] })
    const reader = lineageEvent({ inputs: ['d0'], job: 'reader' })
    const many = `${lines[0]}\n`.repeat(1_000) + `\n${JSON.stringify(reader)}\n`
    expect(await run('lineage send --file - --field accepted', { stdin: many })).toEqual({
      ...{ status: 0, stderr: '' },
      stdout: '1001\n',
    })
  })

  test('fails where an event is not accepted, and says which and why, of the others nothing', async () => {
    const events = [lineageEvent({ inputs: ['d0'] }), { producer: 'x' }, lineageEvent({ inputs: ['d1'] })]
    const { status, stdout, stderr } = await run('lineage send --file -', { stdin: JSON.stringify(events) })
    expect([status, stderr]).toEqual([1, '1 of 3 events were not accepted.\n'])
    const { not_accepted, ...counts } = JSON.parse(stdout) as { not_accepted: object[] }
    expect(counts).toEqual({ received: 3, accepted: 2 })
    expect(not_accepted).toEqual([
      { event: 2, status: 400, message: expect.stringContaining('eventType is required') },
    ])
  })

  test('refuses what is no list before it sends anything, and a session without the scope', async () => {
    const broken = await run('lineage send --file -', { stdin: '[{}' })
    expect([broken.status, broken.stdout]).toEqual([64, ''])
    const { secret: reading } = await createServiceSession(service.store, service.owner.tenant, {
      name: 'reading',
      principal: { sub: 'sam', roles: [] },
      scopes: ['read'],
    })
    expect((await run('lineage send --file -', { stdin: '[]', as: reading })).status).toBe(0)
    expect((await run('lineage send --file -', { stdin: '[{}]', as: reading })).status).toBe(1)
  })
})

describe('asking', () => {
  const names = (stdout: string) =>
    (JSON.parse(stdout) as { name: string; hops: number }[]).map(({ name, hops }) => `${name} ${hops}`)

  test('lists all datasets that lineage reaches, behind the hops of a walk too, and never those of another tenant', async () => {
    const { stdout } = await run(`lineage reach --node ${datasetNode('d0')}`)
    expect(names(stdout)).toEqual(Array.from({ length: 9 }, (_, at) => `d${at + 1} ${at + 1}`))
    const { stdout: up } = await run(`lineage reach --node ${datasetNode('d2')} --direction upstream`)
    expect(names(up)).toEqual(['d1 1', 'd0 2'])
    expect((await run(`lineage reach --node ${datasetNode('theirs')}`)).status).toBe(1)
  })

  test('walks as deep as it is told, in a direction, and at a time', async () => {
    const walk = async (more: string) => {
      const { stdout } = await run(`lineage walk --node ${datasetNode('d1')} ${more}`)
      const edges = JSON.parse(stdout) as { label: string; to: string }[]
      return edges.filter(({ label }) => label === 'LINEAGE_OF').map(({ to }) => to)
    }
    expect(await walk('--direction downstream --depth 2')).toEqual([datasetNode('d2'), datasetNode('d3')])
    expect(await walk('--direction downstream --depth 2 --as-of 2026-01-01T00:00:00Z')).toEqual([])
  })

  test('needs a service, because what is seen depends on the session', async () => {
    const asked = await runRemotely(['lineage', 'reach', '--node', 'x'])
    expect([asked.status, asked.stderr]).toEqual([64, expect.stringContaining('give --url or COVENANT_URL')])
  })
})
