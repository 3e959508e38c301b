/**
 * Reports check runs that did not pass, each once, and ends deployments whose end was not settled because a process
 * died. One job does so on one replica. A report holds names and outcomes, never a value, because more people read a
 * channel than may see a number.
 */

import type { Logger } from 'pino'
import type { Secret } from '../../base/secret.ts'
import type { StoredCheckRun } from '../../core/check-run.ts'
import { tableName } from '../../core/table-ref.ts'
import { escapeMrkdwn, postToChat } from '../../http/post-to-chat.ts'
import { findCheckRun, resultsOfRun, type StoredCheckResult } from '../../store/check/check-results.ts'
import { markReported, type UnreportedRun, unreportedRuns } from '../../store/check/check-runs.ts'
import type { Store } from '../../store/store.ts'

export interface ReportParts {
  readonly store: Store
  readonly log: Logger
  /** Where chat messages go; undefined: breaches are logged only. */
  readonly chatWebhookUrl: Secret | undefined
  /** The public address of this service, for the link. */
  readonly baseUrl: () => URL
}

/** A run that did not pass, or passed with warnings. */
export interface Breach {
  readonly run: StoredCheckRun
  readonly results: readonly StoredCheckResult[]
}

const batch = 20
/** Milliseconds after its end for which a report is tried. */
const reportMsMax = 86_400_000

/** Reports every run that ended and was not reported. */
export async function reportEndedRuns(parts: ReportParts, signal: AbortSignal): Promise<void> {
  for (const ended of await unreportedRuns(parts.store, batch)) {
    signal.throwIfAborted()
    const breach = await breachOf(parts.store, ended)
    const isSent = breach === undefined || (await reportBreach(parts, breach, signal))
    if (isSent) await markReported(parts.store, ended)
  }
}

async function breachOf(store: Store, { tenant, runId }: UnreportedRun): Promise<Breach | undefined> {
  const run = await findCheckRun(store, tenant, runId)
  if (run === undefined || run.state === 'cancelled') return undefined
  const results = await resultsOfRun(store, tenant, runId)
  const missed = results.filter(({ outcome }) => outcome !== 'passed' && outcome !== 'not_run')
  return run.state === 'passed' && missed.length === 0 ? undefined : { run, results: missed }
}

/**
 * The one place where a breach is reported: to the log and the chat webhook.
 * @returns whether it needs no other try
 */
async function reportBreach(
  parts: ReportParts,
  { run, results }: Breach,
  signal: AbortSignal,
): Promise<boolean> {
  const { runId, contract, number, table, state, finishedAt } = run
  const checks = results.slice(0, shownMax).map(({ key, outcome }) => `${escapeMrkdwn(key)}: ${outcome}`)
  const { chatWebhookUrl, log, baseUrl } = parts
  if (chatWebhookUrl !== undefined) {
    const link = new URL(`/api/v1/checks/runs/${runId}`, baseUrl())
    const more = results.length > shownMax ? [`and ${results.length - shownMax} more`] : []
    const head = `Checks of ${escapeMrkdwn(tableName(table))} (${escapeMrkdwn(contract)}, version ${number}): ${state}`
    const sent = await postToChat(
      chatWebhookUrl,
      { text: [head, ...checks, ...more, link.href].join('\n') },
      signal,
    )
    const isLate = Date.now() - (finishedAt?.getTime() ?? 0) > reportMsMax
    if (sent.kind === 'retry' && !isLate) return false
    if (sent.kind !== 'sent') log.error({ runId, status: sent.status }, 'a breach could not be sent')
  }
  log.warn(
    { runId, contract, number, table: tableName(table), state, checks },
    'checks of a table did not pass',
  )
  return true
}

const shownMax = 20
