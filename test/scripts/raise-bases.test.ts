/** `bun run bases` on a copy of what it rewrites, against a registry of the test's own. */

import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesWithImages, isOwn, referencesIn } from '../../scripts/release/image-references.ts'

// Each test starts processes.
setDefaultTimeout(60_000)

const root = new URL('../../', import.meta.url).pathname
const manifest = (image: string) => JSON.stringify({ schemaVersion: 2, annotations: { image } })
const hash = (text: string) => `sha256:${new Bun.CryptoHasher('sha256').update(text).digest('hex')}`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'covenant-bases-'))
  for (const path of [
    ...['Dockerfile', 'compose.yaml', '.github/workflows/build.yml', 'deploy/helm/covenant/values.yaml'],
    ...['package.json', 'scripts/raise-bases.ts', 'scripts/release'],
  ])
    cpSync(join(root, path), join(folder, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const read = (path: string) => readFileSync(join(folder, path), 'utf8')
const foreign = () =>
  filesWithImages(folder)
    .flatMap((file) => referencesIn(file, read(file)))
    .filter((one) => !isOwn(one))
const texts = () => filesWithImages(folder).map(read)

interface Registry {
  /** Where tokens are issued; default: the registry itself. */
  readonly realm?: string
  readonly hidesDigest?: boolean
  readonly missing?: string
  /** What stands in the manifests, so that a tag can move. */
  readonly moved?: string
}

/** Speaks the distribution API: a token for each repository, then its manifests. */
function startRegistry({ realm, hidesDigest = false, missing, moved = '' }: Registry = {}) {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ method, url, headers }) {
      const { pathname, searchParams, origin } = new URL(url)
      asked.push(`${method} ${pathname}`)
      if (pathname === '/token') return Response.json({ token: `for ${searchParams.get('scope')}` })
      const [, name = '', tag = ''] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(pathname) ?? []
      const scope = `repository:${name}:pull`
      if (headers.get('authorization') !== `Bearer for ${scope}`) {
        const challenge = `Bearer realm="${realm ?? `${origin}/token`}",service="stub",scope="${scope}"`
        return new Response('', { status: 401, headers: { 'www-authenticate': challenge } })
      }
      if (name === missing) return new Response('', { status: 404 })
      // Else it would be the digest of one CPU.
      if (!headers.get('accept')?.startsWith('application/vnd.oci.image.index.v1+json'))
        return new Response('', { status: 406 })
      const text = manifest(`${name.replace(/^library\//, '')}:${tag}${moved}`)
      return new Response(method === 'HEAD' ? null : text, {
        headers: hidesDigest ? {} : { 'docker-content-digest': hash(text) },
      })
    },
  })
  return { url: server.url.href, asked, [Symbol.dispose]: () => void server.stop(true) }
}

async function bases(...words: readonly string[]) {
  const child = Bun.spawn([process.execPath, 'scripts/raise-bases.ts', ...words], {
    cwd: folder,
    // Without the Docker of the machine.
    env: { ...process.env, PATH: '' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, out, err }
}

test.each([
  ['names the digest', false],
  ['leaves the digest to the bytes of the manifest', true],
])('every place gets the digest of a registry that %s, and none is left without', async (_, hidesDigest) => {
  using registry = startRegistry({ hidesDigest })
  const { code, out } = await bases('--registry', registry.url)
  expect(code).toBe(0)
  expect(foreign().length).toBeGreaterThan(5)
  for (const { image, digest } of foreign()) expect([image, digest]).toEqual([image, hash(manifest(image))])
  expect(out).toContain(`${foreign().length} of ${foreign().length} references were behind`)
  expect(JSON.parse(read('scripts/release/undigested-images.json'))).toEqual({})
  expect(registry.asked).toContain('HEAD /v2/library/node/manifests/22.22.2-bookworm-slim')
  // What is not the name of an image stays.
  expect(read('Dockerfile')).toMatch(/image\.base\.name="debian:[\w-]+"/)
})

test('--check names what is behind and changes nothing; after a raise nothing is until a tag moves', async () => {
  const before = texts()
  {
    using registry = startRegistry()
    const { code, out } = await bases('--check', '--registry', registry.url)
    expect(code).toBe(1)
    expect(out).toMatch(/^compose\.yaml:\d+: apache\/age:\S+: no digest → sha256:[0-9a-f]{64}$/m)
    expect(texts()).toEqual(before)
    await bases('--registry', registry.url)
    const after = await bases('--check', '--registry', registry.url)
    expect(after).toEqual({
      code: 0,
      out: expect.stringMatching(/^0 of \d+ references are behind\n$/),
      err: '',
    })
  }
  using registry = startRegistry({ moved: 'moved' })
  const { code, out } = await bases('--check', '--registry', registry.url)
  expect(code).toBe(1)
  expect(out).toMatch(/^Dockerfile:\d+: node:\S+: sha256:[0-9a-f]{64} → sha256:[0-9a-f]{64}$/m)
})

test('where one image has no digest, nothing is written', async () => {
  using registry = startRegistry({ missing: 'versity/versitygw' })
  const before = texts()
  const { code, err } = await bases('--registry', registry.url)
  expect({ code, err }).toEqual({
    code: 69,
    err: expect.stringMatching(/^versity\/versitygw:\S+: the registry has no such image\.\n$/),
  })
  expect(texts()).toEqual(before)
})

test('a registry that sends for its token to no https is not followed', async () => {
  using registry = startRegistry({ realm: 'ftp://127.0.0.1/token' })
  const { code, err } = await bases('--registry', registry.url)
  expect(code).toBe(69)
  expect(err).toContain('which is not https.')
})

test('without a registry it asks for one, and says which way', async () => {
  const { code, err } = await bases('--check')
  expect({ code, err }).toEqual({ code: 69, err: expect.stringContaining('give --registry URL.') })
})
