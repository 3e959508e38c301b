/**
 * The walk-through of docs/compose.md as it stands, with the settings that compose.yaml gives each service, on the same
 * programs without containers. A stand-in takes the place of `docker`; no image is pulled or built.
 */

import { expect, test } from 'bun:test'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import { openPackages, run, startPostmaster, whyNoPackages } from '../../scripts/postgres-packages.ts'
import { freePort } from '../support/free-port.ts'
import { deployTool, goProgram } from './deploy-tool.ts'
import { java, packageFolder } from './packages.ts'
import { python } from './pins.ts'
import { runClient, startServer } from './processes.ts'
import { versitygwVersion } from './versitygw.ts'

const root = new URL('../../', import.meta.url).pathname
const page = readFileSync(join(root, 'docs/compose.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text)

interface Service {
  readonly environment: Readonly<Record<string, string>>
  readonly command: readonly string[] | null
  readonly image: string
  readonly ports?: readonly {
    readonly host_ip: string
    readonly published: string
    readonly target: number
  }[]
}
type Project = { readonly services: Readonly<Record<string, Service>> }

/** The project as the reference implementation loads it. */
async function project(envFile: string): Promise<Project> {
  const command = [await deployTool(), 'compose', join(root, 'compose.yaml'), envFile]
  const { exitCode, output } = await runClient('compose-config', command, { seconds: 60 })
  expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' })
  return JSON.parse(output) as Project
}

function serviceOf({ services }: Project, name: string): Service {
  const service = services[name]
  if (service === undefined) throw new Error(`compose.yaml has no service ${name}`)
  return service
}

/** A folder in which the commands of the page run: `.env`, `deploy` and a stand-in for what they call. */
function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-compose-'))
  symlinkSync(join(root, 'deploy'), join(folder, 'deploy'))
  mkdirSync(join(folder, 'bin'))
  const program = (name: string, text: string) => {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(folder, 'bin', name), 0o755)
  }
  program('docker', `exec '${process.execPath}' '${import.meta.dir}/scripts/docker-stand-in.ts' "$@"`)
  // The environment of Python is the pinned one, which is there already.
  const environment = join(packageFolder('python:pyiceberg'), 'bin/python')
  program(
    'python3',
    `mkdir -p .venv/bin
printf '#!/bin/sh\\nexec %s "$@"\\n' '${environment}' >.venv/bin/python
printf '#!/bin/sh\\n' >.venv/bin/pip
chmod +x .venv/bin/*`,
  )
  return folder
}

/** The database of the file, with the user, password, extension and flags that its image would give it. */
async function startDatabase(
  { environment, command }: Service,
  stack: AsyncDisposableStack,
): Promise<string> {
  const packages = await openPackages()
  stack.defer(() => packages.remove())
  const { POSTGRES_USER: user = '', POSTGRES_PASSWORD: password = '', POSTGRES_DB: name = '' } = environment
  packages.write('password', password)
  const args = (environment.POSTGRES_INITDB_ARGS ?? '').split(' ')
  const initdb = ['--auth=scram-sha-256', `--pwfile=${packages.inside}/password`, '--no-sync', ...args]
  await run([...packages.command('initdb'), '-U', user, '-D', `${packages.inside}/data`, ...initdb])
  const flags = (command ?? []).filter((word) => word.includes('=')).map((word) => word.split('='))
  const server = await startPostmaster(packages, 'data', { fsync: 'off', ...Object.fromEntries(flags) })
  stack.defer(async () => {
    server.process.kill('SIGQUIT')
    await server.process.exited
  })
  const address = `127.0.0.1:${server.port}`
  await using first = await connect(`postgres://${user}:${password}@${address}/postgres`)
  await first.sql.unsafe(`create database ${name}`)
  await using made = await connect(`postgres://${user}:${password}@${address}/${name}`)
  await made.sql.unsafe('create extension age')
  return address
}

async function connect(url: string) {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  return { sql, [Symbol.asyncDispose]: () => sql.end() }
}

/** The command as the file has the container: user of the image, no capabilities, a root that cannot be written. */
function confined(volume: string, command: readonly string[]): readonly string[] {
  const user = /^USER (\d+):(\d+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))
  if (user === null) throw new Error('the Dockerfile names no user')
  chownSync(volume, Number(user[1]), Number(user[2]))
  const script = `mount --bind "$0" "$0"
mount -o remount,bind,ro /
mount -t tmpfs tmpfs /tmp
exec setpriv --reuid ${user[1]} --regid ${user[2]} --clear-groups --bounding-set -all --no-new-privs "$@"`
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-ec', script, volume, ...command]
}

const reason = whyNoPackages()
if (reason !== undefined) test.skip(`${reason}: the walk-through of Compose is not run`, () => {})
else
  test('compose: the walk-through does what the page says, with the settings of the file', async () => {
    await using stack = new AsyncDisposableStack()
    const folder = openFolder()
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    const envFile = join(folder, '.env')
    await run(['sh', join(root, 'deploy/compose/make-env.sh'), envFile])
    const [http, metrics, pgwire, s3, rest] = [freePort(), freePort(), freePort(), freePort(), freePort()]
    const ports = { COVENANT_PORT: http, COVENANT_METRICS_PORT: metrics, COVENANT_PGWIRE_PORT: pgwire }
    for (const [name, port] of Object.entries({ ...ports, STORAGE_PORT: s3 }))
      appendFileSync(envFile, `${name}=${port}\n`)
    const file = await project(envFile)
    const [covenant, database, catalog, storage] = ['covenant', 'database', 'catalog', 'storage'].map(
      (name) => serviceOf(file, name),
    ) as [Service, Service, Service, Service]
    expect(covenant.ports?.map(({ host_ip, published, target }) => [host_ip, published, target])).toEqual([
      ['127.0.0.1', `${http}`, 8080],
      ['127.0.0.1', `${metrics}`, 9100],
      ['127.0.0.1', `${pgwire}`, 5433],
    ])

    const addresses: Record<string, string> = {
      'storage:7070': `127.0.0.1:${s3}`,
      'catalog:8181': `127.0.0.1:${rest}`,
      'covenant:5433': `127.0.0.1:${pgwire}`,
      'database:5432': await startDatabase(database, stack),
      'catalog,storage': '127.0.0.1',
      [dirname(/file:(\S+)$/.exec(catalog.environment.CATALOG_URI ?? '')?.[1] ?? '')]: folder,
    }
    const here = (text: string) =>
      Object.entries(addresses).reduce((all, [there, address]) => all.replaceAll(there, address), text)
    const hereEnv = (service: Service) =>
      Object.fromEntries(Object.entries(service.environment).map(([name, value]) => [name, here(value)]))

    expect(storage.image.split('@')[0]).toBe(`versity/versitygw:v${versitygwVersion}`)
    const versitygw = await goProgram(
      'versitygw',
      'github.com/versity/versitygw/cmd/versitygw',
      versitygwVersion,
    )
    mkdirSync(join(folder, 'data/warehouse'), { recursive: true })
    const words = (storage.command ?? []).map((word) =>
      word === ':7070' ? `127.0.0.1:${s3}` : word === '/data' ? join(folder, 'data') : word,
    )
    const health = `http://127.0.0.1:${s3}/health`
    stack.use(await startServer('compose-storage', [versitygw, ...words], health, { env: hereEnv(storage) }))

    const libraries = (['maven:iceberg-rest', 'maven:iceberg-s3'] as const)
      .map((name) => join(packageFolder(name), 'lib/*'))
      .join(':')
    stack.use(
      await startServer(
        'compose-catalog',
        [java(), '-Xmx400m', '-cp', libraries, 'org.apache.iceberg.rest.RESTCatalogServer'],
        `http://127.0.0.1:${rest}/v1/config`,
        { env: { ...hereEnv(catalog), CATALOG_REST_PORT: `${rest}` } },
      ),
    )

    const volume = mkdtempSync(join(root, '.cache/compose-'))
    stack.defer(() => rmSync(volume, { recursive: true, force: true }))
    addresses['/var/lib/covenant'] = volume
    // What the image sets, and addresses of loopback where the container has its own.
    const serviceEnv = {
      ...hereEnv(covenant),
      ...{ NODE_ENV: 'production', UV_THREADPOOL_SIZE: '16', SVC_DATA_DIR: volume },
      ...{ SVC_LISTEN_ADDR: `127.0.0.1:${http}`, SVC_METRICS_ADDR: `127.0.0.1:${metrics}` },
      ...{ SVC_PGWIRE_ADDR: `127.0.0.1:${pgwire}`, SVC_XMLA_ADDR: `127.0.0.1:${freePort()}` },
    }
    stack.use(
      await startServer(
        'compose-covenant',
        confined(volume, [process.execPath, join(root, 'src/main.ts'), 'serve']),
        `http://127.0.0.1:${http}/readyz`,
        { env: serviceEnv, cwd: root },
      ),
    )

    const world = {
      services: { covenant: { env: serviceEnv, cwd: root }, database: { env: {}, cwd: folder } },
      addresses,
    }
    const child = Bun.spawn(['sh', '-eu', '-c', blocks('sh').join('\n')], {
      cwd: folder,
      env: {
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
        HOME: folder,
        STAND_IN: JSON.stringify(world),
      },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, status] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
    const promised = blocks('text').join('').trim().split('\n')
    expect(promised.length).toBeGreaterThan(10)
    let from = 0
    for (const line of promised) {
      const at = stdout.indexOf(line, from)
      if (at < 0) throw new Error(`the page promises the line "${line}", in its order; there was:\n${stdout}`)
      from = at + line.length
    }
  })

test('compose: the page installs the version of PyIceberg that is tested', () => {
  const [pinned = ''] = python.pyiceberg
  expect(page).toContain(`'${pinned.replace('pyiceberg', 'pyiceberg[pyarrow]')}'`)
})
