/** Reports XMLA requests to the metrics and the log. It never reports the text of a statement. */

import type { Logger } from 'pino'
import type { TenantId } from '../../core/tenant.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { FaultText } from '../../wire/soap/write-envelope.ts'

interface XmlaRecord {
  readonly tenant: TenantId
  readonly sub: string
  readonly outcome: 'done' | 'failed' | 'cancelled'
  /** Of the fault that it was answered with. */
  readonly fault?: FaultText['code']
  /** Characters of the answer. */
  readonly chars: number
  readonly ms: number
}

export interface XmlaMeter {
  /** Counts a connection until it is closed. @returns closes it */
  opened(): () => void
  /** Counts a refused request by its status. */
  refused(status: number): void
  request(record: XmlaRecord): void
}

/** The meter over the process's metrics and log. */
export function xmlaMeter(metrics: Metrics, log: Logger): XmlaMeter {
  return {
    opened() {
      metrics.xmlaConnections.inc()
      return () => metrics.xmlaConnections.dec()
    },
    refused: (status) => metrics.xmlaRefused.inc({ status: String(status) }),
    request({ ms, ...record }) {
      const { tenant, fault } = record
      if (fault !== undefined) metrics.xmlaFaults.inc({ tenant, code: fault })
      metrics.xmlaRequests.inc({ tenant, outcome: record.outcome })
      metrics.xmlaRequestSeconds.observe({ tenant }, ms / 1_000)
      log.info({ ...record, ms: Math.round(ms) }, 'xmla request')
    },
  }
}
