/** The job that looks once at what each revoked session left in storage, when the last of its credentials has expired. */

import type { TenantId } from '../../core/tenant.ts'
import { eachTenant } from '../../store/tenant/tenants.ts'
import { dueStagedChecks, recordStagedCheck } from '../../store/vended/staged-checks.ts'
import { listStaged, type StagedParts } from '../../vending/staged-files.ts'

/** Sessions of a tenant in one run, and pages of one session. What is left is in the report for administrators. */
const sessionsMax = 10
const pagesMax = 10

/** Looks at every session that is due. A tenant whose catalog or storage fails is tried again by the next run. */
export async function checkStaged(parts: StagedParts, signal: AbortSignal): Promise<void> {
  for await (const tenant of eachTenant(parts.store, signal))
    for (const sessionId of await dueStagedChecks(parts.store, tenant, sessionsMax)) {
      signal.throwIfAborted()
      try {
        await checkSession(parts, tenant, sessionId)
      } catch (err) {
        signal.throwIfAborted()
        parts.log?.warn({ err, tenant, session: sessionId }, 'what a session left could not be looked at')
      }
    }
}

async function checkSession(parts: StagedParts, tenant: TenantId, sessionId: string): Promise<void> {
  const found = { files: 0, bytes: 0, problems: 0 }
  let after: string | undefined
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await listStaged(parts, tenant, { sessionId, limit: 1000, after })
    for (const { file, problem } of page.items) {
      if (file !== undefined) found.files++
      found.bytes += file?.bytes ?? 0
      if (problem !== undefined) found.problems++
    }
    after = page.next
    if (after === undefined) break
  }
  const { files, bytes, problems } = found
  const complete = after === undefined && problems === 0
  if (!(await recordStagedCheck(parts.store, tenant, { sessionId, files, bytes, complete }))) return
  if (files > 0 || !complete)
    parts.log?.warn(
      { tenant, session: sessionId, files, bytes, complete },
      'a revoked session may have left files that no snapshot names',
    )
}
