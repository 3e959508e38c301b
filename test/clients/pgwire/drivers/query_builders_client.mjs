/** knex, Drizzle, Sequelize and TypeORM over node-postgres; one JSON line a step. Run with the folder that holds the packages. */

import { createRequire } from 'node:module'

const require = createRequire(`${process.argv[2]}/package.json`)
const { default: knex } = require('knex')
const pg = require('pg')
const { drizzle } = require('drizzle-orm/node-postgres')
const core = require('drizzle-orm/pg-core')
const operators = require('drizzle-orm')
const { Sequelize, DataTypes, Op } = require('sequelize')
const { DataSource, EntitySchema, Between } = require('typeorm')

const { PGHOST: host, PGPORT, PGDATABASE: database, PGUSER: user, PGPASSWORD: password } = process.env
const port = Number(PGPORT)

async function step(name, action) {
  let line
  try {
    line = { step: name, value: await action() }
  } catch (error) {
    const code = error.code ?? error.cause?.code ?? error.parent?.code ?? error.original?.code
    if (typeof code !== 'string' || code.length !== 5) throw error
    line = { step: name, error: code }
  }
  console.log(JSON.stringify(line))
}

async function byKnex() {
  const db = knex({ client: 'pg', connection: { host, port, database, user, password }, pool: { min: 1, max: 2 } })
  const orders = () => db('sales.orders')
  await step('knex rows', () => orders().select('*').orderBy('id').limit(5))
  await step('knex where', () =>
    orders().select('id', 'email').whereIn('region', ['east', 'north']).andWhere('qty', '>', 10).whereNotNull('note').orderBy('id').limit(5).offset(2),
  )
  await step('knex dates', () => orders().whereBetween('day', ['2024-02-01', '2024-02-29']).count('* as n').first())
  await step('knex like', () => orders().whereILike('note', 'NOTE 11%').orderBy('id').pluck('id'))
  await step('knex group', () =>
    orders().select('region').sum({ total: 'amount' }).avg({ mean: 'ratio' }).countDistinct({ days: 'day' }).groupBy('region').having(db.raw('count(*) > ?', [1])).orderBy('region'),
  )
  await step('knex date_trunc', () =>
    orders().select(db.raw('date_trunc(?, day) as month', ['month'])).count('* as n').groupByRaw('1').orderBy('month').limit(3),
  )
  await step('knex join', () =>
    orders().join('sales.regions as r', 'r.name', 'sales.orders.region').where('r.name', 'west').max('sales.orders.id as last').first(),
  )
  await step('knex with', () =>
    db.with('paid', orders().where({ paid: true })).select('region').count('* as n').from('paid').groupBy('region').orderBy('region'),
  )
  await step('knex window', () =>
    db.select('id', 'place').from(orders().select('id').rank('place', ['amount'], ['region']).as('ranked')).where('place', '<', 3).orderBy(['id', 'place']).limit(4),
  )
  await step('knex schema', async () => [
    await db.schema.withSchema('sales').hasTable('orders'),
    await db.schema.withSchema('sales').hasTable('nothing'),
    await db.schema.withSchema('sales').hasColumn('orders', 'email'),
    await db('orders').withSchema('sales').columnInfo(),
  ])
  await step('knex transaction', () => db.transaction(async (tx) => (await tx('sales.orders').count('* as n'))[0]))
  await step('knex stream', async () => {
    let count = 0
    for await (const _ of orders().select('id').stream()) count++
    return count
  })
  await step('knex no table', () => db('sales.nothing').select())
  await db.destroy()
}

async function byDrizzle() {
  const pool = new pg.Pool({ host, port, database, user, password, max: 2 })
  const db = drizzle(pool)
  const orders = core.pgSchema('sales').table('orders', {
    id: core.bigint({ mode: 'number' }).primaryKey(),
    region: core.text(),
    email: core.text(),
    amount: core.numeric({ precision: 10, scale: 2 }),
    qty: core.integer(),
    ratio: core.doublePrecision(),
    paid: core.boolean(),
    day: core.date(),
    placedAt: core.timestamp('placed_at', { withTimezone: true }),
    note: core.text(),
  })
  const regions = core.pgSchema('sales').table('regions', { name: core.text().primaryKey() })
  const { and, asc, between, count, eq, gt, inArray, like, sql, sum } = operators
  await step('drizzle rows', () => db.select().from(orders).orderBy(asc(orders.id)).limit(5))
  await step('drizzle where', () =>
    db.select({ id: orders.id, email: orders.email }).from(orders).where(and(inArray(orders.region, ['east', 'north']), gt(orders.qty, 10))).orderBy(orders.id).limit(5).offset(1),
  )
  await step('drizzle dates', () => db.select({ n: count() }).from(orders).where(between(orders.day, '2024-02-01', '2024-02-29')))
  await step('drizzle times', () => db.select({ id: orders.id }).from(orders).where(eq(orders.placedAt, new Date('2024-01-01T03:00:00Z'))))
  await step('drizzle like', () => db.select({ id: orders.id }).from(orders).where(like(orders.note, 'note 11%')).orderBy(orders.id))
  await step('drizzle group', () =>
    db.select({ region: orders.region, total: sum(orders.amount), n: count() }).from(orders).groupBy(orders.region).orderBy(orders.region),
  )
  await step('drizzle date_trunc', () => {
    const month = sql`date_trunc(${'month'}, ${orders.day})`.as('month')
    return db.select({ month, n: count() }).from(orders).groupBy(sql`1`).orderBy(sql`1`).limit(3)
  })
  await step('drizzle join', () =>
    db.select({ name: regions.name, n: count(orders.id) }).from(regions).leftJoin(orders, eq(orders.region, regions.name)).groupBy(regions.name).orderBy(regions.name),
  )
  await step('drizzle subquery', () => {
    const paid = db.select().from(orders).where(eq(orders.paid, true)).as('paid')
    return db.select({ region: paid.region, n: count() }).from(paid).groupBy(paid.region).orderBy(paid.region)
  })
  await step('drizzle prepared', async () => {
    const byId = db.select({ email: orders.email }).from(orders).where(eq(orders.id, sql.placeholder('id'))).prepare('by_id')
    return [await byId.execute({ id: 2 }), await byId.execute({ id: 3 })]
  })
  await step('drizzle count', () => db.$count(orders, eq(orders.region, 'west')))
  await step('drizzle read only', () =>
    db.transaction((tx) => tx.select({ n: count() }).from(orders), { isolationLevel: 'repeatable read', accessMode: 'read only' }),
  )
  await pool.end()
}

async function bySequelize() {
  const db = new Sequelize(database, user, password, { host, port, dialect: 'postgres', logging: false })
  const Order = db.define(
    'orders',
    {
      id: { type: DataTypes.BIGINT, primaryKey: true },
      region: DataTypes.TEXT,
      email: DataTypes.TEXT,
      amount: DataTypes.DECIMAL(10, 2),
      qty: DataTypes.INTEGER,
      paid: DataTypes.BOOLEAN,
      day: DataTypes.DATEONLY,
      placed_at: DataTypes.DATE,
      note: DataTypes.TEXT,
    },
    { schema: 'sales', timestamps: false, freezeTableName: true },
  )
  await step('sequelize authenticate', async () => void (await db.authenticate()))
  await step('sequelize rows', () => Order.findAll({ order: ['id'], limit: 5, raw: true }))
  await step('sequelize where', () =>
    Order.findAll({ attributes: ['id', 'email'], where: { region: { [Op.in]: ['east', 'north'] }, qty: { [Op.gt]: 10 }, note: { [Op.iLike]: 'note 1%' } }, order: ['id'], limit: 5, raw: true }),
  )
  await step('sequelize dates', () => Order.count({ where: { day: { [Op.between]: ['2024-02-01', '2024-02-29'] } } }))
  await step('sequelize times', () => Order.findAll({ attributes: ['id'], where: { placed_at: new Date('2024-01-01T03:00:00Z') }, raw: true }))
  await step('sequelize group', () =>
    Order.findAll({ attributes: ['region', [db.fn('sum', db.col('amount')), 'total'], [db.fn('count', db.literal('*')), 'n']], group: ['region'], order: ['region'], raw: true }),
  )
  await step('sequelize date_trunc', () =>
    Order.findAll({ attributes: [[db.fn('date_trunc', 'month', db.col('day')), 'month'], [db.fn('count', db.col('id')), 'n']], group: ['month'], order: [db.literal('month')], limit: 3, raw: true }),
  )
  await step('sequelize page', () => Order.findAndCountAll({ attributes: ['id'], where: { paid: true }, order: [['id', 'DESC']], limit: 2, raw: true }))
  await step('sequelize describe', () => db.getQueryInterface().describeTable({ tableName: 'orders', schema: 'sales' }))
  await step('sequelize tables', async () => (await db.getQueryInterface().showAllTables()).filter((one) => (one.schema ?? 'sales') === 'sales').length)
  await step('sequelize replaced', () => db.query('SELECT count(*) AS n FROM sales.orders WHERE region = :region', { replacements: { region: 'east' }, plain: true }))
  await step('sequelize bound', () => db.query('SELECT count(*) AS n FROM sales.orders WHERE region = $region', { bind: { region: 'east' }, plain: true }))
  await step('sequelize transaction', () => db.transaction((transaction) => Order.count({ transaction })))
  await db.close()
}

async function byTypeOrm() {
  const columns = { id: 'bigint', region: 'text', email: 'text', amount: 'numeric', qty: 'int', paid: 'boolean', day: 'date', note: 'text' }
  const Order = new EntitySchema({
    name: 'Order',
    tableName: 'orders',
    schema: 'sales',
    columns: Object.fromEntries(Object.entries(columns).map(([name, type]) => [name, { type, primary: name === 'id' }])),
  })
  const db = new DataSource({ type: 'postgres', host, port, database, username: user, password, entities: [Order], installExtensions: false })
  await step('typeorm connect', async () => (await db.initialize()).isInitialized)
  const orders = db.getRepository(Order)
  await step('typeorm rows', () => orders.find({ order: { id: 'ASC' }, take: 5 }))
  await step('typeorm where', () => orders.find({ select: { id: true, email: true }, where: { region: 'east', day: Between('2024-02-01', '2024-02-29') }, order: { id: 'ASC' }, take: 3 }))
  await step('typeorm one', () => orders.findOneBy({ id: 3 }))
  await step('typeorm page', () => orders.findAndCount({ where: { paid: true }, order: { id: 'DESC' }, skip: 1, take: 2 }))
  await step('typeorm group', () =>
    orders.createQueryBuilder('o').select('o.region', 'region').addSelect('SUM(o.amount)', 'total').groupBy('o.region').orderBy('o.region').getRawMany(),
  )
  await step('typeorm date_trunc', () =>
    orders.createQueryBuilder('o').select("date_trunc('month', o.day)", 'month').addSelect('COUNT(*)', 'n').groupBy('month').orderBy('month').limit(3).getRawMany(),
  )
  await step('typeorm aggregates', async () => [await orders.sum('qty', { region: 'west' }), await orders.maximum('id'), await orders.exists({ where: { region: 'nowhere' } })])
  await step('typeorm table', async () => {
    const runner = db.createQueryRunner()
    const table = await runner.getTable('sales.orders')
    await runner.release()
    return table.columns.map(({ name, type, isNullable, isPrimary, precision, scale }) => [name, type, isNullable, isPrimary, precision, scale])
  })
  await db.destroy()
}

await byKnex()
await byDrizzle()
await bySequelize()
await byTypeOrm()
