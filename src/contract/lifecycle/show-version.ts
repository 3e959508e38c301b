/** Shows versions of contracts, their sign-offs and moves in the form of the API. */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { pathPattern } from '../../http/operation-path.ts'
import { pageView } from '../../http/page-view.ts'
import { type RecordedMove, readLifeCycleSettings, signOffsOf } from '../../store/contract/life-cycle.ts'
import { readersOf } from '../../store/contract/readers.ts'
import {
  type ContractVersion,
  findVersion,
  pageOfVersions,
  type RunQuery,
} from '../../store/contract/versions.ts'
import type { PageRequest } from '../../store/database/page.ts'
import type { Store } from '../../store/store.ts'
import { commitRulesOf } from '../commit/commit-rules.ts'
import { documentWarnings } from '../document/document-warnings.ts'
import { idOf } from '../document/read.ts'
import type { ContractParts } from '../parts.ts'
import type { versionStates } from './state-machine.ts'
import { loadFacts, type VersionName, waitsFor } from './step.ts'

/** One version in short. */
export function versionView(one: ContractVersion) {
  const { contract: id, number, version, sha256, state, unverified, managedBy, createdBy, createdAt } = one
  return {
    ...{ id, number, version, sha256, unverified, author: createdBy.sub, created_at: createdAt },
    ...(managedBy !== undefined && { managed_by: managedBy }),
    state: state as (typeof versionStates)[number],
  }
}

/** One page of a contract's versions. @throws Fault `bad_request` for a bad page */
export async function listVersions(store: Store, tenant: TenantId, contract: string, page: PageRequest) {
  return pageView(await pageOfVersions(store, tenant, contract, page), versionView)
}

/** A version with what it waits for, and what is hardly meant in its document. @throws Fault `not_found` */
export async function showVersion(
  { store, clock, warnPolicy }: Pick<ContractParts, 'store' | 'clock' | 'warnPolicy'>,
  tenant: TenantId,
  name: VersionName,
) {
  const nowMs = clock.now()
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  const version = await findVersion(run, tenant, name)
  if (version === undefined) throw missing()
  const signOffs = await signOffsOf(run, tenant, version)
  const isRead = version.state === 'active' || version.state === 'deprecated'
  const { quietDays } = await readLifeCycleSettings(run, tenant)
  const since = new Date(nowMs - quietDays * 86_400_000)
  const readers = isRead ? await readersOf(run, tenant, version.contract, since) : undefined
  const { verdict, breakGlassUntil, evidence } = version
  const warnings = await documentWarnings({ store, tenant, warnPolicy }, version.model)
  return {
    ...versionView(version),
    ...(verdict !== undefined && { verdict }),
    ...(evidence !== undefined && { evidence }),
    ...(readers !== undefined && {
      read_by: readers.map(({ sub, queries, lastReadAt: last_read_at }) => ({ sub, queries, last_read_at })),
    }),
    waits_for: waitsFor(await loadFacts(run, tenant, version, nowMs)),
    ...(breakGlassUntil !== undefined && { break_glass_until: breakGlassUntil }),
    commits: await commitRulesOf(run, version.model, nowMs),
    ...(warnings.length > 0 && { warnings }),
    sign_offs: signOffs.map(({ level, sha256, by, at, comment }) => ({
      ...{ level, sha256, at, by: by.sub },
      ...(comment !== undefined && { comment }),
    })),
  }
}

/** The version that a request's path names. @throws Fault `not_found` */
export async function needVersion(
  run: RunQuery,
  tenant: TenantId,
  request: Request,
  path: string,
): Promise<ContractVersion> {
  const { number = '' } = pathPattern(path).exec(new URL(request.url).pathname)?.groups ?? {}
  if (!/^[1-9]\d{0,8}$/.test(number))
    throw new Fault('bad_request', '`number` must be a whole number from 1.')
  const found = await findVersion(run, tenant, { contract: idOf(request, path), number: Number(number) })
  if (found === undefined) throw missing()
  return found
}

const missing = () => new Fault('not_found', 'The contract has no such version.')

/** One move. */
export function moveView({ sequence: _, from, reason, by, ...same }: RecordedMove) {
  return {
    ...same,
    by: by.sub,
    actor: { ...by },
    ...(from !== undefined && { from }),
    ...(reason !== undefined && { reason }),
  }
}
