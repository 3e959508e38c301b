/** scripts/test.ts, which is `npm test`, on files of these tests. */

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeMemoryFolder } from '../../scripts/memory-folder.ts'

setDefaultTimeout(300_000)

const folder = mkdtempSync(join(tmpdir(), 'covenant-npm-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** How the command ends that is to run these files, and its lines that are counts. */
async function run(files: Readonly<Record<string, string>>) {
  const paths = Object.entries(files).map(([name, text]) => {
    const path = join(folder, `${name}.test.ts`)
    writeFileSync(path, `import { tmpdir } from 'node:os'\nimport { test } from 'bun:test'\n${text}\n`)
    return path
  })
  const { TMPDIR: _, ...env } = process.env
  const script = new URL('../../scripts/test.ts', import.meta.url).pathname
  const child = Bun.spawn([process.execPath, script, ...paths], { env, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, counts: err.match(/^ \d+ (?:pass|fail)$/gm), text: out + err }
}

const passing = "test('passes', () => {})"

test('files that pass are counted together, and end it with 0', async () => {
  const { code, counts } = await run({ one: passing, two: passing, three: passing })
  expect({ code, counts }).toEqual({ code: 0, counts: [' 3 pass', ' 0 fail'] })
})

test.each([
  ['a test that fails', "test('fails', () => { throw new Error('no') })"],
  ['a file that cannot be loaded', "import './nowhere.ts'"],
  ['a file whose process is killed', "test('dies', () => { process.kill(process.pid, 'SIGKILL') })"],
  ['a file whose process ends with 0', "test('ends', () => { process.exit(0) })"],
])('%s is counted as a failure, and ends it with 1', async (_, text) => {
  const { code, counts } = await run({ one: passing, two: text, three: passing })
  expect({ code, counts }).toEqual({ code: 1, counts: [' 2 pass', ' 1 fail'] })
})

const memory = makeMemoryFolder()
if (memory !== undefined) rmSync(memory, { recursive: true })
const testInMemory = memory === undefined ? test.skip : test

testInMemory('shared memory has room: what tests leave among temporary files goes with it', async () => {
  const imports = "import { mkdtempSync } from 'node:fs'\nimport { join } from 'node:path'"
  const left = "test('leaves', () => console.log('left', mkdtempSync(join(tmpdir(), 'left-'))))"
  const { code, text } = await run({ one: `${imports}\n${left}` })
  expect(code).toBe(0)
  const [, where = ''] = /^left (\S+)$/m.exec(text) ?? []
  expect(where).toStartWith('/dev/shm/')
  expect(existsSync(where)).toBe(false)
})
