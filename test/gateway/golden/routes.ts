/** Lists every route under /v1/iceberg with a valid request, for the recorded responses. */

import { createTable, orderFields, schemaOf, setProperties } from '../../../demo/commits.ts'
import { operations } from '../../../src/gateway/client-surface/operations.ts'

/** What a route needs to be there before, and which requests to the upstream it makes. */
export interface GoldenRoute {
  readonly id: string
  readonly method: string
  /** Below `/v1/iceberg/{prefix}`, with the namespace in it. */
  readonly path: (namespace: string) => string
  readonly body?: (namespace: string) => string
  /** What the upstream has to do for it, as the development catalog counts it. */
  readonly upstream: 'commit' | 'other' | 'read' | 'load' | 'none'
  /** Whether policies are asked. */
  readonly gated: boolean
  /** The namespace that it makes; absent for a route that works in a namespace that is there. */
  readonly makesNamespace?: true
}

const identifier = (namespace: string, name: string) => ({ namespace: [namespace], name })
const version = { 'version-id': 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {}, representations: [] }

/** A CreateViewRequest. */
export function createView(name: string): string {
  const representations = [{ type: 'sql', sql: 'select 1', dialect: 'spark' }]
  const view = { ...version, representations, 'default-namespace': ['n'] }
  return JSON.stringify({ name, schema: schemaOf(orderFields), 'view-version': view, properties: {} })
}

const commitBody = () => setProperties({ a: '1' })
const changeOf = (namespace: string, name: string) => ({
  identifier: identifier(namespace, name),
  ...JSON.parse(commitBody()),
})
const transactionBody = (namespace: string) =>
  JSON.stringify({ 'table-changes': [changeOf(namespace, 'first'), changeOf(namespace, 't')] })

const bodies: Readonly<Record<string, (namespace: string) => string>> = {
  createNamespace: (namespace) => JSON.stringify({ namespace: [namespace], properties: {} }),
  updateProperties: () => JSON.stringify({ updates: { a: '1' }, removals: [] }),
  createTable: () => createTable('made'),
  registerTable: () => JSON.stringify({ name: 'made', 'metadata-location': 'file:///x/1.metadata.json' }),
  updateTable: commitBody,
  renameTable: (namespace) =>
    JSON.stringify({ source: identifier(namespace, 't'), destination: identifier(namespace, 'made') }),
  commitTransaction: transactionBody,
  createView: () => createView('made'),
  replaceView: () => JSON.stringify({ requirements: [], updates: [] }),
  renameView: (namespace) =>
    JSON.stringify({ source: identifier(namespace, 'v'), destination: identifier(namespace, 'made') }),
  registerView: () => JSON.stringify({ name: 'made', 'metadata-location': 'file:///x/1.metadata.json' }),
  planTableScan: () => '{}',
  fetchScanTasks: () => '{"plan-task":"x"}',
  reportMetrics: () => '{}',
  signRequest: () => '{}',
  getToken: () => 'grant_type=client_credentials',
}

const upstreamOf = (id: string, treatment: string): GoldenRoute['upstream'] => {
  if (id === 'updateTable' || id === 'commitTransaction') return 'commit'
  if (id === 'loadTable') return 'load'
  if (treatment === 'gated' || id.includes('Plan') || id.includes('Scan')) return 'other'
  return treatment === 'read' ? 'read' : 'none'
}

const clientRoutes = operations.map(({ id, method, path, treatment }): GoldenRoute => {
  const body = bodies[id]
  return {
    id,
    method,
    path: (namespace) =>
      // Else it would list what other cases have made.
      `${path}${id === 'listNamespaces' ? '?parent={namespace}' : ''}`
        .replace('/{prefix}', '')
        .replace('{namespace}', namespace)
        .replace('{table}', 't')
        .replace('{view}', 'v')
        .replace('{function}', 'f')
        .replace('{plan-id}', 'p1'),
    ...(body && { body }),
    upstream: upstreamOf(id, treatment),
    gated: treatment === 'gated',
    ...(id === 'createNamespace' && { makesNamespace: true }),
  }
})

const literalRoutes: readonly GoldenRoute[] = [
  {
    id: 'literal table commit',
    method: 'POST',
    path: (namespace) => `/namespaces/${namespace}/tables/t`,
    body: commitBody,
    upstream: 'commit',
    gated: true,
  },
  {
    id: 'literal transaction',
    method: 'POST',
    path: () => '/transactions/commit',
    body: transactionBody,
    upstream: 'commit',
    gated: true,
  },
]

const nowhere = ['', '/nothing', '/namespaces/n/tables', '/v1', '/v1/nothing', '/v1/x/v1/oauth/tokens']

export const goldenRoutes: readonly GoldenRoute[] = [
  ...literalRoutes,
  ...clientRoutes,
  ...nowhere.map((path): GoldenRoute => {
    const id = `no route, ${path === '' ? 'nothing below the prefix' : path}`
    return { id, method: 'POST', path: () => path, body: () => '{}', upstream: 'none', gated: false }
  }),
]
