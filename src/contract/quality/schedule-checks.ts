/**
 * Requests the check runs that are due: by the cron pattern of a rule, and for each commit where a rule says `commit`.
 * A pattern that came due several times since the last look makes one run. A commit makes a run of its own snapshot,
 * also where another commit followed. A repeated look requests nothing twice.
 */

import { Cron } from 'croner'
import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { TableStates } from '../../catalog/table-states.ts'
import type { NewCheckRun } from '../../core/check-run.ts'
import type { TenantEvent } from '../../core/event.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { findCatalogCredentialById } from '../../store/catalog-credential/catalog-credentials.ts'
import { requestCheckRun } from '../../store/check/check-runs.ts'
import { findCheckCursor, saveCheckCursor } from '../../store/check/check-schedules.ts'
import { type GoverningSchema, governing } from '../../store/contract/put-in-force.ts'
import { type ContractVersion, type RunQuery, versionsInForce } from '../../store/contract/versions.ts'
import { lastEvent, readEvents } from '../../store/event/events.ts'
import type { Store } from '../../store/store.ts'
import { chooseSnapshot } from '../checks/plan-deployment.ts'
import { placedRules } from './plan-checks.ts'
import { scheduledLevels } from './service-levels.ts'
import { storedCommit } from './stored-commit.ts'

interface ScheduleParts {
  readonly store: Store
  readonly states: TableStates
  readonly clock: Clock
  readonly log: Logger
}

/** The checks of a table with one schedule. */
interface Scheduled {
  readonly schema: GoverningSchema
  /** `commit`, or a cron pattern. */
  readonly schedule: string
  readonly checks: readonly string[]
}

/** The schedules of a version, by table. A word that is neither `commit` nor a cron pattern is for another scheduler. */
export function schedulesOf({ model }: Pick<ContractVersion, 'model'>): readonly Scheduled[] {
  return governing(model).flatMap((schema) => {
    const rules = placedRules(schema).map(({ key, rule }) => ({ key, schedule: rule.schedule }))
    const levels = scheduledLevels(model.sla, schema.name)
    const timed = [...rules, ...levels].flatMap(({ key, schedule }) =>
      schedule !== undefined && (schedule === onCommit || patternOf(schedule) !== undefined)
        ? [{ key, schedule }]
        : [],
    )
    return [...Map.groupBy(timed, ({ schedule }) => schedule)].map(([schedule, of]) => ({
      ...{ schema, schedule },
      checks: of.map(({ key }) => key),
    }))
  })
}

const onCommit = 'commit'

function patternOf(text: string): Cron | undefined {
  try {
    return new Cron(text, { paused: true, timezone: 'UTC' })
  } catch {
    return undefined
  }
}

/** When a pattern came due last, after one moment and up to another; undefined where it did not. */
export function dueAt(pattern: string, afterMs: number, nowMs: number): Date | undefined {
  const next = patternOf(pattern)?.nextRun(new Date(afterMs))
  return next !== null && next !== undefined && next.getTime() <= nowMs ? next : undefined
}

/** Requests the runs of a tenant that are due. @returns how many schedules its contracts in force have */
export async function scheduleChecks(parts: ScheduleParts, tenant: TenantId): Promise<number> {
  let count = 0
  const query: RunQuery = (text, params) => parts.store.tenantQuery(tenant, text, params)
  for (const version of await versionsInForce(query, tenant)) {
    const schedules = schedulesOf(version)
    count += schedules.length
    if (schedules.length > 0) await scheduleVersion(parts, tenant, version, schedules)
  }
  return count
}

async function scheduleVersion(
  parts: ScheduleParts,
  tenant: TenantId,
  version: ContractVersion,
  schedules: readonly Scheduled[],
): Promise<void> {
  const { store, clock, log } = parts
  const { contract } = version
  const nowMs = clock.now()
  const cursor = await findCheckCursor(store, tenant, contract)
  if (cursor === undefined) {
    const sequence = await lastEvent(store, tenant)
    return await saveCheckCursor(store, tenant, contract, { lookedAtMs: nowMs, sequence })
  }
  for (const one of schedules) {
    const due = one.schedule === onCommit ? undefined : dueAt(one.schedule, cursor.lookedAtMs, nowMs)
    if (due === undefined) continue
    try {
      const chosen = await chooseSnapshot(parts.states, { store, tenant }, one.schema.table)
      const onceKey = `schedule ${contract} ${version.number} ${one.schedule} ${due.toISOString()}`
      await request(store, tenant, { ...runOf(version, one), ...chosen, cause: 'schedule', onceKey })
    } catch (err) {
      // A table that cannot be found now is looked for when its pattern comes due again.
      if (!(err instanceof Fault) || err.kind !== 'unprocessable') throw err
      log.warn({ err, tenant, contract }, 'a scheduled check has no table to read')
    }
  }
  const wanting = schedules.filter(({ schedule }) => schedule === onCommit)
  const sequence = await followCommits(parts, tenant, version, wanting, cursor.sequence)
  await saveCheckCursor(store, tenant, contract, { lookedAtMs: nowMs, sequence })
}

function runOf({ contract, number, createdBy }: ContractVersion, { schema, checks }: Scheduled) {
  return { kind: 'quality', contract, number, table: schema.table, input: { checks }, by: createdBy } as const
}

async function request(store: Store, tenant: TenantId, asked: NewCheckRun): Promise<void> {
  await requestCheckRun((text, params) => store.tenantQuery(tenant, text, params), tenant, asked)
}

/** @returns the last event that was handled */
async function followCommits(
  { store }: ScheduleParts,
  tenant: TenantId,
  version: ContractVersion,
  wanting: readonly Scheduled[],
  after: bigint,
): Promise<bigint> {
  if (wanting.length === 0) return await lastEvent(store, tenant)
  let sequence = after
  for (;;) {
    const events = await readEvents(store, tenant, sequence)
    for (const event of events) {
      for (const one of wanting) await followCommit(store, tenant, version, one, event)
      sequence = event.sequence
    }
    if (events.length === 0) return sequence
  }
}

async function followCommit(
  store: Store,
  tenant: TenantId,
  version: ContractVersion,
  scheduled: Scheduled,
  { type, subject, data }: TenantEvent,
): Promise<void> {
  if (type !== 'commit.decided' || data.decision !== 'APPROVED') return
  if (subject !== tableKey(scheduled.schema.table)) return
  const commitId = String(data.commit_id)
  const commit = await storedCommit(store, tenant, commitId)
  const credential = commit && (await findCatalogCredentialById(store, tenant, commit.credentialId))
  if (commit?.snapshotId === undefined || credential === undefined) return
  const { snapshotId } = commit
  const onceKey = `commit ${version.contract} ${version.number} ${commitId}`
  const chosen = { catalog: credential.nickname, snapshotId, currentSnapshotId: snapshotId }
  await request(store, tenant, { ...runOf(version, scheduled), ...chosen, cause: 'commit', onceKey })
}
