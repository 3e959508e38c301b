/** scripts/bun.sh without an installed Bun: how it calls npm, and what it takes from a registry that lies. */

import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

// Each test starts processes.
setDefaultTimeout(60_000)

const script = new URL('../../scripts/bun.sh', import.meta.url).pathname
const version = /^version=(\S+)$/m.exec(readFileSync(script, 'utf8'))?.[1] ?? ''

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bun-script-'))
  mkdirSync(join(folder, 'bin'))
  cpSync(script, join(folder, 'scripts/bun.sh'))
  // An npm that found this one would install into the project.
  writeFileSync(join(folder, 'package.json'), '{}')
})
afterEach(() => rmSync(folder, { recursive: true }))

async function run(path: string, env: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn(['sh', join(folder, 'scripts/bun.sh'), '--version'], {
    env: { PATH: path, HOME: folder, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, out, err }
}

function runWithNpm(npm: string) {
  writeFileSync(join(folder, 'bin/npm'), `#!/bin/sh\n${npm}\n`)
  chmodSync(join(folder, 'bin/npm'), 0o755)
  return run(`${join(folder, 'bin')}:/usr/bin:/bin`)
}

test('npm keeps the settings of the machine: no --prefix, which would move its global configuration', async () => {
  const { err } = await runWithNpm(
    'echo "called with $*" >&2; pwd >&2; cat package.json package-lock.json >&2; exit 1',
  )
  expect(err).toMatch(/called with ci .*--ignore-scripts/)
  expect(err).not.toContain('--prefix')
  expect(err).toMatch(/\/\.cache\/bun-[\d.]+\/install\.\w+\n/)
  expect(err).toMatch(/"node_modules\/@oven\/bun-[\w-]+": \{ "version": "[\d.]+", "integrity": "sha512-/)
})

test('a failing npm ends the script and is heard', async () => {
  const { code, err } = await runWithNpm(
    'case "$*" in *--silent*) ;; *) echo "npm error: no route" >&2 ;; esac; exit 7',
  )
  expect(code).toBe(7)
  expect(err).toContain('npm error: no route')
})

test('a platform that has no pinned package is refused by its name', async () => {
  writeFileSync(join(folder, 'bin/uname'), '#!/bin/sh\necho plan9\n')
  chmodSync(join(folder, 'bin/uname'), 0o755)
  const { code, err } = await runWithNpm('echo called >&2')
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('platform, plan9-plan9:') })
  expect(err).not.toContain('called')
})

test('every hash is one of SHA-512, and each platform has its own', () => {
  const hashes = [...readFileSync(script, 'utf8').matchAll(/^ {4}[a-z0-9-]+\) echo (\S+) ;;$/gm)].map(
    ([, hash = '']) => hash,
  )
  expect(hashes.length).toBeGreaterThan(8)
  expect(new Set(hashes).size).toBe(hashes.length)
  for (const hash of hashes) expect(Buffer.from(hash, 'base64').toBase64()).toBe(hash)
  expect(hashes.filter((hash) => Buffer.from(hash, 'base64').length !== 64)).toEqual([])
})

/** A package whose program and whose script of installation leave a trace. */
async function packed(mark: string): Promise<Uint8Array<ArrayBuffer>> {
  const trace = `echo ${mark} >>${join(folder, 'ran')}`
  const source = join(folder, 'source', mark)
  mkdirSync(join(source, 'package/bin'), { recursive: true })
  const bun = `#!/bin/sh\n${trace}\n[ "$1" != --version ] || echo ${version}\n`
  writeFileSync(join(source, 'package/bin/bun'), bun, { mode: 0o755 })
  writeFileSync(
    join(source, 'package/package.json'),
    JSON.stringify({ name: '@oven/bun', version, scripts: { postinstall: trace, install: trace } }),
  )
  const tar = Bun.spawn(['tar', '-cz', '-C', source, 'package'], { stdout: 'pipe' })
  return new Uint8Array(await tar.stdout.bytes())
}

const integrityOf = (bytes: Uint8Array) => new Bun.CryptoHasher('sha512').update(bytes).digest('base64')

/** Runs the script, which pins `pinned`, with the machine's npm and a registry that serves `served`. */
async function runWithRegistry(pinned: string, served: Uint8Array<ArrayBuffer>, claimed: string) {
  const text = readFileSync(script, 'utf8').replace(/\) echo \S+== ;;/g, `) echo ${pinned} ;;`)
  writeFileSync(join(folder, 'scripts/bun.sh'), text)
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url }) {
      if (url.endsWith('.tgz')) return new Response(served)
      const name = decodeURIComponent(new URL(url).pathname.slice(1))
      const dist = { tarball: new URL('/bun.tgz', url).href, integrity: `sha512-${claimed}` }
      const versions = { [version]: { name, version, dist } }
      return Response.json({ name, 'dist-tags': { latest: version }, versions })
    },
  })
  const programs = ['npm', 'node'].map((name) => dirname(Bun.which(name) ?? '/usr/bin/npm'))
  return await run(`${programs.join(':')}:/usr/bin:/bin`, {
    npm_config_registry: server.url.href,
    npm_config_fetch_retries: '0',
  })
}

test('a package of the pinned hash is installed, and runs no script of its own', async () => {
  const good = await packed('good')
  mkdirSync(join(folder, 'node_modules'))
  for (const path of ['bun.lock', 'node_modules/.installed']) writeFileSync(join(folder, path), '')
  const { code, out, err } = await runWithRegistry(integrityOf(good), good, integrityOf(good))
  expect({ code, out, err }).toMatchObject({ code: 0, out: `${version}\n` })
  expect(readdirSync(join(folder, `.cache/bun-${version}`))).toEqual(['bin'])
  expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe('good\n')
})

test.each([
  ['and the registry owns up to its hash', true],
  ['and the registry claims the pinned hash', false],
])('a tampered package is refused and nothing of it runs, %s', async (_, honest) => {
  const [good, tampered] = [await packed('good'), await packed('tampered')]
  const pinned = integrityOf(good)
  const { code, out, err } = await runWithRegistry(pinned, tampered, honest ? integrityOf(tampered) : pinned)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/^Refused: @oven\/bun-[\w-]+@\S+ is not what scripts\/bun\.sh pins by its hash\./m)
  expect(existsSync(join(folder, 'ran'))).toBe(false)
  expect(readdirSync(join(folder, `.cache/bun-${version}`), { recursive: true })).toEqual(['bin'])
})
