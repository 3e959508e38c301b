/** Node: pg and postgres.js, each case with JavaScript's values of its types. One line of JSON a step. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [cases, folder] = process.argv.slice(2)
const require = createRequire(join(folder, 'package.json'))
const pg = require('pg')
const postgres = require('postgres')
const { PGHOST: host, PGPORT: port, PGDATABASE: database, PGUSER: user, PGPASSWORD: password } = process.env

const values = {
  ...Object.fromEntries(['int2', 'int4', 'float4', 'float8'].map((type) => [type, Number])),
  int8: BigInt,
  bool: (text) => text === 'true',
  timestamptz: (text) => new Date(text),
  'int4[]': (texts) => texts.map(Number),
  'int8[]': (texts) => texts.map(Number),
}
const valueOf = ({ type, value }) => (value === null ? null : (values[type] ?? String)(value))
const arrayOf = ({ type, value }) => (Array.isArray(value) ? (values[type] ?? ((texts) => texts))(value) : undefined)
const bound = (each) => arrayOf(each) ?? valueOf(each)

async function step(name, ask) {
  let line
  try {
    line = { step: name, value: await ask() }
  } catch (error) {
    line = { step: name, error: error.code ?? error.message }
  }
  console.log(JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? String(value) : value)))
}

const all = JSON.parse(readFileSync(cases, 'utf8'))
const client = new pg.Client({ host, port: Number(port), database, user, password })
await client.connect()
for (const { step: name, sql, values: given } of all)
  await step(`pg ${name}`, async () => {
    const { rows, fields } = await client.query(sql, given.map(bound))
    return [fields.map(({ dataTypeID }) => dataTypeID), rows]
  })
await client.end()

const sql = postgres({ host, port: Number(port), database, user, password, max: 1, ssl: false, onnotice() {} })
for (const { step: name, sql: text, values: given } of all)
  await step(`postgres.js ${name}`, async () => {
    const rows = await sql.unsafe(text, given.map(bound))
    return [rows.columns.map(({ type }) => type), [...rows]]
  })
await sql.end()
