/** The step to usage records by month, on a server. */

import { describe, setDefaultTimeout } from 'bun:test'
import postgres from 'postgres'
import { testUpgradeToMonths } from './upgrade.ts'

setDefaultTimeout(300_000)

// Skipped where no server is named: `bun run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('on a server', () => {
  testUpgradeToMonths(async () => {
    const server = process.env.SVC_TEST_DATABASE_URL ?? ''
    const name = `covenant_${crypto.randomUUID().replaceAll('-', '')}`
    const url = new URL(server)
    url.pathname = `/${name}`
    const superuser = postgres(server, { max: 1, onnotice: () => {} })
    await superuser.unsafe(`create database ${name}`)
    const sql = postgres(url.href, { max: 1, onnotice: () => {} })
    return {
      sql,
      async [Symbol.asyncDispose]() {
        await sql.end()
        await superuser.unsafe(`drop database ${name} with (force)`)
        await superuser.end()
      },
    }
  })
})
