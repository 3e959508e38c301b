/** Reads what a commit says of the application and branch that it came from. Judges nothing. */

import { saidText } from '../../auth/request-origin.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import type { ChangeOrigin } from '../../core/commit.ts'
import type { CommitRequest } from '../../wire/iceberg/commit-request.ts'

/** Keys of a snapshot's summary in which engines name the application, job or query that wrote it. */
const applicationKeys = ['spark.app.id', 'app-id', 'flink.job-id', 'trino_query_id'] as const

/** The origin with what the commit of one table says. */
export function originOf(origin: ChangeOrigin, { updates }: Pick<CommitRequest, 'updates'>): ChangeOrigin {
  const applicationId = updates.map(applicationOf).findLast((id) => id !== undefined)
  const branch = saidText(updates.findLast(movesBranch)?.get('ref-name'))
  return {
    ...origin,
    ...(applicationId !== undefined && { applicationId }),
    ...(branch !== undefined && { branch }),
  }
}

/** The Iceberg specification's default type of a ref is a branch. */
function movesBranch(update: JsonObject): boolean {
  return update.get('action') === 'set-snapshot-ref' && (update.get('type') ?? 'branch') === 'branch'
}

function applicationOf(update: JsonObject): string | undefined {
  if (update.get('action') !== 'add-snapshot') return undefined
  const snapshot = update.get('snapshot')
  const summary = isJsonObject(snapshot) ? snapshot.get('summary') : undefined
  if (!isJsonObject(summary)) return undefined
  return applicationKeys.map((key) => saidText(summary.get(key))).find((id) => id !== undefined)
}
