/** The demo's commits in order: what is sent, by which writer, and the outcome that is expected. */

import { deletePolicy, putPolicy } from '../src/store/policy/policies.ts'
import type { Expectation } from './check-step.ts'
import { appendSnapshot, orderFields, removeSnapshots, replaceSchema } from './commits.ts'
import { putUnderContract, signProposal } from './contract-steps.ts'
import { examplePolicy } from './example-policies.ts'
import { commitPath, orders, registerCatalog, type World, type Writer } from './world.ts'

export interface Step {
  readonly title: string
  /** Why this outcome is expected; one sentence. */
  readonly because: string
  readonly tenant: 'acme' | 'globex'
  readonly writer: Writer
  readonly path: string
  readonly body: string
  readonly expected: Expectation
  readonly before?: (world: World) => Promise<void>
  readonly after?: (world: World) => Promise<void>
}

const dayMs = 86_400_000
const spark: Writer = { sub: 'spark', roles: ['orders-writer'] }
const notebook: Writer = { sub: 'notebook', roles: ['analyst'] }
const main = commitPath('main')

const messages = {
  'keep-id-column': 'orders are joined by id: keep the column',
  'writers-only': 'ask the owner of sales.orders for the role orders-writer',
  'keep-seven-days': 'readers may be a week behind: expire older snapshots only',
} as const

/** Attaches the policies of the steps to acme's sales.orders. */
export async function governOrders({ store, acme }: World): Promise<void> {
  for (const [id, message] of Object.entries(messages))
    await putPolicy(store, acme.id, orders, await examplePolicy(id, message))
}

const approved = (committer: string): Expectation => ({
  status: 200,
  body: { table: true },
  audit: { decision: 'APPROVED', reason: '', committer },
  forwarded: 1,
})

const denied = (policy: keyof typeof messages, committer: string): Expectation => {
  const reason = `${policy}: ${messages[policy]}`
  return {
    status: 403,
    body: { text: `policy denied: ${reason}` },
    audit: { decision: 'REJECTED', reason, committer },
    rejected: { policy_denied: 1 },
    forwarded: 0,
  }
}

/** @param nowMs the time of the demo, milliseconds since the Unix epoch */
export function demoSteps({ acme }: World, nowMs: number): readonly Step[] {
  const [first, second] = acme.orders
  const appendThird = (parentId: bigint) =>
    appendSnapshot({
      snapshotId: second.snapshotId + 1n,
      parentId,
      sequenceNumber: 3,
      timestampMs: nowMs,
      manifestList: `${second.folder}/unwritten.avro`,
    })
  const dropId = replaceSchema(orderFields.filter(({ name }) => name !== 'id'))
  // The other tenant has dropped the column id of its own table by then.
  const kept = orderFields.filter(({ name }) => name !== 'id' && name !== 'amount')
  const dropAmount = replaceSchema(kept, 1)
  const byAcme = { tenant: 'acme', path: main } as const

  return [
    {
      ...byAcme,
      title: 'A writer with the role appends a snapshot',
      because: 'every policy of the table is true, so the commit goes on to the catalog',
      writer: spark,
      body: first.commit(nowMs - 2 * dayMs),
      expected: approved('spark'),
    },
    {
      ...byAcme,
      title: 'The same writer appends another',
      because: 'its parent is the snapshot that is current',
      writer: spark,
      body: second.commit(nowMs),
      expected: approved('spark'),
    },
    {
      ...byAcme,
      title: 'A commit would drop the column id',
      because: 'the schema policy (P1) looks at commit.result, the table as it would be',
      writer: spark,
      body: dropId,
      expected: denied('keep-id-column', 'spark'),
    },
    {
      ...byAcme,
      title: 'Someone without the role writes',
      because: 'the write ACL (P2) asks for the role orders-writer',
      writer: notebook,
      body: appendThird(second.snapshotId),
      expected: denied('writers-only', 'notebook'),
    },
    {
      ...byAcme,
      title: 'A commit would expire a snapshot of two days',
      because: 'the retention policy (P3) wants seven between snapshot time and commit.received_at',
      writer: spark,
      body: removeSnapshots([first.snapshotId]),
      expected: denied('keep-seven-days', 'spark'),
    },
    {
      ...byAcme,
      title: 'A policy cannot be evaluated',
      because: 'it reads a property that the table lacks: no verdict, so nothing is forwarded or audited',
      writer: spark,
      body: appendThird(second.snapshotId),
      expected: {
        status: 503,
        body: { text: 'policy-engine-unavailable' },
        audit: undefined,
        rejected: { policy_engine_unavailable: 1 },
        forwarded: 0,
      },
      before: ({ store, acme }) =>
        putPolicy(store, acme.id, orders, {
          id: 'sales-owns',
          kind: 'schema',
          mode: 'enforce',
          name: 'sales-owns',
          message: '',
          definitionCel: 'table.properties.owner == "sales"',
        }),
      after: async ({ store, acme }) => void (await deletePolicy(store, acme.id, 'sales-owns')),
    },
    {
      ...byAcme,
      title: 'A writer builds on a snapshot that is no longer current',
      because: 'its requirement does not hold: it must rebase, and a conflict is no verdict',
      writer: spark,
      body: appendThird(first.snapshotId),
      expected: {
        status: 409,
        body: { errorType: 'CommitFailedException' },
        audit: undefined,
        forwarded: 1,
      },
    },
    {
      title: 'Another tenant drops the column id of its own sales.orders',
      because: 'under the same nickname it reaches its own catalog, and no policy of the first is its',
      tenant: 'globex',
      path: main,
      writer: notebook,
      body: dropId,
      expected: approved('notebook'),
    },
    {
      title: 'It tries a nickname that only the first tenant has',
      because: 'prefixes are looked up in the session’s tenant alone',
      tenant: 'globex',
      path: commitPath('archive'),
      writer: spark,
      body: first.commit(nowMs),
      expected: {
        status: 404,
        body: { errorType: 'NoSuchWarehouseException' },
        audit: undefined,
        forwarded: 0,
      },
      before: ({ store, acme }) => registerCatalog(store, acme, 'archive'),
    },
    {
      title: 'It puts its table under a contract, and a writer drops a column of it',
      because: 'the version in force promises the column; a version without it is proposed for the commit',
      tenant: 'globex',
      path: main,
      writer: notebook,
      body: dropAmount,
      expected: refusedByContract,
      before: putUnderContract,
    },
    {
      title: 'A steward has signed the proposed version, and the writer commits again',
      because: 'the approved version covers the commit, and is in force from now on',
      tenant: 'globex',
      path: main,
      writer: notebook,
      body: dropAmount,
      expected: approved('notebook'),
      before: signProposal,
    },
  ]
}

const contractReason =
  'contract orders 1.0.0: the column amount is dropped. ' +
  'Version 2.0.0 (number 2) is proposed: have it signed off, then commit again'

const refusedByContract: Expectation = {
  status: 403,
  body: { text: `policy denied: ${contractReason}` },
  audit: { decision: 'REJECTED', reason: contractReason, committer: 'notebook' },
  rejected: { policy_denied: 1 },
  forwarded: 0,
}
