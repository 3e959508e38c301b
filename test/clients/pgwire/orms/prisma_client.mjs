/** Prisma's client over its adapter for node-postgres; one JSON line a step. Run with the folder that holds it. */

import { createRequire } from 'node:module'

const require = createRequire(`${process.argv[2]}/package.json`)
const { PrismaPg } = require('@prisma/adapter-pg')
const { PrismaClient, Prisma } = require('./made/index.js')

const { PGHOST: host, PGPORT, PGDATABASE: database, PGUSER: user, PGPASSWORD: password } = process.env
const adapter = new PrismaPg({ host, port: Number(PGPORT), database, user, password })
const prisma = new PrismaClient({ adapter })

const plain = (_, value) =>
  typeof value === 'bigint' ? String(value) : value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value

async function step(name, action) {
  let line
  try {
    line = { step: name, value: await action() }
  } catch (error) {
    const state = error.meta?.driverAdapterError?.cause?.originalCode ?? error.cause?.originalCode
    line = { step: name, error: state ?? `${error.code ?? error.name} ${error.message.split('\n').at(-1)}` }
  }
  console.log(JSON.stringify(line, plain))
}

const byId = { orderBy: { id: 'asc' } }
const { order, region } = prisma
await step('findMany', () => order.findMany({ ...byId, take: 2, skip: 1 }))
await step('findUnique', () => order.findUnique({ where: { id: 7n } }))
await step('findUnique of several', () => Promise.all([3n, 4n, 5n].map((id) => order.findUnique({ where: { id }, select: { email: true } }))))
await step('findFirst or throw', () => order.findFirstOrThrow({ where: { regionName: 'east' }, ...byId, select: { id: true } }))
await step('cursor', () => order.findMany({ cursor: { id: 10n }, take: 3, skip: 1, ...byId, select: { id: true, email: true } }))
await step('cursor backwards', () => order.findMany({ cursor: { id: 10n }, take: -3, ...byId, select: { id: true } }))
await step('include', () => region.findMany({ orderBy: { name: 'asc' }, include: { orders: { take: 2, ...byId, select: { id: true, amount: true } } } }))
await step('include of one', () => order.findMany({ take: 2, ...byId, select: { id: true, region: true } }))
await step('count of related', () => region.findMany({ orderBy: { name: 'asc' }, select: { name: true, _count: { select: { orders: { where: { paid: true } } } } } }))
await step('some, none', () => region.findMany({ where: { orders: { some: { amount: { gt: 40 } }, none: { qty: 1000 } } }, orderBy: { name: 'asc' } }))
await step('contains', () => order.findMany({ where: { email: { contains: 'ser1' } }, take: 3, ...byId, select: { id: true } }))
await step('contains, insensitive', () => order.count({ where: { region: { name: { contains: 'AS', mode: 'insensitive' } } } }))
await step('starts and ends', () => order.count({ where: { OR: [{ email: { startsWith: 'user1' } }, { note: { endsWith: '7' } }], NOT: { regionName: 'east' } } }))
await step('in', () => order.count({ where: { id: { in: Array.from({ length: 500 }, (_, i) => BigInt(i)) } } }))
await step('not in', () => order.count({ where: { regionName: { notIn: ['east', 'west'] } } }))
await step('decimal', () => order.count({ where: { amount: { gte: new Prisma.Decimal('40.50'), lt: '45' } } }))
await step('dates', () => order.findMany({ where: { day: new Date('2024-01-03'), placedAt: { gte: new Date('2024-01-01T00:00:00Z') } }, ...byId, take: 2, select: { id: true, day: true, placedAt: true, created: true } }))
await step('uuid', () => order.findMany({ where: { uid: '00000000-0000-0000-0000-000000000005' }, select: { id: true, uid: true } }))
await step('bytes', () => order.findMany({ where: { id: 3n }, select: { payload: true } }))
await step('null', () => order.count({ where: { note: null, paid: { not: null } } }))
await step('aggregate', () => order.aggregate({ _count: true, _sum: { amount: true, qty: true }, _avg: { qty: true }, _min: { day: true }, _max: { placedAt: true } }))
await step('group by', () => order.groupBy({ by: ['regionName', 'paid'], _count: { _all: true }, _sum: { amount: true }, having: { qty: { _min: { lt: 0 } } }, orderBy: [{ regionName: 'asc' }, { paid: 'asc' }] }))
await step('distinct', () => order.findMany({ distinct: ['regionName'], orderBy: [{ regionName: 'asc' }, { id: 'asc' }], select: { regionName: true, id: true } }))
await step('order by related', () => order.findMany({ orderBy: [{ region: { name: 'desc' } }, { id: 'asc' }], take: 2, select: { id: true } }))
await step('order, nulls last', () => order.findMany({ orderBy: [{ note: { sort: 'asc', nulls: 'last' } }, { id: 'asc' }], take: 2, select: { note: true } }))
await step('raw', () => prisma.$queryRaw`select id, amount, day, paid from sales.orders where id < ${4} and region = ${'east'} order by id limit ${2}`)
await step('raw in', () => prisma.$queryRaw`select count(*) from sales.orders where id in (${Prisma.join([1, 2, 3])})`)
await step('transaction', () => prisma.$transaction([order.count(), region.count()]))
await step('interactive transaction', () => prisma.$transaction(async (inside) => [await inside.order.count(), await inside.region.count()]))
await step('refused', () => region.create({ data: { name: 'x' } }))
await prisma.$disconnect()
