/** Reads the Dockerfile by a parser. No container engine is needed, so these tests do not prove that it builds. */

import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { DockerfileParser, type From } from 'dockerfile-ast'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

const parsed = DockerfileParser.parse(read('Dockerfile'))
/** One string per instruction, continued lines joined, comments left out. */
const instructions = parsed.getInstructions().map((one) => {
  const lines = one.getTextContent().split('\n')
  const code = lines.filter((line) => !line.trim().startsWith('#')).map((line) => line.replace(/\\$/, ''))
  return code.join(' ').replace(/\s+/g, ' ').trim()
})
const finalStage = instructions.slice(instructions.findLastIndex((line) => line.startsWith('FROM ')))
const buildStage = instructions.slice(0, instructions.length - finalStage.length)
const runs = (stage: readonly string[]) =>
  stage.filter((line) => line.startsWith('RUN ')).flatMap((line) => line.slice(4).split(' && '))

test('Bun and dependencies are installed by the steps of scripts/bun.sh, from the lock file', () => {
  expect(runs(buildStage)).toEqual([
    'sh scripts/bun.sh --version',
    'install -m 0755 .cache/bun-*/bin/bun /usr/local/bin/bun',
    'rm -rf node_modules',
    'bun install --frozen-lockfile --production',
  ])
  const script = read('scripts/bun.sh')
  // Where the script puts Bun, and how it installs, must be what the image relies on.
  expect(script).toContain('.cache/bun-$version/bin/bun')
  expect(script).toContain('install --frozen-lockfile')
})

test('no package runs a script when it is installed, neither in the image nor in a clone', () => {
  // Without the member, Bun trusts a list of its own.
  expect(JSON.parse(read('package.json'))).toMatchObject({ trustedDependencies: [] })
})

test('the final stage installs no packages of the registry and takes production dependencies only', () => {
  expect(runs(finalStage).filter((command) => /\b(npm|npx|bun|node)\b/.test(command))).toEqual([])
  expect(finalStage.filter((line) => line.includes('node_modules'))).toEqual([
    'COPY --from=build /app/node_modules node_modules',
  ])
})

test('the service runs as an unprivileged user, by number so that Kubernetes can tell', () => {
  const users = finalStage.filter((line) => line.startsWith('USER '))
  expect(users).toHaveLength(1)
  expect(users[0]).toMatch(/^USER [1-9]\d{3,}:[1-9]\d{3,}$/)
  expect(finalStage.findIndex((line) => line.startsWith('USER '))).toBeLessThan(
    finalStage.findIndex((line) => line.startsWith('ENTRYPOINT ')),
  )
})

test('its health is that of /healthz', () => {
  const check = finalStage.find((line) => line.startsWith('HEALTHCHECK '))
  expect(check).toContain('/healthz')
})

for (const [status, exitCode] of [
  [200, 0],
  [503, 1],
] as const)
  test(`its health check exits with ${exitCode} when /healthz answers ${status}`, async () => {
    using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) =>
        new Response('', { status: new URL(request.url).pathname === '/healthz' ? status : 418 }),
    })
    const check = finalStage.find((line) => line.startsWith('HEALTHCHECK ')) ?? ''
    const [command, ...args] = JSON.parse(check.slice(check.indexOf('['))) as string[]
    expect(command).toBe('bun')
    const probe = Bun.spawn([process.execPath, ...args], {
      env: { ...process.env, SVC_LISTEN_ADDR: `:${server.port}` },
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    expect(await probe.exited).toBe(exitCode)
  })

test('what is copied is admitted by .dockerignore, and nothing else is', () => {
  const copied = instructions
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap((line) => line.split(' ').slice(1, -1))
  const [first, ...admitted] = read('.dockerignore').trim().split('\n')
  expect(first).toBe('*')
  expect(admitted.map((line) => line.replace(/^!/, '')).sort()).toEqual([...new Set(copied)].sort())
  // The migrations come with the store.
  expect(copied.filter((path) => path !== 'migrations' && !existsSync(new URL(path, root)))).toEqual([])
})

test('the image gives the process the settings of scripts/bun.sh', () => {
  const [, threads] = /UV_THREADPOOL_SIZE:-(\d+)/.exec(read('scripts/bun.sh')) ?? []
  expect(Number(threads)).toBeGreaterThan(8)
  const env = finalStage.find((line) => line.startsWith('ENV '))
  expect(env).toContain(` UV_THREADPOOL_SIZE=${threads}`)
  const [, scavenger] = /mimalloc_scavenger:-(\d+)/.exec(read('scripts/bun.sh')) ?? []
  expect(env).toContain(` mimalloc_scavenger=${scavenger}`)
})

/** The labels of the last stage, without quotes. */
function labels(): ReadonlyMap<string, string> {
  const line = finalStage.find((one) => one.startsWith('LABEL ')) ?? ''
  return new Map([...line.matchAll(/(\S+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]))
}

test('every base is pinned by a full tag or a digest, and the label names the last', () => {
  const bases = (parsed.getFROMs() as readonly From[]).map((from) => from.getImage() ?? '')
  expect(bases).toHaveLength(2)
  for (const base of bases)
    expect(base).toMatch(/:(\S*\d+\.\d+\.\d+|\w+-\d{8})(-[a-z-]+)?(@sha256:[0-9a-f]{64})?$/)
  expect(labels().get('org.opencontainers.image.base.name')).toBe(bases[1]?.split('@')[0] ?? '')
})

test('the labels are those of the Open Container Initiative, with what the build gives them', () => {
  const { version, license, description } = JSON.parse(read('package.json')) as Record<string, string>
  expect(finalStage).toContain(`ARG VERSION=${version}`)
  const given: Record<string, unknown> = {}
  for (const [name, value] of labels()) given[name.replace('org.opencontainers.image.', '')] = value
  expect(given).toEqual({
    title: 'Covenant',
    ...{ description, licenses: license, vendor: 'The Covenant project' },
    ...{ version: '$VERSION', revision: '$REVISION', created: '$CREATED', source: '$SOURCE' },
    'base.name': expect.any(String),
  })
  const args = finalStage.filter((line) => line.startsWith('ARG ')).map((line) => line.slice(4).split('=')[0])
  expect(args).toEqual(['VERSION', 'REVISION', 'CREATED', 'SOURCE'])
})

test('what the service writes by default is in the volume, which its user owns', () => {
  const user = finalStage.find((line) => line.startsWith('USER ')) ?? ''
  const volume = finalStage.find((line) => line.startsWith('VOLUME '))?.slice(7)
  expect(volume).toBe('/var/lib/covenant')
  expect(finalStage.find((line) => line.startsWith('ENV '))).toContain(`SVC_DATA_DIR=${volume}`)
  const made = runs(finalStage)
  expect(made).toContain(`install -d -o covenant -g covenant -m 0700 ${volume}`)
  expect(made.find((command) => command.startsWith('useradd '))).toContain(
    `--uid ${user.slice(5).split(':')[0]} `,
  )
})
