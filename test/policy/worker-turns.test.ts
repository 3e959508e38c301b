/** The worker of policies, which all tenants share: whose commit it judges next, and how many may wait. */

import { afterEach, expect, test } from 'bun:test'
import { newTenantId, type TenantId } from '../../src/core/tenant.ts'
import { WorkerHost } from '../../src/policy/worker-host.ts'

const [one, other] = [newTenantId(), newTenantId()]
const hosts: WorkerHost[] = []
afterEach(() => {
  for (const host of hosts.splice(0)) host.close()
})

function start(waitingCountMax: number): WorkerHost {
  const workerUrl = new URL('./fixtures/lying-worker.ts', import.meta.url)
  const host = new WorkerHost({ workerUrl, hangMs: 60_000, waitMs: 60_000, waitingCountMax })
  hosts.push(host)
  return host
}

type Task = readonly [name: string, tenant: TenantId, urgent?: boolean]

/** Gives the tasks before the worker is up. @returns their names in the order in which they ended, refused ones first */
async function run(host: WorkerHost, tasks: readonly Task[]) {
  const ended: string[] = []
  await Promise.all(
    tasks.map(async ([name, tenant, urgent = true]) => {
      const { kind } = await host.run(tenant, { kind: 'parse', text: name }, urgent)
      ended.push(kind === 'failed' ? `${name} failed` : name)
    }),
  )
  return ended
}

test('a commit of a tenant is judged before the backlog of another tenant', async () => {
  const tasks: readonly Task[] = [
    ['a1', one],
    ['a2', one],
    ['a3', one],
    ['b1', other],
  ]
  expect(await run(start(10), tasks)).toEqual(['a1', 'b1', 'a2', 'a3'])
})

test('a verdict of any tenant comes before what is only recorded', async () => {
  const tasks: readonly Task[] = [
    ['a1', one, false],
    ['a2', one, false],
    ['b1', other, false],
    ['b2', other],
  ]
  expect(await run(start(10), tasks)).toEqual(['b2', 'a1', 'b1', 'a2'])
})

test('a tenant of whom none waits may always wait, and one with a backlog is refused', async () => {
  const tasks: readonly Task[] = [
    ['a1', one],
    ['a2', one],
    ['a3', one],
    ['b1', other],
    ['b2', other],
  ]
  expect(await run(start(2), tasks)).toEqual(['a3 failed', 'b2 failed', 'a1', 'b1', 'a2'])
})

test('what is only recorded takes no place of a verdict', async () => {
  const tasks: readonly Task[] = [
    ['a1', one, false],
    ['a2', one, false],
    ['a3', one],
    ['a4', one],
  ]
  expect(await run(start(2), tasks)).toEqual(['a3', 'a4', 'a1', 'a2'])
})
