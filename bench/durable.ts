/**
 * The durable transactions of a commit without the gateway around them: the intent before the commit is sent, the
 * verdict after. They run in the load generator's process, on the gateway's own database.
 */

import { type AppliedPolicy, appliedPolicy, type CommitIntent } from '../src/core/commit.ts'
import type { PolicyOutcome } from '../src/core/decision.ts'
import type { Policy } from '../src/core/policy.ts'
import type { TableRef } from '../src/core/table-ref.ts'
import type { TenantId } from '../src/core/tenant.ts'
import { openIntent } from '../src/store/commit-intents.ts'
import { openStore, type Store } from '../src/store/store.ts'
import { recordVerdict } from '../src/store/verdicts.ts'
import { committedTable, parseLoadTableResult } from '../src/wire/iceberg/table-metadata.ts'
import { testSecretsKey } from '../test/support/store.ts'
import { benchPoolMax } from './bench-store.ts'

export interface Ledger {
  /** Makes the intent of a commit durable. */
  open(table: TableRef, body: string, baseMetadataLocation: string): Promise<CommitIntent>
  /** Records that it was accepted. @returns the new metadata location */
  record(intent: CommitIntent, answer: Uint8Array): Promise<string>
}

/** The gateway's database, opened a second time. */
export async function openSecondStore(databaseUrl: string): Promise<Store> {
  const options = { secretsKey: testSecretsKey, migrate: false, onNotice: () => {}, poolMax: benchPoolMax }
  return await openStore({ ...options, databaseUrl })
}

/**
 * A ledger in which every commit has passed the same policies.
 * @param tenant one that no gateway commits for, so that the two are counted apart
 */
export function ledgerOf(store: Store, tenant: TenantId, policies: readonly Policy[]): Ledger {
  const applied: readonly AppliedPolicy[] = policies.map(appliedPolicy)
  const outcomes: readonly PolicyOutcome[] = policies.map(({ id, name, mode }) => ({
    policyId: id,
    name,
    mode,
    value: true,
  }))
  const credentialId = crypto.randomUUID()
  return {
    async open(table, text, baseMetadataLocation) {
      const body = Buffer.from(text)
      const intent: CommitIntent = {
        commitId: crypto.randomUUID(),
        table,
        credentialId,
        principal: { sub: 'spark@example.com', roles: [] },
        principalSource: 'auth_header',
        bodySha256: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
        body: Bun.zstdCompressSync(body),
        baseMetadataLocation,
        snapshotIds: [],
        receivedAtMs: Date.now(),
      }
      await openIntent(store, tenant, intent)
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
