/** The step to usage records by month, on the embedded store. */

import { afterAll, setDefaultTimeout } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embeddedBackend } from '../../../src/store/database/embedded.ts'
import { testUpgradeToMonths } from './upgrade.ts'

setDefaultTimeout(300_000)

const folder = mkdtempSync(join(tmpdir(), 'covenant-months-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

testUpgradeToMonths(async () => {
  const dataDirectory = mkdtempSync(join(folder, 'database-'))
  const engine = await embeddedBackend({ dataDirectory, statementMs: 300_000 })
  const link = await engine.open('connecting')
  return {
    sql: link.sql,
    async [Symbol.asyncDispose]() {
      await link.close()
      await engine.close()
    },
  }
})
