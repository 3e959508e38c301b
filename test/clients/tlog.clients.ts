/** Checkpoints and proofs of the audit, verified by Go's note and tlog packages, which know nothing of the service. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkpointSigner } from '../../src/audit/audit-key.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { makeCheckpoint } from '../../src/store/proof/checkpoints.ts'
import { prove, proveConsistency } from '../../src/store/proof/prove.ts'
import { intentOf, rejectedOf } from '../support/commits.ts'
import { growAll } from '../support/proof.ts'
import { openTenantStore, type TestStore } from '../support/store.ts'
import { runClient } from './processes.ts'

let store: TestStore
let tenant: TenantId
const folder = mkdtempSync(join(tmpdir(), 'covenant-tlog-'))
const { privateKey } = generateKeyPairSync('ed25519')
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

interface Given {
  readonly key: string
  readonly proofs: readonly Readonly<Record<string, unknown>>[]
  readonly consistency: readonly Readonly<Record<string, unknown>>[]
}
let given: Given

beforeAll(async () => {
  ;({ store, tenant } = await openTenantStore())
  const signer = checkpointSigner(privateKey, undefined)
  const origin = `covenant.example/audit/${tenant}`
  const sizes: number[] = []
  let key = ''
  for (const count of [0, 5, 260, 40]) {
    for (let at = 0; at < count; at += 1) await recordVerdict(store, tenant, rejectedOf(intentOf()))
    await growAll(store, tenant)
    const made = await makeCheckpoint(store, tenant, { at: new Date(), signer, origin })
    if (made !== undefined) sizes.push(made.size)
    key = made?.signedBy ?? key
  }
  const proofs = []
  for (const index of [0, 1, 5, 200, 255, 256, 305]) {
    const { hashes, entry, leaf, checkpoint } = await prove(store, tenant, { index })
    proofs.push({
      ...{ index, leaf_hash: base64(leaf), hashes: hashes.map(base64), checkpoint: checkpoint.note },
      entry: Buffer.from(entry ?? []).toString(),
    })
  }
  const consistency = []
  for (const from of sizes)
    for (const to of sizes.filter((size) => size >= from)) {
      const { hashes, checkpoints } = await proveConsistency(store, tenant, from, to)
      consistency.push({
        hashes: hashes.map(base64),
        from_checkpoint: checkpoints.from,
        to_checkpoint: checkpoints.to,
      })
    }
  given = { key, proofs, consistency }
}, 240_000)
afterAll(async () => {
  await store?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

async function outcomeOf(input: Given): Promise<string> {
  const file = join(folder, 'given.json')
  writeFileSync(file, JSON.stringify(input))
  const command = ['go', 'run', '-C', join(import.meta.dir, 'tlog'), '.', file]
  const { output } = await runClient('go-tlog', command, { seconds: 500 })
  return /^OUTCOME (.*)$/m.exec(output)?.[1] ?? output.slice(-2000)
}

test('tlog: every proof and every beginning is verified', async () => {
  expect(await outcomeOf(given)).toBe('verified 7 10')
}, 540_000)

test('tlog: another entry, another beginning and another key are refused', async () => {
  const [first, second] = given.proofs
  const forged = { ...first, entry: second?.entry }
  expect(await outcomeOf({ ...given, proofs: [forged] })).not.toContain('verified')
  const [, , , fourth] = given.consistency
  const [one] = given.consistency
  const other = { ...fourth, from_checkpoint: given.consistency.at(-1)?.from_checkpoint }
  expect(await outcomeOf({ ...given, proofs: [], consistency: [one ?? {}, other] })).not.toContain('verified')
  const key = given.key.replace(/\+[0-9a-f]{8}\+/, '+00000000+')
  expect(await outcomeOf({ ...given, key })).not.toContain('verified')
}, 540_000)
