/** The secrets key that is stored beside the embedded store. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../src/base/fault.ts'
import { secretsKeyIn } from '../src/open-store.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-key-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('processes that start at once keep one key, readable by its owner alone, and leave nothing beside it', async () => {
  const path = join(folder, 'one.key')
  const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => secretsKeyIn(path)))
  expect(first?.length).toBe(32)
  for (const other of [...others, await secretsKeyIn(path), await readFile(path)])
    expect(Buffer.from(other)).toEqual(Buffer.from(first ?? []))
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readdir(folder)).toEqual(['one.key'])
})

test('a file that holds no key is refused by its name', async () => {
  const path = join(folder, 'short.key')
  await writeFile(path, new Uint8Array(5))
  const thrown = await secretsKeyIn(path).catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(Fault)
  expect(thrown).toMatchObject({ kind: 'misconfigured' })
  expect((thrown as Fault).publicMessage).toContain(path)
})
