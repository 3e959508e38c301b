import { expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot } from '../../../demo/commits.ts'
import { isJsonObject, type JsonValue } from '../../../src/base/json.ts'
import { parseLoadTableResult, snapshotsOf } from '../../../src/wire/iceberg/table-metadata.ts'
import { roundsOf } from '../../support/long-form.ts'
import { audit, startTestService } from '../../support/service.ts'
import { govern, send } from '../../support/surface.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

const commits = roundsOf(200)
const path = '/namespaces/sales/tables/orders'

test(`of two writers that race for ${commits} commits each acknowledged commit is in the history once, and each loser saw 409`, async () => {
  await using service = await startTestService()
  await govern(
    service,
    { namespace: ['sales'], name: 'orders' },
    'keep-id',
    'schema',
    'manifest.has_column(commit.result, "id")',
  )
  const acknowledged: bigint[] = []
  const losers: number[] = []
  let nextId = 1n

  async function load() {
    return parseLoadTableResult(await (await send(service, 'GET', path)).bytes())
  }

  async function write(): Promise<void> {
    let { metadata } = await load()
    while (acknowledged.length < commits) {
      const snapshotId = nextId++
      const parentId = metadata.get('current-snapshot-id')
      const body = appendSnapshot({
        snapshotId,
        parentId: typeof parentId === 'bigint' && parentId !== -1n ? parentId : undefined,
        sequenceNumber: Number(metadata.get('last-sequence-number') ?? 0n) + 1,
        timestampMs: Date.now(),
      })
      const response = await send(service, 'POST', path, body)
      if (response.status === 200) {
        acknowledged.push(snapshotId)
        metadata = parseLoadTableResult(await response.bytes()).metadata
      } else {
        losers.push(response.status)
        metadata = (await load()).metadata
      }
    }
  }
  await Promise.all([write(), write()])

  const { metadata } = await load()
  const ids = snapshotsOf(metadata).map((snapshot) => snapshot.get('snapshot-id'))
  expect(ids.toSorted(ascending)).toEqual(acknowledged.toSorted(ascending))
  expect(lineage(metadata.get('current-snapshot-id'), snapshotsOf(metadata))).toHaveLength(
    acknowledged.length,
  )
  expect([...new Set(losers)]).toEqual([409])
  const rows = (await audit(service)).filter(({ action }) => action === 'update-table')
  expect(rows).toHaveLength(acknowledged.length)
  expect(new Set(rows.map(({ metadataLocation }) => metadataLocation)).size).toBe(acknowledged.length)
})

function ascending(a: JsonValue | undefined, b: JsonValue | undefined): number {
  return Number(a) - Number(b)
}

/** Ids from the current snapshot back to the first. */
function lineage(current: JsonValue | undefined, snapshots: readonly JsonValue[]): readonly JsonValue[] {
  const parents = new Map(
    snapshots.filter(isJsonObject).map((one) => [one.get('snapshot-id'), one.get('parent-snapshot-id')]),
  )
  const ids: JsonValue[] = []
  for (let id = current; id !== undefined && id !== null; id = parents.get(id)) ids.push(id)
  return ids
}
