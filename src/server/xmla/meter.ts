/** Reports XMLA requests to the metrics and the log. It never reports the text of a statement. */

import type { Logger } from 'pino'
import type { TenantId } from '../../core/tenant.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

export interface XmlaRecord {
  readonly tenant: TenantId
  readonly sub: string
  readonly outcome: 'done' | 'failed' | 'cancelled'
  /** Characters of the answer. */
  readonly chars: number
  readonly ms: number
}

export interface XmlaMeter {
  /** Counts a refused request by its status. */
  refused(status: number): void
  request(record: XmlaRecord): void
}

/** The meter over the process's metrics and log. */
export function xmlaMeter(metrics: Metrics, log: Logger): XmlaMeter {
  return {
    refused: (status) => metrics.xmlaRefused.inc({ status: String(status) }),
    request({ ms, ...record }) {
      metrics.xmlaRequests.inc({ tenant: record.tenant, outcome: record.outcome })
      metrics.xmlaRequestSeconds.observe({ tenant: record.tenant }, ms / 1_000)
      log.info({ ...record, ms: Math.round(ms) }, 'xmla request')
    },
  }
}
