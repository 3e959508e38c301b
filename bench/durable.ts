/**
 * Runs the durable transactions of a commit without the gateway. The one before the commit confirms its session, loads
 * its policies and writes its intent; the one after it writes the verdict. The caller is a returning one. They run in
 * the load generator's process, on a database that no gateway uses.
 */

import { type AppliedPolicy, appliedPolicy, type CommitIntent } from '../src/core/commit.ts'
import type { PolicyOutcome } from '../src/core/decision.ts'
import type { TableRef } from '../src/core/table-ref.ts'
import { beginCommit } from '../src/store/commit/begin-commit.ts'
import { intentTimes } from '../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../src/store/commit/verdicts.ts'
import { findServiceSession, serviceSecretDigest } from '../src/store/session/sessions.ts'
import type { Store } from '../src/store/store.ts'
import { committedTable, parseLoadTableResult } from '../src/wire/iceberg/table-metadata.ts'
import { type Governed, prefix, prepareTenant } from './prepare-tenant.ts'
import type { UpstreamAddress } from './upstream.ts'

export interface Ledger {
  /** Opens a commit: makes its intent durable. */
  open(table: TableRef, body: string, baseMetadataLocation: string): Promise<CommitIntent>
  /** Records that the commit was accepted. @returns the new metadata location */
  record(intent: CommitIntent, answer: Uint8Array): Promise<string>
}

/** Opens a ledger for a new tenant, in which every commit has passed all policies of its table. */
export async function openLedger(
  store: Store,
  upstream: UpstreamAddress,
  governed: Governed,
): Promise<Ledger> {
  const { tenant, secret } = await prepareTenant(store, upstream, governed)
  const digest = serviceSecretDigest(store, secret)
  const session = await findServiceSession(store, secret, prefix)
  const registered = session?.registered
  if (digest === undefined || session === undefined || registered?.credential === undefined)
    throw new Error('the session that was made is not found')
  const { principal } = session
  const credentialId = registered.credential.id
  const known = { key: { digest, id: null }, tenant, prefix, fingerprint: registered.fingerprint }
  const applied: readonly AppliedPolicy[] = governed.policies.map(appliedPolicy)
  const outcomes: readonly PolicyOutcome[] = governed.policies.map(({ id, name, mode }) => ({
    policyId: id,
    name,
    mode,
    value: true,
  }))
  return {
    async open(table, text, baseMetadataLocation) {
      const body = Buffer.from(text)
      const intent: CommitIntent = {
        commitId: crypto.randomUUID(),
        table,
        credentialId,
        principal,
        principalSource: 'auth_header',
        bodySha256: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
        body: Bun.zstdCompressSync(body),
        baseMetadataLocation,
        snapshotIds: [],
        receivedAtMs: Date.now(),
      }
      if ((await beginCommit(store, known, intent, intentTimes, [])) === undefined)
        throw new Error('a commit was not begun: its session was not confirmed')
      return intent
    },
    async record(intent, answer) {
      const committed = committedTable(parseLoadTableResult(answer))
      const { recorded, ingested } = await recordVerdict(store, tenant, {
        intent,
        decision: 'APPROVED',
        reason: '',
        policies: applied,
        outcomes,
        committed,
      })
      if (!recorded || !ingested) throw new Error('a verdict was not recorded as a whole')
      return committed.metadataLocation
    },
  }
}
