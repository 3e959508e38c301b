/** Services that are killed at a point of a commit, and what must then be on record. */

import { expect } from 'bun:test'
import { UnsecuredJWT } from 'jose'
import { appendSnapshot, createTable, firstSnapshotId, setProperties } from '../../demo/commits.ts'
import type { CrashPoint } from '../../src/gateway/base/crash-points.ts'
import { listDecisions } from '../../src/store/commit/decision-list.ts'
import { checkHistory, checkNow, versionsOf } from '../contract/lifecycle/walk.ts'
import { expectAuditTrue } from '../support/audit-truth.ts'
import { coveredCommit } from '../support/covered.ts'
import { type Child, type CrashHarness, crashHarness } from '../support/crash-harness.ts'

export const bodies = {
  'a commit that adds a snapshot': appendSnapshot({
    snapshotId: firstSnapshotId,
    sequenceNumber: 1,
    timestampMs: 1_800_000_000_000,
  }),
  'a commit that only sets properties': setProperties({ owner: 'ops' }),
}
const forbidden = setProperties({ forbidden: 'yes' })

/** Sends a commit on sales.orders. @returns the status, or undefined where the service died before it answered */
export async function send(harness: CrashHarness, child: Child, body: string): Promise<number | undefined> {
  try {
    const response = await fetch(
      new URL('/v1/iceberg/main/namespaces/sales/tables/orders', child.ready.url),
      {
        method: 'POST',
        body,
        headers: {
          'x-svc-session': harness.owner().secret,
          authorization: `Bearer ${new UnsecuredJWT({ sub: 'spark' }).encode()}`,
        },
      },
    )
    return response.status
  } catch {
    return undefined
  }
}

/** A commit of the short and the long form: audited once if the upstream accepted it, else not at all. */
export async function killCommitAt(crashAt: CrashPoint, body: string): Promise<void> {
  await using harness = await crashHarness()
  const child = await harness.start({ crashAt })
  expect(await send(harness, child, body)).toBeUndefined()
  await child.process.exited
  expect(child.process.signalCode).toBe('SIGKILL')
  const report = await harness.settle()
  const accepted = await harness.accepted()
  const isAccepted = ['commit-forwarded', 'commit-journaled', 'approval-recorded'].includes(crashAt)
  expect(accepted).toHaveLength(isAccepted ? 1 : 0)
  expectAuditTrue(report, accepted)
}

/**
 * A commit that only an approved version allows: the version is in force if and only if the upstream accepted, with the
 * one audit of the commit, and nothing of it is in force otherwise.
 * @param effect what the catalog does to the answer
 */
export async function killCoveredAt(
  crashAt: CrashPoint,
  isAccepted: boolean,
  effect: 'drop-after' | 'drop-before' | 'answered',
) {
  await using harness = await crashHarness()
  const first = await harness.start()
  // The contract declares columns, which the service knows from a commit.
  expect(await send(harness, first, setProperties({ owner: 'ops' }))).toBe(200)
  first.process.kill('SIGKILL')
  await first.process.exited
  const child = await harness.start({ crashAt, approveCovering: harness.owner().tenant })
  if (effect !== 'answered') harness.catalog.faults.add({ operation: 'commit', effect })
  expect(await send(harness, child, coveredCommit)).toBeUndefined()
  await child.process.exited
  expect(child.process.signalCode).toBe('SIGKILL')
  const report = await harness.settle(async (store, tenant) => {
    await checkNow(store, tenant)
    await checkHistory(store, tenant)
    expect(await versionsOf(store, tenant)).toMatchObject([
      { number: 2, state: isAccepted ? 'active' : 'approved' },
      { number: 1, state: isAccepted ? 'retired' : 'active' },
    ])
    const moves = await store.tenantQuery<{ reason: string }>(
      tenant,
      "select reason from svc.contract_move where tenant_id = $1 and move = 'cover'",
      [tenant],
    )
    const [commitId] = (await listDecisions(store, tenant, { limit: 1 })).items.map((one) => one.commitId)
    expect(moves).toEqual(isAccepted ? [{ reason: `commit ${commitId}` }] : [])
  })
  const accepted = await harness.accepted()
  expect(accepted).toHaveLength(isAccepted ? 2 : 1)
  expectAuditTrue(report, accepted)
}

/** A denied commit reaches no upstream, and is audited once it is recorded. */
export async function killDenialAt(crashAt: CrashPoint): Promise<void> {
  await using harness = await crashHarness()
  const child = await harness.start({ crashAt })
  expect(await send(harness, child, forbidden)).toBeUndefined()
  await child.process.exited
  const report = await harness.settle()
  expect(await harness.accepted()).toEqual([])
  expect(report.rejected).toBe(crashAt === 'rejection-recorded' ? 1 : 0)
  expectAuditTrue(report, [])
}

/**
 * A transaction of two tables is audited for those that the upstream accepted, each once.
 * @param acceptedOfSecond what stands upstream of the second table when the process dies at the point's second pass
 */
export async function killTransactionAt(crashAt: CrashPoint, acceptedOfSecond: number): Promise<void> {
  await using harness = await crashHarness()
  await createSecond(harness)
  const child = await harness.start({ crashAt, crashAtPass: 2 })
  const { report, first, second } = await killByTransaction(harness, child, '/transactions/commit')
  expect(first).toHaveLength(1)
  expect(second).toHaveLength(acceptedOfSecond)
  expectAuditTrue(report, [...first, ...second])
}

/** Makes the other table of a transaction in the upstream. */
export async function createSecond(harness: CrashHarness): Promise<void> {
  expect((await harness.upstream('POST', '/namespaces/sales/tables', createTable('second'))).status).toBe(200)
}

/**
 * Commits on both tables by a transaction, at which the service dies.
 * @returns what recovery reports, and what stands upstream of each table
 */
export async function killByTransaction(harness: CrashHarness, child: Child, path: string) {
  const changes = ['orders', 'second'].map((name) => ({
    identifier: { namespace: ['sales'], name },
    ...JSON.parse(setProperties({ owner: name })),
  }))
  const sent = fetch(new URL(`/v1/iceberg/main${path}`, child.ready.url), {
    method: 'POST',
    body: JSON.stringify({ 'table-changes': changes }),
    headers: { 'x-svc-session': harness.owner().secret },
  })
  expect(await sent.then(({ status }) => status).catch(() => 'died')).toBe('died')
  await child.process.exited
  const report = await harness.settle()
  return { report, first: await harness.accepted('orders'), second: await harness.accepted('second') }
}

/** Sends a request to the Iceberg surface. */
export function sendToSurface(
  harness: CrashHarness,
  child: Child,
  method: string,
  path: string,
  body?: string,
  headers: Readonly<Record<string, string>> = {},
) {
  return fetch(new URL(`/v1/iceberg/main/v1${path}`, child.ready.url), {
    method,
    ...(body === undefined ? {} : { body }),
    headers: { 'x-svc-session': harness.owner().secret, ...headers },
  })
}

/**
 * A commit whose service dies is sent again by its key, twice after recovery: it is made and audited once in all.
 * @param isMade whether the upstream had made it when the process died
 */
export async function killKeyedAt(crashAt: CrashPoint, isMade: boolean): Promise<void> {
  await using harness = await crashHarness()
  const key = { 'idempotency-key': Bun.randomUUIDv7() }
  const body = bodies['a commit that adds a snapshot']
  const sent = (to: Child) => sendToSurface(harness, to, 'POST', '/namespaces/sales/tables/orders', body, key)
  const child = await harness.start({ crashAt })
  expect(
    await sent(child)
      .then(({ status }) => status)
      .catch(() => 'died'),
  ).toBe('died')
  await child.process.exited
  expect(await harness.accepted()).toHaveLength(isMade ? 1 : 0)
  await harness.settle()
  const next = await harness.start()
  const answers = [await sent(next), await sent(next)]
  expect(answers.map(({ status, headers }) => [status, headers.get('x-svc-replayed')])).toEqual([
    [200, isMade ? 'true' : null],
    [200, 'true'],
  ])
  next.process.kill('SIGKILL')
  await next.process.exited
  const report = await harness.settle()
  expect(await harness.accepted()).toHaveLength(1)
  expectAuditTrue(report, await harness.accepted())
}

/** A creation is audited if the upstream made the table. @param actions what is audited */
export async function killCreationAt(crashAt: CrashPoint, actions: readonly string[]): Promise<void> {
  await using harness = await crashHarness()
  const child = await harness.start({ crashAt })
  const sent = sendToSurface(harness, child, 'POST', '/namespaces/sales/tables', createTable('fresh'))
  expect(await sent.then(({ status }) => status).catch(() => 'died')).toBe('died')
  await child.process.exited
  const report = await harness.settle()
  const loaded = await harness.upstream('GET', '/namespaces/sales/tables/fresh')
  expect(loaded.status).toBe(actions.length > 0 ? 200 : 404)
  const created = (await loaded.json()) as { 'metadata-location'?: string }
  expect(report).toMatchObject({ undecided: 0, actions: [...actions] })
  expect(report.approved).toEqual(created['metadata-location'] ? [created['metadata-location']] : [])
  expect(report.edges.ACTUAL_WRITE).toEqual(report.approvedCommits)
}
