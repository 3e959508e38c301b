/**
 * Stores and finds the versions of contracts that came as a document. A version's document never changes; who may
 * change its state is the caller's to decide.
 */

import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { ContractModel } from '../../wire/odcs/model.ts'
import type { DocumentFormat } from '../../wire/odcs/read-document.ts'
import { given } from '../database/conditions.ts'
import { storableJson, storableText } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Param, Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

export interface NewVersion {
  readonly contract: string
  readonly format: DocumentFormat
  /** As received. */
  readonly body: Uint8Array
  /** Hex. */
  readonly sha256: string
  readonly model: ContractModel
  readonly state: string
  /** Whether it becomes active without checks. */
  readonly unverified: boolean
  /** Whether it goes through the life cycle. */
  readonly lifeCycle: boolean
  /** Who keeps the document outside the service, such as a repository. */
  readonly managedBy?: string | undefined
  readonly by: Actor
  /** The commit for which it is proposed. */
  readonly evidence?: CommitEvidence
}

/** A commit that a version in force refused, for which another version was proposed. */
interface CommitEvidence {
  readonly commit_id: string
  readonly committer: string
  readonly namespace: readonly string[]
  readonly table: string
  /** Through what the commit came, as far as it is known. */
  readonly session?: { readonly id: string; readonly name: string }
  readonly client?: string
  readonly application_id?: string
  readonly branch?: string
}

/** What was found of a proposal; its findings are shown, and nothing else is decided by them. */
export interface StoredVerdict {
  readonly breaking: boolean
  readonly loosens_access: boolean
  readonly step_needed: 'none' | 'patch' | 'minor' | 'major'
  readonly because?: string
  readonly findings: readonly StoredFinding[]
}

interface StoredFinding {
  readonly at: string
  readonly change: string
  readonly consumer: 'info' | 'warning' | 'breaking'
  readonly producer: 'info' | 'warning' | 'breaking'
  readonly access: 'none' | 'tightened' | 'loosened'
  readonly message: string
}

export interface ContractVersion {
  readonly contract: string
  /** Rises by one with each version of the contract. */
  readonly number: number
  /** What the document says of itself. */
  readonly version: string
  readonly apiVersion: string
  readonly format: DocumentFormat
  readonly sha256: string
  readonly model: ContractModel
  readonly state: string
  readonly unverified: boolean
  readonly lifeCycle: boolean
  /** What was found when it was proposed, as the API shows it. */
  readonly verdict: StoredVerdict | undefined
  /** Of the version in force that the proposal was compared with; 0: none was. */
  readonly baseNumber: number | undefined
  readonly breakGlassUntil: Date | undefined
  /** Who keeps the document outside the service; undefined where nobody said so. */
  readonly managedBy: string | undefined
  readonly evidence: CommitEvidence | undefined
  readonly createdAt: Date
  readonly createdBy: Actor
}

export type RunQuery = <Row extends object>(
  text: string,
  params?: readonly Param[],
) => Promise<readonly Row[]>

interface Row {
  readonly contract_id: string
  readonly number: number
  readonly version: string
  readonly api_version: string
  readonly format: DocumentFormat
  readonly sha256: string
  readonly model: ContractModel
  readonly state: string
  readonly unverified: boolean
  readonly life_cycle: boolean
  readonly verdict: StoredVerdict | null
  readonly base_number: number | null
  readonly break_glass_until: Date | null
  readonly managed_by: string | null
  readonly evidence: CommitEvidence | null
  readonly created_at: Date
  readonly created_by: Actor
}

const columns = `contract_id, number, version, api_version, format, encode(sha256, 'hex') as sha256, model, state,
  unverified, life_cycle, verdict, base_number, break_glass_until, managed_by, evidence, created_at, created_by`

/** Adds a version after the contract's last one. The caller holds the lock of contracts. @returns its number */
export async function addVersion(tx: Tx, tenant: TenantId, version: NewVersion): Promise<number> {
  const { contract, format, body, sha256, model, state, unverified, lifeCycle, by, evidence } = version
  const managedBy = version.managedBy ?? null
  const [row] = await tx.query<{ number: number }>(
    `insert into svc.contract_version (tenant_id, contract_id, number, version, api_version, format, body, sha256,
       model, state, unverified, life_cycle, created_by, managed_by, evidence)
     select $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5, $6, decode($7, 'hex'), $8::text::jsonb, $9, $10::bool,
       $11::bool, $12::text::jsonb, $13, $14::text::jsonb
     from svc.contract_version where tenant_id = $1 and contract_id = $2
     returning number`,
    [
      ...[tenant, contract, storableText(model.version), model.apiVersion, format, body, sha256],
      ...[storableJson(model), state, unverified, lifeCycle, storableJson(by), managedBy],
      evidence === undefined ? null : storableJson(evidence),
    ],
  )
  return row?.number ?? 0
}

/** The versions of a contract in one of these states, newest first. */
export async function versionsIn(
  run: RunQuery,
  tenant: TenantId,
  contract: string,
  states: readonly string[],
): Promise<readonly ContractVersion[]> {
  const rows = await run<Row>(
    `select ${columns} from svc.contract_version
     where tenant_id = $1 and contract_id = $2
       and state in (select jsonb_array_elements_text($3::text::jsonb)) order by number desc`,
    [tenant, storableText(contract), JSON.stringify(states)],
  )
  return rows.map(versionOf)
}

/** The versions of these contracts that are on their way or in force, and the newest of each; newest first. */
export async function versionsThatMatter(
  run: RunQuery,
  tenant: TenantId,
  contracts: readonly string[],
): Promise<readonly ContractVersion[]> {
  const rows = await run<Row>(
    `select ${columns} from svc.contract_version v
     where tenant_id = $1 and contract_id in (select jsonb_array_elements_text($2::text::jsonb))
       and (state not in ('retired', 'rejected', 'withdrawn', 'failed')
         or number = (select max(number) from svc.contract_version
           where tenant_id = v.tenant_id and contract_id = v.contract_id))
     order by contract_id, number desc`,
    [tenant, JSON.stringify(contracts.map(storableText))],
  )
  return rows.map(versionOf)
}

/** The version that is in force, also on notice (deprecated); undefined where there is none. */
export async function versionInForce(
  run: RunQuery,
  tenant: TenantId,
  contract: string,
): Promise<ContractVersion | undefined> {
  return (await versionsIn(run, tenant, contract, ['active', 'deprecated']))[0]
}

/** The versions in force of all contracts of a tenant. */
export async function versionsInForce(run: RunQuery, tenant: TenantId): Promise<readonly ContractVersion[]> {
  const rows = await run<Row>(
    `select ${columns} from svc.contract_version
     where tenant_id = $1 and state in ('active', 'deprecated') order by contract_id`,
    [tenant],
  )
  return rows.map(versionOf)
}

/** The versions of a tenant that are being deployed. */
export async function versionsDeploying(
  run: RunQuery,
  tenant: TenantId,
): Promise<readonly Pick<ContractVersion, 'contract' | 'number'>[]> {
  const rows = await run<Pick<Row, 'contract_id' | 'number'>>(
    "select contract_id, number from svc.contract_version where tenant_id = $1 and state = 'deploying'",
    [tenant],
  )
  return rows.map(({ contract_id: contract, number }) => ({ contract, number }))
}

/** As {@link versionInForce} for each of several contracts, in their order, in one statement. */
export async function versionInForceOfEach(
  run: RunQuery,
  tenant: TenantId,
  contracts: readonly string[],
): Promise<readonly (ContractVersion | undefined)[]> {
  const names = contracts.map(storableText)
  const rows = await run<Row>(
    `select ${columns} from svc.contract_version
     where tenant_id = $1 and contract_id in (select jsonb_array_elements_text($2::text::jsonb))
       and state in ('active', 'deprecated')`,
    [tenant, JSON.stringify(names)],
  )
  const found = new Map(rows.map((row) => [row.contract_id, versionOf(row)]))
  return names.map((contract) => found.get(contract))
}

/** A version; undefined where there is none of the number. */
export async function findVersion(
  run: RunQuery,
  tenant: TenantId,
  { contract, number }: Pick<ContractVersion, 'contract' | 'number'>,
): Promise<ContractVersion | undefined> {
  const [row] = await run<Row>(
    `select ${columns} from svc.contract_version where tenant_id = $1 and contract_id = $2 and number = $3::int`,
    [tenant, storableText(contract), number],
  )
  return row && versionOf(row)
}

/** The number of a contract's newest version; 0 where it has none. */
export async function newestNumber(run: RunQuery, tenant: TenantId, contract: string): Promise<number> {
  const [row] = await run<{ number: number }>(
    'select coalesce(max(number), 0) as number from svc.contract_version where tenant_id = $1 and contract_id = $2',
    [tenant, storableText(contract)],
  )
  return row?.number ?? 0
}

/** The versions of a contract, newest first. @throws Fault `bad_request` for a bad page token */
export async function pageOfVersions(
  store: Store,
  tenant: TenantId,
  contract: string,
  page: PageRequest,
): Promise<Page<ContractVersion>> {
  const [found] = await pagesOfVersions(store, tenant, [contract], page)
  return found ?? { items: [] }
}

/** The same page of each of several contracts, in their order, in one statement. @throws Fault as {@link pageOfVersions} */
export async function pagesOfVersions(
  store: Store,
  tenant: TenantId,
  contracts: readonly string[],
  page: PageRequest,
): Promise<readonly Page<ContractVersion>[]> {
  const limit = pageLimit(page)
  const names = contracts.map(storableText)
  const { text, params } = given(
    [tenant, JSON.stringify(names), limit + 1],
    ['number < ?::int8', afterCount(page)],
  )
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select v.* from (select distinct jsonb_array_elements_text($2::text::jsonb) as id) c, lateral (
       select ${columns} from svc.contract_version
       where tenant_id = $1 and contract_id = c.id${text}
       order by number desc limit $3::int) v
     order by v.contract_id, v.number desc`,
    params,
  )
  const byContract = Map.groupBy(rows, ({ contract_id }) => contract_id)
  return names.map((contract) => {
    const found = toPage(byContract.get(contract) ?? [], limit, (row) => String(row.number))
    return { ...found, items: found.items.map(versionOf) }
  })
}

/** Versions by name, without those that are not there, in one statement. */
export async function findVersions(
  run: RunQuery,
  tenant: TenantId,
  names: readonly Pick<ContractVersion, 'contract' | 'number'>[],
): Promise<readonly ContractVersion[]> {
  const rows = await run<Row>(
    `select ${columns} from svc.contract_version
     where tenant_id = $1 and (contract_id, number) in (
       select j ->> 0, (j ->> 1)::int from jsonb_array_elements($2::text::jsonb) j)`,
    [tenant, JSON.stringify(names.map(({ contract, number }) => [storableText(contract), number]))],
  )
  return rows.map(versionOf)
}

/** The versions of a contract with this document, newest first. */
export async function versionsWith(
  run: RunQuery,
  tenant: TenantId,
  contract: string,
  sha256: string,
): Promise<readonly ContractVersion[]> {
  const rows = await run<Row>(
    `select ${columns} from svc.contract_version
     where tenant_id = $1 and contract_id = $2 and sha256 = decode($3, 'hex') order by number desc`,
    [tenant, storableText(contract), sha256],
  )
  return rows.map(versionOf)
}

/** Whether a contract has a version that went through the life cycle, or goes. */
export async function hasLifeCycle(run: RunQuery, tenant: TenantId, contract: string): Promise<boolean> {
  const [row] = await run<{ found: boolean }>(
    `select exists (select 1 from svc.contract_version where tenant_id = $1 and contract_id = $2 and life_cycle)
       as found`,
    [tenant, storableText(contract)],
  )
  return row?.found === true
}

/** Says that a version came in force without checks. */
export async function setUnverified(
  tx: Tx,
  tenant: TenantId,
  { contract, number }: Pick<ContractVersion, 'contract' | 'number'>,
): Promise<void> {
  await tx.query(
    'update svc.contract_version set unverified = true where tenant_id = $1 and contract_id = $2 and number = $3::int',
    [tenant, contract, number],
  )
}

/** Whether a contract has a version that governs, or may come to govern. */
export async function hasVersions(run: RunQuery, tenant: TenantId, contract: string): Promise<boolean> {
  const [row] = await run<{ found: boolean }>(
    `select exists (select 1 from svc.contract_version where tenant_id = $1 and contract_id = $2
       and (life_cycle or state not in ('retired', 'rejected', 'withdrawn', 'failed'))) as found`,
    [tenant, storableText(contract)],
  )
  return row?.found === true
}

/**
 * The models of the version in force and of those that were in force before it, newest first; none where none is in
 * force now.
 */
export async function earlierModels(
  run: RunQuery,
  tenant: TenantId,
  contract: string,
): Promise<readonly ContractModel[]> {
  const versions = await versionsIn(run, tenant, contract, ['active', 'deprecated', 'retired'])
  const active = versions.findIndex(({ state }) => state !== 'retired')
  return active < 0 ? [] : versions.slice(active).map(({ model }) => model)
}

/** The bytes of a version's document, as received. */
export async function documentOf(
  run: RunQuery,
  tenant: TenantId,
  { contract, number }: Pick<ContractVersion, 'contract' | 'number'>,
): Promise<Uint8Array> {
  const [row] = await run<{ body: Uint8Array }>(
    'select body from svc.contract_version where tenant_id = $1 and contract_id = $2 and number = $3::int',
    [tenant, storableText(contract), number],
  )
  return new Uint8Array(row?.body ?? [])
}

/** Gives a version another state. */
export async function setState(
  tx: Tx,
  tenant: TenantId,
  { contract, number }: Pick<ContractVersion, 'contract' | 'number'>,
  state: string,
): Promise<void> {
  await tx.query(
    `update svc.contract_version set state = $4 where tenant_id = $1 and contract_id = $2 and number = $3::int`,
    [tenant, contract, number, state],
  )
}

function versionOf(row: Row): ContractVersion {
  const { contract_id, number, version, api_version, format, sha256, model, state, unverified } = row
  return {
    ...{ contract: contract_id, number, version, apiVersion: api_version, format, sha256, model, state },
    ...{ unverified, lifeCycle: row.life_cycle, createdAt: row.created_at, createdBy: row.created_by },
    verdict: row.verdict ?? undefined,
    baseNumber: row.base_number ?? undefined,
    breakGlassUntil: row.break_glass_until ?? undefined,
    managedBy: row.managed_by ?? undefined,
    evidence: row.evidence ?? undefined,
  }
}
