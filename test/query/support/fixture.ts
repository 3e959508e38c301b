/**
 * Small tables with canaries: the same rows in PostgreSQL (behind security-barrier views) and in DuckDB (behind the
 * compiler), so that one result checks the other.
 */

import type { AttachedMask, GovernedTable } from '../../../src/core/governed-table.ts'
import type { Principal } from '../../../src/core/principal.ts'

export const principal: Principal = { sub: 'ann', roles: ['analyst'] }

/** Stands in every value that nobody may see. */
export const canary = 'CANARY'

interface TableFixture {
  readonly governed: GovernedTable
  /** PostgreSQL column definitions of the base table, and the same for DuckDB where they differ. */
  readonly columns: readonly (readonly [name: string, postgres: string, duckdb?: string])[]
  readonly rows: readonly string[]
  /** The select list and condition of the oracle's view. */
  readonly view: { readonly select: string; readonly where?: string }
}

const contract = { id: 'c1', version: 1 }
const mask = (action: string, expression?: string): AttachedMask => ({
  policyId: `mask-${action}`,
  origin: { kind: 'column' },
  action,
  ...(expression !== undefined && { expression }),
})
const column = (name: string, type: GovernedTable['columns'][number]['type'], ...masks: AttachedMask[]) => ({
  name,
  type,
  required: false,
  masks,
})
const table = (
  schemaName: string,
  tableName: string,
  columns: readonly ReturnType<typeof column>[],
  filters: readonly string[] = [],
): GovernedTable => ({
  ref: { namespace: [schemaName], name: tableName },
  schemaName,
  tableName,
  relation: { duckdb: ['main', `base_${tableName}`], trino: ['iceberg', schemaName, tableName] },
  columns: columns.map((each, index) => ({ ...each, fieldId: index + 1 })),
  rowFilters: filters.map((expression, index) => ({
    policyId: `filter-${tableName}-${index}`,
    origin: { kind: 'table' },
    expression,
  })),
  contract,
})

const maskedText = (sql: string) =>
  `regexp_replace(regexp_replace(${sql}, '[^0-9(),.@-]', 'x', 'g'), '[0-9]', 'n', 'g')`

export const fixtures: readonly TableFixture[] = [
  {
    governed: table(
      'sales',
      'orders',
      [
        column('id', 'int'),
        column('customer_id', 'int'),
        column('status', 'string'),
        column('region', 'string'),
        column('amount', 'decimal(12,2)'),
        column('discount', 'double'),
        column('quantity', 'int'),
        column('ordered_on', 'date'),
        column('created_at', 'timestamp'),
        column('shipped_at', 'timestamptz'),
        column('note', 'string', mask('replace-with-null')),
        column('priority', 'boolean'),
        column('tags', { type: 'list', element: 'string' }),
        column('payload', 'string'),
        column('big', 'long'),
      ],
      ["region <> 'SECRET'", "has_role('analyst')"],
    ),
    columns: [
      ['id', 'int'],
      ['customer_id', 'int'],
      ['status', 'text'],
      ['region', 'text'],
      ['amount', 'numeric(12,2)'],
      ['discount', 'float8', 'double'],
      ['quantity', 'int'],
      ['ordered_on', 'date'],
      ['created_at', 'timestamp'],
      ['shipped_at', 'timestamptz'],
      ['note', 'text'],
      ['priority', 'boolean'],
      ['tags', 'text[]'],
      ['payload', 'text'],
      ['big', 'bigint'],
    ],
    rows: [
      `(1, 1, 'paid', 'EU', 100.50, 0.1, 3, '2024-01-15', '2024-01-15 10:20:30.5', '2024-01-16 08:00:00+00', 'CANARY-n1', true, array['a','b'], '{"k":{"x":1},"list":[1,2],"s":"t"}', 9000000000)`,
      `(2, 1, 'open', 'EU', 20.00, 0, 1, '2024-02-01', '2024-02-01 23:59:59', null, 'CANARY-n2', false, array['b'], '{"k":null,"list":[]}', 1)`,
      `(3, 2, 'paid', 'US', 7.25, 0.25, 10, '2024-02-29', '2024-02-29 00:00:00', '2024-03-01 12:30:00+00', null, null, array[]::text[], null, null)`,
      `(4, 2, 'cancelled', 'US', 999.99, null, 2, '2024-03-10', '2024-03-10 05:06:07.123456', '2024-03-12 23:15:00+00', 'CANARY-n4', true, null, '{"k":{"x":5},"list":[7],"s":"u"}', -5)`,
      `(5, 3, 'paid', 'APAC', null, 0.5, null, '2023-12-31', '2023-12-31 18:00:00', '2024-01-02 00:00:00+00', 'CANARY-n5', false, array['c','a'], '{"s":"100%"}', 42)`,
      `(6, null, null, 'APAC', 0.00, 0.05, 0, null, null, null, 'CANARY-n6', null, array['b',null], '{"list":[3,1,2]}', 0)`,
      `(7, 4, 'open', 'EU', 50.00, 0.15, 5, '2024-03-15', '2024-03-15 12:00:00', '2024-03-20 09:30:00+00', null, true, array['a'], '{}', 7)`,
      `(8, 1, 'paid', 'EU', 50.00, 0.2, 4, '2024-03-15', '2024-03-15 13:45:00', '2024-03-21 10:00:00+00', null, false, array['d','a','b'], '{"s":"it''s"}', 8)`,
      `(90, 1, 'CANARY-status', 'SECRET', 31337.31, 0.313, 31337, '1999-09-09', '1999-09-09 09:09:09', '1999-09-09 09:09:09+00', 'CANARY-note', true, array['CANARY'], '{"s":"CANARY"}', 31337)`,
      `(91, 2, 'CANARY-null-region', null, 31337.31, 0.313, 31337, '1999-09-09', '1999-09-09 09:09:09', null, 'CANARY-note', true, array['CANARY'], 'CANARY', 31337)`,
      `(92, 3, '', 'SECRET', 0, 0, 0, '1999-09-09', '1999-09-09 09:09:09', null, 'CANARY', null, null, 'not json', 0)`,
    ],
    view: {
      select:
        'id, customer_id, status, region, amount, discount, quantity, ordered_on, created_at, shipped_at, null::text as note, priority, tags, payload, big',
      where: `region <> 'SECRET'`,
    },
  },
  {
    governed: table(
      'sales',
      'customers',
      [
        column('id', 'int'),
        column('name', 'string'),
        column('email', 'string', mask('mask-alphanum')),
        column('phone', 'string', mask('show-last-4')),
        column('city', 'string'),
        column('country', 'string', mask('show-first-4')),
        column('born', 'date', mask('truncate-to-year')),
        column('ssn', 'string', mask('sha-256-global')),
        column('score', 'double', mask('apply-expression', 'round(score)')),
        column('vip', 'boolean', mask('mask-to-fixed-value')),
      ],
      ["city IS DISTINCT FROM 'Hidden' AND current_principal() = 'ann'"],
    ),
    columns: [
      ['id', 'int'],
      ['name', 'text'],
      ['email', 'text'],
      ['phone', 'text'],
      ['city', 'text'],
      ['country', 'text'],
      ['born', 'date'],
      ['ssn', 'text'],
      ['score', 'float8', 'double'],
      ['vip', 'boolean'],
    ],
    rows: [
      `(1, 'Ada', 'CANARY.ada@example.com', '+49 170 CANARY 1234', 'Berlin', 'GermanyCANARY', '1815-12-10', 'CANARY-1', 1.4, true)`,
      `(2, 'Bob Ünal', 'bob-CANARY@x.org', '555CANARY5678', 'Paris', 'FranceCANARY', '1990-06-15', 'CANARY-2', 2.5, false)`,
      `(3, 'Cem', null, null, null, null, null, null, null, null)`,
      `(4, 'Dora O''Neil', 'd.CANARY+tag@例え.jp', 'CANARY9', 'Paris', 'FRA', '2000-02-29', 'CANARY-4', 3.6, true)`,
      `(5, 'eve', 'e@CANARY.io', '1', 'London', 'GBR', '1985-01-01', 'CANARY-5', -1.5, false)`,
      `(99, 'CANARY-name', 'CANARY', 'CANARY', 'Hidden', 'CANARY', '1999-09-09', 'CANARY', 313.37, true)`,
    ],
    view: {
      select: `id, name, ${maskedText('email')} as email, case when length(phone) <= 4 then phone else ${maskedText('left(phone, length(phone) - 4)')} || right(phone, 4) end as phone, city, substr(country, 1, 4) || ${maskedText('substr(country, 5)')} as country, date_trunc('year', born::timestamp)::date as born, encode(sha256(convert_to(ssn, 'UTF8')), 'hex') as ssn, round(score) as score, false as vip`,
      where: `city IS DISTINCT FROM 'Hidden'`,
    },
  },
  {
    governed: table('sales', 'items', [
      column('order_id', 'int'),
      column('line', 'int'),
      column('sku', 'string'),
      column('price', 'decimal(10,3)'),
      column('qty', 'long'),
      column('weight', 'float'),
      column('uid', 'uuid'),
    ]),
    columns: [
      ['order_id', 'int'],
      ['line', 'int'],
      ['sku', 'text'],
      ['price', 'numeric(10,3)'],
      ['qty', 'bigint'],
      ['weight', 'float4', 'float'],
      ['uid', 'uuid'],
    ],
    rows: [
      `(1, 1, 'A-100', 10.250, 3, 1.5, '00000000-0000-0000-0000-000000000001')`,
      `(1, 2, 'B-200', 5.000, 14, 0.25, '00000000-0000-0000-0000-000000000002')`,
      `(2, 1, 'A-100', 20.000, 1, null, null)`,
      `(3, 1, 'c_300%', 0.725, 10, 2.5, '00000000-0000-0000-0000-0000000000ff')`,
      `(7, 1, 'A-100', 10.000, 5, 3.75, null)`,
      `(8, 1, 'D\\400', 12.500, 4, 0.5, null)`,
      `(42, 1, 'orphan', 1.000, -7, -1.25, null)`,
    ],
    view: { select: '*' },
  },
  {
    governed: table(
      'hr',
      'employees',
      [
        column('id', 'int'),
        column('name', 'string'),
        column('manager_id', 'int'),
        column('dept', 'string'),
        column('salary', 'int', mask('sha-256-global')),
        column('bonus', 'decimal(10,2)', mask('mask-to-fixed-value')),
        column('hired', 'timestamptz', mask('truncate-to-month')),
        column('badge', 'long', mask('sha-256-global')),
      ],
      ["dept <> 'board'"],
    ),
    columns: [
      ['id', 'int'],
      ['name', 'text'],
      ['manager_id', 'int'],
      ['dept', 'text'],
      ['salary', 'int'],
      ['bonus', 'numeric(10,2)'],
      ['hired', 'timestamptz'],
      ['badge', 'bigint'],
    ],
    rows: [
      `(1, 'root', null, 'eng', 424242, 11.11, '2020-05-17 10:00:00+00', 313131313131)`,
      `(2, 'amy', 1, 'eng', 424243, 22.22, '2021-06-18 11:00:00+00', -313131313132)`,
      `(3, 'ben', 1, 'ops', -424244, null, null, null)`,
      `(4, 'cy', 2, 'ops', null, 44.44, '2022-01-31 23:59:59+00', 0)`,
      `(5, 'CANARY-boss', null, 'board', 99999999, 99999.99, '1999-09-09 00:00:00+00', 1)`,
      `(6, 'CANARY-null', null, null, 99999998, 99999.98, '1999-09-09 00:00:00+00', 2)`,
    ],
    view: {
      select: `id, name, manager_id, dept, hash4(salary) as salary, 0.00::numeric(10,2) as bonus, date_trunc('month', hired) as hired, hash8(badge) as badge`,
      where: `dept <> 'board'`,
    },
  },
]

/** Hashes of integers as the masks define them, for the oracle's views. */
const hashFunctions = [4, 8].map((bytes) => {
  const type = bytes === 4 ? 'int' : 'bigint'
  const reversed = (sql: string) =>
    Array.from({ length: bytes }, (_, index) => `substr(${sql}, ${bytes - index}, 1)`).join(' || ')
  return `create function hash${bytes}(v ${type}) returns ${type} language plpgsql immutable as $$
    declare le bytea; be bytea; h bytea; r ${type} := 0;
    begin
      if v is null then return null; end if;
      be := int${bytes}send(v);
      le := ${reversed('be')};
      h := substr(sha256(le), 1, ${bytes});
      h := ${reversed('h')};
      return ('x' || encode(h, 'hex'))::bit(${bytes * 8})::${type};
    end $$`
})

/** Statements that make the oracle's tables, views and the role that reads them. */
export function postgresSetup(): string[] {
  return [
    'create schema base',
    'create schema sales',
    'create schema hr',
    ...hashFunctions,
    ...fixtures.flatMap(({ governed, columns, rows, view }) => {
      const name = governed.tableName
      const types = columns.map(([column, type]) => `"${column}" ${type}`).join(', ')
      return [
        `create table base.${name} (${types})`,
        `insert into base.${name} values ${rows.join(', ')}`,
        `create view ${governed.schemaName}.${name} with (security_barrier) as select ${view.select} from base.${name}${view.where ? ` where ${view.where}` : ''}`,
      ]
    }),
    'create role reader login',
    'grant usage on schema sales, hr to reader',
    'grant select on all tables in schema sales, hr to reader',
    'alter role reader set search_path = sales, hr',
  ]
}

/** The same tables for DuckDB. */
export function duckdbSetup(): string[] {
  return fixtures.flatMap(({ governed, columns, rows }) => {
    const name = `base_${governed.tableName}`
    const types = columns.map(([column, type, other]) => `"${column}" ${other ?? type}`).join(', ')
    return [`create table ${name} (${types})`, `insert into ${name} values ${rows.join(', ')}`]
  })
}

export const governedTables: readonly GovernedTable[] = fixtures.map(({ governed }) => governed)
