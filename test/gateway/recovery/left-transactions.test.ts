/**
 * Random commits and atomic transactions over two tables whose processes die, whose replies are lost and whose clocks
 * jump, of which the test knows what was made. Where the files can be read, recovery records what was made, closes the
 * rest and leaves nothing open. SVC_TEST_ROUNDS and SVC_TEST_SEED make it longer.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { dirname } from 'node:path'
import { appendSnapshot, createTable, setProperties } from '../../../demo/commits.ts'
import type { CommitIntent } from '../../../src/core/commit.ts'
import { recoverIntents } from '../../../src/gateway/recovery/recover-intents.ts'
import { listCatalogCredentials } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import {
  closeIntent,
  endLease,
  type IntentTimes,
  markAccepted,
  openIntent,
} from '../../../src/store/commit/commit-intents.ts'
import { listIntents } from '../../../src/store/commit/intent-settlements.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import {
  manifestListsAdded,
  parseCommitRequest,
  snapshotIdsAdded,
} from '../../../src/wire/iceberg/commit-request.ts'
import { committedTable, parseLoadTableResult } from '../../../src/wire/iceberg/table-metadata.ts'
import { approvedOf, intentOf } from '../../support/commits.ts'
import { wrongFiles } from '../../support/file-truth.ts'
import { generator } from '../../support/generator.ts'
import {
  addTenant,
  audit,
  startTestService,
  type TestService,
  type TestTenant,
  upstreamHeaders,
} from '../../support/service.ts'
import { send } from '../../support/surface.ts'
import { whyOpen } from '../../support/why-open.ts'

const seed = Number(process.env.SVC_TEST_SEED ?? 20_261_129)
const rounds = Number(process.env.SVC_TEST_ROUNDS ?? 12)

setDefaultTimeout(60_000 + rounds * 2_000)

let service: TestService
let tenant: TestTenant
/** Has intents of its own on tables of the same names, and they are decided for it alone. */
let foreign: TestTenant
let headers: Readonly<Record<string, string>>

beforeAll(async () => {
  service = await startTestService()
  const loaded = await send(service, 'GET', '/namespaces/sales/tables/orders')
  const { 'metadata-location': file } = (await loaded.json()) as { 'metadata-location': string }
  const config = { atomic_transactions: true, storage_roots: [dirname(dirname(dirname(dirname(file))))] }
  tenant = await addTenant(service.store, 'left', service.catalog.url, config)
  foreign = await addTenant(service.store, 'foreign', service.catalog.url, config)
  headers = await upstreamHeaders(service.catalog)
})
afterAll(() => service[Symbol.asyncDispose]())

/** What a process was at when it died or went on. */
type Fate = 'died' | 'reply lost' | 'running'

interface Change {
  readonly intent: CommitIntent
  readonly body: string
  /** The file that the catalog made of it. */
  file?: string
}

interface Sent {
  readonly changes: readonly Change[]
  readonly fate: Fate
  /** Whether the process lived to forward it. */
  readonly isForwarded: boolean
}

const upstream = (path: string, body?: string) =>
  fetch(`${service.catalog.url}/v1/dev${path}`, { headers, ...(body && { method: 'POST', body }) })

async function load(name: string) {
  return parseLoadTableResult(await (await upstream(`/namespaces/sales/tables/${name}`)).bytes())
}

/** Leases and upstream calls that go on until {@link expire}. */
const going: IntentTimes = { leaseMs: 3_600_000, upstreamMs: 3_600_000 }

/** @param commitId of the one intent whose lease and upstream time-out are over; of all where there is none */
async function expire(commitId: string | null): Promise<void> {
  for (const { tenant: id } of [tenant, foreign])
    await service.store.ownerTransaction(id, (tx) =>
      tx.query(
        `update svc.commit_intent set lease_until = now() - interval '1 h', upstream_until = now() - interval '1 h'
         where $1::uuid is null or commit_id = $1`,
        [commitId],
      ),
    )
}

/** One round: two tables, and what was sent to them. */
class Round {
  readonly sent: Sent[] = []

  constructor(
    readonly random: () => number,
    readonly tables: readonly [string, string],
    readonly credentials: ReadonlyMap<TestTenant, string>,
  ) {}

  draw(count: number): number {
    return Math.floor(this.random() * count)
  }

  async append(name: string, id: number, list: string): Promise<string> {
    const { metadata } = await load(name)
    const current = metadata.get('current-snapshot-id')
    return appendSnapshot({
      snapshotId: BigInt(id),
      parentId: typeof current === 'bigint' && current !== -1n ? current : undefined,
      sequenceNumber: Number(metadata.get('last-sequence-number') ?? 0) + 1,
      timestampMs: Date.now(),
      manifestList: `file:///demo/${list}.avro`,
    })
  }

  /** The changes of one request, or of two of a client that sends an append again while the first is under way. */
  async requests(number: number): Promise<readonly (readonly (readonly [string, string])[])[]> {
    const [one, other] = this.tables
    const set = (mark: string) => setProperties({ [`p${number}${mark}`]: 'set' })
    switch (this.draw(4)) {
      case 0:
        return [[[one, set('')]]]
      case 1:
        return [[[this.draw(2) ? one : other, await this.append(one, number, `${number}`)]]]
      case 2:
        return [
          [
            [one, set('one')],
            [other, set('other')],
          ],
        ]
      default: {
        const attempts = ['try0', 'try1'].slice(0, 1 + this.draw(2))
        const made = attempts.map(
          async (attempt) =>
            [
              [one, set(attempt)],
              [other, await this.append(other, number, `${number}-${attempt}`)],
            ] as const,
        )
        return await Promise.all(made)
      }
    }
  }

  /** Opens the intents of a request. A process that dies early has opened only some of them. */
  async open(changes: readonly (readonly [string, string])[], of: TestTenant): Promise<Sent> {
    const ids = changes.map(() => crypto.randomUUID())
    const fate = (['died', 'reply lost', 'running'] as const)[this.draw(3)] ?? 'died'
    const hasDiedEarly = fate === 'died' && this.draw(4) === 0
    const opened: Change[] = []
    for (const [index, [name, body]] of changes.entries()) {
      if (hasDiedEarly && index > 0) break
      const request = parseCommitRequest(Buffer.from(body))
      const intent = intentOf({
        commitId: ids[index] ?? '',
        ...(ids.length > 1 && { transaction: ids }),
        table: { namespace: ['sales'], name },
        credentialId: this.credentials.get(of) ?? '',
        baseMetadataLocation: (await load(name)).metadataLocation,
        body: Bun.zstdCompressSync(body),
        bodySha256: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
        snapshotIds: snapshotIdsAdded(request),
        manifestLists: manifestListsAdded(request) ?? [],
        // The clock of a process may jump by ten minutes.
        receivedAtMs: Date.now() + this.draw(1_200_000) - 600_000,
      })
      await openIntent(service.store, of.tenant, intent, going)
      opened.push({ intent, body })
    }
    const sent = { changes: opened, fate, isForwarded: !hasDiedEarly && this.draw(4) > 0 }
    if (of === tenant) this.sent.push(sent)
    return sent
  }

  /** Lets the catalog take or refuse a request, and its process do what it lives to do. */
  async forward({ changes, isForwarded }: Sent): Promise<void> {
    const { store } = service
    const isMade = isForwarded && (await this.arrive(changes))
    if (!isMade) {
      // Where a refusal was read, the intents are withdrawn one by one.
      const withdrawn = this.draw(2) ? 0 : this.draw(changes.length + 1)
      for (const { intent } of changes.slice(0, withdrawn))
        await closeIntent(store, tenant.tenant, intent.commitId)
      return
    }
    const audited = this.draw(2) ? 0 : this.draw(changes.length + 1)
    for (const { intent } of changes.slice(0, audited)) {
      const committed = committedTable(await load(intent.table.name), intent.snapshotIds.at(-1) ?? 'unknown')
      await recordVerdict(store, tenant.tenant, approvedOf(intent, committed))
    }
    if (this.draw(3) === 0)
      for (const { intent } of changes.slice(audited))
        await markAccepted(store, tenant.tenant, intent.commitId)
  }

  /** @returns whether the catalog made it */
  async arrive(changes: readonly Change[]): Promise<boolean> {
    const [first, ...others] = changes
    if (first === undefined) return false
    const path = (name: string) => `/namespaces/sales/tables/${name}`
    const of = ({ intent: { table }, body }: Change) =>
      `{"identifier":{"namespace":["sales"],"name":"${table.name}"},${body.slice(1)}`
    const answer =
      others.length === 0
        ? await upstream(path(first.intent.table.name), first.body)
        : await upstream('/transactions/commit', `{"table-changes":[${changes.map(of).join(',')}]}`)
    if (!answer.ok) return false
    for (const change of changes) change.file = (await load(change.intent.table.name)).metadataLocation
    return true
  }

  /** Somebody who does not use the gateway. */
  async outside(number: number): Promise<void> {
    const [name = ''] = [this.tables[this.draw(2)]]
    await upstream(`/namespaces/sales/tables/${name}`, setProperties({ [`outside${number}`]: 'set' }))
  }

  /** Ends the part of the process: recovery may look at what it has left. */
  async leave({ changes, fate }: Sent): Promise<void> {
    for (const { intent } of changes)
      if (fate === 'reply lost') await endLease(service.store, tenant.tenant, intent.commitId, false)
      else await expire(intent.commitId)
  }
}

async function play(round: Round): Promise<void> {
  const waiting: Sent[] = []
  const late: Sent[] = []
  let number = 100
  for (let step = 3 + round.draw(6); step > 0; step--) {
    for (const changes of await round.requests(++number)) waiting.push(await round.open(changes, tenant))
    if (round.draw(5) === 0) await round.outside(number)
    while (waiting.length > round.draw(3)) {
      const [sent] = waiting.splice(round.draw(waiting.length), 1)
      if (sent === undefined) break
      if (sent.fate === 'running') {
        late.push(sent)
        continue
      }
      // What the catalog has not begun with when the reply is lost comes after the look.
      if (sent.fate === 'reply lost' && round.draw(3) === 0) late.push(sent)
      else await round.forward(sent)
      await round.leave(sent)
    }
  }
  // Recovery looks while some processes go on.
  const looking = recoverIntents(service.app.gateway)
  for (const sent of [...waiting, ...late]) {
    await round.forward(sent)
    await round.leave(sent)
  }
  await looking
}

test(`what died is recorded if it was made, closed if not, and never left open where files can be read (seed ${seed})`, async () => {
  const random = generator(seed)
  const credentials = new Map<TestTenant, string>()
  for (const one of [tenant, foreign])
    credentials.set(one, (await listCatalogCredentials(service.store, one.tenant)).items[0]?.id ?? '')
  let [made, left] = [0, 0]
  for (let index = 0; index < rounds; index++) {
    const round = new Round(random, [`one${index}`, `other${index}`], credentials)
    const more = { 'write.metadata.previous-versions-max': '1000' }
    for (const name of round.tables)
      expect((await upstream('/namespaces/sales/tables', createTable(name, undefined, more))).status).toBe(
        200,
      )
    const theirs = await round.open([[round.tables[0], setProperties({ theirs: 'never' })]], foreign)
    await play(round)
    await expire(null)
    left += (await listIntents(service.store, tenant.tenant)).items.length
    for (let run = 0; run < 2; run++) await recoverIntents(service.app.gateway)
    for (const one of [tenant, foreign])
      if ((await listIntents(service.store, one.tenant)).items.length > 0)
        throw new Error(`round ${index}: ${await whyOpen(service.store, one.tenant)}`)
    const rows = await audit(service, tenant.tenant)
    const recorded = new Map(rows.map((row) => [row.commitId, row.metadataLocation]))
    for (const { intent, file } of round.sent.flatMap(({ changes }) => changes)) {
      expect({ index, id: intent.commitId, file: recorded.get(intent.commitId) }).toEqual({
        ...{ index, id: intent.commitId },
        file,
      })
      if (file !== undefined) made++
    }
    expect((await audit(service, foreign.tenant)).map(({ commitId }) => commitId)).not.toContain(
      theirs.changes[0]?.intent.commitId ?? '',
    )
  }
  expect(await wrongFiles(service.store, tenant.tenant)).toMatchObject({ wrong: [] })
  // The rounds say something: much was made, and much was left to recovery.
  expect(made).toBeGreaterThan(rounds)
  expect(left).toBeGreaterThan(rounds)
})
