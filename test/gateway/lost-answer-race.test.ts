import { expect, setDefaultTimeout, test } from 'bun:test'
import type { FaultEffect } from '../../demo/catalog/faults.ts'
import { appendSnapshot, setProperties } from '../../demo/commits.ts'
import { isJsonObject } from '../../src/base/json.ts'
import { historyOf } from '../../src/gateway/base/metadata-history.ts'
import { recoverIntents } from '../../src/gateway/recovery/recover-intents.ts'
import { limits } from '../../src/limits.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import { parseLoadTableResult, snapshotsOf } from '../../src/wire/iceberg/table-metadata.ts'
import { audit, startTestService } from '../support/service.ts'
import { send } from '../support/surface.ts'

setDefaultTimeout(300_000)

const path = '/namespaces/sales/tables/orders'
const commitsEach = 8
const seed = Number(process.env.SVC_TEST_SEED ?? 20_261_121)
/** What becomes of a commit; the more often it stands here the likelier. */
const fates: readonly (FaultEffect | 'none')[] = [
  'drop-after',
  'drop-after',
  'drop-before',
  'fail',
  ...Array<'none'>(8).fill('none'),
]

test(`of writers that race while answers are lost none is told that a commit was made which was not, or refused which was (seed ${seed})`, async () => {
  await using service = await startTestService({
    intentTimes: { leaseMs: limits.intentLeaseMs, upstreamMs: 0 },
  })
  let state = seed
  const draw = (count: number): number => {
    // A linear congruential generator.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * count)
  }
  const load = async () => parseLoadTableResult(await (await send(service, 'GET', path)).bytes())
  const answers = new Map<string, number>()
  let nextId = 1n

  async function commit(name: string, body: string): Promise<void> {
    const effect = fates[draw(fates.length)] ?? 'none'
    if (effect !== 'none') service.catalog.faults.add({ operation: 'commit', effect })
    answers.set(name, (await send(service, 'POST', path, body)).status)
  }
  async function append(): Promise<void> {
    for (let left = commitsEach; left > 0; left--) {
      const { metadata } = await load()
      const parentId = metadata.get('current-snapshot-id')
      const snapshotId = nextId++
      const body = appendSnapshot({
        snapshotId,
        parentId: typeof parentId === 'bigint' && parentId !== -1n ? parentId : undefined,
        sequenceNumber: Number(metadata.get('last-sequence-number') ?? 0n) + 1,
        timestampMs: Date.now(),
      })
      await commit(`snapshot ${snapshotId}`, body)
    }
  }
  async function set(): Promise<void> {
    for (let left = commitsEach; left > 0; left--)
      await commit(`property p${left}`, setProperties({ [`p${left}`]: 'yes' }))
  }
  await Promise.all([append(), append(), set()])
  service.catalog.faults.reset()

  const now = await load()
  const properties = now.metadata.get('properties')
  const made = new Set([
    ...snapshotsOf(now.metadata).map((one) => `snapshot ${one.get('snapshot-id')}`),
    ...(isJsonObject(properties) ? [...properties.keys()].map((key) => `property ${key}`) : []),
  ])
  expect([...new Set(answers.values())].filter((status) => ![200, 409, 502].includes(status))).toEqual([])
  for (const [name, status] of answers) {
    if (status === 200) expect(made).toContain(name)
    if (status === 409) expect(made).not.toContain(name)
  }
  expect([...answers.values()].filter((status) => status === 200).length).toBeGreaterThan(0)

  // What was told is audited already; recovery adds what was not told, each file once.
  const files = historyOf(now)
    .map((entry) => entry.metadataLocation)
    .slice(1)
  const audited = async () => (await audit(service)).map(({ metadataLocation }) => metadataLocation ?? '')
  const told = await audited()
  expect(new Set(told).size).toBe(told.length)
  expect(told.length).toBe([...answers.values()].filter((status) => status === 200).length)
  await service.store.adminQuery(`update svc.commit_intent set lease_until = '-infinity'`)
  const report = await recoverIntents(service.app.gateway)
  const all = await audited()
  expect(new Set(all).size).toBe(all.length)
  expect(all.filter((file) => !files.includes(file))).toEqual([])
  expect((await countIntents(service.store)).open).toBe(report.undecidable)
  if (report.undecidable === 0) expect(all.toSorted()).toEqual(files.toSorted())
})
