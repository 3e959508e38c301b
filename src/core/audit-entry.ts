/** A decision of the audit log as its readers see it (docs/reference/gateway.md 7.1). */

import { baseHolds, type CatalogAction } from './commit.ts'
import { decisions } from './decision.ts'
import { principalSources } from './principal.ts'
import {
  about,
  choice,
  type Field,
  maybe,
  nested,
  type Static,
  text,
  texts,
  time,
  uuid,
  word,
} from './record.ts'
import type { TenantId } from './tenant.ts'

export const auditEntry = {
  commitId: about(uuid, '`X-Svc-Decision-Id` of the response'),
  action: word<CatalogAction>(),
  committer: about(text, 'subject'),
  decision: choice(decisions),
  reason: about(text, 'of a denial; empty for APPROVED'),
  createdAt: time,
  tenantId: uuid as Field<TenantId>,
  principalSource: choice(principalSources),
  table: about(
    nested(
      { namespace: texts, name: text },
      "jsonb_build_object('namespace', namespace, 'name', table_name)",
    ),
    '`name` is empty for a change of a namespace',
  ),
  baseMetadataLocation: about(text, 'empty for a table that did not exist'),
  /** Absent for what judged no table that was there, and for commits of older versions. */
  baseHeld: maybe(
    about(
      choice(baseHolds),
      'how the table was held on which a commit was judged: loaded for it, or pinned by requirements',
    ),
  ),
  /** There for APPROVED where the action wrote metadata. */
  metadataLocation: maybe(text),
  /** Absent in rows of older versions, as is what follows. */
  requestId: maybe(about(text, '`X-Request-Id` of the response')),
  session: maybe(
    about(
      nested(
        { id: uuid, name: about(text, 'the subject for which it was made') },
        `case when session_id is not null
           then jsonb_build_object('id', session_id, 'name', coalesce(session_name, '')) end`,
      ),
      'through which the request came',
    ),
  ),
  client: maybe(about(text, '`User-Agent`, as the client says')),
  applicationId: maybe(about(text, "as the snapshot's summary says")),
  branch: maybe(about(text, 'that the commit moved')),
}
export type AuditEntry = Static<typeof auditEntry>
