/** Declares the metrics of the audit that proves itself. */

import { Counter, Gauge, type Registry } from 'prom-client'

export interface AuditMetrics {
  /** Leaves that were added to trees. */
  readonly auditLeaves: Counter
  /** What share of the history from before the trees is in them, 0 to 1. */
  readonly auditImported: Gauge
  /** Tenants whose tree the last run did not sign. */
  readonly auditUnsigned: Gauge
  /** Seconds that the oldest rows wait for their tree. */
  readonly auditWaiting: Gauge
}

/** The metrics of the audit trees, in a registry. */
export function auditMetrics(registry: Registry): AuditMetrics {
  return {
    auditLeaves: new Counter({
      name: 'svc_audit_leaves_total',
      help: 'Leaves that were added to the trees which prove the audit.',
      registers: [registry],
    }),
    auditImported: new Gauge({
      name: 'svc_audit_imported_ratio',
      help: 'Share of the history from before the audit trees that is in them, 0 to 1.',
      registers: [registry],
    }),
    auditUnsigned: new Gauge({
      name: 'svc_audit_unsigned_tenants',
      help: 'Tenants whose audit tree the last run did not sign, because of its key or its tree.',
      registers: [registry],
    }),
    auditWaiting: new Gauge({
      name: 'svc_audit_waiting_seconds',
      help: 'Seconds since the oldest rows were seen that are not in the audit tree of their tenant.',
      registers: [registry],
    }),
  }
}
