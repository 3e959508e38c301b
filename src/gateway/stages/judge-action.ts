/**
 * Judges a change of a catalog that is not a commit (docs/reference/gateway.md 4). Each name that the action affects is
 * judged by its own policies, which see a commit with one update that carries the action's name.
 */

import { Fault } from '../../base/fault.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { PolicyOutcome, Verdict } from '../../core/decision.ts'
import { inEffect, type Policy, type PolicyKind, policyTitle } from '../../core/policy.ts'
import { type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import { isOwn } from '../../core/territory-owner.ts'
import { loadPoliciesBelow, loadWriteGovernance, type WriteGovernance } from '../../store/policy/policies.ts'
import { locationsOfCreation, type NamedLocation } from '../../wire/iceberg/named-locations.ts'
import { commitView } from '../../wire/iceberg/policy-view.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import {
  factsOfAction,
  isJudgedOnTable,
  type SeenAction,
  type Subject,
  subjectsOf,
} from './action-subjects.ts'
import type { Change, Judged } from './change.ts'
import { loadCurrent, unlessAbsent } from './load-current.ts'
import { type Outcome, outcomeOf } from './loads.ts'
import { knownFacts } from './manifest-facts.ts'
import { isAnythingMasked, staysMasked } from './masked.ts'
import { pinnedDenial } from './pinned.ts'
import {
  askedPrefixes,
  assertKnownName,
  judgeTerritory,
  type TerritoryJudged,
  taking,
  territoryDenial,
} from './territory.ts'
import {
  allowed,
  allowedUnevaluated,
  isInForce,
  judgePolicies,
  notEvaluated,
  policiesUnavailable,
  principalBinding,
  withGrant,
} from './verdicts.ts'

/** `request` is what policies see: its one update has the action's name and the members of the client's request. */
export interface ActionChange extends Change, SeenAction {
  readonly commitId: string
  /** A staged creation changes nothing upstream; the commit that follows it is judged and audited. */
  readonly staged: boolean
}

/**
 * Judges one action. If it affects several names, the first that is not allowed decides.
 * @throws CatalogError ErrTableNotFound if the action needs a table that does not exist; Fault of a load,
 *   or `bad_request` for a table that cannot be created
 */
export async function judgeAction(
  parts: GatewayParts,
  upstream: Upstream,
  change: ActionChange,
): Promise<Judged> {
  const { tenant, table, destination, stages } = change
  const named = locationsOf(change)
  const loads = [table, ...(destination === undefined ? [] : [destination])].map((name) =>
    outcomeOf<ActionGovernance>(
      stages.time('policies', () =>
        name.name === ''
          ? loadPoliciesBelow(parts.store, tenant, name.namespace).then(unpinned)
          : loadWriteGovernance(parts.store, tenant, name, askedPrefixes(named)),
      ),
    ),
  )
  const base = await stages.time('load', () => loadBase(parts, upstream, change))
  const loaded = new Map<string, readonly Policy[]>()
  for (const [index, load] of loads.entries()) {
    const name = index === 0 || destination === undefined ? table : destination
    const one = await load
    if (!one.ok)
      return { base, table: name, policies: [], verdict: policiesUnavailable(parts, name, one.thrown) }
    loaded.set(tableKey(name), inEffect(one.value.policies, change.receivedAtMs))
    const pinned = index === 0 ? one.value.pinnedSnapshotId : undefined
    if (pinned !== undefined && losesPin(change))
      return { base, table: name, policies: [], verdict: pinnedDenial(name, pinned) }
  }
  const policiesOf = (name: TableRef) => loaded.get(tableKey(name)) ?? []
  const territory = await actionTerritory(parts, upstream, change, base, named, await loads[0])
  if (territory.verdict !== undefined) return { base, table, policies: [], verdict: territory.verdict }

  const applied: Policy[] = []
  const outcomes: PolicyOutcome[] = []
  let subjects: readonly Subject[]
  try {
    // An ungoverned change is left to the upstream, even if the gateway cannot apply it.
    subjects = [...loaded.values()].every((policies) => policies.length === 0) ? [] : subjectsOf(change, base)
  } catch (thrown) {
    const policies = [...loaded.values()].flat()
    const decides = policies.some(isInForce)
    if (decides && thrown instanceof Fault && thrown.kind === 'bad_request') throw thrown
    if (decides) return { base, table, policies: [], verdict: notEvaluated(parts, table, thrown) }
    applied.push(...policies)
    outcomes.push(...allowedUnevaluated(parts, policies, table, thrown).outcomes)
    subjects = []
  }
  for (const subject of subjects) {
    const policies = policiesOf(subject.name)
    const applicable = policies.filter(({ kind }) => subject.kinds.includes(kind))
    const bindings = {
      table: subject.table,
      commit: commitView(subject.request, subject.result, change.receivedAtMs, change.origin),
      principal: principalBinding(change.identified.principal),
    }
    const judged = await stages.time('evaluate', () =>
      judgePolicies(
        parts,
        applicable,
        { tenant: change.tenant, table: subject.name },
        bindings,
        knownFacts(factsOfAction(change.action)),
      ),
    )
    const granted = subject.needsGrant ? withGrant(judged, policies, change.action, subject.name) : judged
    const verdict = subject.unevaluatedKind
      ? denyUnevaluated(granted, policies, subject.unevaluatedKind)
      : granted
    if (verdict.kind !== 'allow') return { base, table: subject.name, policies: applicable, verdict }
    applied.push(...applicable)
    outcomes.push(...verdict.outcomes)
  }
  const denied =
    (destination && (await denyLessGoverned(parts, change, policiesOf(table), policiesOf(destination)))) ??
    (await denyUngrantedRegistration(parts, change, policiesOf(table)))
  return {
    base,
    table,
    policies: applied,
    verdict: denied ?? (await taking({ ...allowed, outcomes }, territory)),
  }
}

/** The locations that a creation or registration names. The file to register is one of a folder that becomes the table's. */
function locationsOf({ action, request }: ActionChange): readonly NamedLocation[] {
  const update = request.updates[0] ?? new Map()
  if (action === 'create-table') return locationsOfCreation(update)
  const file = update.get('metadata-location')
  if (action !== 'register-table' || typeof file !== 'string') return []
  return [{ use: 'metadata-file', text: file }]
}

async function actionTerritory(
  parts: GatewayParts,
  upstream: Upstream,
  action: ActionChange,
  base: CachedTable | undefined,
  named: readonly NamedLocation[],
  loaded: Outcome<ActionGovernance> | undefined,
): Promise<Omit<TerritoryJudged, 'prefixes'>> {
  const { tenant, table, commitId, staged, purge, identified, signal } = action
  const found = loaded?.ok ? loaded.value.territory : undefined
  if (base !== undefined && found !== undefined)
    await assertKnownName(parts, upstream, action, base.metadata, found)
  const source =
    purge && found?.rows.find((row) => row.kind === 'derived' && isOwn(row, ownerOf(upstream, table)))
  if (source)
    return {
      verdict: territoryDenial(
        `a purge of ${tableName(table)} would delete files of another table; drop it without purge`,
        `${tableName(table)} shares ${source.prefix}`,
      ),
    }
  if (named.length === 0 || found === undefined) return {}
  // A staged creation has no intent, and its client may write files before it commits.
  const change = { tenant, table, commitId: staged ? undefined : commitId, identified, named, signal }
  return await judgeTerritory(parts, upstream, change, undefined, found)
}

const ownerOf = ({ credential }: Upstream, table: TableRef) => ({
  catalog: catalogOf(credential),
  table,
  tableUuid: undefined,
})

/** A namespace has neither a pin nor a territory. */
type ActionGovernance = Omit<WriteGovernance, 'territory'> & Partial<WriteGovernance>

const unpinned = (policies: readonly Policy[]): ActionGovernance => ({
  policies,
  pinnedSnapshotId: undefined,
})

/** Whether a pin is lost: a purge deletes its snapshot, an overwriting registration may, a rename leaves it behind. */
function losesPin({ action, purge, request }: ActionChange): boolean {
  if (action === 'register-table') return request.updates[0]?.get('overwrite') === true
  return action === 'rename-table' || (action === 'drop-table' && purge)
}

async function loadBase(
  parts: GatewayParts,
  upstream: Upstream,
  { action, tenant, table, signal }: ActionChange,
): Promise<CachedTable | undefined> {
  if (!isJudgedOnTable(action)) return undefined
  const isAbsentFine = action === 'register-table'
  return await unlessAbsent(loadCurrent(parts, tenant, upstream, table, signal), isAbsentFine)
}

function denyUnevaluated(verdict: Verdict, policies: readonly Policy[], kind: PolicyKind): Verdict {
  const unevaluated = policies.find((policy) => policy.kind === kind && isInForce(policy))
  if (verdict.kind !== 'allow' || unevaluated === undefined) return verdict
  const reason = `${policyTitle(unevaluated)}: the metadata file to register cannot be evaluated beforehand`
  return { kind: 'deny', reason, policyId: unevaluated.id, outcomes: verdict.outcomes }
}

/** Denies a rename to a name with fewer policies, filters or masks than the old name. */
async function denyLessGoverned(
  parts: GatewayParts,
  { tenant, table, destination }: ActionChange,
  from: readonly Policy[],
  to: readonly Policy[],
): Promise<Verdict | undefined> {
  if (destination === undefined) return undefined
  const kept = new Set(to.filter(isInForce).map(({ id }) => id))
  const lost = from.find((policy) => isInForce(policy) && !kept.has(policy.id))
  if (lost !== undefined)
    return {
      kind: 'deny',
      reason: `${tableName(destination)} is governed less than ${tableName(table)}: policy ${policyTitle(lost)} does not apply there`,
      policyId: lost.id,
      outcomes: [],
    }
  // Checked for every principal, because one whom a mask exempts could otherwise remove it for all others.
  if (await staysMasked(parts, tenant, table, destination)) return undefined
  const reason = `${tableName(destination)} is governed less than ${tableName(table)}: its filters and masks do not apply there`
  return { kind: 'deny', reason, policyId: '', outcomes: [] }
}

/**
 * Denies a registration that no write policy allows, if the tenant has filters or masks. These apply to a name, and
 * the registered file may reveal under this name what they hide under another.
 */
async function denyUngrantedRegistration(
  parts: GatewayParts,
  { action, tenant, table }: ActionChange,
  policies: readonly Policy[],
): Promise<Verdict | undefined> {
  if (action !== 'register-table') return undefined
  if (policies.some((policy) => policy.kind === 'write_acl' && isInForce(policy))) return undefined
  if (!(await isAnythingMasked(parts, tenant))) return undefined
  const reason = `no write policy of ${tableName(table)} allows register-table, which could bypass filters and masks of another name`
  return { kind: 'deny', reason, policyId: '', outcomes: [] }
}
