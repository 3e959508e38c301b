/** The intent of an append as the gateway opens it, for benchmarks of the store alone. */

import { timeOrderedId } from '../src/base/time-ordered-id.ts'
import type { TableRef } from '../src/core/table-ref.ts'
import type { Appends } from './sample-table.ts'

/** @param baseMetadataLocation of the table before the append */
export function sampleIntent(table: TableRef, appends: Appends, baseMetadataLocation: string) {
  const body = Buffer.from(appends.next(Date.now()))
  return {
    // As the gateway makes them: rising ids keep the ends of indexes full.
    commitId: timeOrderedId(),
    table,
    credentialId: '00000000-0000-4000-8000-000000000001',
    principal: { sub: 'spark@example.com', roles: [] },
    principalSource: 'auth_header' as const,
    bodySha256: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
    body: Bun.zstdCompressSync(body),
    baseMetadataLocation,
    snapshotIds: [],
    receivedAtMs: Date.now(),
  }
}
