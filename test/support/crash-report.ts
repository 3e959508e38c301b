/** Reports what a recovered service has recorded, for a comparison with the catalog. */

import type { TenantId } from '../../src/core/tenant.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import { listDecisions } from '../../src/store/commit/decision-list.ts'
import type { Store } from '../../src/store/store.ts'

export interface CrashReport {
  readonly undecided: number
  /** Metadata locations of APPROVED audit rows. */
  readonly approved: readonly string[]
  readonly rejected: number
  /** Commit ids by edge label, of the edges at the table. */
  readonly edges: Readonly<Record<'INTENDED_WRITE' | 'ACTUAL_WRITE', readonly string[]>>
  readonly approvedCommits: readonly string[]
  readonly rejectedCommits: readonly string[]
  /** Actions of APPROVED audit rows, oldest first. */
  readonly actions: readonly string[]
}

export async function crashReport(store: Store, tenant: TenantId): Promise<CrashReport> {
  const rows = []
  let after: string | undefined
  do {
    const page = await listDecisions(store, tenant, { limit: 1000, ...(after && { after }) })
    rows.push(...page.items)
    after = page.next
  } while (after !== undefined)
  const approved = rows.filter((row) => row.decision === 'APPROVED')
  const rejected = rows.filter((row) => row.decision === 'REJECTED')
  const edgesOf = async (label: 'INTENDED_WRITE' | 'ACTUAL_WRITE') => {
    const near = await store.tenantQuery<{ id: string }>(
      tenant,
      `select agtype_access_operator(variadic array[e.properties, '"id"'::agtype])::text as id from "${label}" e`,
    )
    return near.map((row) => row.id)
  }
  return {
    undecided: (await countIntents(store)).open,
    approved: approved.map((row) => row.metadataLocation ?? ''),
    rejected: rejected.length,
    approvedCommits: approved.map((row) => row.commitId),
    actions: approved.map((row) => row.action).toReversed(),
    rejectedCommits: rejected.map((row) => row.commitId),
    edges: { INTENDED_WRITE: await edgesOf('INTENDED_WRITE'), ACTUAL_WRITE: await edgesOf('ACTUAL_WRITE') },
  }
}
