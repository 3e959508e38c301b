/** Declares the operations that prove the audit: the last checkpoint, the proof of a row, the proof of a beginning. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../base/fault.ts'
import { operationsOf } from '../http/declare.ts'
import {
  described,
  int64,
  list,
  maybe,
  nonEmpty,
  number,
  object,
  oneOf,
  ordinal,
  text,
  time,
  uuid,
  wholeNumber,
} from '../http/schemas.ts'
import { writeProof } from '../proof/checkpoint.ts'
import { leafKinds } from '../proof/entry.ts'
import { lastCheckpoint } from '../store/proof/checkpoints.ts'
import { importProgress } from '../store/proof/grow-tree.ts'
import { type Proof, type Proven, prove, proveConsistency } from '../store/proof/prove.ts'
import type { Store } from '../store/store.ts'

const operation = operationsOf<{ readonly store: Store }>()
const tag = 'audit'
const access = { scope: 'read', roles: ['steward', 'administrator', 'owner', 'auditor'] } as const

const hash = described(Type.String({ contentEncoding: 'base64' }), 'SHA-256, base64')
const noCheckpoint = 'No checkpoint was made yet: none is where `SVC_AUDIT_KEY_FILE` is not set.'

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const kinds = Object.keys(leafKinds) as (keyof typeof leafKinds)[]

interface ProofInput {
  readonly commit?: string | undefined
  readonly query?: string | undefined
  readonly change?: bigint | undefined
  readonly index?: number | undefined
}

/** @throws Fault `bad_request` where not exactly one is named */
function provenOf({ commit, query, change, index }: ProofInput): Proven {
  const named: Proven[] = []
  if (commit !== undefined) named.push({ commit })
  if (query !== undefined) named.push({ query })
  if (change !== undefined) named.push({ change })
  if (index !== undefined) named.push({ index })
  const [one, ...others] = named
  if (one === undefined || others.length > 0)
    throw new Fault('bad_request', 'Name one of commit, query, change and index.')
  return one
}

function proofView({ kind, ref, index, leaf, hashes, checkpoint, entry, within }: Proof) {
  return {
    ...{ kind, number: String(ref), index, size: checkpoint.size, leaf_hash: base64(leaf) },
    hashes: hashes.map(base64),
    checkpoint: checkpoint.note,
    proof: writeProof({ index, hashes, checkpoint: checkpoint.note }),
    entry: entry && Buffer.from(entry).toString(),
    within: within && {
      ...{ index: within.index, size: within.size, hashes: within.hashes.map(base64) },
      entry: Buffer.from(within.entry).toString(),
    },
  }
}

export const auditOperations = [
  operation({
    name: 'get_audit_checkpoint',
    tag,
    summary: 'The last signed checkpoint of the audit, and the keys that sign',
    description:
      'Keep it outside of the service: a later checkpoint must be proven to begin with it. The note is a C2SP signed note.',
    method: 'GET',
    path: '/api/v1/audit/checkpoint',
    access,
    gives: { nothing: 'administration' },
    output: object({
      at: time,
      size: described(wholeNumber, 'leaves'),
      checkpoint: described(text, 'the signed note'),
      keys: list(object({ key: described(text, 'as `note.NewVerifier` takes it'), since: time })),
      imported: described(number, 'share of the history from before the tree that is in it, 0 to 1'),
    }),
    faults: { not_found: noCheckpoint },
    run: async ({ parts: { store }, caller: { tenant } }) => {
      const found = await lastCheckpoint(store, tenant)
      if (found === undefined) throw new Fault('not_found', noCheckpoint)
      const { done, all } = await importProgress(store, tenant)
      const { at, size, note: checkpoint } = found.checkpoint
      return {
        at,
        size,
        checkpoint,
        keys: [...found.keys],
        imported: all === 0n ? 1 : Number(done) / Number(all),
      }
    },
  }),
  operation({
    name: 'get_audit_proof',
    tag,
    summary: 'Proves that a commit, a query or a change is in the audit of the last checkpoint',
    description:
      'Name one of `commit`, `query`, `change` and `index`. The entry holds what is proven: what a person wrote or is called by only as a salted hash. A query is proven by the leaf of its hour, and within it by its record.',
    method: 'GET',
    path: '/api/v1/audit/proof',
    access,
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object({
      commit: maybe(described(uuid, 'id of a decision')),
      query: maybe(described(uuid, 'id of a record of usage')),
      change: maybe(described(int64, 'number of a change of a contract')),
      index: maybe(described(wholeNumber, 'of a leaf')),
    }),
    output: object({
      kind: oneOf(kinds),
      number: described(text, 'of the row among those of its kind'),
      index: wholeNumber,
      size: described(ordinal, 'leaves of the checkpoint'),
      leaf_hash: hash,
      hashes: described(list(hash), 'from the leaf upwards'),
      checkpoint: text,
      proof: described(text, 'the same as a file of its own (C2SP tlog-proof)'),
      entry: maybe(described(nonEmpty, 'absent where the row was removed, or its person’s salt erased')),
      within: maybe(
        described(
          object({ index: wholeNumber, size: ordinal, hashes: list(hash), entry: nonEmpty }),
          'of a query: its record in the tree of its hour, whose root the entry names',
        ),
      ),
    }),
    faults: {
      not_found: 'The tenant has no such row.',
      conflict: 'No checkpoint covers it yet: one is made every minute.',
      unavailable: 'The stored tree is damaged.',
    },
    run: async ({ parts: { store }, caller: { tenant } }, input) =>
      proofView(await prove(store, tenant, provenOf(input))),
  }),
  operation({
    name: 'get_audit_consistency',
    tag,
    summary: 'Proves that the audit of one size begins with that of a smaller one',
    method: 'GET',
    path: '/api/v1/audit/consistency',
    access,
    gives: { nothing: 'administration' },
    input: object({
      from: described(ordinal, 'leaves'),
      to: maybe(described(ordinal, 'leaves; absent: those of the last checkpoint')),
    }),
    output: object({
      from: ordinal,
      to: ordinal,
      hashes: list(hash),
      from_checkpoint: maybe(described(text, 'absent where no checkpoint has this size')),
      to_checkpoint: maybe(text),
    }),
    faults: { not_found: 'There is no tree of this size yet.', unavailable: 'The stored tree is damaged.' },
    run: async ({ parts: { store }, caller: { tenant } }, { from, to }) => {
      const { hashes, checkpoints, ...sizes } = await proveConsistency(store, tenant, from, to)
      return {
        ...sizes,
        hashes: hashes.map(base64),
        ...{ from_checkpoint: checkpoints.from, to_checkpoint: checkpoints.to },
      }
    },
  }),
]
