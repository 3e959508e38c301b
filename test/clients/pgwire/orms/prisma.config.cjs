/** Where Prisma finds its schema; the client's address comes from its adapter. */
module.exports = { schema: 'schema.prisma', datasource: { url: 'postgresql://localhost' } }
