/**
 * Sends alerts to the chat webhook (docs/reference/detection.md 5), as Slack and compatible receivers take them. An
 * alert that is due is a row, so it survives the process. Sending runs apart from scanning and never delays it.
 */

import type { Secret } from '../base/secret.ts'
import { coverageOf, type ScanReport } from '../core/detection.ts'
import { tableName } from '../core/table-ref.ts'
import { escapeMrkdwn, postToChat } from '../http/post-to-chat.ts'
import { limits } from '../limits.ts'
import { alertFindings, claimAlerts, type DueAlert, finishAlert } from '../store/detection/alerts.ts'
import type { ListedFinding } from '../store/detection/findings.ts'
import type { DetectionParts } from './parts.ts'

interface AlertOptions {
  readonly webhookUrl: Secret
  /** The public address of this service, for the link. */
  readonly baseUrl: () => URL
  /** Milliseconds before the second attempt; doubles with each. */
  readonly backoffMs?: number
}

const lookMs = 5_000
const requestMs = 10_000
const batch = 5
/** Alerts are sent one after another. After the lease, another replica would send the waiting ones too. */
const leaseMs = batch * requestMs + 10_000
const backoffMsDefault = 5_000
const backoffMsMax = 3_600_000

export class AlertSender {
  readonly #timer: Timer
  readonly #stop = new AbortController()
  #sending: Promise<void> | undefined
  #again = false

  constructor(
    private readonly parts: Pick<DetectionParts, 'store' | 'metrics' | 'log'>,
    private readonly options: AlertOptions,
  ) {
    this.#timer = setInterval(() => this.wake(), lookMs)
    this.#timer.unref()
  }

  /** Sends the alerts that are due. */
  wake(): void {
    if (this.#stop.signal.aborted) return
    this.#again = true
    this.#sending ??= this.#sendDue().finally(() => {
      this.#sending = undefined
    })
  }

  /** Ends a request in flight. Its alert is due again after its lease. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stop.abort()
    await this.#sending
  }

  async #sendDue(): Promise<void> {
    while (this.#again && !this.#stop.signal.aborted) {
      this.#again = false
      try {
        const due = await claimAlerts(this.parts.store, batch, leaseMs)
        for (const alert of due) await this.#send(alert)
        this.#again ||= due.length === batch
      } catch (err) {
        this.parts.log.error({ err }, 'the alerts that are due could not be read or sent')
      }
    }
  }

  async #send(alert: DueAlert): Promise<void> {
    const { store, metrics, log } = this.parts
    const { findings, isCut } = await alertFindings(store, alert.tenant, alert.runId, shownMax)
    // All of these findings were decided meanwhile.
    if (findings.length === 0) return finishAlert(store, alert, 'given up')
    const link = new URL(`/api/v1/detection/findings?run=${alert.runId}`, this.options.baseUrl())
    const outcome = await postToChat(
      this.options.webhookUrl,
      alertPayload(findings, link, isCut, alert.report),
      this.#stop.signal,
    )
    if (this.#stop.signal.aborted) return
    const isSent = outcome.kind === 'sent'
    // A refusal too may pass: a webhook is removed by mistake, or a channel is archived for an hour.
    const again = !isSent && alert.tries < limits.detectionAlertTriesMax
    metrics.detectionAlerts.inc({ outcome: isSent ? 'sent' : again ? 'retried' : 'given_up' })
    if (isSent) return finishAlert(store, alert, 'sent')
    log[again ? 'warn' : 'error'](
      { runId: alert.runId, status: outcome.status, tries: alert.tries },
      again
        ? 'an alert could not be sent; it will be tried again'
        : 'an alert was given up; the next snapshot with its findings tells of them again',
    )
    const backoff = (this.options.backoffMs ?? backoffMsDefault) * 2 ** (alert.tries - 1)
    const afterMs = outcome.kind === 'retry' ? outcome.afterMs : 0
    await finishAlert(store, alert, again ? Math.min(Math.max(backoff, afterMs), backoffMsMax) : 'given up')
  }
}

const shownMax = 10

/**
 * Writes the body of an alert: `text`, which every receiver reads. It holds no samples and no counts of values, because
 * nobody knows who reads the channel.
 * @param findings of one run, at least one
 * @param link where all of them are listed
 * @param isCut whether there are more than these
 * @param report what the scan covered
 */
export function alertPayload(
  findings: readonly ListedFinding[],
  link: URL,
  isCut = false,
  report: Partial<ScanReport> = {},
): { readonly text: string } {
  const table = findings[0]?.table
  const where = table === undefined ? 'a table that is not named yet' : `*${escapeMrkdwn(tableName(table))}*`
  const lines = findings.map(
    ({ column, class: kind, confidence }) => `• ${escapeMrkdwn(column)}: ${kind}, confidence ${confidence}`,
  )
  const all = `<${link.href}|${isCut ? 'All findings' : 'Findings'} of this run>`
  return {
    text: [
      `Sensitive data was detected in ${where}.`,
      ...lines,
      ...(isCut ? ['• and more'] : []),
      ...partialLine(report),
      all,
    ].join('\n'),
  }
}

/** Says how much was read where that was not all. */
function partialLine(report: Partial<ScanReport>): readonly string[] {
  const { isPartial, share } = coverageOf(report)
  if (!isPartial) return []
  const { filesScanned = 0, filesAdded = 0, filesLeftOut = 0, filesUnsupported = 0, unjudged = 0 } = report
  const unjudgedText =
    unjudged === 0 ? '' : ` ${unjudged} judgements of columns by custom classifiers were left out.`
  return [
    `The scan is partial: ${filesScanned} of ${filesAdded} files were read (${Math.floor(share * 100)} %), ${filesLeftOut} were left out, ${filesUnsupported} cannot be read.${unjudgedText}`,
  ]
}
