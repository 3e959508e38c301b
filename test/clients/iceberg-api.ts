/** Calls an Iceberg REST catalog for a test, directly or through the gateway. */

import type { TableRef } from '../../src/core/table-ref.ts'

export interface Target {
  /** Everything before `/namespaces`. */
  readonly base: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface LoadedTable {
  readonly 'metadata-location': string
  readonly metadata: {
    readonly 'table-uuid': string
    readonly properties: Readonly<Record<string, string>>
    readonly snapshots?: readonly { readonly 'snapshot-id': number }[]
  }
}

/** A CreateTableRequest with everything that some server demands. */
function createTableBody(name: string): string {
  return JSON.stringify({
    name,
    'stage-create': false,
    schema: {
      type: 'struct',
      'schema-id': 0,
      fields: [
        { id: 1, name: 'id', type: 'long', required: true },
        { id: 2, name: 'customer', type: 'string', required: false },
      ],
    },
  })
}

/** Makes a table, and its namespace where that is not there. */
export async function createTable(target: Target, table: TableRef): Promise<LoadedTable> {
  await send(target, 'POST', '/namespaces', JSON.stringify({ namespace: table.namespace }))
  const path = `/namespaces/${table.namespace.join('%1F')}/tables`
  const answer = await send(target, 'POST', path, createTableBody(table.name))
  if (answer.status !== 200) throw new Error(`the catalog answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as LoadedTable
}

export async function loadTable(target: Target, table: TableRef): Promise<LoadedTable> {
  const answer = await send(target, 'GET', tablePath(table))
  if (answer.status !== 200) throw new Error(`the catalog answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as LoadedTable
}

export function tablePath(table: TableRef): string {
  return `/namespaces/${table.namespace.join('%1F')}/tables/${table.name}`
}

export function send(target: Target, method: string, path: string, body?: string): Promise<Response> {
  return fetch(target.base + path, {
    method,
    headers: { 'content-type': 'application/json', ...target.headers },
    ...(body === undefined ? {} : { body }),
  })
}
