/** Reports connections and statements to the metrics and the log. It never reports the text of a statement. */

import type { Logger } from 'pino'
import type { TenantId } from '../../core/tenant.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

/** Times of one statement in milliseconds. */
interface StatementTimes {
  /** From the message's arrival to its start. */
  readonly queueMs: number
  readonly planMs: number
  readonly runMs: number
  /** Waiting for the client to read. */
  readonly sendMs: number
}

export interface StatementRecord extends StatementTimes {
  readonly tenant: TenantId
  readonly sub: string
  readonly processId: number
  /** Id of the usage record, where the read path ran the statement. */
  readonly queryId: string | undefined
  readonly rows: number
  readonly bytes: number
  /** SQLSTATE of the refusal or failure; undefined where the statement succeeded. */
  readonly sqlState: string | undefined
}

export interface WireMeter {
  connected(tenant: TenantId): void
  disconnected(tenant: TenantId): void
  /** Counts a refused client by SQLSTATE. */
  refused(sqlState: string): void
  statement(record: StatementRecord): void
}

/** The meter over the process's metrics and log. */
export function wireMeter(metrics: Metrics, log: Logger): WireMeter {
  return {
    connected: (tenant) => metrics.pgwireConnections.inc({ tenant }),
    disconnected: (tenant) => metrics.pgwireConnections.dec({ tenant }),
    refused: (sqlstate) => metrics.pgwireRefused.inc({ sqlstate }),
    statement({ tenant, queueMs, planMs, runMs, sendMs, ...record }) {
      const outcome =
        record.sqlState === undefined ? 'done' : record.sqlState === '57014' ? 'cancelled' : 'failed'
      metrics.pgwireQueries.inc({ tenant, outcome })
      metrics.pgwireRows.inc({ tenant }, record.rows)
      metrics.pgwireBytes.inc({ tenant }, record.bytes)
      const stages = { queue: queueMs, plan: planMs, run: runMs, send: sendMs }
      for (const [stage, ms] of Object.entries(stages))
        metrics.pgwireStageSeconds.observe({ tenant, stage }, ms / 1_000)
      const rounded = Object.entries(stages).map(([stage, ms]) => [`${stage}Ms`, Math.round(ms * 100) / 100])
      log.info({ tenant, ...record, ...Object.fromEntries(rounded) }, 'pgwire statement')
    },
  }
}
