/** Check runs and what they found, under a table that the caller may read, as far as its numbers may be seen. */

import { checkRunOperations } from '../../../contract/checks/operations.ts'
import { isShown, seenResult, seenRun } from '../../../contract/checks/sight.ts'
import { checkKinds } from '../../../core/check-run.ts'
import { findCheckRun, type StoredCheckResult } from '../../../store/check/check-results.ts'
import { isUuid } from '../../../store/database/page.ts'
import { accessOf, requireAccess } from '../access.ts'
import { type Builder, connectionOf, pageOf, sliceOf } from '../builder.ts'
import type { GraphContext } from '../context.ts'
import { nodeIdOf } from '../node-id.ts'
import { contractModel } from './contracts.ts'
import type { CheckModel, Refs, RunModel } from './refs.ts'

const runsAccess = accessOf(checkRunOperations, 'list_check_runs')

/** A run by id; undefined where there is none, or it is not shown to the caller. @throws Fault `forbidden` */
export async function runModel(context: GraphContext, id: string): Promise<RunModel | undefined> {
  const { parts, store, caller, loaders } = context
  requireAccess(parts, caller, runsAccess)
  const run = isUuid(id) ? await findCheckRun(store, caller.tenant, id) : undefined
  if (run === undefined || (await loaders.table(run.table)) === undefined) return undefined
  const model = { run, sight: await loaders.sight(run.table) }
  return isSeen(context, model) ? model : undefined
}

/** What a run found of a check; undefined as {@link runModel}, and where it is hidden. @throws Fault `forbidden` */
export async function checkModel(
  context: GraphContext,
  id: string,
  key: string,
): Promise<CheckModel | undefined> {
  const model = await runModel(context, id)
  if (model === undefined) return undefined
  const results = await context.loaders.resultsOfRun(id)
  const found = results.find((one) => one.key === key)
  return found && checkOf(model, found)[0]
}

function isSeen({ parts }: GraphContext, { run, sight }: RunModel): boolean {
  return isShown(run, sight, parts.clock.now())
}

/** @returns none where the result is hidden */
function checkOf({ run, sight }: RunModel, result: StoredCheckResult): readonly CheckModel[] {
  const found = seenResult(result, sight)
  return found === undefined ? [] : [{ run, sight, found, at: result.at }]
}

/** Adds the types, with their fields of Query and Table. */
export function addChecks(builder: Builder, refs: Refs): void {
  const kind = builder.enumType('QualityRunKind', { values: [...checkKinds] })
  addRun(refs)
  addCheck(refs)
  builder.objectFields(refs.table.ref, (t) => ({
    qualityRuns: t.field({
      type: refs.qualityRun.connection,
      nullable: true,
      description:
        'Check runs of the table, newest first. One that is not shown to you is left out of its page.',
      args: { first: t.arg.int({ required: true }), after: t.arg.string(), kind: t.arg({ type: kind }) },
      resolve: async ({ ref }, { kind: wanted, ...args }, context) => {
        const { parts, caller, loaders } = context
        requireAccess(parts, caller, runsAccess)
        const page = { ...pageOf(args), ...(wanted != null && { kind: wanted }) }
        const [{ items, next }, sight] = await Promise.all([loaders.runs(ref, page), loaders.sight(ref)])
        const seen = items.map((run) => ({ run, sight })).filter((model) => isSeen(context, model))
        return connectionOf(
          { items: seen, ...(next !== undefined && { next }) },
          ({ run }) => run.sequence,
          args,
        )
      },
    }),
    qualityChecks: t.field({
      type: refs.qualityCheck.connection,
      nullable: true,
      description: 'What runs found of the checks of the table, or of one, newest first.',
      args: { first: t.arg.int({ required: true }), after: t.arg.string(), key: t.arg.string() },
      resolve: async ({ ref }, { key, ...args }, context) => {
        const { parts, caller, loaders } = context
        requireAccess(parts, caller, runsAccess)
        const page = { ...pageOf(args), ...(key != null && { check: key }) }
        const [{ items, next }, sight] = await Promise.all([loaders.results(ref, page), loaders.sight(ref)])
        const seen = items.flatMap(({ sequence, run, result }) =>
          isSeen(context, { run, sight })
            ? checkOf({ run, sight }, result).map((model) => ({ ...model, sequence }))
            : [],
        )
        return connectionOf(
          { items: seen, ...(next !== undefined && { next }) },
          ({ sequence }) => sequence,
          args,
        )
      },
    }),
  }))
  builder.queryFields((t) => ({
    qualityRun: t.field({
      type: refs.qualityRun.ref,
      nullable: true,
      description: 'A check run of a table that you may read. Null where it is not shown to you.',
      args: { id: t.arg.string({ required: true, description: '`runId` of the run.' }) },
      resolve: async (_, { id }, context) => (await runModel(context, id)) ?? null,
    }),
  }))
}

function addRun(refs: Refs): void {
  refs.qualityRun.ref.implement({
    description:
      'The measurement of one snapshot of a table. State, times and progress are for those from whom nothing of the table is hidden.',
    interfaces: [refs.node],
    fields: (t) => ({
      id: t.field({ type: 'ID', resolve: ({ run }) => nodeIdOf('QualityRun', run.runId) }),
      runId: t.string({ resolve: ({ run }) => run.runId }),
      kind: t.string({ resolve: ({ run }) => run.kind }),
      contract: t.field({
        type: refs.contract.ref,
        nullable: true,
        resolve: async ({ run }, _, context) => (await contractModel(context, run.contract)) ?? null,
      }),
      number: t.int({ description: 'Of the contract’s version.', resolve: ({ run }) => run.number }),
      table: t.field({
        type: refs.table.ref,
        nullable: true,
        resolve: async ({ run }, _, { loaders }) => (await loaders.table(run.table)) ?? null,
      }),
      catalog: t.string({ resolve: ({ run }) => run.catalog }),
      snapshotId: t.string({ nullable: true, resolve: ({ run }) => textOf(run.snapshotId) }),
      currentSnapshotId: t.string({
        nullable: true,
        description: 'The table’s snapshot when the run was requested.',
        resolve: ({ run }) => textOf(run.currentSnapshotId),
      }),
      cause: t.string({ resolve: ({ run }) => run.cause }),
      state: t.string({
        nullable: true,
        description: 'For those from whom nothing of the table is hidden.',
        resolve: ({ run, sight }) => seenRun(run, sight).state ?? null,
      }),
      requestedAt: t.field({ type: 'DateTime', resolve: ({ run }) => run.requestedAt }),
      requestedBy: t.string({ description: 'Subject.', resolve: ({ run }) => run.requestedBy }),
      startedAt: t.field({
        type: 'DateTime',
        nullable: true,
        resolve: ({ run, sight }) => seenRun(run, sight).took?.startedAt ?? null,
      }),
      finishedAt: t.field({
        type: 'DateTime',
        nullable: true,
        resolve: ({ run, sight }) => seenRun(run, sight).took?.finishedAt ?? null,
      }),
      ms: t.float({
        nullable: true,
        description: 'Of all attempts.',
        resolve: ({ run, sight }) => seenRun(run, sight).took?.spentMs ?? null,
      }),
      stepsDone: t.int({
        nullable: true,
        resolve: ({ run, sight }) => seenRun(run, sight).took?.stepsDone ?? null,
      }),
      steps: t.int({ nullable: true, resolve: ({ run, sight }) => seenRun(run, sight).took?.steps ?? null }),
      rows: t.string({
        nullable: true,
        resolve: ({ run, sight }) => textOf(seenRun(run, sight).took?.rowsRead),
      }),
      bytes: t.string({
        nullable: true,
        resolve: ({ run, sight }) => textOf(seenRun(run, sight).took?.bytesRead),
      }),
      reason: t.string({
        nullable: true,
        description: 'Why it ended in error: a SQLSTATE or a word.',
        resolve: ({ run, sight }) => seenRun(run, sight).took?.reason || null,
      }),
      checks: t.field({
        type: refs.qualityCheck.connection,
        description: 'What it found, as far as you may see it, in the order in which it was found.',
        args: { first: t.arg.int({ required: true }), after: t.arg.string() },
        resolve: async (model, args, { loaders }) => {
          const results = await loaders.resultsOfRun(model.run.runId)
          return sliceOf(
            results.flatMap((result) => checkOf(model, result)),
            args,
          )
        },
      }),
    }),
  })
}

const textOf = (number: bigint | undefined) => (number === undefined ? null : String(number))

function addCheck(refs: Refs): void {
  refs.qualityCheck.ref.implement({
    description:
      'What a run found of one check. Where a row filter or mask hides the column from you, there is no number.',
    interfaces: [refs.node],
    fields: (t) => ({
      id: t.field({
        type: 'ID',
        resolve: ({ run, found }) => nodeIdOf('QualityCheck', run.runId, found.key),
      }),
      key: t.string({
        description: 'Names the check within the contract.',
        resolve: ({ found }) => found.key,
      }),
      column: t.string({
        nullable: true,
        description: 'Null for a check of the table.',
        resolve: ({ found }) => found.column ?? null,
      }),
      metric: t.string({ resolve: ({ found }) => found.metric }),
      severity: t.string({
        description: '`info`, `warning` or `error`.',
        resolve: ({ found }) => found.severity,
      }),
      custom: t.boolean({
        description: 'Whether the contract’s author wrote the statement.',
        resolve: ({ found }) => found.custom,
      }),
      outcome: t.string({
        description: '`passed`, `failed`, `warned`, `error` or `not_run`.',
        resolve: ({ found }) => found.outcome,
      }),
      value: t.string({
        nullable: true,
        resolve: ({ found }) => ('value' in found ? (found.value ?? null) : null),
      }),
      unit: t.string({
        nullable: true,
        resolve: ({ found }) => ('unit' in found ? (found.unit ?? null) : null),
      }),
      operator: t.string({
        nullable: true,
        resolve: ({ found }) => ('operator' in found ? (found.operator ?? null) : null),
      }),
      threshold: t.string({
        nullable: true,
        description: 'As JSON.',
        resolve: ({ found }) =>
          'threshold' in found && found.threshold !== undefined ? JSON.stringify(found.threshold) : null,
      }),
      engine: t.string({
        nullable: true,
        resolve: ({ found }) => ('engine' in found ? (found.engine ?? null) : null),
      }),
      reason: t.string({
        nullable: true,
        description: 'Why there is no value: a SQLSTATE or a word.',
        resolve: ({ found }) => ('reason' in found ? (found.reason ?? null) : null),
      }),
      at: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'For those from whom nothing of the table is hidden.',
        resolve: ({ sight, at }) => (sight.isWhole ? at : null),
      }),
      run: t.field({ type: refs.qualityRun.ref, resolve: ({ run, sight }) => ({ run, sight }) }),
    }),
  })
}
