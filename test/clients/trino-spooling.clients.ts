/** Masks by their definition, and results through the spooling protocol, on a Trino that spools to S3. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { GovernedTable } from '../../src/core/governed-table.ts'
import { applyMask, type MaskAction, type MaskValue, maskActions, maskFits } from '../../src/core/mask.ts'
import { type ColumnVector, isNull } from '../../src/core/result-batch.ts'
import type { SqlType } from '../../src/core/sql-type.ts'
import { newTenantId } from '../../src/core/tenant.ts'
import { bytesAt } from '../../src/core/variable-width.ts'
import type { ComputeEngine } from '../../src/engine/engine.ts'
import { compileQuery } from '../../src/query/compile/compile.ts'
import { renderSql } from '../../src/query/compile/emit/render.ts'
import { principal } from '../query/support/fixture.ts'
import { eventually } from '../support/eventually.ts'
import { cellText } from '../support/vector-text.ts'
import { startRestFixture, startS3 } from './servers.ts'
import { icebergCatalog, startTrino, type TrinoServer, trinoSql } from './trino-server.ts'
import { currentSnapshot, trinoEngine } from './trino-tables.ts'

const stack = new AsyncDisposableStack()
let trino: TrinoServer
let engine: ComputeEngine
let unallowed: ComputeEngine
let catalogUrl: string
let s3: string

beforeAll(async () => {
  const fixture = stack.use(await startRestFixture())
  catalogUrl = fixture.url
  s3 = stack.use(await startS3('spool')).url
  trino = stack.use(
    await startTrino({
      catalogs: { lake: icebergCatalog(fixture.url), tpch: { 'connector.name': 'tpch' } },
      config: {
        'protocol.spooling.enabled': 'true',
        'protocol.spooling.shared-secret-key': Buffer.alloc(32, 7).toString('base64'),
        'protocol.spooling.initial-segment-size': '1MB',
      },
      spooling: {
        'spooling-manager.name': 'filesystem',
        'fs.s3.enabled': 'true',
        'fs.location': 's3://spool/',
        'fs.segment.encryption': 'false',
        's3.endpoint': s3,
        's3.region': 'us-east-1',
        's3.path-style-access': 'true',
        's3.aws-access-key': 'testing',
        's3.aws-secret-key': 'testing',
      },
    }),
  )
  engine = trinoEngine(trino.url, fixture.url, [new URL(s3)])
  unallowed = trinoEngine(trino.url, fixture.url)
  await trinoSql(trino.url, 'CREATE SCHEMA lake.s')
}, 180_000)

afterAll(() => stack.disposeAsync())

const start = (from: ComputeEngine) =>
  from.open([], {
    queryId: crypto.randomUUID(),
    tenant: newTenantId(),
    principal: 'ann',
    signal: AbortSignal.timeout(120_000),
  })

const spooled = {
  sql: 'SELECT orderkey, comment FROM tpch.sf1.orders',
  columns: [
    { name: 'orderkey', type: 'int8' },
    { name: 'comment', type: 'text' },
  ],
} as const

/** Names of the objects in the bucket. */
async function objects(): Promise<readonly string[]> {
  const listing = await (await fetch(`${s3}/spool?list-type=2`)).text()
  return [...listing.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key)
}

test('trino-spooling: reads a result of many segments from storage, whole, and acknowledges them', async () => {
  const session = await start(engine)
  let rowCount = 0
  const keys = new Set<bigint>()
  let mostObjects = 0
  for await (const { rowCount: rows, columns } of session.run(spooled)) {
    rowCount += rows
    const [vector] = columns
    if (vector?.type !== 'int8') throw new Error('the first column is no int8')
    for (const key of vector.values) keys.add(key)
    if (mostObjects === 0) mostObjects = (await objects()).length
  }
  await session.close()
  expect(mostObjects).toBeGreaterThan(0)
  expect(rowCount).toBe(1_500_000)
  expect(keys.size).toBe(rowCount)
  await eventually(async () => (await objects()).length === 0)
})

test('trino-spooling: reads no segment from storage that is not allowed', async () => {
  const session = await start(unallowed)
  const failure = await Array.fromAsync(session.run(spooled)).catch((error: unknown) => error)
  await session.close()
  expect(failure).toMatchObject({ code: '08006' })
})

const texts = [
  '',
  'a',
  '1234',
  '12345',
  'Ab9 ü@(x),.-é',
  '😀😀😀😀😀1',
  'line\nbreak\t9',
  "it's",
  'null',
  'e\u0301combining 12',
  '日本語テキスト',
  'ß١٢',
]
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

interface Sample {
  readonly type: string
  readonly served: SqlType
  readonly trino: string
  readonly values: readonly (readonly [MaskValue, string])[]
}

const samples: readonly Sample[] = [
  { type: 'string', served: 'text', trino: 'VARCHAR', values: texts.map((text) => [text, quoted(text)]) },
  {
    type: 'int',
    served: 'int4',
    trino: 'INTEGER',
    values: [0, 1, -1, 2147483647, -2147483648, 424242].map((value) => [
      value,
      `CAST('${value}' AS INTEGER)`,
    ]),
  },
  {
    type: 'long',
    served: 'int8',
    trino: 'BIGINT',
    values: [0n, 1n, -1n, 9223372036854775807n, -9223372036854775808n].map((value) => [
      value,
      `CAST('${value}' AS BIGINT)`,
    ]),
  },
  {
    type: 'date',
    served: 'date',
    trino: 'DATE',
    values: [0, -1, 19_782, -141_428, 11_016].map((days) => [
      days,
      `date_add('day', ${days}, DATE '1970-01-01')`,
    ]),
  },
  ...(['timestamp', 'timestamptz'] as const).map(
    (type): Sample => ({
      type,
      served: type,
      trino: type === 'timestamp' ? 'TIMESTAMP(6)' : 'TIMESTAMP(6) WITH TIME ZONE',
      values: [
        [0n, '1970-01-01 00:00:00'],
        [-1n, '1969-12-31 23:59:59.999999'],
        [1709251199999999n, '2024-02-29 23:59:59.999999'],
      ].map(([micros, text]) => [
        micros as bigint,
        `TIMESTAMP '${text}${type === 'timestamp' ? '' : ' UTC'}'`,
      ]),
    }),
  ),
  {
    type: 'boolean',
    served: 'bool',
    trino: 'BOOLEAN',
    values: [
      [true, 'true'],
      [false, 'false'],
    ],
  },
  {
    type: 'decimal(9,2)',
    served: 'numeric',
    trino: 'DECIMAL(9,2)',
    values: [
      ['1.25', `DECIMAL '1.25'`],
      ['-3.00', `DECIMAL '-3.00'`],
    ],
  },
  {
    type: 'binary',
    served: 'bytea',
    trino: 'VARBINARY',
    values: [
      [new Uint8Array([0, 255, 1]), `X'00ff01'`],
      [new Uint8Array(), `X''`],
    ],
  },
  {
    type: 'uuid',
    served: 'uuid',
    trino: 'UUID',
    values: [['00000000-0000-0000-0000-000000000001', `UUID '00000000-0000-0000-0000-000000000001'`]],
  },
  { type: 'double', served: 'float8', trino: 'DOUBLE', values: [[1.5, `DOUBLE '1.5'`]] },
]

/** A cell in the terms of the masks' definition. */
function plainCell(vector: ColumnVector, row: number): string {
  if (isNull(vector, row)) return 'null'
  switch (vector.type) {
    case 'bool':
      return String(vector.values[row] === 1)
    case 'bytea':
      return Buffer.from(bytesAt(vector, row)).toString('hex')
    case 'date':
    case 'timestamp':
    case 'timestamptz':
      return String(vector.values[row])
    default:
      return cellText(vector, row) ?? ''
  }
}

function plainValue(value: MaskValue): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
}

const salt = new Uint8Array(16).fill(9)
function governed({ type }: Sample, action: MaskAction): GovernedTable {
  const name = type.replace(/\W.*/, '')
  return {
    ref: { namespace: ['s'], name },
    schemaName: 's',
    tableName: name,
    relation: { trino: ['lake', 's', name] },
    columns: [
      { name: 'n', fieldId: 1, type: 'int', required: false, masks: [] },
      {
        name: 'x',
        fieldId: 2,
        type,
        required: false,
        masks: [{ policyId: 'm', origin: { kind: 'column' }, action }],
      },
    ],
    rowFilters: [],
    contract: { id: 'c', version: 1 },
  }
}

async function maskedColumn(sample: Sample, action: MaskAction): Promise<readonly string[]> {
  const at = await currentSnapshot(catalogUrl, governed(sample, action))
  const compiled = compileQuery({
    text: `SELECT x FROM "${at.table.tableName}" ORDER BY n`,
    principal,
    tables: [at.table],
    searchPath: ['s'],
  })
  const session = await engine.open([at], {
    queryId: crypto.randomUUID(),
    tenant: newTenantId(),
    principal: 'ann',
    signal: AbortSignal.timeout(60_000),
  })
  const sql = renderSql(compiled.emit('trino'), 'trino', {
    salt,
    relation: (table) => session.relation(table),
  })
  const found: string[] = []
  for await (const { rowCount, columns } of session.run({ sql, columns: compiled.columns })) {
    const [vector] = columns
    if (vector === undefined) throw new Error('there is no column')
    for (let row = 0; row < rowCount; row++) found.push(plainCell(vector, row))
  }
  await session.close()
  return found
}

test.each(samples.map((sample) => [sample.type, sample] as const))(
  'trino-spooling: every mask of a %s gives what its definition says, byte for byte',
  async (type, sample) => {
    const name = `lake.s."${governed(sample, 'mask-alphanum').tableName}"`
    await trinoSql(trino.url, `CREATE TABLE ${name} (n INTEGER, x ${sample.trino})`)
    const rows = sample.values.map(([, sql], index) => `(${index + 1}, ${sql})`)
    await trinoSql(trino.url, `INSERT INTO ${name} VALUES (0, NULL), ${rows.join(', ')}`)
    let compared = 0
    for (const action of maskActions) {
      if (action === 'apply-expression' || !maskFits(action, type)) continue
      const expected = [null, ...sample.values.map(([value]) => value)].map((value) =>
        plainValue(applyMask(action, type, value, salt)),
      )
      expect([action, ...(await maskedColumn(sample, action))]).toEqual([action, ...expected])
      compared += expected.length
    }
    expect(compared).toBeGreaterThan(0)
  },
)
