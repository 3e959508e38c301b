/**
 * Saves, lists and loads policies (docs/reference/policies.md 4): graph nodes with edges to the tables, namespaces and
 * tags that they govern.
 */

import { Fault } from '../../base/fault.ts'
import { type Actor, operator } from '../../core/administration.ts'
import {
  type DerivedPolicy,
  derivedPolicyPrefix,
  type NamespaceScope,
  type Policy,
  type PolicyKind,
  type PolicyMode,
  type PolicyScope,
  policyKinds,
  policyModes,
  type TagScope,
} from '../../core/policy.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type TerritoryFound, territoryPolicy } from '../../core/territory-owner.ts'
import { limits } from '../../limits.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { nodeId, storableJson } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { sqlState, toStoreFault } from '../database/store-fault.ts'
import { pinOf } from '../governance/pin-event.ts'
import type { Properties } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { readTerritory } from '../territory/territory-rows.ts'
import { compareScopes, edgeScope, namedScope, namespaceIds, scopeNode } from './policy-scope.ts'
import { type WriteGrant, withExemptions } from './write-grants.ts'

/** Label and edge by kind. */
export const policyShapes = {
  schema: { label: 'Policy', edge: 'SCHEMA_GOVERNS' },
  write_acl: { label: 'Policy', edge: 'WRITE_GOVERNS' },
  retention: { label: 'RetentionPolicy', edge: 'RETAINS' },
} as const satisfies Record<PolicyKind, { label: string; edge: string }>

const key = (alias: string) => `agtype_access_operator(variadic array[${alias}.properties, '"id"'::agtype])`
const agtypeText = (param: string) => `to_jsonb(${param}::text)::text::agtype`

interface PolicyRow {
  readonly edge: string
  readonly properties: string
  /** The edge's properties, for a namespace or tag. */
  readonly bound: string | null
}

export interface StoredPolicy {
  readonly id: string
  readonly kind: PolicyKind
  readonly mode: PolicyMode
  readonly name: string
  readonly message: string
  readonly definition_cel: string
  readonly enforce_from_ms?: number
  readonly derived?: StoredDerived
}

type StoredDerived = Omit<DerivedPolicy, 'covering'> & {
  readonly covering: readonly (Omit<DerivedPolicy['covering'][number], 'policies'> & {
    readonly policies: readonly StoredPolicy[]
  })[]
}

/** A policy as its node holds it. */
export function storedPolicy({ definitionCel, enforceFromMs, derived, ...same }: Policy): StoredPolicy {
  const covering = derived?.covering.map((one) => ({ ...one, policies: one.policies.map(storedPolicy) }))
  return {
    ...same,
    definition_cel: definitionCel,
    ...(enforceFromMs !== undefined && { enforce_from_ms: enforceFromMs }),
    ...(derived !== undefined && { derived: { ...derived, covering: covering ?? [] } }),
  }
}

/** The policy of a node's properties. @throws Fault `policy_engine_unavailable` for a malformed one */
export function toPolicy(stored: StoredPolicy): Policy {
  const { id, kind, mode, name, message, definition_cel, enforce_from_ms: enforceFromMs, derived } = stored
  if (!policyKinds.includes(kind) || !policyModes.includes(mode) || typeof definition_cel !== 'string')
    throw new Fault('policy_engine_unavailable', 'policy-engine-unavailable', {
      detail: `policy ${id} is malformed`,
    })
  const covering = derived?.covering.map((one) => ({ ...one, policies: one.policies.map(toPolicy) }))
  return {
    ...{ id, kind, mode, name, message, definitionCel: definition_cel },
    ...(enforceFromMs !== undefined && { enforceFromMs }),
    ...(derived !== undefined && { derived: { ...derived, covering: covering ?? [] } }),
  }
}

/** @throws Fault `conflict` for a policy that follows from a contract */
export function assertNotDerived(id: string): void {
  if (id.startsWith(derivedPolicyPrefix))
    throw new Fault(
      'conflict',
      'This policy follows from a contract and is not changed by itself. Propose a version of the contract.',
    )
}

function checkPolicy(policy: Policy): void {
  assertNotDerived(policy.id)
  if (!/^[A-Za-z0-9_-]{1,255}$/.test(policy.id))
    throw new Fault('bad_request', 'A policy id must be 1 to 255 letters, digits, _ and -.')
  if (!policyKinds.includes(policy.kind) || !policyModes.includes(policy.mode))
    throw new Fault('bad_request', 'The policy kind or mode is not supported.')
  if (policy.id === territoryPolicy || policy.name === territoryPolicy)
    throw new Fault('bad_request', `The policy name ${territoryPolicy} is reserved: choose another.`)
  if (policy.name === '' || policy.name.length > 255)
    throw new Fault('bad_request', 'A policy needs a name of 1 to 255 characters.')
  for (const text of [policy.definitionCel, policy.message])
    if (Buffer.byteLength(text) > limits.policyTextBytesMax)
      throw new Fault(
        'bad_request',
        `A policy's expression and message may each have at most ${limits.policyTextBytesMax} bytes.`,
      )
}

/**
 * Saves a policy and adds a table, namespace or tag to what it governs. The caller has checked that its expression
 * compiles.
 * @param by who does; the operator where the caller has the store at hand
 * @throws Fault `bad_request` for a malformed policy, `conflict` where a policy of another kind has its id
 */
export async function putPolicy(
  store: Store,
  tenant: TenantId,
  scope: PolicyScope,
  policy: Policy,
  by: Actor = operator(),
): Promise<void> {
  checkPolicy(policy)
  const { id, kind, mode, name, message, definitionCel } = policy
  const value = { kind, mode, name, message, definition_cel: definitionCel }
  try {
    await store.tenantTransaction(tenant, async (tx) => {
      await tx.query('select svc.put_policy($1, $2, $3::text::jsonb, $4::text::jsonb, $5::text::jsonb)', [
        policyShapes[policy.kind].label,
        policyShapes[policy.kind].edge,
        storableJson({ id, ...value }),
        storableJson(scopeNode(scope)),
        storableJson(by),
      ])
      const subject = { policy: id, ...namedScope(scope) }
      await recordAdministration(tx, by, { action: 'put-policy', subject, value })
    })
  } catch (error) {
    const fault = toStoreFault(error)
    if (sqlState(fault.cause) !== '23505') throw fault
    throw new Fault('conflict', 'A policy of another kind already has this id.', { cause: fault })
  }
}

/** Removes a policy from all that it governs. @returns whether there was one */
export async function deletePolicy(
  store: Store,
  tenant: TenantId,
  id: string,
  by: Actor = operator(),
): Promise<boolean> {
  if (id === '') return false
  assertNotDerived(id)
  return await store.tenantTransaction(tenant, async (tx) => {
    const [row] = await tx.query<{ deleted: boolean }>(
      'select svc.delete_policy($1, $2::text::jsonb) as deleted',
      [id, storableJson(by)],
    )
    if (row?.deleted !== true) return false
    await recordAdministration(tx, by, { action: 'delete-policy', subject: { policy: id } })
    return true
  })
}

/** The tenant's policies, by id. */
export async function listPolicies(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<Policy>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Pick<PolicyRow, 'properties'>>(
    tenant,
    `select p.properties
     from (select properties from "Policy" union all select properties from "RetentionPolicy") p
     where ${key('p')} > ${agtypeText('$1')} order by ${key('p')} limit $2::int`,
    [page.after ?? '', limit + 1],
  )
  return toPage(
    rows.map(({ properties }) => toPolicy(JSON.parse(properties))),
    limit,
    ({ id }) => id,
  )
}

const policyEdges: readonly string[] = Object.values(policyShapes).map(({ edge }) => edge)

/** What governs writing a table. */
export interface WriteGovernance {
  /** In id order. */
  readonly policies: readonly Policy[]
  /** The snapshot that readers are pinned to; undefined where there is none. */
  readonly pinnedSnapshotId: bigint | undefined
  /** The table's territory, and what is at or above the prefixes that were asked for. */
  readonly territory: TerritoryFound
}

/**
 * The policies that govern a table, its pin and its territory, in one round trip.
 * @param ancestors prefixes whose owners are asked for too
 * @throws Fault `policy_engine_unavailable` for any failure, and where the tenant's sentinel is missing, because
 * rows that cannot be seen must not look like rows that do not exist
 */
export async function loadWriteGovernance(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  ancestors: readonly string[] = [],
): Promise<WriteGovernance> {
  const asked = [
    nodeId(tableKey(table)),
    storableJson(ancestors),
    storableJson(namespaceIds(table.namespace)),
  ]
  try {
    const [row] = await store.tenantCall<GovernanceRow>(tenant, 'load_policies', asked)
    return readWriteGovernance(row)
  } catch (error) {
    throw notLoaded(error)
  }
}

/** A row of svc.load_policies and svc.begin_commit. */
export interface GovernanceRow {
  /**
   * JSON array of [an edge's label, the properties of the node that it comes from], with the edge's properties where it
   * leads to a namespace or a tag, and of ["GRANT", a grant that exempts from policies]; else null.
   */
  readonly governance: string | null
  /** What svc.territory_at returns. */
  readonly territory: string | null
}

/**
 * Parses such a row.
 * @throws Fault `policy_engine_unavailable` as {@link loadWriteGovernance} does
 */
export function readWriteGovernance(row: GovernanceRow | undefined): WriteGovernance {
  try {
    return { ...readGoverning(row?.governance), territory: readTerritory(row?.territory) }
  } catch (error) {
    throw notLoaded(error)
  }
}

/**
 * Parses what svc.write_governance returns.
 * @throws Error without a row of every sentinel, so that a table without policies is none whose policies are missing
 */
export function readGoverning(governance: string | null | undefined): Omit<WriteGovernance, 'territory'> {
  const rows = JSON.parse(governance ?? '[]') as readonly (readonly [string, Properties, Properties?])[]
  const found = withoutSentinels(
    rows.map(([edge, properties, bound]) => ({ edge, properties, scope: bound && edgeScope(bound) })),
    [...policyEdges, 'PINS', 'namespace', 'tag'],
  )
  const pin = pinOf(found.find(({ edge }) => edge === 'PINS')?.properties)
  const grants = found.flatMap(({ edge, properties }) =>
    edge === 'GRANT' ? [properties as unknown as WriteGrant] : [],
  )
  return { policies: policiesOf(found).map(withExemptions(grants)), pinnedSnapshotId: pin?.snapshotId }
}

/**
 * The policies that govern a namespace: those of the namespace and of namespaces above and below it, and those of any
 * table below it. Each once, in id order.
 * @throws Fault as {@link loadWriteGovernance} does
 */
export async function loadPoliciesBelow(
  store: Store,
  tenant: TenantId,
  namespace: readonly string[],
): Promise<readonly Policy[]> {
  try {
    const rows = await store.tenantQuery<PolicyRow>(
      tenant,
      `with ${governedBelow(namespace)} ${Object.values(policyShapes)
        .map(
          ({ label, edge }) =>
            `select '${edge}' as edge, p.properties, case when n.end_id is not null then e.properties end as bound
             from "${edge}" e join "${label}" p on p.id = e.start_id left join n on n.end_id = e.end_id
             where n.end_id is not null or e.end_id in (select id from t)`,
        )
        .join(' union all ')}`,
      [JSON.stringify(namespaceIds(namespace)), ...namespace],
    )
    const found = rows.map(({ edge, properties, bound }) => ({
      edge,
      properties: JSON.parse(properties) as Properties,
      scope: bound === null ? undefined : edgeScope(JSON.parse(bound)),
    }))
    return policiesOf(withoutSentinels(found, [...policyEdges, 'namespace', 'tag']))
  } catch (error) {
    throw notLoaded(error)
  }
}

/**
 * The ends of edges that govern a namespace: `t` are tables below it, `n` namespaces and tags. A change of a namespace is
 * rare, so this reads the tables and the edges of policies whole.
 */
function governedBelow(namespace: readonly string[]): string {
  // Also under another spelling of a name in lower case, in a tenant with a catalog that folds names.
  const isLevel = (held: string, given: string) =>
    `(${held} = ${given} or (lower(${held}) = ${given} and (select svc.folds_names())))`
  const within = (properties: string) =>
    namespace.length === 0
      ? 'true'
      : namespace
          .map((_, index) =>
            isLevel(`${properties}::text::jsonb #>> '{namespace,${index}}'`, `$${index + 2}`),
          )
          .join(' and ')
  const bound = policyEdges.map((edge) => `select end_id, properties from "${edge}"`).join(' union all ')
  return `t as materialized (
      select t.id, t.properties from "Table" t where ${key('t')} = '""'::agtype or (${within('t.properties')})),
    bound as materialized (${bound}),
    c as materialized (
      select t.id from t
      union all select h.end_id from "HAS_COLUMN" h where h.start_id in (select id from t)
      union all select d.id from "Column" d join t
        on agtype_access_operator(variadic array[d.properties, '"table_id"'::agtype]) = ${key('t')}),
    n as materialized (
      select n.id as end_id from "Namespace" n
        where ${key('n')} in (select to_jsonb(x)::text::agtype from jsonb_array_elements_text($1::text::jsonb) x
          union all select (s -> 'spelling')::text::agtype from jsonb_array_elements(
            svc.spellings(array(select jsonb_array_elements_text($1::text::jsonb)))) s)
      union select b.end_id from bound b
        where jsonb_typeof(b.properties::text::jsonb -> 'namespace') = 'array' and (${within('b.properties')})
      union select e.end_id from "TAGGED" e where e.start_id in (select id from c))`
}

interface Loaded {
  readonly edge: string
  readonly properties: Properties
  readonly scope: NamespaceScope | TagScope | undefined
}

/**
 * @param wanted edges by each of which the sentinel must be found on its table, and other scopes on which it must be
 * @throws Fault `policy_engine_unavailable` where one of them is missing
 */
function withoutSentinels(found: readonly Loaded[], wanted: readonly string[]): readonly Loaded[] {
  const isSentinel = ({ properties }: Loaded) => properties.sentinel === true
  const place = ({ edge, scope }: Loaded) =>
    scope === undefined ? edge : 'tag' in scope ? 'tag' : 'namespace'
  const seen = new Set(found.filter(isSentinel).map(place))
  if (!wanted.every((one) => seen.has(one)))
    throw new Fault('policy_engine_unavailable', 'policy-engine-unavailable', {
      detail: 'no tenant sentinel',
    })
  return found.filter((one) => !isSentinel(one))
}

/** @throws Fault `policy_engine_unavailable` for a malformed policy */
function policiesOf(found: readonly Loaded[]): readonly Policy[] {
  return distinctPolicies(
    found
      .filter(({ edge }) => policyEdges.includes(edge))
      .map(({ properties, scope }) => [toPolicy(properties as unknown as StoredPolicy), scope]),
  )
}

/** Each policy once, with the nearest scope through which it governs, in id order. */
export function distinctPolicies(
  found: readonly (readonly [Policy, NamespaceScope | TagScope | undefined])[],
): readonly Policy[] {
  const policies = new Map<string, Policy>()
  for (const [policy, scope] of found.toSorted(([, a], [, b]) => compareScopes(a, b)))
    if (!policies.has(policy.id)) policies.set(policy.id, { ...policy, ...(scope && { scope }) })
  return [...policies.values()].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

/** What a caller gets where policies could not be loaded or parsed: Fault `policy_engine_unavailable`, with its cause. */
export function notLoaded(error: unknown): Fault {
  if (error instanceof Fault && error.kind === 'policy_engine_unavailable') return error
  return new Fault('policy_engine_unavailable', 'policy-engine-unavailable', { cause: error })
}
