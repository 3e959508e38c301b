/** Open intents as the API and the command line show them. */

import type { OpenIntent, OpenIntentWithBody } from '../../store/commit/intent-settlements.ts'
import type { SettledIntent } from '../../store/commit/settle-proven.ts'

/** One line of a list. */
export function intentView({ intent, state, openedAt, proposed }: OpenIntent) {
  return {
    commit_id: intent.commitId,
    state,
    opened_at: openedAt,
    action: intent.action ?? 'update-table',
    table: intent.table,
    principal: intent.principal.sub,
    principal_source: intent.principalSource,
    request_id: intent.requestId,
    base_metadata_location: intent.baseMetadataLocation,
    proposed: proposed && {
      metadata_location: proposed.metadataLocation,
      evidence: proposed.evidence,
      proven: proposed.isProven === true,
    },
  }
}

/** One that was settled by what was proposed. */
export function settledView({ commitId, table, metadataLocation, evidence }: SettledIntent) {
  return { commit_id: commitId, table, metadata_location: metadataLocation, evidence }
}

/** A longer request is left out; the audit of a settled intent holds it. */
const shownRequestBytesMax = 256 * 1024

/** Everything that helps a person to find out whether the change was made. @param isShown whether its body is */
export function intentDetailView(found: OpenIntentWithBody, isShown: boolean) {
  const { intent } = found
  const request = Bun.zstdDecompressSync(found.body as Uint8Array<ArrayBuffer>)
  return {
    ...intentView(found),
    catalog: intent.catalog,
    credential_id: intent.credentialId,
    snapshot_ids: intent.snapshotIds.map(String),
    received_at: new Date(intent.receivedAtMs),
    transaction: intent.transaction,
    body_sha256: intent.bodySha256,
    request: isShown && request.length <= shownRequestBytesMax ? request.toString('utf8') : undefined,
  }
}
