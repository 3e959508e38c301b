/** The database that a move fills, and a service that connects to it at the same time. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import type { Fault } from '../../../src/base/fault.ts'
import { migrate } from '../../../src/store/database/migrations.ts'
import { assertUnused } from '../../../src/store/move/assert-target.ts'
import { emptyDatabase } from '../../support/move.ts'

setDefaultTimeout(100_000)

const open = (databaseUrl: string, name: string) =>
  postgres(databaseUrl, {
    ...{ max: 1, fetch_types: false, onnotice: () => {} },
    connection: { application_name: name },
  })
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Fault) => error.publicMessage ?? String(error),
  )

// Skipped where no server is named: `npm run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('the database that a move fills', () => {
  test('is refused while a service is connected to it, also as a user of whom the move may see little', async () => {
    const role = `covenant_owner_${crypto.randomUUID().slice(0, 8)}`
    await using holder = await emptyDatabase()
    await holder.run(`create role ${role} login password 'owner'`)
    {
      await using database = await emptyDatabase(role)
      const url = new URL(database.databaseUrl)
      url.username = role
      url.password = 'owner'
      const service = open(database.databaseUrl, 'covenant')
      await service`select`
      const move = open(url.href, 'covenant')
      try {
        expect(await refusal(assertUnused(move))).toContain('A service is connected to the database')
      } finally {
        await move.end()
        await service.end()
      }
      const alone = open(url.href, 'covenant')
      expect(await refusal(assertUnused(alone))).toBe('none')
      await alone.end()
    }
    await holder.run(`drop role ${role}`)
  })

  test('is migrated by no service that waited for the migrations while the move began', async () => {
    await using database = await emptyDatabase()
    const [move, service] = [open(database.databaseUrl, 'move'), open(database.databaseUrl, 'service')]
    try {
      await move`select pg_advisory_lock(7242001)`
      let began: Promise<unknown> = Promise.resolve()
      const begin = async () => {
        await move.unsafe('create schema svc_move').simple()
        await move`select pg_advisory_unlock(7242001)`
      }
      const waits = migrate(service, 'apply', (text) => {
        if (text.startsWith('Waiting for another process')) began = begin()
      })
      expect(await refusal(waits)).toContain('A move from the embedded store fills this database')
      await began
      expect(await database.run(`select from pg_namespace where nspname = 'svc'`)).toHaveLength(0)
      // It holds the migrations no longer.
      expect(await database.run('select pg_try_advisory_lock(7242001) as held')).toEqual([{ held: true }])
    } finally {
      await move.end()
      await service.end()
    }
  })
})
