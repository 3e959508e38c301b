/** The tables of the catalog's tests, and the statements that create the same in a real PostgreSQL. */

import type { ShadowTable } from '../../../../src/server/pgwire/catalog/shadow-table.ts'

const column = (name: string, type: ShadowTable['columns'][number]['type'], notNull = false) => ({
  name,
  type,
  notNull,
})

export const sampleTables: readonly ShadowTable[] = [
  {
    schemaName: 'sales',
    tableName: 'customers',
    comment: 'Everybody who bought something',
    primaryKey: ['id'],
    columns: [
      column('id', 'int8', true),
      { ...column('name', 'text', true), comment: 'Full name, as it is on the invoice' },
      column('email', 'text'),
      column('born', 'date'),
      column('is_active', 'bool'),
    ],
  },
  {
    schemaName: 'sales',
    tableName: 'orders',
    primaryKey: ['id'],
    foreignKeys: [
      { columns: ['customer_id'], schemaName: 'sales', tableName: 'customers', referencedColumns: ['id'] },
    ],
    columns: [
      column('id', 'int8', true),
      column('customer_id', 'int8'),
      { ...column('amount', 'numeric'), size: [12, 2], comment: 'Gross' },
      column('rate', 'float8'),
      column('Placed At', 'timestamptz', true),
      column('shipped', 'timestamp'),
      column('tags', 'text[]'),
      column('payload', 'bytea'),
    ],
  },
  {
    schemaName: 'hr.eu',
    tableName: 'People',
    columns: [
      column('key', 'uuid', true),
      column('level', 'int4'),
      column('score', 'float4'),
      column('since', 'time'),
    ],
  },
]

/** What a foreign tenant has: a table of the same name, and one whose name nobody else may see. */
export const foreignTables: readonly ShadowTable[] = [
  { schemaName: 'sales', tableName: 'orders', columns: [column('their_column', 'text')] },
  { schemaName: 'secret_schema', tableName: 'secret_table', columns: [column('secret_column', 'text')] },
]

/** Statements that make the sample in a new database. */
export const sampleDdl: readonly string[] = [
  'create role alice login',
  'create schema sales',
  'create schema "hr.eu"',
  `create table sales.customers (id int8 not null, name text not null, email text, born date, is_active bool,
    primary key (id))`,
  `create table sales.orders (id int8 not null, customer_id int8, amount numeric(12,2), rate float8,
    "Placed At" timestamptz not null, shipped timestamp, tags text[], payload bytea, primary key (id))`,
  'create table "hr.eu"."People" (key uuid not null, level int4, score float4, since time)',
  'alter table sales.orders add foreign key (customer_id) references sales.customers (id)',
  "comment on table sales.customers is 'Everybody who bought something'",
  "comment on column sales.customers.name is 'Full name, as it is on the invoice'",
  "comment on column sales.orders.amount is 'Gross'",
  ...['public', 'sales', '"hr.eu"'].flatMap((schema) => [
    `grant usage on schema ${schema} to alice`,
    `grant select on all tables in schema ${schema} to alice`,
  ]),
]
