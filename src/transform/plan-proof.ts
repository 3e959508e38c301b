/**
 * What a writer puts into a snapshot's summary to show which plan its data went through: the version of the rules, and a
 * nonce that only the service can make, for one table and a time.
 */

import { createHash, createHmac, randomBytes } from 'node:crypto'
import { sameSecret } from '../base/same-secret.ts'
import { hkdf } from './derive-keys.ts'
import type { ColumnRule } from './plan.ts'

/** The member of a snapshot's summary. */
export const proofProperty = 'covenant.transform-plan'
/** How long after the plan's end a commit may still show it, in seconds: files are written before they are committed. */
export const proofGraceSeconds = 3600

/** Of the rules of a table, in order of field ids: changes whenever one of them does. */
export function policyVersionOf(columns: readonly ColumnRule[]): string {
  const ordered = columns.toSorted((a, b) => a.field_id - b.field_id)
  const text = JSON.stringify(
    ordered.map((column) => Object.entries(column).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  )
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** What a nonce is made for. */
export interface ProofSubject {
  readonly tenant: string
  readonly tableUuid: string
  readonly policyVersion: string
}

function macOf(
  secret: Uint8Array,
  { tenant, tableUuid, policyVersion }: ProofSubject,
  head: Uint8Array,
): Buffer {
  const key = hkdf(secret, Buffer.alloc(0), 'covenant/1|plan-nonce', 32)
  const subject = [tenant, tableUuid, policyVersion].join('|')
  return createHmac('sha256', key).update(head).update(subject).digest().subarray(0, 16)
}

/** A nonce: expiry (6 bytes), random bytes (10), and a code over both and the subject (16), as base64url. */
export function makeNonce(secret: Uint8Array, subject: ProofSubject, expSeconds: number): string {
  const head = Buffer.concat([Buffer.alloc(6), randomBytes(10)])
  head.writeUIntBE(expSeconds, 0, 6)
  return Buffer.concat([head, macOf(secret, subject, head)]).toString('base64url')
}

/** Whether `proof`, a member of a summary, is of a plan for `subject` that ended no longer ago than the grace. */
export function isProofOf(
  secret: Uint8Array,
  subject: ProofSubject,
  proof: string | undefined,
  nowSeconds: number,
): boolean {
  const prefix = `${subject.policyVersion}:`
  if (proof === undefined || !proof.startsWith(prefix)) return false
  const nonce = Buffer.from(proof.slice(prefix.length), 'base64url')
  if (nonce.length !== 32) return false
  const head = nonce.subarray(0, 16)
  if (!sameSecret(macOf(secret, subject, head), nonce.subarray(16))) return false
  return nowSeconds < head.readUIntBE(0, 6) + proofGraceSeconds
}
