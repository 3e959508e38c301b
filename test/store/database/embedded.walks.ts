import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TenantId } from '../../../src/core/tenant.ts'
import { listDecisions } from '../../../src/store/commit/decision-list.ts'
import { reconcileTenant } from '../../../src/store/jobs/reconcile.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { storeTemplate, testSecretsKey } from '../../support/store.ts'

const child = new URL('../../support/store-child.ts', import.meta.url).pathname

async function inDirectory(work: (dataDirectory: string) => Promise<void>): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'covenant-embedded-'))
  try {
    await work(dataDirectory)
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}

async function openAt(dataDirectory: string, notices: string[] = [], statementMs = 120_000): Promise<Store> {
  return openStore({
    dataDirectory,
    template: await storeTemplate(),
    secretsKey: testSecretsKey,
    migrate: true,
    statementMs,
    onNotice: (notice) => notices.push(notice),
  })
}

/** The child's lines, one at a time. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

const startChild = (dataDirectory: string, mode: string) =>
  Bun.spawn([process.execPath, child, dataDirectory, mode], { stdout: 'pipe', stderr: 'inherit' })

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Error) => error.message,
  )

describe('embedded store', () => {
  test(
    'says at start what it survives',
    () =>
      inDirectory(async (directory) => {
        const notices: string[] = []
        await (await openAt(directory, notices)).close()
        expect(notices.join()).toContain('survive the death of this process, not of the machine')
      }),
    300_000,
  )

  test('a directory that cannot be written to is told as such, not as one that is in use', () =>
    inDirectory(async (directory) => {
      // What nobody may write to, root included.
      mkdirSync(join(directory, 'lock'))
      expect(await failure(openAt(directory))).toBe(`The data directory ${directory} cannot be written to.`)
      writeFileSync(join(directory, 'file'), '')
      const below = join(directory, 'file', 'data')
      expect(await failure(openAt(below))).toBe(`The data directory ${below} cannot be written to.`)
    }))

  // Skipped where root runs it, who may write to everything.
  test.skipIf(process.getuid?.() === 0)(
    'a lock that may only be read is refused: it would keep nobody out',
    () =>
      inDirectory(async (directory) => {
        writeFileSync(join(directory, 'lock'), '', { mode: 0o444 })
        expect(await failure(openAt(directory))).toBe(`The data directory ${directory} cannot be written to.`)
      }),
  )

  test(
    'a directory belongs to one store at a time, in this process and in another',
    () =>
      inDirectory(async (directory) => {
        const store = await openAt(directory)
        expect(await failure(openAt(directory))).toContain('in use by another process')
        const other = startChild(directory, 'open')
        expect(await other.stdout.text()).toContain('in use by another process')
        expect(await store.healthy()).toBe(true)
        await store.close()
        await (await openAt(directory)).close()
      }),
    300_000,
  )

  test(
    'keeps every acknowledged write of a process that was killed, whose lock is taken over',
    () =>
      inDirectory(async (directory) => {
        const process_ = startChild(directory, 'write')
        const acknowledged: string[] = []
        let tenant: TenantId | undefined
        for await (const line of linesOf(process_.stdout)) {
          const [word, value] = line.split(' ')
          if (word === 'open') tenant = value as TenantId
          else if (word === 'acknowledged' && value !== undefined) acknowledged.push(value)
          else throw new Error(line)
          if (acknowledged.length === 25) process_.kill('SIGKILL')
        }
        await process_.exited
        if (tenant === undefined) throw new Error('the child made no tenant')
        const store = await openAt(directory)
        const kept = (await listDecisions(store, tenant, { limit: 1000 })).items.map(
          ({ commitId }) => commitId,
        )
        expect(acknowledged.filter((commitId) => !kept.includes(commitId))).toEqual([])
        expect((await reconcileTenant(store, tenant)).breaches).toEqual([])
        await store.close()
      }),
    300_000,
  )

  test(
    'a statement past its time is given up, and the store opens again',
    () =>
      inDirectory(async (directory) => {
        const first = await openAt(directory)
        const { id } = await createTenant(first, { name: 'kept' })
        await first.close()
        const store = await openAt(directory, [], 1_500)
        const endless = store.tenantQuery(id, 'select count(*) from generate_series(1, 100000000000)')
        expect(await failure(endless)).toBe('The database took too long.')
        const rows = await store.tenantQuery<{ name: string }>(id, 'select name from svc.tenant')
        expect(rows.map(({ name }) => name)).toEqual(['kept'])
        await store.close()
      }),
    300_000,
  )

  test(
    'a directory that was being made when the process died is made again',
    () =>
      inDirectory(async (directory) => {
        await Bun.write(join(directory, 'pg.partial', 'PG_VERSION'), '18')
        const store = await openAt(directory)
        expect(await store.healthy()).toBe(true)
        expect(existsSync(join(directory, 'pg.partial'))).toBe(false)
        await store.close()
      }),
    300_000,
  )

  test('a short secrets key, or neither server nor directory, is refused', () =>
    inDirectory(async (dataDirectory) => {
      const short = openStore({
        dataDirectory,
        secretsKey: new Uint8Array(31),
        migrate: true,
        onNotice: () => {},
      })
      expect(await failure(short)).toContain('32 bytes')
      const nowhere = openStore({ secretsKey: testSecretsKey, migrate: true, onNotice: () => {} })
      expect(await failure(nowhere)).toContain('Neither a database URL nor a data directory')
    }))
})
