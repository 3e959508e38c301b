/**
 * Random tables with commits that are audited, open or lost, of which a model knows the truth: what is decided is true,
 * and what stays open is a commit that another one equals in all that it changes.
 */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type JsonObject, type JsonValue, jsonObject } from '../../../src/base/json.ts'
import { decideIntents } from '../../../src/gateway/recovery/decide.ts'
import type { StaleIntent, TableEvidence } from '../../../src/gateway/recovery/evidence.ts'
import { shownBetween } from '../../../src/gateway/recovery/shows-change.ts'
import { applyUpdates } from '../../../src/wire/iceberg/apply-updates.ts'
import { snapshotsOf } from '../../../src/wire/iceberg/table-metadata.ts'
import { intentOf } from '../../support/commits.ts'
import { generator } from '../../support/generator.ts'

setDefaultTimeout(60_000)

const seed = Number(process.env.SVC_TEST_SEED ?? 20_261_128)
const rounds = Number(process.env.SVC_TEST_ROUNDS ?? 2_000)

const empty: JsonObject = new Map<string, JsonValue>([
  ['format-version', 2n],
  ['location', 's3://t'],
  ['last-column-id', 0n],
  ['current-schema-id', 0n],
  ['schemas', [jsonObject({ type: 'struct', 'schema-id': 0n, fields: [] })]],
  ['default-spec-id', 0n],
  ['partition-specs', [jsonObject({ 'spec-id': 0n, fields: [] })]],
  ['last-partition-id', 999n],
  ['default-sort-order-id', 0n],
  ['sort-orders', [jsonObject({ 'order-id': 0n, fields: [] })]],
  ['last-sequence-number', 0n],
  ['last-updated-ms', 0n],
  ['properties', new Map()],
])

interface Writer {
  readonly one: StaleIntent
  /** Equal for commits that change the same. */
  readonly change: string
  /** The updates as they are sent. */
  readonly send: (sequence: bigint) => readonly JsonObject[]
  file?: string
}

interface Model {
  readonly files: { readonly location: string; readonly metadata: JsonObject }[]
  readonly writers: Writer[]
  readonly audited: Map<string, string>
}

/** Plays commits of several writers whose loads, forwards and deaths interleave. */
function play(random: () => number, canRepeat: boolean, hasOutsiders: boolean): Model {
  const draw = (count: number) => Math.floor(random() * count)
  const model: Model = { files: [{ location: 'm0', metadata: empty }], writers: [], audited: new Map() }
  const last = () => model.files.at(-1) ?? { location: 'm0', metadata: empty }
  let next = 0
  let lists = 0
  /** @param sequence of the snapshot that it may add, which the catalog checks */
  const updatesOf = (): ((sequence: bigint) => readonly JsonObject[]) => {
    const key = `p${draw(canRepeat ? 2 : 1_000_000)}`
    const kind = draw(4)
    if (kind === 0) {
      // A client that sends an append again keeps the id, and writes another list.
      const id = next > 0 && draw(3) === 0 ? BigInt(1 + draw(next)) : BigInt(++next)
      const list = `list ${++lists}`
      const ref = { action: 'set-snapshot-ref', 'ref-name': `b${draw(3)}`, type: 'branch', 'snapshot-id': id }
      const stamp = BigInt(1_000 + draw(1_000))
      return (sequence) => {
        const snapshot = jsonObject({
          'snapshot-id': id,
          'sequence-number': sequence,
          'timestamp-ms': stamp,
          'manifest-list': list,
          ...(sequence > 1n && { 'parent-snapshot-id': id }),
          'schema-id': 0n,
        })
        return [jsonObject({ action: 'add-snapshot', snapshot }), jsonObject(ref)]
      }
    }
    if (kind === 1 && canRepeat) return () => [jsonObject({ action: 'remove-properties', removals: [key] })]
    const updates = jsonObject({ [key]: canRepeat ? String(draw(2)) : 'set' })
    return () => [jsonObject({ action: 'set-properties', updates })]
  }
  const write = (updates: readonly JsonObject[], nowMs: number): string => {
    const location = `m${model.files.length}`
    const metadata = applyUpdates(last().metadata, updates, { nowMs })
    const log = model.files.map((file) => jsonObject({ 'metadata-file': file.location, 'timestamp-ms': 0n }))
    model.files.push({ location, metadata: new Map(metadata).set('metadata-log', log) })
    return location
  }
  const has = (id: bigint) => snapshotsOf(last().metadata).some((one) => one.get('snapshot-id') === id)
  const underWay: Writer[] = []
  for (let step = 0; step < 3 + draw(8); step++) {
    const made = updatesOf()
    const updates = made(1n)
    const snapshot = updates[0]?.get('snapshot')
    const id = snapshot instanceof Map ? snapshot.get('snapshot-id') : undefined
    const commitId = `c${model.writers.length}`
    const snapshotIds = typeof id === 'bigint' ? [id] : []
    const list = snapshot instanceof Map ? String(snapshot.get('manifest-list')) : undefined
    const intent = intentOf({
      ...{ commitId, snapshotIds, baseMetadataLocation: last().location, receivedAtMs: draw(10) },
      bodySha256: `body ${commitId}`,
      ...(list !== undefined && { manifestLists: [list] }),
    })
    const change = Bun.inspect(updates, { depth: 9 })
    const writer: Writer = { one: { intent, updates, isLeased: draw(4) === 0 }, change, send: made }
    model.writers.push(writer)
    underWay.push(writer)
    while (underWay.length > draw(3)) {
      const [sent] = underWay.splice(draw(underWay.length), 1)
      if (sent === undefined || draw(4) === 0) continue
      if (hasOutsiders && draw(3) === 0) {
        // Never what an open commit would have changed.
        const updates = jsonObject({ [`outside${draw(3)}`]: `value ${model.files.length}` })
        write([jsonObject({ action: 'set-properties', updates })], step)
      }
      // The catalog refuses what is there.
      if (sent.one.intent.snapshotIds.some((one) => has(one))) continue
      const sequence = BigInt(last().metadata.get('last-sequence-number') as bigint) + 1n
      const location = write(sent.send(sequence), step)
      sent.file = location
      if (draw(2) === 0) model.audited.set(location, sent.one.intent.bodySha256)
    }
  }
  return model
}

/** The intents that are open, and the evidence where the content of some files is not known. */
function evidenceOf({ files, writers, audited }: Model, isKnown: () => boolean) {
  const [current] = files.slice(-1)
  if (current === undefined) throw new Error('a table without a file')
  const open = writers.filter(({ file }) => file === undefined || !audited.has(file))
  const mine = open.filter(({ one }) => !one.isLeased).map(({ one }) => one)
  const others = open.filter(({ one }) => one.isLeased).map(({ one }) => one)
  const content = new Map(files.filter(isKnown).map(({ location, metadata }) => [location, metadata]))
  content.set(current.location, current.metadata)
  const shown = new Map(
    files.map(({ location }, index) => [
      location,
      new Map(
        open.map(({ one }) => [
          one.intent.commitId,
          shownBetween(one, content.get(files[index - 1]?.location ?? ''), content.get(location)),
        ]),
      ),
    ]),
  )
  const { location: metadataLocation, metadata } = current
  const removes = writers.filter(
    ({ file, change }) => file && audited.has(file) && change.includes('remove-'),
  )
  const takesAway = removes.length > 0
  const table: TableEvidence = {
    metadataLocation,
    metadata,
    audited,
    others,
    shown,
    takesAway,
    known: content,
  }
  return { mine, table, open }
}

describe(`what is decided of random interleavings is true (seed ${seed})`, () => {
  const kinds = [
    ['where every file is read and no two commits are alike', false, 1, false],
    ['where every file is read and others write past the gateway', false, 1, true],
    ['where every file is read, commits may be alike and others write past the gateway', true, 1, true],
    ['where every file is read and commits may be alike', true, 1, false],
    ['where half of the files are read', false, 0.5, false],
    ['where half of the files are read and commits may be alike', true, 0.5, false],
    ['where no file is read', true, 0, false],
    ['where no file is read and others write past the gateway', false, 0, true],
    ['where half of the files are read and others write past the gateway', false, 0.5, true],
  ] as const

  test.each(kinds)('%s', (_what, canRepeat, readShare, hasOutsiders) => {
    const random = generator(seed)
    let decided = 0
    for (let round = 0; round < rounds; round++) {
      const model = play(random, canRepeat, hasOutsiders)
      const { mine, table, open } = evidenceOf(model, () => random() < readShare)
      for (const [commitId, outcome] of decideIntents(mine, table)) {
        const writer = model.writers.find(({ one }) => one.intent.commitId === commitId)
        if (writer === undefined) throw new Error('an intent that nobody wrote')
        const told = outcome.kind === 'committed' ? outcome.metadataLocation : undefined
        if (outcome.kind === 'undecidable') {
          const alike = open.filter((one) => one !== writer && one.change === writer.change)
          if (readShare === 1 && !canRepeat)
            expect({ round, commitId, alike: alike.length }).toEqual({ round, commitId, alike: 1 })
          continue
        }
        decided++
        expect({ round, commitId, file: told }).toEqual({ round, commitId, file: writer.file })
      }
    }
    expect(decided).toBeGreaterThan(0)
  })
})
