/** Stores moves and sign-offs of contract versions, and what the guards ask for. Moves and sign-offs only append. */

import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { given } from '../database/conditions.ts'
import { storableJson, storableText } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import { appendEvent } from '../event/events.ts'
import type { Store } from '../store.ts'
import type { ContractVersion, RunQuery } from './versions.ts'

interface NewMove {
  readonly move: string
  /** Undefined for the import that made the version. */
  readonly from: string | undefined
  readonly to: string
  /** Whether it followed by itself from what was found. */
  readonly auto: boolean
  readonly reason?: string | undefined
  readonly by: Actor
}

type Named = Pick<ContractVersion, 'contract' | 'number' | 'sha256'>

/** Gives a version another state and appends the move. @throws Fault `conflict` where two would be in force */
export async function recordMove(tx: Tx, tenant: TenantId, version: Named, made: NewMove): Promise<void> {
  const { contract, number, sha256 } = version
  const { move, from, to, auto, reason, by } = made
  await tx.query(
    'update svc.contract_version set state = $4 where tenant_id = $1 and contract_id = $2 and number = $3::int',
    [tenant, contract, number, to],
  )
  await tx.query(
    `insert into svc.contract_move (tenant_id, contract_id, number, sha256, move, from_state, to_state, auto, reason,
       actor_sub, actor)
     values ($1, $2, $3::int, decode($4, 'hex'), $5, $6, $7, $8::bool, $9, $10, $11::text::jsonb)`,
    [
      ...[tenant, contract, number, sha256, move, from ?? null, to, auto],
      ...[reason === undefined ? null : storableText(reason), by.sub, storableJson(by)],
    ],
  )
  const data = { contract, number, move, from: from ?? null, to, auto, reason: reason ?? null, by: by.sub }
  await appendEvent(tx, { type: 'contract.moved', subject: contract, data })
}

/** How many drafts with a reason the principal added in the last 24 hours. The caller holds the lock of contracts. */
export async function countProposals(tx: Tx, tenant: TenantId, sub: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `select count(*)::int as count from svc.contract_move
     where tenant_id = $1 and move = 'import' and reason is not null and actor_sub = $2
       and at > clock_timestamp() - interval '24 hours'`,
    [tenant, storableText(sub)],
  )
  return row?.count ?? 0
}

export interface StoredSignOff {
  readonly level: 'first' | 'second'
  /** Hex, of the document that was signed. */
  readonly sha256: string
  readonly at: Date
  readonly comment: string | undefined
  readonly by: Actor
}

/** Appends a sign-off, as a row and in the graph. */
export async function addSignOff(
  tx: Tx,
  tenant: TenantId,
  { contract, number, sha256 }: Named,
  { level, comment, by }: Pick<StoredSignOff, 'level' | 'comment' | 'by'>,
): Promise<void> {
  const [added] = await tx.query<{ sign_off_seq: string }>(
    `insert into svc.contract_sign_off (tenant_id, contract_id, number, sha256, level, comment, actor_sub, actor)
     values ($1, $2, $3::int, decode($4, 'hex'), $5, $6, $7, $8::text::jsonb) returning sign_off_seq::text`,
    [
      ...[tenant, contract, number, sha256, level],
      ...[comment === undefined ? null : storableText(comment), by.sub, storableJson(by)],
    ],
  )
  await tx.query('select svc.project_sign_off($1::int8)', [added?.sign_off_seq ?? null])
  const data = { contract, number, level, by: by.sub }
  await appendEvent(tx, { type: 'contract.signed_off', subject: contract, data })
}

/** The sign-offs of a version, in their order. */
export async function signOffsOf(
  run: RunQuery,
  tenant: TenantId,
  version: VersionName,
): Promise<readonly StoredSignOff[]> {
  return (await signOffsOfVersions(run, tenant, [version]))[0] ?? []
}

type VersionName = Pick<Named, 'contract' | 'number'>

/** The sign-offs of each of several versions, in their order, in one statement. */
export async function signOffsOfVersions(
  run: RunQuery,
  tenant: TenantId,
  versions: readonly VersionName[],
): Promise<readonly (readonly StoredSignOff[])[]> {
  const key = ({ contract, number }: VersionName) => JSON.stringify([contract, number])
  const rows = await run<{
    contract: string
    number: number
    level: 'first' | 'second'
    sha256: string
    at: Date
    comment: string | null
    actor: Actor
  }>(
    `select contract_id as contract, number, level, encode(sha256, 'hex') as sha256, at, comment, actor
     from svc.contract_sign_off
     where tenant_id = $1 and (contract_id, number) in (
       select j ->> 0, (j ->> 1)::int from jsonb_array_elements($2::text::jsonb) j)
     order by sign_off_seq`,
    [tenant, storableJson(versions.map(({ contract, number }) => [contract, number]))],
  )
  const byVersion = Map.groupBy(rows, key)
  return versions.map((version) =>
    (byVersion.get(key(version)) ?? []).map(({ level, sha256, at, comment, actor }) => {
      return { level, sha256, at, comment: comment ?? undefined, by: actor }
    }),
  )
}

/** Whether a steward has proposed, signed or deployed the version, or wrote it. */
export async function isAcceptedBySteward(
  run: RunQuery,
  tenant: TenantId,
  { contract, number, createdBy }: Pick<ContractVersion, 'contract' | 'number' | 'createdBy'>,
): Promise<boolean> {
  if (createdBy.roles.includes('steward')) return true
  const [row] = await run<{ found: boolean }>(
    `select exists (select 1 from svc.contract_move where tenant_id = $1 and contract_id = $2 and number = $3::int
         and move in ('propose', 'deploy') and jsonb_exists(actor->'roles', 'steward'))
       or exists (select 1 from svc.contract_sign_off where tenant_id = $1 and contract_id = $2 and number = $3::int
         and jsonb_exists(actor->'roles', 'steward')) as found`,
    [tenant, contract, number],
  )
  return row?.found === true
}

export interface RecordedMove extends Omit<NewMove, 'by'> {
  /** Its place among the moves, at which a page after it begins. */
  readonly sequence: string
  readonly number: number
  readonly sha256: string
  readonly at: Date
  readonly by: Actor
}

/** The moves of a contract's versions, newest first. @throws Fault `bad_request` for a bad page token */
export async function listMoves(
  store: Store,
  tenant: TenantId,
  contract: string,
  page: PageRequest,
): Promise<Page<RecordedMove>> {
  const [found] = await listMovesOf(store, tenant, [contract], page)
  return found ?? { items: [] }
}

/** The same page of each of several contracts, in their order, in one statement. @throws Fault as {@link listMoves} */
export async function listMovesOf(
  store: Store,
  tenant: TenantId,
  contracts: readonly string[],
  page: PageRequest,
): Promise<readonly Page<RecordedMove>[]> {
  const limit = pageLimit(page)
  const names = contracts.map(storableText)
  const { text, params } = given(
    [tenant, JSON.stringify(names), limit + 1],
    ['move_seq < ?::int8', afterCount(page)],
  )
  const rows = await store.tenantQuery<{
    contract_id: string
    move_seq: string
    number: number
    sha256: string
    at: Date
    move: string
    from_state: string | null
    to_state: string
    auto: boolean
    reason: string | null
    actor: Actor
  }>(
    tenant,
    `select m.* from (select distinct jsonb_array_elements_text($2::text::jsonb) as id) c, lateral (
       select contract_id, move_seq, number, encode(sha256, 'hex') as sha256, at, move, from_state, to_state, auto, reason,
         actor
       from svc.contract_move
       where tenant_id = $1 and contract_id = c.id${text}
       order by move_seq desc limit $3::int) m
     order by m.contract_id, m.move_seq desc`,
    params,
  )
  const byContract = Map.groupBy(rows, ({ contract_id }) => contract_id)
  return names.map((contract) => {
    const found = toPage(byContract.get(contract) ?? [], limit, (row) => row.move_seq)
    return {
      ...found,
      items: found.items.map(({ move, number, sha256, at, auto, ...row }) => ({
        ...{ sequence: row.move_seq, move, number, sha256, at, auto, by: row.actor, to: row.to_state },
        from: row.from_state ?? undefined,
        reason: row.reason ?? undefined,
      })),
    }
  })
}

/** Writes what was found of a proposal, and the number of the version in force that it was compared with. */
export async function saveVerdict(
  tx: Tx,
  tenant: TenantId,
  { contract, number }: Named,
  verdict: object,
  baseNumber: number,
): Promise<void> {
  await tx.query(
    `update svc.contract_version set verdict = $4::text::jsonb, base_number = $5::int
     where tenant_id = $1 and contract_id = $2 and number = $3::int`,
    [tenant, contract, number, storableJson(verdict), baseNumber],
  )
}

/** Writes until when an approval by break-glass may be deployed. */
export async function saveBreakGlass(
  tx: Tx,
  tenant: TenantId,
  { contract, number }: Named,
  until: Date,
): Promise<void> {
  await tx.query(
    `update svc.contract_version set break_glass_until = $4
     where tenant_id = $1 and contract_id = $2 and number = $3::int`,
    [tenant, contract, number, until],
  )
}

/** When a version was deprecated; undefined where it was not. */
export async function deprecatedAt(
  run: RunQuery,
  tenant: TenantId,
  { contract, number }: Pick<Named, 'contract' | 'number'>,
): Promise<Date | undefined> {
  const [row] = await run<{ at: Date | null }>(
    `select max(at) as at from svc.contract_move
     where tenant_id = $1 and contract_id = $2 and number = $3::int and move = 'deprecate'`,
    [tenant, contract, number],
  )
  return row?.at ?? undefined
}

interface LifeCycleSettings {
  /** Whether a version may become active without checks. */
  readonly deployUnverified: boolean
  /** Days for which a version is deprecated before it is retired. */
  readonly noticeDays: number
  /** Days in which nobody has read a version's tables before it is retired. */
  readonly quietDays: number
}

/** Where a tenant has not said otherwise. */
const defaultLifeCycleSettings: LifeCycleSettings = {
  ...{ deployUnverified: false, noticeDays: 30, quietDays: 30 },
}

/** The tenant's settings of the life cycle. */
export async function readLifeCycleSettings(run: RunQuery, tenant: TenantId): Promise<LifeCycleSettings> {
  const [row] = await run<{ deploy_unverified: boolean; notice_days: number; quiet_days: number }>(
    'select deploy_unverified, notice_days, quiet_days from svc.contract_setting where tenant_id = $1',
    [tenant],
  )
  if (row === undefined) return defaultLifeCycleSettings
  const { deploy_unverified: deployUnverified, notice_days: noticeDays, quiet_days: quietDays } = row
  return { deployUnverified, noticeDays, quietDays }
}

/** Saves the tenant's settings of the life cycle. */
export async function saveLifeCycleSettings(
  tx: Tx,
  tenant: TenantId,
  {
    deployUnverified,
    noticeDays = defaultLifeCycleSettings.noticeDays,
    quietDays = defaultLifeCycleSettings.quietDays,
  }: Pick<LifeCycleSettings, 'deployUnverified'> & Partial<LifeCycleSettings>,
): Promise<void> {
  await tx.query(
    `insert into svc.contract_setting (tenant_id, deploy_unverified, notice_days, quiet_days)
     values ($1, $2::bool, $3::int, $4::int)
     on conflict (tenant_id) do update set deploy_unverified = excluded.deploy_unverified,
       notice_days = excluded.notice_days, quiet_days = excluded.quiet_days`,
    [tenant, deployUnverified, noticeDays, quietDays],
  )
}
