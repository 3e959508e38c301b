/** Damaged metadata never crashes or hangs the engine, and is never read as if it were whole. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { EngineError, unreadable } from '../../src/engine/engine-error.ts'
import { planSnapshot } from '../../src/engine/iceberg/snapshot-plan.ts'
import { applicableDeletes } from '../../src/storage/iceberg/deletes.ts'
import { ReadFailure } from '../../src/storage/read-failure.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { territoryGuard } from '../../src/storage/territory-guard.ts'
import { snapshotOf, startTestEngine, type TestEngine } from '../support/engine.ts'
import { roundsOf } from '../support/long-form.ts'

const seed = 8_118
const runs = roundsOf(10_000)

let engine: TestEngine
const documents = new Map<string, Buffer>()
let metadataLocation = ''
let snapshotId = 0n
beforeAll(async () => {
  engine = await startTestEngine()
  const writer = engine.table('fuzzed', {
    fields: [
      { id: 1, name: 'id', type: 'long' },
      { id: 2, name: 'name', type: 'string' },
    ],
    partitionBy: 'name',
    formatVersion: 3,
  })
  const { files } = await writer.append([{ rows: [{ id: 1, name: 'a' }], partition: 'a' }])
  await writer.delete({ kind: 'vector', dataFile: files[0] ?? '', positions: [0] })
  await writer.delete({ kind: 'equality', fields: [{ id: 1, name: 'id', type: 'long' }], rows: [{ id: 1 }] })
  metadataLocation = writer.metadataLocation ?? ''
  snapshotId = snapshotOf(writer).snapshotId ?? 0n
  const seen: Storage = recording((location) => {
    const bytes = readFileSync(fileURLToPath(location))
    documents.set(location, bytes)
    return bytes
  })
  await planSnapshot(seen, metadataLocation, snapshotId, {
    signal: new AbortController().signal,
    guard: territoryGuard(undefined),
    hold: () => {},
  })
})
afterAll(() => engine.close())

function recording(read: (location: string) => Buffer): Storage {
  const file = (location: string) => {
    const bytes = read(location)
    const part = async (start: number, end: number) => bytes.subarray(start, end)
    return { size: bytes.length, read: part, close: async () => {} }
  }
  return {
    bytesRead: 0,
    open: async (location) => file(location),
    readAll: async (location) => read(location),
    during: (work) => work(),
    work: () => ({ run: (part) => part(), [Symbol.dispose]: () => {} }),
    close: async () => {},
  }
}

const mutation = fc.record({
  document: fc.nat(),
  cut: fc.option(fc.nat(), { freq: 5, nil: undefined }),
  bytes: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 12 }),
})

test(`${runs} damaged documents each give a plan or an error of ours`, async () => {
  let refused = 0
  const locations = [...documents.keys()]
  await fc.assert(
    fc.asyncProperty(mutation, async ({ document, cut, bytes }) => {
      const target = locations[document % locations.length]
      const storage = recording((location) => {
        const original = documents.get(location)
        if (original === undefined) throw new ReadFailure('a file is not there')
        if (location !== target) return original
        const changed = Buffer.from(
          original.subarray(0, cut === undefined ? undefined : cut % original.length),
        )
        for (const [at, value] of bytes) if (changed.length > 0) changed[at % changed.length] = value
        return changed
      })
      try {
        const { signal } = new AbortController()
        const plan = await planSnapshot(storage, metadataLocation, snapshotId, {
          signal,
          guard: territoryGuard(undefined),
          hold: () => {},
        })
        await applicableDeletes(plan, plan.dataFiles, signal)
      } catch (thrown) {
        refused++
        const error = unreadable(thrown)
        expect(error).toBeInstanceOf(EngineError)
        expect(error.code).toMatch(/^(58030|0A000)$/)
        expect(error.message).not.toContain(engine.tables)
      }
    }),
    { seed, numRuns: runs },
  )
  expect(refused).toBeGreaterThan(runs / 2)
})
