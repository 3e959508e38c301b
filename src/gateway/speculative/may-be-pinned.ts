/** Guesses whether a commit can be pinned, so that its table need not be loaded meanwhile. A wrong guess costs time alone. */

import { allReads } from '../../policy/reads.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import { readsOfCommit } from '../stages/judge-pinned.ts'
import type { TableCommit } from '../stages/open-commit.ts'
import { pinsOf } from '../stages/pins.ts'

/** Whether the commit can be pinned to a known table by the policies that the table had last, where that is known. */
export async function mayBePinned(
  parts: GatewayParts,
  { catalog }: Upstream,
  commit: TableCommit,
  { metadata }: CachedTable,
): Promise<boolean> {
  if (!catalog.checksRequirements) return false
  const assumed = parts.speculative.governance(commit.tenant, commit.table)
  const reads = assumed ? await readsOfCommit(parts, commit, assumed.governance.policies) : allReads([])
  return reads !== undefined && pinsOf(reads, metadata, commit.request) !== undefined
}
