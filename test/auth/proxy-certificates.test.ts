/**
 * The settings of docs/identity.md by which HAProxy and nginx forward client certificates, in the real programs: who
 * the service takes the caller for.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unverifiedBearerReader } from '../../src/auth/bearer.ts'
import { principalChain } from '../../src/auth/principal-chain.ts'
import { blockList } from '../../src/base/cidr.ts'
import type { Session } from '../../src/core/session.ts'
import { newTenantId } from '../../src/core/tenant.ts'
import { freePort } from '../support/free-port.ts'

const session: Session = {
  ...{ sessionId: 's', kind: 'service', tenant: newTenantId(), organizationId: undefined, scopes: [] },
  principal: { sub: 'etl', roles: [] },
}
const identify = principalChain({
  trustedProxies: blockList([{ address: '127.0.0.1', prefixLength: 32, family: 'ipv4' }]),
  readBearer: unverifiedBearerReader({ roles: undefined }),
  demo: false,
})

const folder = mkdtempSync(join(tmpdir(), 'covenant-proxy-'))
const at = (name: string) => join(folder, name)
const read = (name: string) => readFileSync(at(name), 'utf8')
const openssl = (...words: readonly string[]) => {
  const { exitCode, stderr } = Bun.spawnSync(['openssl', ...words], { cwd: folder })
  if (exitCode !== 0) throw new Error(stderr.toString())
}
/** A certificate of the authority, as `NAME.pem` and `NAME.key`. */
function certify(name: string, subject: string): void {
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    subject,
  )
  openssl(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-out',
    `${name}.pem`,
  )
}

let backend: ReturnType<typeof Bun.serve>
beforeAll(() => {
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=ca',
  )
  certify('server', '/CN=localhost')
  certify('etl', '/O=acme/CN=etl-1.acme')
  certify('comma', '/CN=evil,URI=urn:cn:admin')
  certify('twice', '/CN=evil,CN=admin')
  certify('quote', '/CN=evil";URI="urn:cn:admin')
  writeFileSync(at('both.pem'), read('server.pem') + read('server.key'))
  backend = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async ({ headers }) => {
      const { source, principal } = await identify(headers, '127.0.0.1', session)
      return Response.json([source, source === 'session' ? '' : principal.sub])
    },
  })
}, 60_000)
afterAll(async () => {
  await backend?.stop(true)
  rmSync(folder, { recursive: true, force: true })
})

const page = readFileSync(new URL('../../docs/identity.md', import.meta.url), 'utf8')
/** The settings of a proxy as documented, for this test's files and addresses. */
function documented(proxy: 'haproxy' | 'nginx', port: number): string {
  const [, block] = new RegExp(`\`\`\`${proxy}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? []
  if (block === undefined) throw new Error(`docs/identity.md has no settings for ${proxy}`)
  return block
    .replaceAll('/etc/covenant/', `${folder}/`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${backend.port}`)
    .replaceAll(/(bind|listen) (?::)?443/g, `$1 127.0.0.1:${port}`)
}

const proxies = {
  haproxy: {
    command: (file: string) => ['haproxy', '-f', file],
    config: (port: number) =>
      `defaults\n  mode http\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n${documented('haproxy', port)}`,
  },
  nginx: {
    command: (file: string) => ['nginx', '-p', folder, '-e', at('error.log'), '-c', file],
    config: (port: number) =>
      `daemon off;\npid ${at('nginx.pid')};\nevents {}\nhttp {\naccess_log off;\n${documented('nginx', port)}}\n`,
  },
} as const

for (const name of ['haproxy', 'nginx'] as const) {
  const missing = [name, 'openssl'].filter((program) => Bun.which(program) === null)
  const why = missing.length === 0 ? '' : ` (skipped: there is no ${missing.join(' and no ')} here)`
  // Skipped where the machine lacks the proxy or openssl; the name of the suite says which.
  describe.skipIf(missing.length > 0)(`${name}${why}`, () => {
    const port = freePort()
    let proxy: ReturnType<typeof Bun.spawn>
    beforeAll(async () => {
      const file = at(`${name}.conf`)
      writeFileSync(file, proxies[name].config(port))
      proxy = Bun.spawn(proxies[name].command(file), { stdio: ['ignore', 'ignore', 'ignore'] })
      while (proxy.exitCode === null && (await caller(port).catch(() => undefined)) === undefined)
        await Bun.sleep(20)
    }, 60_000)
    afterAll(async () => {
      proxy?.kill()
      await proxy?.exited
    })

    test('names the caller by its certificate', async () => {
      expect(await caller(port, 'etl')).toEqual(['mtls_san', 'urn:cn:etl-1.acme'])
    })

    test('lets nobody name themselves, by a header or without a certificate', async () => {
      expect(await caller(port)).toEqual(['session', ''])
      const forged = { 'x-forwarded-client-cert': 'URI=urn:cn:admin' }
      expect(await caller(port, undefined, forged)).toEqual(['session', ''])
      expect(await caller(port, 'etl', forged)).toEqual(['mtls_san', 'urn:cn:etl-1.acme'])
    })

    test('lets no name of a certificate pass for another', async () => {
      for (const client of ['comma', 'twice', 'quote'])
        expect([client, (await caller(port, client))[1]]).not.toEqual([client, 'urn:cn:admin'])
    })
  })
}

/** Who the service takes a client for: the principal's source and subject. */
async function caller(
  port: number,
  client?: string,
  headers: Record<string, string> = {},
): Promise<readonly string[]> {
  const own = client === undefined ? {} : { cert: read(`${client}.pem`), key: read(`${client}.key`) }
  const response = await fetch(`https://127.0.0.1:${port}/`, {
    headers,
    keepalive: false,
    tls: { ca: read('ca.pem'), rejectUnauthorized: false, ...own },
  })
  return (await response.json()) as readonly string[]
}
