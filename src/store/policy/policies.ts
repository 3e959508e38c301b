/** Saves, lists and loads policies (docs/reference/policies.md 4): graph nodes with edges to the tables they govern. */

import { Fault } from '../../base/fault.ts'
import { type Actor, operator } from '../../core/administration.ts'
import { type Policy, type PolicyKind, type PolicyMode, policyKinds, policyModes } from '../../core/policy.ts'
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

const shapes = {
  schema: { label: 'Policy', edge: 'SCHEMA_GOVERNS' },
  write_acl: { label: 'Policy', edge: 'WRITE_GOVERNS' },
  retention: { label: 'RetentionPolicy', edge: 'RETAINS' },
} as const satisfies Record<PolicyKind, { label: string; edge: string }>

const key = (alias: string) => `agtype_access_operator(variadic array[${alias}.properties, '"id"'::agtype])`
const agtypeText = (param: string) => `to_jsonb(${param}::text)::text::agtype`

interface PolicyRow {
  readonly edge: string
  readonly properties: string
}

interface StoredPolicy {
  readonly id: string
  readonly kind: PolicyKind
  readonly mode: PolicyMode
  readonly name: string
  readonly message: string
  readonly definition_cel: string
}

function toPolicy({ id, kind, mode, name, message, definition_cel }: StoredPolicy): Policy {
  if (!policyKinds.includes(kind) || !policyModes.includes(mode) || typeof definition_cel !== 'string')
    throw new Fault('policy_engine_unavailable', 'policy-engine-unavailable', {
      detail: `policy ${id} is malformed`,
    })
  return { id, kind, mode, name, message, definitionCel: definition_cel }
}

function checkPolicy(policy: Policy): void {
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
 * Saves a policy and adds `table` to the tables that it governs. The caller has checked that its expression compiles.
 * @param by who does; the operator where the caller has the store at hand
 * @throws Fault `bad_request` for a malformed policy, `conflict` where a policy of another kind has its id
 */
export async function putPolicy(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  policy: Policy,
  by: Actor = operator(),
): Promise<void> {
  checkPolicy(policy)
  const { id, kind, mode, name, message, definitionCel } = policy
  const value = { kind, mode, name, message, definition_cel: definitionCel }
  try {
    await store.tenantTransaction(tenant, async (tx) => {
      await tx.query('select svc.put_policy($1, $2, $3::text::jsonb, $4, $5::text::jsonb)', [
        shapes[policy.kind].label,
        shapes[policy.kind].edge,
        storableJson({ id, ...value }),
        nodeId(tableKey(table)),
        storableJson({ namespace: table.namespace, name: table.name }),
      ])
      await recordAdministration(tx, by, { action: 'put-policy', subject: { policy: id, table }, value })
    })
  } catch (error) {
    const fault = toStoreFault(error)
    if (sqlState(fault.cause) !== '23505') throw fault
    throw new Fault('conflict', 'A policy of another kind already has this id.', { cause: fault })
  }
}

/** Removes a policy from every table that it governs. @returns whether there was one */
export async function deletePolicy(
  store: Store,
  tenant: TenantId,
  id: string,
  by: Actor = operator(),
): Promise<boolean> {
  if (id === '') return false
  return await store.tenantTransaction(tenant, async (tx) => {
    const [row] = await tx.query<{ deleted: boolean }>('select svc.delete_policy($1) as deleted', [id])
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
  const rows = await store.tenantQuery<PolicyRow>(
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

const policyEdges: readonly string[] = Object.values(shapes).map(({ edge }) => edge)

/** The query of one edge label. It finds the sentinel by the same path as the policies. */
const branch = (label: string, edge: string, fits: string) =>
  `select '${edge}' as edge, p.properties
   from "Table" t join "${edge}" e on e.end_id = t.id join "${label}" p on p.id = e.start_id
   where ${fits}`

const loadText = (fits: string) =>
  Object.values(shapes)
    .map(({ label, edge }) => branch(label, edge, fits))
    .join(' union all ')

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
  const asked = [nodeId(tableKey(table)), storableJson(ancestors)]
  try {
    const [row] = await store.tenantCall<GovernanceRow>(tenant, 'load_policies', asked)
    return readWriteGovernance(row)
  } catch (error) {
    throw notLoaded(error)
  }
}

/** A row of svc.load_policies and svc.begin_commit. */
export interface GovernanceRow {
  /** JSON array of pairs: an edge's label, and the properties of the node that it comes from; else null. */
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
    const pairs = JSON.parse(row?.governance ?? '[]') as readonly (readonly [string, Properties])[]
    const found = withoutSentinels(
      pairs.map(([edge, properties]) => ({ edge, properties })),
      [...policyEdges, 'PINS'],
    )
    const pin = pinOf(found.find(({ edge }) => edge === 'PINS')?.properties)
    const territory = readTerritory(row?.territory)
    return { policies: policiesOf(found), pinnedSnapshotId: pin?.snapshotId, territory }
  } catch (error) {
    throw notLoaded(error)
  }
}

/**
 * The policies that govern any table in a namespace or below it, each once, in id order.
 * @throws Fault as {@link loadWriteGovernance} does
 */
export async function loadPoliciesBelow(
  store: Store,
  tenant: TenantId,
  namespace: readonly string[],
): Promise<readonly Policy[]> {
  const levels = namespace.map((_, i) => `t.properties::text::jsonb #>> '{namespace,${i}}' = $${i + 1}`)
  const text = loadText(`${key('t')} = '""'::agtype or (${levels.join(' and ')})`)
  return policiesOf(await loaded(() => store.tenantQuery(tenant, text, namespace), policyEdges))
}

interface Loaded {
  readonly edge: string
  readonly properties: Properties
}

/** @param edges labels by each of which the sentinel must be found */
async function loaded(
  load: () => Promise<readonly PolicyRow[]>,
  edges: readonly string[],
): Promise<readonly Loaded[]> {
  try {
    const rows = await load()
    const found = rows.map(({ edge, properties }) => ({
      edge,
      properties: JSON.parse(properties) as Properties,
    }))
    return withoutSentinels(found, edges)
  } catch (error) {
    throw notLoaded(error)
  }
}

/** @throws Fault `policy_engine_unavailable` where the sentinel of one of the edges is missing */
function withoutSentinels(found: readonly Loaded[], edges: readonly string[]): readonly Loaded[] {
  const isSentinel = ({ properties }: Loaded) => properties.sentinel === true
  const seen = new Set(found.filter(isSentinel).map(({ edge }) => edge))
  if (!edges.every((edge) => seen.has(edge)))
    throw new Fault('policy_engine_unavailable', 'policy-engine-unavailable', {
      detail: 'no tenant sentinel',
    })
  return found.filter((one) => !isSentinel(one))
}

/** @throws Fault `policy_engine_unavailable` for a malformed policy */
function policiesOf(found: readonly Loaded[]): readonly Policy[] {
  const policies = new Map(
    found.flatMap(({ edge, properties }) => {
      if (edge === 'PINS') return []
      const policy = toPolicy(properties as unknown as StoredPolicy)
      return [[policy.id, policy] as const]
    }),
  )
  return [...policies.values()].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

function notLoaded(error: unknown): Fault {
  if (error instanceof Fault && error.kind === 'policy_engine_unavailable') return error
  return new Fault('policy_engine_unavailable', 'policy-engine-unavailable', { cause: error })
}

/**
 * The policies that governed a table when an intent on it was opened. They decided a commit whose process died.
 * @param commitId commit id of an intent that is still open
 */
export async function policiesAtIntent(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  commitId: string,
): Promise<readonly Policy[]> {
  const rows = await store.tenantQuery<{ policy: StoredPolicy }>(
    tenant,
    `with past as (
       select h.* from svc.policy_history h
       join svc.commit_intent i on i.tenant_id = h.tenant_id and i.commit_id = $2
       where h.tenant_id = $1 and h.at <= i.opened_at),
     removed as (select policy_id, max(history_seq) as seq from past where table_id is null group by policy_id),
     attached as (
       select distinct policy_id from past
       where table_id = $3 and history_seq > coalesce((select seq from removed r where r.policy_id = past.policy_id), 0))
     select distinct on (policy_id) policy from past
     where policy_id in (select policy_id from attached) and table_id is not null
     order by policy_id, history_seq desc`,
    [tenant, commitId, nodeId(tableKey(table))],
  )
  return rows.map((row) => toPolicy(row.policy))
}
