/** Compares what a step did with what was expected. */

import type { AuditEntry } from '../src/core/audit-entry.ts'

export interface Expectation {
  readonly status: number
  /** The whole text, the `type` of an ErrorModel, or the table that the commit made. */
  readonly body: { readonly text: string } | { readonly errorType: string } | { readonly table: true }
  /** The row that the tenant's audit log gains, if any. */
  readonly audit: Pick<AuditEntry, 'decision' | 'reason' | 'committer'> | undefined
  /** By how much `commit_rejected_total` rises, by reason. A reason that is left out does not rise. */
  readonly rejected?: Readonly<Record<string, number>>
  /** Commits that reach the upstream catalog. */
  readonly forwarded: number
}

export interface Observation {
  readonly status: number
  readonly body: string
  /** X-Svc-Decision-Id. */
  readonly decisionId: string | undefined
  /** Rows that the tenant's audit log gained. */
  readonly audit: readonly AuditEntry[]
  /** How many rows the other tenant's audit log gained. */
  readonly foreignAudit: number
  readonly rejected: Readonly<Record<string, number>>
  readonly forwarded: number
}

/** @returns each difference as a sentence; empty when everything is as expected */
export function checkStep(expected: Expectation, seen: Observation): readonly string[] {
  const problems: string[] = []
  const compare = (what: string, wanted: unknown, got: unknown) => {
    if (!Bun.deepEquals(wanted, got))
      problems.push(`${what} should be ${JSON.stringify(wanted)} and is ${JSON.stringify(got)}`)
  }
  compare('the status', expected.status, seen.status)
  if ('text' in expected.body) compare('the body', expected.body.text, seen.body)
  if ('errorType' in expected.body) compare('the error type', expected.body.errorType, errorTypeOf(seen.body))

  const [row, ...more] = seen.audit
  compare(
    'the audit row',
    expected.audit,
    row && { decision: row.decision, reason: row.reason, committer: row.committer },
  )
  if (more.length > 0) problems.push(`the audit log gained ${seen.audit.length} rows`)
  if (row !== undefined) compare('the decision id of the answer', row.commitId, seen.decisionId)
  if ('table' in expected.body) {
    const location = metadataLocationOf(seen.body)
    if (location === undefined) problems.push('the body is no LoadTableResult')
    compare('the metadata location on record', location, row?.metadataLocation)
  }
  compare('the rows that the other tenant gained', 0, seen.foreignAudit)

  for (const reason of new Set([...Object.keys(expected.rejected ?? {}), ...Object.keys(seen.rejected)]))
    compare(
      `the rise of commit_rejected_total{reason="${reason}"}`,
      expected.rejected?.[reason] ?? 0,
      seen.rejected[reason] ?? 0,
    )
  compare('the number of commits that reached the catalog', expected.forwarded, seen.forwarded)
  return problems
}

function errorTypeOf(body: string): unknown {
  return (parse(body) as { readonly error?: { readonly type?: unknown } } | null)?.error?.type
}

/** The `metadata-location` of a LoadTableResult; undefined for anything else. */
export function metadataLocationOf(body: string): string | undefined {
  const location = (parse(body) as Readonly<Record<string, unknown>> | null)?.['metadata-location']
  return typeof location === 'string' ? location : undefined
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
