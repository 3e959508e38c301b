/** Which workloads a tenant trusts, and as whom they act (docs/reference/identity.md 10). */

import type { SessionScope } from './session.ts'

/** Where the keys of an issuer come from: its discovery document, an address, or the keys themselves. */
export type KeySource =
  | { readonly kind: 'discovery'; readonly issuer: string }
  | { readonly kind: 'address'; readonly url: string }
  | { readonly kind: 'given'; readonly keys: readonly object[] }

/** A trust: tokens of one issuer and audience, whose subject fits a pattern, stand for one service. */
export interface WorkloadTrust {
  readonly name: string
  readonly issuer: string
  readonly audience: string
  /** A pattern of subjects, in which `*` is any text. */
  readonly subject: string
  /** Of its sessions: `service:…`. */
  readonly sub: string
  readonly roles: readonly string[]
  readonly scopes: readonly SessionScope[]
  readonly keySource: KeySource
}

/** Whether a subject fits a pattern, whole and as written. In time that grows with the product of their lengths. */
export function subjectFits(pattern: string, subject: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return subject === first
  if (!subject.startsWith(first) || subject.length < first.length + last.length) return false
  if (!subject.endsWith(last)) return false
  let at = first.length
  const end = subject.length - last.length
  for (const part of rest) {
    const found = subject.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
