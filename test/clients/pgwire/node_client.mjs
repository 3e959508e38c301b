/** node-postgres, pg-cursor and postgres.js; one JSON line a step. Run with the folder that holds the packages. */

import { createRequire } from 'node:module'

const require = createRequire(`${process.argv[2]}/package.json`)
const pg = require('pg')
const Cursor = require('pg-cursor')
const postgres = require('postgres')

const columns = 'id, region, email, amount, qty, ratio, paid, day::text, placed_at, created::text, note, uid, payload'
const heavy =
  'select count(*) from sales.orders a, sales.orders b, sales.orders c, sales.orders d where a.id + b.id + c.id + d.id = 7'

async function step(name, action) {
  let line
  try {
    line = { step: name, value: await action() }
  } catch (error) {
    if (typeof error.code !== 'string' || error.code.length !== 5) throw error
    line = { step: name, error: error.code }
  }
  console.log(JSON.stringify(line))
}

async function nodePostgres() {
  const client = new pg.Client()
  await client.connect()
  const rows = async (text, values) => (await client.query({ text, values, rowMode: 'array' })).rows
  await step('pg types', () => rows(`select ${columns} from sales.orders order by id limit 20`))
  await step('pg parameters', () =>
    rows('select id, amount from sales.orders where region = $1 and qty > $2 order by id limit 5', ['north', 10]),
  )
  await step('pg list', () => rows('select count(*) from sales.orders where id = any($1::bigint[])', [[1, 2, 3]]))
  await step('pg named', async () => {
    const found = []
    for (let id = 1; id <= 10; id++)
      found.push(
        (await client.query({ name: 'by id', text: 'select email from sales.orders where id = $1', values: [id] }))
          .rows[0],
      )
    return found
  })
  await step('pg several statements', async () =>
    (await client.query('select 1 as a; select count(*) from sales.orders; show timezone')).map(({ rows }) => rows),
  )
  await step('pg cursor', async () => {
    const cursor = client.query(new Cursor('select id from sales.orders order by id'))
    const sizes = []
    for (let rows = await cursor.read(300); rows.length > 0; rows = await cursor.read(300)) sizes.push(rows.length)
    await cursor.close()
    return sizes
  })
  await step('pg no table', () => rows('select * from sales.nothing'))
  await step('pg goes on', () => rows('select 1'))
  await client.end()
}

async function postgresJs() {
  const sql = postgres({ max: 2, onnotice: () => {}, idle_timeout: 1 })
  await step('postgres.js types', () => sql.unsafe(`select ${columns} from sales.orders order by id limit 20`).values())
  await step('postgres.js parameters', () =>
    sql`select id, amount from sales.orders where region = ${'north'} and qty > ${10} order by id limit 5`.values(),
  )
  await step('postgres.js list', () => sql`select count(*) from sales.orders where region in ${sql(['north', 'west'])}`.values())
  await step('postgres.js cursor', async () => {
    const sizes = []
    for await (const rows of sql`select id from sales.orders`.cursor(300)) sizes.push(rows.length)
    return sizes
  })
  await step('postgres.js transaction', () =>
    sql.begin('read only', (tx) => tx`select count(*) from sales.orders`.values()),
  )
  await step('postgres.js cancel', () => {
    const query = sql.unsafe(heavy)
    setTimeout(() => query.cancel(), 500)
    return query.values()
  })
  await step('postgres.js no table', () => sql`select * from sales.nothing`.values())
  await step('postgres.js goes on', () => sql`select 1`.values())
  await sql.end()
}

await nodePostgres()
await postgresJs()
