/** Compares a document with the version of its contract that is in force, and stores nothing. */

import type { TenantId } from '../../core/tenant.ts'
import { earlierModels, type RunQuery } from '../../store/contract/versions.ts'
import type { Store } from '../../store/store.ts'
import type { ContractModel } from '../../wire/odcs/model.ts'
import { loadFieldIds } from '../classify/field-ids.ts'
import { type ChangeVerdict, judgeChange, parseVersion } from '../classify/judge-change.ts'
import { verdictView } from '../classify/verdict-view.ts'

/** What the document would change. */
export async function compareDocument(store: Store, tenant: TenantId, model: ContractModel) {
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  return verdictView(await judgeAgainstForce(run, tenant, model))
}

/** Judges a model against the versions that were in force since the last major one. */
export async function judgeAgainstForce(
  run: RunQuery,
  tenant: TenantId,
  model: ContractModel,
): Promise<ChangeVerdict> {
  const earlier = await earlierModels(run, tenant, model.id)
  const major = parseVersion(earlier[0]?.version ?? '')?.[0]
  const since = earlier.findIndex(({ version }) => parseVersion(version)?.[0] !== major)
  const compared =
    major === undefined ? earlier.slice(0, 1) : earlier.slice(0, since < 0 ? earlier.length : since)
  return judgeChange(compared, model, await loadFieldIds(run, model))
}
