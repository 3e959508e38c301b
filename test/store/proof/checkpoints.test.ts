/** Checkpoints and proofs of a stored tree, verified by what is published alone. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { checkpointSigner } from '../../../src/audit/audit-key.ts'
import type { Fault } from '../../../src/base/fault.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { readCheckpoint, writeCheckpoint } from '../../../src/proof/checkpoint.ts'
import { leafHash } from '../../../src/proof/hash.ts'
import { verifyConsistency, verifyInclusion } from '../../../src/proof/merkle.ts'
import { readNote, readVerifierKey, signersOf, signNote } from '../../../src/proof/signed-note.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { lastCheckpoint, makeCheckpoint } from '../../../src/store/proof/checkpoints.ts'
import { prove, proveConsistency } from '../../../src/store/proof/prove.ts'
import { recordUsage } from '../../../src/store/query/usage.ts'
import { intentOf, rejectedOf } from '../../support/commits.ts'
import { growAll, storedRoot } from '../../support/proof.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { usageRecord } from '../../support/usage.ts'

const [present, former, foreign] = [1, 2, 3].map(() => generateKeyPairSync('ed25519').privateKey)
if (present === undefined || former === undefined || foreign === undefined) throw new Error('no key')
const signer = checkpointSigner(present, undefined)
const originOf = (tenant: TenantId) => `example.com/audit/${tenant}`

let store: TestStore
beforeAll(async () => {
  store = await openTestStore()
})
afterAll(() => store?.[Symbol.asyncDispose]())

const newTenant = async (name: string): Promise<TenantId> => (await makeTenant(store, { name })).id
const start = Date.UTC(2026, 0, 1)
const sign = (tenant: TenantId, atMs = start, by = signer) =>
  makeCheckpoint(store, tenant, { at: new Date(atMs), signer: by, origin: originOf(tenant) })

async function commit(tenant: TenantId): Promise<string> {
  const intent = intentOf()
  await recordVerdict(store, tenant, rejectedOf(intent))
  return intent.commitId
}

/** What the note says, if the key signed it. */
function checked(note: string, keyText: string) {
  const key = readVerifierKey(keyText)
  const read = readNote(note)
  if (key === undefined || read === undefined) throw new Error('no note')
  const by = signersOf(read, [key])
  const checkpoint = readCheckpoint(read.text)
  if (by.length === 0 || checkpoint === undefined) throw new Error('not signed by this key')
  return checkpoint
}

const faultOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (fault: Fault) => fault.kind,
  )

describe('a checkpoint', () => {
  test('is made where the tree grew, and daily where it did not', async () => {
    const tenant = await newTenant('minutes')
    expect(await sign(tenant)).toBeUndefined()
    await growAll(store, tenant)
    expect((await sign(tenant))?.size).toBe(1)
    expect(await sign(tenant, start + 60_000)).toBeUndefined()
    await commit(tenant)
    await growAll(store, tenant)
    expect((await sign(tenant, start + 120_000))?.size).toBe(2)
    expect(await sign(tenant, start + 86_000_000)).toBeUndefined()
    expect((await sign(tenant, start + 120_000 + 86_400_000))?.size).toBe(2)
  })

  test('of a new key is signed by the one before, too, and by no other', async () => {
    const tenant = await newTenant('turn')
    await growAll(store, tenant)
    await sign(tenant, start, checkpointSigner(former, undefined))
    await commit(tenant)
    await growAll(store, tenant)
    expect(await faultOf(sign(tenant))).toBe('misconfigured')
    expect(await faultOf(sign(tenant, start, checkpointSigner(present, foreign)))).toBe('misconfigured')
    await sign(tenant, start, checkpointSigner(present, former))
    // Once, for the turn; a day later the former key is needed no longer.
    expect(await sign(tenant, start, checkpointSigner(present, former))).toBeUndefined()
    const found = await lastCheckpoint(store, tenant)
    const keys = (found?.keys ?? []).map(({ key }) => key)
    expect(keys).toHaveLength(2)
    for (const key of keys) expect(checked(found?.checkpoint.note ?? '', key).size).toBe(2)
    await commit(tenant)
    await growAll(store, tenant)
    const later = await sign(tenant, start, checkpointSigner(present, former))
    expect(readNote(later?.note ?? '')?.signatures).toHaveLength(1)
  })

  test('is due at once where the key has changed, and of its size the one with both signatures is given', async () => {
    const tenant = await newTenant('turn at rest')
    await growAll(store, tenant)
    await sign(tenant, start, checkpointSigner(former, undefined))
    const both = await sign(tenant, start + 60_000, checkpointSigner(present, former))
    expect(readNote(both?.note ?? '')?.signatures).toHaveLength(2)
    await sign(tenant, start + 2 * 86_400_000, checkpointSigner(present, undefined))
    expect((await proveConsistency(store, tenant, 1, 1)).checkpoints.to).toBe(both?.note)
    // A row names its key only where that begins.
    const rows = await store.tenantQuery<{ verifier: string | null }>(
      tenant,
      'select verifier from audit_checkpoint order by checkpoint_seq',
    )
    expect(rows.map(({ verifier }) => verifier !== null)).toEqual([true, true, false])
    expect((await lastCheckpoint(store, tenant))?.keys[0]?.key).toBe(both?.signedBy ?? '')
  })

  test('is not made over a history that was changed', async () => {
    const tenant = await newTenant('forged')
    await growAll(store, tenant)
    await sign(tenant)
    await store.tenantQuery(tenant, `update audit_tree set tails = array[decode(repeat('00', 32), 'hex')]`)
    expect(await faultOf(sign(tenant, start + 86_400_000))).toBe('unavailable')
    await store.tenantQuery(tenant, `update audit_tree set size = 0, tails = '{}', keys = ''`)
    expect(await faultOf(sign(tenant))).toBe('unavailable')
  })
})

describe('a forged checkpoint', () => {
  /** Writes a note as who holds the database, not the key, would. */
  const forge = (tenant: TenantId, note: string, signedBy: string, size: number) =>
    store.tenantQuery(
      tenant,
      'insert into audit_checkpoint (at, size, note, verifier) values (now(), $1::int8, $2, $3)',
      [size, note, signedBy],
    )
  const rootOf = async (tenant: TenantId) => (await storedRoot(store, tenant)).root

  test('beside changed leaves is not signed on', async () => {
    const tenant = await newTenant('forged note')
    await growAll(store, tenant)
    const made = await sign(tenant)
    await store.tenantQuery(tenant, `update audit_tree set tails = array[decode(repeat('00', 32), 'hex')]`)
    const text = writeCheckpoint({ origin: originOf(tenant), size: 1, root: await rootOf(tenant) })
    for (const note of [
      signNote(text, [{ name: originOf(tenant), key: foreign }]),
      // The lines of the true note below another text.
      `${text}${made?.note.slice(made.note.lastIndexOf('\n\n') + 1)}`,
    ]) {
      await forge(tenant, note, made?.signedBy ?? '', 1)
      expect(await faultOf(sign(tenant, start + 86_400_000))).toBe('misconfigured')
      expect((await lastCheckpoint(store, tenant))?.checkpoint.note).toBe(note)
    }
  })

  test('that the same key made for another tenant or another host is not signed on', async () => {
    const [home, other] = [await newTenant('own log'), await newTenant('other log')]
    for (const tenant of [home, other]) await growAll(store, tenant)
    const made = await sign(other)
    await sign(home)
    await forge(home, made?.note ?? '', made?.signedBy ?? '', 1)
    expect(await faultOf(sign(home, start + 86_400_000))).toBe('unavailable')
    const elsewhere = `other.example/audit/${other}`
    const signing = { at: new Date(start + 86_400_000), signer, origin: elsewhere }
    expect(await faultOf(makeCheckpoint(store, other, signing))).toBe('unavailable')
    const wrong = makeCheckpoint(store, other, { ...signing, origin: originOf(home) })
    expect(await wrong.catch((err: Error) => err.name)).toBe('RangeError')
  })
})

describe('a proof', () => {
  test('of a commit shows its entry in the tree of the last checkpoint', async () => {
    const tenant = await newTenant('proof')
    await growAll(store, tenant)
    const ids: string[] = []
    for (let at = 0; at < 9; at += 1) ids.push(await commit(tenant))
    expect(await faultOf(prove(store, tenant, { commit: ids[4] ?? '' }))).toBe('conflict')
    await growAll(store, tenant)
    const made = await sign(tenant)
    await commit(tenant)
    await growAll(store, tenant)
    for (const id of ids) {
      const { index, hashes, entry, leaf, checkpoint } = await prove(store, tenant, { commit: id })
      const { root, size } = checked(checkpoint.note, made?.signedBy ?? '')
      expect(Buffer.from(entry ?? []).toString()).toContain(id)
      expect(leafHash(entry ?? new Uint8Array())).toEqual(leaf)
      expect(verifyInclusion({ index, size, root }, leaf, hashes)).toBe(true)
    }
  })

  test('of a row of another tenant, or of none, is not given', async () => {
    const [home, other] = [await newTenant('proof home'), await newTenant('proof other')]
    for (const tenant of [home, other]) await growAll(store, tenant)
    const id = await commit(other)
    for (const tenant of [home, other]) {
      await growAll(store, tenant)
      await sign(tenant)
    }
    expect((await prove(store, other, { commit: id })).kind).toBe('verdict')
    expect(await faultOf(prove(store, home, { commit: id }))).toBe('not_found')
    expect(await faultOf(prove(store, home, { commit: crypto.randomUUID() }))).toBe('not_found')
    expect(await faultOf(prove(store, home, { query: crypto.randomUUID() }))).toBe('not_found')
    expect(await faultOf(prove(store, home, { change: 1n }))).toBe('not_found')
    expect(await faultOf(prove(store, home, { index: 99 }))).toBe('not_found')
  })

  test('of a query shows its record in the tree of its hour', async () => {
    const tenant = await newTenant('proof usage')
    await growAll(store, tenant)
    const records = Array.from({ length: 6 }, () => usageRecord())
    for (const record of records) await recordUsage(store, tenant, record)
    await store.tenantQuery(tenant, `update audit_mark set newest_at = newest_at - interval '1 hour'`)
    await growAll(store, tenant)
    const made = await sign(tenant)
    const query = records[3]?.queryId ?? ''
    const { entry, index, leaf, hashes, within } = await prove(store, tenant, { query })
    const { root, size } = checked(made?.note ?? '', made?.signedBy ?? '')
    expect(verifyInclusion({ index, size, root }, leaf, hashes)).toBe(true)
    const inner = JSON.parse(
      Buffer.from(entry ?? [])
        .toString()
        .split('\n')[1] ?? '',
    )
    if (within === undefined) throw new Error('no inner proof')
    const at = { index: within.index, size: within.size, root: Buffer.from(inner.root, 'hex') }
    expect(verifyInclusion(at, leafHash(within.entry), within.hashes)).toBe(true)
    expect(Buffer.from(within.entry).toString()).toContain(query)
  })

  test('of consistency holds between any two sizes', async () => {
    const tenant = await newTenant('consistent')
    await growAll(store, tenant)
    const made = []
    for (let at = 0; at < 5; at += 1) {
      await commit(tenant)
      await growAll(store, tenant)
      made.push(await sign(tenant, start + at * 60_000))
    }
    for (const before of made)
      for (const after of made) {
        if (before === undefined || after === undefined || before.size > after.size) continue
        const { hashes, checkpoints } = await proveConsistency(store, tenant, before.size, after.size)
        const [from, to] = [checked(before.note, before.signedBy), checked(after.note, after.signedBy)]
        expect(verifyConsistency(from, to, hashes)).toBe(true)
        expect(checkpoints).toEqual({ from: before.note, to: after.note })
      }
    expect(await faultOf(proveConsistency(store, tenant, 1, 99))).toBe('not_found')
    expect(await faultOf(proveConsistency(store, tenant, 5, 2))).toBe('bad_request')
  })
})
