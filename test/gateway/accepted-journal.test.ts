/** The journal of accepted changes, and what is repeated from it. */

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../../src/base/fault.ts'
import type { AcceptedChange } from '../../src/core/commit.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { openJournal } from '../../src/gateway/base/accepted-journal.ts'
import { UnauditedChanges } from '../../src/gateway/base/unaudited-changes.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { committedOf, intentOf } from '../support/commits.ts'
import { eventually } from '../support/eventually.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

const folder = mkdtempSync(join(tmpdir(), 'covenant-journal-'))
afterAll(() => rm(folder, { recursive: true }))
let journals = 0
const newDirectory = () => join(folder, `journal-${++journals}`)

function changeOf(change: Partial<AcceptedChange> = {}): AcceptedChange {
  const { body: _, ...intent } = intentOf({ snapshotIds: [9_007_199_254_740_993n] })
  return {
    tenant: '5b0f9e4e-6f0a-4e2c-9a54-0d6a3b8e8c11' as TenantId,
    intent,
    policies: [{ id: 'p', kind: 'schema', mode: 'enforce', definitionCel: 'true' }],
    outcomes: [{ policyId: 'p', name: 'p', mode: 'enforce', value: true }],
    committed: committedOf(),
    mayRepeat: false,
    ...change,
  }
}

const allReadable = () => {
  throw new Error('a file was not readable')
}
const log = createLogger({ level: 'silent' })

test('a change that is read from the journal equals the one that was written, with exact integers', async () => {
  const directory = newDirectory()
  const changes = [changeOf(), changeOf({ committed: undefined, mayRepeat: true })]
  const journal = await openJournal(directory)
  for (const change of changes) {
    journal.write(change)
    await journal.flush(change.intent.commitId)
  }
  const byId = (all: readonly AcceptedChange[]) =>
    all.toSorted((a, b) => a.intent.commitId.localeCompare(b.intent.commitId))
  expect(byId(await (await openJournal(directory)).read(allReadable))).toEqual(byId(changes))
  for (const { intent } of changes) await journal.remove(intent.commitId)
  expect(await readdir(directory)).toEqual([])
})

test('the journal is for its owner alone', async () => {
  const directory = newDirectory()
  const journal = await openJournal(directory)
  journal.write(changeOf())
  const [file = ''] = await readdir(directory)
  expect([directory, join(directory, file)].map((path) => statSync(path).mode & 0o777)).toEqual([
    0o700, 0o600,
  ])
})

test('a file that holds no change is reported, and the others are read', async () => {
  const directory = newDirectory()
  const journal = await openJournal(directory)
  const change = changeOf()
  journal.write(change)
  for (const [name, text] of [
    ['empty', ''],
    ['cut', '{"tenant":"5b0f'],
    ['null', 'null'],
    ['other', '{}'],
  ] as const)
    writeFileSync(join(directory, `${name}.accepted.json`), text)
  writeFileSync(join(directory, 'foreign.txt'), 'foreign')
  const unreadable: string[] = []
  expect(await journal.read((name) => unreadable.push(name))).toEqual([change])
  expect(unreadable.toSorted()).toEqual(
    ['cut', 'empty', 'null', 'other'].map((name) => `${name}.accepted.json`),
  )
})

test('a directory in which no files can be made is a mistake in the configuration', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const fault = await openJournal(join(file, 'journal')).catch((error: unknown) => error)
  expect(fault).toBeInstanceOf(Fault)
  expect((fault as Fault).kind).toBe('misconfigured')
  expect((fault as Fault).publicMessage).toContain(join(file, 'journal'))
})

using disk = mountSmallDisk(1)
if (disk === undefined) {
  test.skip('no file system can be mounted here: a journal on a full disk is not tested', () => {})
} else {
  test('a journal on a full disk fails its check and leaves no part of a change', async () => {
    const small = mountSmallDisk(1)
    if (small === undefined) throw new Error('the disk could not be mounted')
    try {
      const directory = join(small.path, 'journal')
      const journal = await openJournal(directory)
      small.fill(0)
      expect(await journal.check().catch((fault: Fault) => fault.kind)).toBe('unavailable')
      expect(() => journal.write(changeOf())).toThrow('ENOSPC')
      expect(await readdir(directory)).toEqual([])
      small.empty()
      await journal.check()
      journal.write(changeOf())
      expect(await journal.read(allReadable)).toHaveLength(1)
    } finally {
      small[Symbol.dispose]()
    }
  })
}

/** Repeats audits by a function of the test's. */
async function unauditedWith(audit: (change: AcceptedChange) => Promise<void>, directory = newDirectory()) {
  const journal = await openJournal(directory)
  return { directory, unaudited: new UnauditedChanges({ journal, audit, metrics: createMetrics(), log }) }
}

test('an audit is repeated until it is written, and then the journal is empty', async () => {
  let tries = 0
  const { directory, unaudited } = await unauditedWith(async () => {
    if (++tries < 4) throw new Fault('unavailable', 'The database is not available.')
  })
  const change = changeOf()
  unaudited.accepted(change)
  await unaudited.repeat(change)
  await eventually(async () => (await readdir(directory)).length === 0)
  expect(tries).toBe(4)
  await unaudited.stop()
})

test('where the store does not answer one change, the others are not tried in that round', async () => {
  const changes = [changeOf(), changeOf(), changeOf()]
  const tried: string[] = []
  let rounds = 0
  const { unaudited } = await unauditedWith(async ({ intent }) => {
    tried.push(intent.commitId)
    if (intent.commitId === changes[0]?.intent.commitId && ++rounds < 3)
      throw new Fault('unavailable', 'The database is not available.')
  })
  await Promise.all(changes.map((change) => unaudited.repeat(change)))
  await eventually(() => tried.length === 5)
  const [a = '', b = '', c = ''] = changes.map(({ intent }) => intent.commitId)
  expect(tried).toEqual([a, a, a, b, c])
  await unaudited.stop()
})

test('a change that the audit decided otherwise is given up, and one that fails for itself holds up no other', async () => {
  const [decided, broken, fine] = [changeOf(), changeOf(), changeOf()]
  const audited: string[] = []
  const { directory, unaudited } = await unauditedWith(async (change) => {
    if (change.intent.commitId === decided.intent.commitId)
      throw new Fault('conflict', 'It has another verdict.')
    if (change.intent.commitId === broken.intent.commitId) throw new Error('odd')
    audited.push(change.intent.commitId)
  })
  for (const change of [decided, broken, fine]) {
    unaudited.accepted(change)
    await unaudited.repeat(change)
  }
  await eventually(() => audited.length === 1)
  await unaudited.stop()
  expect(audited).toEqual([fine.intent.commitId])
  await eventually(async () => (await readdir(directory)).length === 1)
  expect(await readdir(directory)).toEqual([`${broken.intent.commitId}.accepted.json`])
})

test('what a process left in the journal is audited by the next one', async () => {
  const first = await unauditedWith(async () => {
    throw new Fault('unavailable', 'The database is not available.')
  })
  const change = changeOf()
  first.unaudited.accepted(change)
  await first.unaudited.repeat(change)
  await first.unaudited.stop()
  const audited: AcceptedChange[] = []
  const next = await unauditedWith(async (one) => void audited.push(one), first.directory)
  await next.unaudited.readJournal()
  await eventually(() => audited.length === 1)
  expect(audited).toEqual([change])
  await eventually(async () => (await readdir(first.directory)).length === 0)
  await next.unaudited.stop()
})
