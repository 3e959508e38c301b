/**
 * Lists every operation of the Iceberg REST OpenAPI document and how the client surface treats it. The document is that
 * of Iceberg 1.11; later additions of its main branch are marked. An operation that is not listed is not served.
 */

/**
 * - `own`: answered by the gateway without changing the upstream
 * - `read`: forwarded; changes nothing
 * - `gated`: forwarded only after a verdict
 * - `refused`: never forwarded
 */
export type Treatment = 'own' | 'read' | 'gated' | 'refused'

interface IcebergOperation {
  readonly id: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE'
  /** As in the OpenAPI document. The gateway serves it under `/v1/iceberg/{prefix}`, without the second prefix. */
  readonly path: string
  readonly treatment: Treatment
}

const namespaces = '/v1/{prefix}/namespaces'
const namespace = `${namespaces}/{namespace}`
const table = `${namespace}/tables/{table}`
const view = `${namespace}/views/{view}`

export const operations = [
  { id: 'getConfig', method: 'GET', path: '/v1/config', treatment: 'own' },
  { id: 'getToken', method: 'POST', path: '/v1/oauth/tokens', treatment: 'own' },
  { id: 'listNamespaces', method: 'GET', path: namespaces, treatment: 'read' },
  { id: 'createNamespace', method: 'POST', path: namespaces, treatment: 'gated' },
  { id: 'loadNamespaceMetadata', method: 'GET', path: namespace, treatment: 'read' },
  { id: 'namespaceExists', method: 'HEAD', path: namespace, treatment: 'read' },
  { id: 'dropNamespace', method: 'DELETE', path: namespace, treatment: 'gated' },
  { id: 'updateProperties', method: 'POST', path: `${namespace}/properties`, treatment: 'gated' },
  { id: 'listTables', method: 'GET', path: `${namespace}/tables`, treatment: 'read' },
  { id: 'createTable', method: 'POST', path: `${namespace}/tables`, treatment: 'gated' },
  // Since 1.11.
  { id: 'listFunctions', method: 'GET', path: `${namespace}/functions`, treatment: 'read' },
  { id: 'loadFunction', method: 'GET', path: `${namespace}/functions/{function}`, treatment: 'read' },
  { id: 'planTableScan', method: 'POST', path: `${table}/plan`, treatment: 'read' },
  { id: 'fetchPlanningResult', method: 'GET', path: `${table}/plan/{plan-id}`, treatment: 'read' },
  { id: 'cancelPlanning', method: 'DELETE', path: `${table}/plan/{plan-id}`, treatment: 'read' },
  { id: 'fetchScanTasks', method: 'POST', path: `${table}/tasks`, treatment: 'read' },
  { id: 'registerTable', method: 'POST', path: `${namespace}/register`, treatment: 'gated' },
  { id: 'loadTable', method: 'GET', path: table, treatment: 'read' },
  { id: 'updateTable', method: 'POST', path: table, treatment: 'gated' },
  { id: 'dropTable', method: 'DELETE', path: table, treatment: 'gated' },
  { id: 'tableExists', method: 'HEAD', path: table, treatment: 'read' },
  // Since 1.11.
  { id: 'unregisterTable', method: 'POST', path: `${table}/unregister`, treatment: 'gated' },
  { id: 'loadCredentials', method: 'GET', path: `${table}/credentials`, treatment: 'read' },
  // A signed request would bypass every policy and mask.
  { id: 'signRequest', method: 'POST', path: `${table}/sign`, treatment: 'refused' },
  { id: 'renameTable', method: 'POST', path: '/v1/{prefix}/tables/rename', treatment: 'gated' },
  { id: 'reportMetrics', method: 'POST', path: `${table}/metrics`, treatment: 'own' },
  {
    id: 'commitTransaction',
    method: 'POST',
    path: '/v1/{prefix}/transactions/commit',
    treatment: 'gated',
  },
  { id: 'listViews', method: 'GET', path: `${namespace}/views`, treatment: 'read' },
  { id: 'createView', method: 'POST', path: `${namespace}/views`, treatment: 'gated' },
  { id: 'loadView', method: 'GET', path: view, treatment: 'read' },
  { id: 'replaceView', method: 'POST', path: view, treatment: 'gated' },
  { id: 'dropView', method: 'DELETE', path: view, treatment: 'gated' },
  { id: 'viewExists', method: 'HEAD', path: view, treatment: 'read' },
  { id: 'renameView', method: 'POST', path: '/v1/{prefix}/views/rename', treatment: 'gated' },
  { id: 'registerView', method: 'POST', path: `${namespace}/register-view`, treatment: 'gated' },
] as const satisfies readonly IcebergOperation[]

export type OperationId = (typeof operations)[number]['id']

/** The operations that plan scans. */
export const planOperations: ReadonlySet<OperationId> = new Set([
  'planTableScan',
  'fetchPlanningResult',
  'cancelPlanning',
  'fetchScanTasks',
])

/** The operation as the `endpoints` of a ConfigResponse list it. */
export function endpointOf({ method, path }: Pick<IcebergOperation, 'method' | 'path'>): string {
  return `${method} ${path}`
}

/** The operations that are assumed if `endpoints` is not sent (the OpenAPI document, getConfig). */
export const defaultOperations: ReadonlySet<OperationId> = new Set([
  'listNamespaces',
  'createNamespace',
  'loadNamespaceMetadata',
  'dropNamespace',
  'updateProperties',
  'listTables',
  'createTable',
  'loadTable',
  'updateTable',
  'dropTable',
  'registerTable',
  'reportMetrics',
  'renameTable',
  'commitTransaction',
])
