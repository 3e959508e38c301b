/** Reads compose.yaml as text: no secret, no open door, nothing unpinned. test/clients runs what it describes. */

import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'

const root = new URL('../../', import.meta.url).pathname
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Service {
  readonly image: string
  readonly environment: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly networks: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly [key: string]: unknown
}

const text = read('compose.yaml')
const file = Bun.YAML.parse(text) as {
  readonly services: Readonly<Record<string, Service>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
}
const services = Object.entries(file.services)

/** Variables that the file must be given, and those that it may be. */
const required = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name))
const optional = new Set([...text.matchAll(/\$\{(\w+):-/g)].map(([, name = '']) => name))

/** The settings of a `.env`. */
const settingsOf = (env: string) =>
  new Map([...env.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))

function makeEnv(path: string) {
  const { exitCode, stderr } = Bun.spawnSync(['sh', join(root, 'deploy/compose/make-env.sh'), path])
  return { exitCode, stderr: stderr.toString() }
}

test('every service has a check of its health, and those before it are healthy first', () => {
  expect(services.map(([name]) => name).sort()).toEqual(['catalog', 'covenant', 'database', 'storage'])
  for (const [name, { healthcheck, depends_on = {} }] of services) {
    expect([name, healthcheck?.test[0]]).toEqual([name, 'CMD'])
    for (const { condition } of Object.values(depends_on)) expect(condition).toBe('service_healthy')
  }
  expect(Object.keys(file.services.covenant?.depends_on ?? {})).toEqual(['database', 'catalog', 'storage'])
})

test('every image is pinned by a full tag', () => {
  const images = services.filter(([name]) => name !== 'covenant').map(([, { image }]) => image)
  for (const image of images) expect(image).toMatch(/^[a-z/-]+:\S*\d+\.\d+\.\d+(@sha256:[0-9a-f]{64})?$/)
  const { version } = JSON.parse(read('package.json')) as { version: string }
  expect(file.services.covenant?.image).toBe(`covenant:\${COVENANT_VERSION:-${version}}`)
})

test('every port is on loopback, and the catalog, which has no log-in, and the database have none', () => {
  for (const port of services.flatMap(([, { ports = [] }]) => ports)) expect(port).toStartWith('127.0.0.1:')
  for (const name of ['catalog', 'database']) {
    expect(file.services[name]?.ports).toBeUndefined()
    expect(file.services[name]?.networks).toEqual(['backend'])
  }
  expect(file.networks.backend).toEqual({ internal: true })
})

test('no secret stands in the file: each is a variable without which nothing starts', () => {
  const secret = /PASSWORD|SECRET|ACCESS_+KEY|DATABASE_URL/
  const values = services.flatMap(([, { environment }]) =>
    Object.entries(environment).filter(([name]) => secret.test(name)),
  )
  expect(values.length).toBeGreaterThan(5)
  for (const [name, value] of values)
    expect([name, value]).toEqual([name, expect.stringMatching(/\$\{\w+:\?/)])
})

test('the service writes to its volume and to memory only, without capabilities', () => {
  expect(file.services.covenant).toMatchObject({
    read_only: true,
    tmpfs: ['/tmp'],
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    volumes: ['covenant:/var/lib/covenant'],
  })
})

test('the example of the settings tells of every variable and holds no secret', () => {
  const example = read('.env.example')
  for (const name of [...required, ...optional]) expect(example).toMatch(new RegExp(`^(# )?${name}=`, 'm'))
  expect([...settingsOf(example).values()].filter((value) => value !== '')).toEqual([])
  expect([...settingsOf(example).keys()].sort()).toEqual([...required].sort())
  expect(read('.gitignore').split('\n')).toContain('.env')
})

test('secrets are made once, for their owner alone, and never twice the same', () => {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-env-'))
  try {
    const [one, two] = [join(folder, 'one'), join(folder, 'two')]
    expect([makeEnv(one), makeEnv(two)].map(({ exitCode }) => exitCode)).toEqual([0, 0])
    expect(statSync(one).mode & 0o777).toBe(0o600)
    const first = readFileSync(one, 'utf8')
    const made = settingsOf(first)
    expect([...made.keys()].sort()).toEqual([...required].sort())
    for (const [name, value] of settingsOf(readFileSync(two, 'utf8'))) expect(value).not.toBe(made.get(name))
    for (const value of made.values()) expect(value).toMatch(/^[0-9a-f]{20,}$/)
    expect(makeEnv(one)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('it is kept') })
    expect(readFileSync(one, 'utf8')).toBe(first)
    const settings = Object.entries(file.services.covenant?.environment ?? {}).map(([name, value]) => [
      name,
      value.replace(/\$\{(\w+):\?[^}]*\}/g, (_, variable: string) => made.get(variable) ?? ''),
    ])
    const config = parseConfig({ UV_THREADPOOL_SIZE: '16', ...Object.fromEntries(settings) })
    expect(config).toMatchObject({
      store: { kind: 'postgres' },
      upstreamAllow: { hosts: ['catalog', 'storage'] },
      pgwireAllowPlaintext: true,
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
