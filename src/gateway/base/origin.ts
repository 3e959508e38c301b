/** Reads through what a change came: its session, and what its client says of itself. Judges nothing. */

import { cleanText } from '../../base/clean-text.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import type { ChangeOrigin } from '../../core/commit.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import type { CommitRequest } from '../../wire/iceberg/commit-request.ts'

/** Keys of a snapshot's summary in which engines name the application, job or query that wrote it. */
const applicationKeys = ['spark.app.id', 'app-id', 'flink.job-id', 'trino_query_id'] as const

/** UTF-16 units that are kept of a text. */
const textCharsMax = 500

/** The origin that a request has before its body is read. */
export function requestOrigin(identified: IdentifiedPrincipal, headers: Headers): ChangeOrigin {
  const { session } = identified
  const client = said(headers.get('user-agent'))
  return {
    ...(session && { session: { id: session.id, name: session.sub } }),
    ...(client !== undefined && { client }),
  }
}

/** The origin with what the commit of one table says. */
export function originOf(origin: ChangeOrigin, { updates }: Pick<CommitRequest, 'updates'>): ChangeOrigin {
  const applicationId = updates.map(applicationOf).findLast((id) => id !== undefined)
  const branch = said(updates.findLast(movesBranch)?.get('ref-name'))
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
  return applicationKeys.map((key) => said(summary.get(key))).find((id) => id !== undefined)
}

/** A text as it can be stored and shown; undefined for none. */
function said(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = cleanText(value, textCharsMax).trim()
  return text === '' ? undefined : text
}
