/**
 * The demo's protected writes: a policy demands the plan of the transform, and a writer protects its rows by it before
 * their bytes reach storage. What lies in the Parquet file is read back by DuckDB.
 */

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DuckDBInstance } from '@duckdb/node-api'
import { quoteText } from '../src/base/sql-text.ts'
import { serviceSubject } from '../src/core/principal.ts'
import type { TableRef } from '../src/core/table-ref.ts'
import { putPolicy } from '../src/store/policy/policies.ts'
import { createServiceSession } from '../src/store/session/sessions.ts'
import { fetchPlan } from '../src/transform/fetch-plan.ts'
import { proofProperty } from '../src/transform/plan-proof.ts'
import { protectColumns } from '../src/transform/protect-values.ts'
import { appendSnapshot, setProperties } from './commits.ts'
import { duckdbParquet } from './lake/duckdb-parquet.ts'
import { folderSink, IcebergWriter } from './lake/iceberg-writer.ts'
import type { Step } from './steps.ts'
import { commitHeaders, createTable, type World, type Writer } from './world.ts'

const customers: TableRef = { namespace: ['sales'], name: 'customers' }
const fields = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'email', type: 'string' },
  { id: 3, name: 'note', type: 'string' },
] as const
const rows = {
  id: [1n, 2n],
  email: ['ada@example.com', 'bo@example.org'],
  note: ['prefers the phone', 'pays late'],
}
const rules = {
  email: { action: 'tokenize', method: 'hmac', scope: 'customer.email' },
  note: { action: 'encrypt', method: 'siv', scope: 'customer.note' },
}

const path = '/v1/iceberg/main/namespaces/sales/tables/customers'
const writer: Writer = { sub: 'airflow', roles: [] }
const policy = 'protected-writes'
const message = 'write with the plan of the table (docs/transform.md)'

export interface ProtectStep extends Step {
  /** The Parquet file that the commit adds; absent where it was not written. */
  readonly file?: string
}

/** Makes sales.customers of acme, with rules for two columns and a policy that demands the plan. */
export async function governWriting(world: World): Promise<void> {
  const { app, store, acme } = world
  await createTable(acme.catalog, customers.name, fields)
  const answer = await fetch(new URL(path, app.url), {
    method: 'POST',
    headers: commitHeaders(acme, writer),
    // Manifests would keep the least and the greatest value of the column.
    body: setProperties({ 'write.metadata.metrics.column.note': 'none' }),
  })
  if (!answer.ok) throw new Error(`the table of the demo was answered ${answer.status}`)
  const { secret } = await createServiceSession(store, acme.id, {
    name: 'stella',
    principal: { sub: serviceSubject('stella'), roles: ['steward'] },
    scopes: ['admin'],
  })
  for (const [column, rule] of Object.entries(rules)) {
    const url = new URL(`/api/v1/transform/rules/columns/sales/customers/${column}`, app.url)
    const headers = { 'x-svc-session': secret, 'content-type': 'application/json' }
    const saved = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(rule) })
    if (!saved.ok) throw new Error(`the rule of ${column} was answered ${saved.status}`)
  }
  await putPolicy(store, acme.id, customers, {
    ...{ id: policy, name: policy, kind: 'schema', mode: 'enforce', message },
    definitionCel: 'transform.current(commit)',
  })
}

/** The commits, to be run after {@link governWriting} is done. The plan lives ten minutes. */
export async function protectSteps(world: World, nowMs: number): Promise<readonly ProtectStep[]> {
  const { warehouse, secret } = world.acme
  const open = await fetchPlan({
    url: world.app.url.origin,
    table: [...customers.namespace, customers.name],
    catalog: 'main',
    headers: { 'x-svc-session': secret },
  })
  const safe = protectColumns(open, rows, Math.floor(nowMs / 1_000))
  const { location, put } = folderSink(join(warehouse, 'sales', customers.name))
  const lake = new IcebergWriter({
    fields,
    location,
    // The catalog writes metadata files when the commits arrive.
    put: (at, bytes) => (at.endsWith('.metadata.json') ? undefined : put(at, bytes)),
  })
  const bytes = await parquetOf(safe)
  const { snapshotId, manifestList, files } = await lake.append([
    { rows: [], bytes, recordCount: rows.id.length },
  ])
  const body = appendSnapshot({ snapshotId, sequenceNumber: 1, timestampMs: nowMs, manifestList })
  const proof = `${open.plan.policy_version}:${open.plan.nonce}`
  const common = { tenant: 'acme', path, writer } as const
  const reason = `${policy}: ${message}`
  return [
    {
      ...common,
      title: 'A writer commits rows that no plan protected',
      because: 'the policy demands transform.current(commit), and the snapshot shows no plan',
      body: body.replace(manifestList, `${dirname(manifestList)}/unwritten.avro`),
      expected: {
        status: 403,
        body: { text: `policy denied: ${reason}` },
        audit: { decision: 'REJECTED', reason, committer: writer.sub },
        rejected: { policy_denied: 1 },
        forwarded: 0,
      },
    },
    {
      ...common,
      title: 'It has a library protect the rows first',
      because: 'emails were tokenized and notes encrypted before the file was written',
      body: body.replace(
        '{"operation":"append"}',
        JSON.stringify({ operation: 'append', [proofProperty]: proof }),
      ),
      expected: {
        status: 200,
        body: { table: true },
        audit: { decision: 'APPROVED', reason: '', committer: writer.sub },
        forwarded: 1,
      },
      file: fileURLToPath(files[0] ?? ''),
    },
  ]
}

/** What lies in a Parquet file, a row on each line. */
export async function rowsInFile(file: string): Promise<readonly string[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const read = await connection.runAndReadAll(`SELECT * FROM read_parquet(${quoteText(file)})`)
    return read.getRowObjectsJson().map((row) => JSON.stringify(row))
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** @returns each difference as a sentence: a value that is in the file, or a look that would not find it in clear */
export async function checkFile(file: string): Promise<readonly string[]> {
  const [protectedBytes, clearBytes] = [readFileSync(file), Buffer.from(await parquetOf(rows))]
  const lines = await rowsInFile(file)
  const problems = [...rows.email, ...rows.note].flatMap((value) => [
    ...(protectedBytes.includes(value) ? [`the file holds ${value}`] : []),
    ...(clearBytes.includes(value) ? [] : [`a file in clear would not show ${value}`]),
  ])
  const isProtected = (line: string) => /"email":"tok_[a-z2-7]{26}","note":"cse1\.k1\./.test(line)
  if (lines.length !== rows.id.length || !lines.every(isProtected))
    problems.push('the rows in the file should be tokens and ciphertexts')
  return problems
}

async function parquetOf(columns: Readonly<Record<string, readonly unknown[]>>): Promise<Uint8Array> {
  const values = rows.id.map((_, row) => {
    const [id, email, note] = ['id', 'email', 'note'].map((name) => String(columns[name]?.[row]))
    return `(CAST(${id} AS BIGINT), ${quoteText(email ?? '')}, ${quoteText(note ?? '')})`
  })
  return await duckdbParquet(
    `SELECT * FROM (VALUES ${values.join(', ')}) AS t (id, email, note)`,
    `{${fields.map(({ id, name }) => `${name}: ${id}`).join(', ')}}`,
  )
}
