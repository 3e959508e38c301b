/** Declares the metrics of XMLA. */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

export interface XmlaMetrics {
  /** Also of those that have shown no credential yet. */
  readonly xmlaConnections: Gauge
  readonly xmlaRefused: Counter<'status'>
  /** `outcome`: done, failed or cancelled. */
  readonly xmlaRequests: Counter<'tenant' | 'outcome'>
  /** `code` as SOAP has it. Client: what was asked for; MustUnderstand, too. Server: what the service could not do. */
  readonly xmlaFaults: Counter<'tenant' | 'code'>
  readonly xmlaRequestSeconds: Histogram<'tenant'>
  readonly mdxThreadRestarts: Counter
}

/** The metrics of XMLA, in a registry. */
export function xmlaMetrics(registry: Registry): XmlaMetrics {
  const registers = [registry]
  return {
    xmlaConnections: new Gauge({
      name: 'svc_xmla_connections',
      help: 'Open connections to the XMLA listener.',
      registers,
    }),
    xmlaRefused: new Counter({
      name: 'svc_xmla_refused_total',
      help: 'XMLA requests that were refused before their message was read, by HTTP status.',
      labelNames: ['status'],
      registers,
    }),
    xmlaRequests: new Counter({
      name: 'svc_xmla_requests_total',
      help: 'XMLA requests, by tenant and outcome.',
      labelNames: ['tenant', 'outcome'],
      registers,
    }),
    xmlaFaults: new Counter({
      name: 'svc_xmla_faults_total',
      help: 'XMLA requests that were answered with a fault, by tenant and SOAP code.',
      labelNames: ['tenant', 'code'],
      registers,
    }),
    xmlaRequestSeconds: new Histogram({
      name: 'svc_xmla_request_duration_seconds',
      help: 'Time of an XMLA request until its answer was sent, in seconds, by tenant.',
      labelNames: ['tenant'],
      buckets: requestBuckets,
      registers,
    }),
    mdxThreadRestarts: new Counter({
      name: 'svc_mdx_thread_restarts_total',
      help: 'Threads for MDX that died or hung, and were replaced.',
      registers,
    }),
  }
}
