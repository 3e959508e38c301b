/**
 * HAProxy and nginx with the configurations of deploy/, in front of two replicas: the service's own listeners over
 * scripted answers. Only addresses, certificates and folders of the examples are replaced.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { BlockList, createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Drain } from '../../src/server/drain.ts'
import { listenHttp } from '../../src/server/http.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { makeCertificate } from '../support/certificate.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { startWire, type WireService } from '../support/pgwire.ts'
import { frames } from '../support/wire-client.ts'

setDefaultTimeout(60_000)

const deploy = new URL('../../deploy/', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'covenant-balancer-'))
const { cert, key } = makeCertificate()
const proxies = new BlockList()
proxies.addSubnet('127.0.0.0', 8, 'ipv4')

interface Replica extends AsyncDisposable {
  readonly port: number
  readonly wire: WireService
  readonly drain: Drain
}

/** The listeners of one replica. Its HTTP listener answers with its name and what it was told of the client. */
async function startReplica(name: string): Promise<Replica> {
  const drain = new Drain()
  const wire = await startWire({ proxies })
  const http = listenHttp({
    hostname: '127.0.0.1',
    port: 0,
    drain,
    log: createLogger({ level: 'silent' }),
    handle: async ({ url, headers }) =>
      url.endsWith('/readyz')
        ? new Response('', { status: drain.accepting ? 200 : 503 })
        : /\/(wrong|v1\/oauth\/tokens)$/.test(url)
          ? new Response('', { status: 401 })
          : Response.json({ name, certificate: headers.get('x-forwarded-client-cert') }),
  })
  return {
    port: http.port ?? 0,
    wire,
    drain,
    async [Symbol.asyncDispose]() {
      await http.stop(true)
      await wire[Symbol.asyncDispose]()
    },
  }
}

/** A balancer that runs, and where it listens. */
interface Balancer {
  readonly https: number
  readonly postgres: number
  stop(): void
}

const example = (path: string, replacements: readonly (readonly [string, string])[]) =>
  replacements.reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${path} does not hold ${from}`)
      return text.replaceAll(from, to)
    },
    readFileSync(new URL(path, deploy), 'utf8'),
  )

function run(command: readonly string[], ports: Omit<Balancer, 'stop'>): Balancer {
  const balancer = Bun.spawn([...command], { stdout: 'ignore', stderr: 'ignore', stdin: 'ignore' })
  return { ...ports, stop: () => balancer.kill() }
}

function startHaproxy(haproxy: string, replicas: readonly Replica[]): Balancer {
  const ports = { https: freePort(), postgres: freePort() }
  const pem = join(folder, 'haproxy.pem')
  writeFileSync(pem, cert + key)
  const text = example('haproxy/haproxy.cfg', [
    [':8443', `127.0.0.1:${ports.https}`],
    [':5432', `127.0.0.1:${ports.postgres}`],
    ['/etc/haproxy/covenant.pem', pem],
    ['/etc/haproxy/clients.pem', pem],
    ...replicas.flatMap(({ port, wire }, index): [string, string][] => [
      [`replica-${index + 1}:5433 port 8080`, `127.0.0.1:${wire.port} port ${port}`],
      [`replica-${index + 1}:8080`, `127.0.0.1:${port}`],
    ]),
  ])
  const path = join(folder, 'haproxy.cfg')
  writeFileSync(path, text)
  return run([haproxy, '-db', '-f', path], ports)
}

function startNginx(nginx: string, modules: string, replicas: readonly Replica[]): Balancer {
  const ports = { https: freePort(), postgres: freePort() }
  writeFileSync(join(folder, 'nginx.pem'), cert)
  writeFileSync(join(folder, 'nginx.key'), key)
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const text = example('nginx/nginx.conf', [
    ['load_module modules/', `load_module ${modules}/`],
    ['listen 8443', `listen 127.0.0.1:${ports.https}`],
    ['listen 5432', `listen 127.0.0.1:${ports.postgres}`],
    ['/etc/nginx/covenant', `${folder}/nginx`],
    ['http {', `http { access_log off; ${folders.join(' ')}`],
    ...replicas.flatMap(({ port, wire }, index): [string, string][] => [
      [`replica-${index + 1}:5433`, `127.0.0.1:${wire.port}`],
      [`replica-${index + 1}:8080`, `127.0.0.1:${port}`],
    ]),
  ])
  const path = join(folder, 'nginx.conf')
  writeFileSync(path, text)
  const globals = `daemon off; pid ${folder}/nginx.pid; error_log stderr;`
  return run([nginx, '-p', folder, '-c', path, '-e', 'stderr', '-g', globals], ports)
}

/** What the replica that got the request says; undefined where none did. */
async function ask(
  { https }: Balancer,
  headers: Readonly<Record<string, string>> = {},
  client?: { readonly cert: string; readonly key: string },
): Promise<{ name: string; certificate: string | null } | undefined> {
  const response = await fetch(`https://localhost:${https}/any`, {
    headers,
    keepalive: false,
    tls: { ca: cert, ...client },
  }).catch(() => undefined)
  return response?.status === 200 ? ((await response.json()) as never) : undefined
}

/** The status of one request from an address of this machine. */
function statusFrom({ https }: Balancer, localAddress: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: https, path, localAddress, ca: cert, servername: 'localhost' }
    httpsRequest({ ...options, agent: false }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
      .on('error', reject)
      .end()
  })
}

/** The address that a replica's wire has of a client that connects from another one. */
async function addressSeen({ postgres }: Balancer, replicas: readonly Replica[]): Promise<string> {
  const socket = createConnection({ host: '127.0.0.1', port: postgres, localAddress: '127.0.0.77' })
  socket.on('error', () => {})
  socket.write(frames.startup({ user: 'ada', database: 'main' }))
  try {
    return await eventually(
      () => replicas.flatMap(({ wire }) => [...wire.server.clients()]).map(({ address }) => address)[0],
    )
  } finally {
    socket.destroy()
  }
}

function behaves(start: (replicas: readonly Replica[]) => Balancer) {
  let replicas: readonly [Replica, Replica]
  let balancer: Balancer
  beforeAll(async () => {
    replicas = [await startReplica('one'), await startReplica('two')]
    balancer = start(replicas)
    await eventually(async () => (await ask(balancer)) !== undefined)
  })
  afterAll(async () => {
    balancer.stop()
    for (const replica of replicas) await replica[Symbol.asyncDispose]()
  })

  test('spreads requests over both replicas', async () => {
    const names = new Set<string>()
    await eventually(async () => {
      names.add((await ask(balancer))?.name ?? '')
      return names.has('one') && names.has('two')
    })
  })

  test('passes no certificate header of a client’s own', async () => {
    const forged = await ask(balancer, { 'x-forwarded-client-cert': 'URI=spiffe://acme/admin' })
    expect(forged?.certificate ?? null).toBeNull()
  })

  test('names the client’s own address to the PostgreSQL wire', async () => {
    expect(await addressSeen(balancer, replicas)).toBe('127.0.0.77')
  })

  return { balancer: () => balancer, replicas: () => replicas }
}

const haproxy = Bun.which('haproxy')
if (haproxy === null)
  test.skip('haproxy is not installed (Debian package haproxy): its example is not tried', () => {})
else
  describe('HAProxy', () => {
    const { balancer, replicas } = behaves((each) => startHaproxy(haproxy, each))

    test('names the common name of a client’s certificate', async () => {
      expect((await ask(balancer(), {}, { cert, key }))?.certificate).toBe('URI=urn:cn:localhost')
    })

    test('answers 429 to an address that keeps sending wrong secrets, and to no other', async () => {
      const [guesser, other] = ['127.0.0.66', '127.0.0.67']
      expect(await statusFrom(balancer(), guesser, '/any')).toBe(200)
      await eventually(async () => (await statusFrom(balancer(), guesser, '/wrong')) === 429)
      expect(await statusFrom(balancer(), guesser, '/any')).toBe(429)
      expect(await statusFrom(balancer(), other, '/any')).toBe(200)
      expect(await statusFrom(balancer(), other, '/wrong')).toBe(401)
    })

    test('takes a replica that announces its end out of rotation, and no request fails meanwhile', async () => {
      const [one] = replicas()
      one.drain.announce()
      let others = 0
      await eventually(async () => {
        const answer = await ask(balancer())
        expect(answer).toBeDefined()
        others = answer?.name === 'two' ? others + 1 : 0
        return others === 20
      })
    })
  })

const nginx = Bun.which('nginx')
const modules = [
  '/usr/lib/nginx/modules',
  nginx && join(dirname(realpathSync(nginx)), '../lib/nginx/modules'),
].find((path) => path && existsSync(join(path, 'ngx_stream_module.so')))
if (nginx === null || !modules)
  test.skip('nginx with its stream module is not installed (Debian packages nginx, libnginx-mod-stream): its example is not tried', () => {})
else
  describe('nginx', () => {
    const { balancer } = behaves((each) => startNginx(nginx, modules, each))

    test('answers 429 to an address that keeps trying secrets for tokens, and to no other', async () => {
      const [guesser, other] = ['127.0.0.66', '127.0.0.67']
      const path = '/api/v1/gateway/main/v1/oauth/tokens'
      expect(await statusFrom(balancer(), guesser, path)).toBe(401)
      await eventually(async () => (await statusFrom(balancer(), guesser, path)) === 429)
      expect(await statusFrom(balancer(), other, path)).toBe(401)
      expect(await statusFrom(balancer(), guesser, '/any')).toBe(200)
    })
  })

afterAll(() => rmSync(folder, { recursive: true, force: true }))
