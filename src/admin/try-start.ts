/**
 * Tries what a start of the service tries, one setting after the other, and changes nothing. It does not open the
 * embedded store, and asks no catalog, storage or identity provider.
 */

import { X509Certificate } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type postgres from 'postgres'
import { planMemory } from '../app/open-budget.ts'
import { systemClock } from '../base/clock.ts'
import { Fault, tellOperator } from '../base/fault.ts'
import { memorySize } from '../base/memory-size.ts'
import type { Config } from '../config.ts'
import type { ListenAddress } from '../config-values.ts'
import { readInstalledLicense } from '../license/installed-license.ts'
import { onDatabase, openConfiguredStore, secretsKeyOf } from '../open-store.ts'
import { addressText, addressUse } from '../server/listen-at.ts'
import { readCertificate } from '../server/pgwire/read-certificate.ts'
import { isHeld } from '../store/database/embedded.ts'
import { migrationStatus } from '../store/database/migrations.ts'
import { assertNotFilling, assertNotMoved } from '../store/database/move-mark.ts'

/** What one try found. Its text names what to do, where it failed. */
export interface Tried {
  /** The environment variable, or several, that say what was tried. */
  readonly setting: string
  /** `note`: a start may succeed, and somebody should look. */
  readonly outcome: 'ok' | 'note' | 'failed'
  readonly text: string
  /** Whether it failed because something does not answer. */
  readonly isAway?: boolean
}

/** Seconds after which a database that does not answer is away. */
const connectSeconds = 10

type Found = Omit<Tried, 'setting'>

const ok = (text: string): Found => ({ outcome: 'ok', text })
const note = (text: string): Found => ({ outcome: 'note', text })
const failed = (text: string): Found => ({ outcome: 'failed', text })

/** Every try in the order of a start. Each ends with what it found; none throws. */
export async function* tryStart(config: Config): AsyncGenerator<Tried> {
  const { store } = config
  const directory = (setting: string, path: string | undefined) =>
    path === undefined ? [] : [trying(setting, () => tryDirectory(path))]
  const tries = [
    trying('SVC_LICENSE, SVC_LICENSE_FILE', () => tryLicense(config)),
    trying('SVC_MEMORY_MB, SVC_READ_MEMORY_MB', async () => tryMemory(config)),
    ...certificatesOf(config),
    ...directory('SVC_READ_DIR', config.readEngine.directory),
    // By default it is made in the data directory.
    ...(store.kind === 'postgres' || config.journalDir !== join(store.dataDir, 'journal')
      ? directory('SVC_JOURNAL_DIR', config.journalDir)
      : []),
    ...(store.kind === 'postgres'
      ? [trying('SVC_DATABASE_URL, SVC_SECRETS_KEY', () => tryDatabase(config, store.databaseUrl.reveal()))]
      : [trying('SVC_DATA_DIR', () => tryDataDirectory(store.dataDir, store.secretsKey !== undefined))]),
    ...listenersOf(config).map(([setting, at]) => trying(setting, async () => tryAddress(at))),
  ]
  for (const one of tries) yield await one()
}

/** A try that tells a failure as one line of text. */
const trying = (setting: string, run: () => Promise<Found>) => async (): Promise<Tried> => {
  try {
    return { setting, ...(await run()) }
  } catch (thrown) {
    const [first = ''] = setting.split(', ')
    // Messages of a start name their setting themselves.
    const text = tellOperator(thrown).replaceAll('\n', ' ').replace(`${first}: `, '')
    const isAway = thrown instanceof Fault && thrown.kind === 'unavailable'
    return { setting, ...failed(text), ...(isAway && { isAway }) }
  }
}

async function tryLicense({ license, demo }: Config): Promise<Found> {
  const read = await readInstalledLicense(license, demo)
  return ok(read === undefined ? 'No license is set: the free capabilities.' : 'The license is valid.')
}

function tryMemory({ memoryBytes = memorySize(), readEngine }: Config): Found {
  const { catalogRefusal } = planMemory(memoryBytes, readEngine.memoryBytes)
  return catalogRefusal === undefined ? ok('The memory suffices.') : note(catalogRefusal)
}

function certificatesOf({ pgwireTls, xmlaTls }: Config) {
  const pairs = [
    ['SVC_PGWIRE_TLS_CERT_FILE', 'SVC_PGWIRE_TLS_KEY_FILE', pgwireTls],
    ['SVC_XMLA_TLS_CERT_FILE', 'SVC_XMLA_TLS_KEY_FILE', xmlaTls],
  ] as const
  return pairs.flatMap(([cert, key, files]) => {
    if (files === undefined) return []
    return [
      trying(`${cert}, ${key}`, async () => certificateFound(await readCertificate(files, { cert, key }))),
    ]
  })
}

/** TLS starts with an expired certificate, which clients then refuse. */
function certificateFound({ cert }: { readonly cert: string }): Found {
  const { validTo, validFrom } = new X509Certificate(cert)
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)]
  const now = systemClock.now()
  if (now > to) return note(`The certificate ended on ${dateOf(to)}: clients refuse it. Renew it.`)
  if (now < from) return note(`The certificate begins on ${dateOf(from)} only: clients refuse it until then.`)
  return ok(`The certificate is valid until ${dateOf(to)}.`)
}

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

async function tryDirectory(path: string): Promise<Found> {
  const problem = await directoryProblem(path)
  return problem === undefined ? ok(`${path} can be used.`) : failed(problem)
}

/** Why no files can be made in a directory, which a start makes where it is missing. */
async function directoryProblem(path: string): Promise<string | undefined> {
  const whole = resolve(path)
  for (let at = whole; ; at = dirname(at)) {
    try {
      if (!(await stat(at)).isDirectory())
        return `${at} is a file: name a directory, or a place where one can be made.`
      await access(at, constants.W_OK | constants.X_OK)
      return undefined
    } catch (thrown) {
      const code = (thrown as NodeJS.ErrnoException).code
      // What is below a file is looked for above.
      if (at !== dirname(at) && (code === 'ENOENT' || code === 'ENOTDIR')) continue
      return `${at} takes no files of this user (${code ?? 'unknown'}): give the user of the service the right to write there.`
    }
  }
}

async function tryDataDirectory(dataDir: string, hasKey: boolean): Promise<Found> {
  const problem = await directoryProblem(dataDir)
  if (problem !== undefined) return failed(problem)
  const [store, key] = [join(dataDir, 'store'), join(dataDir, 'secrets.key')]
  const hasData = existsSync(join(store, 'pg'))
  assertNotMoved(store)
  if (!hasKey && !existsSync(key) && hasData && existsSync(`${key}.former`))
    return note(`${key} is made by the start, and ${key}.former turns into it.`)
  // Where neither is there, a start makes both.
  if (!hasKey && (existsSync(key) || hasData)) await secretsKeyOf(dataDir)
  if (isHeld(store))
    return note(`${dataDir} is in use by a service that runs. Stop it before another starts.`)
  return ok(`${dataDir} can be used.`)
}

async function tryDatabase(config: Config, url: string): Promise<Found> {
  const look = async (sql: postgres.Sql) => {
    await assertNotFilling(sql)
    return (await migrationStatus(sql)).flatMap(({ pending }) => pending).length
  }
  const pending = await onDatabase(url, look, connectSeconds)
  if (pending > 0 && !config.migrate)
    return failed(`${pending} migrations are pending: run \`covenant migrate\`, or set SVC_MIGRATE to 1.`)
  if (pending > 0)
    return note(`The database answers. A start applies ${pending} migrations, and then tries the key.`)
  const notices: string[] = []
  const unmeasured = { cypherQuerySeconds: { observe: () => {} } }
  const warn = (notice: string) => void notices.push(notice)
  const store = await openConfiguredStore({ ...config, migrate: false }, unmeasured, { warn }, 'look')
  await store.close()
  return notices.length > 0 ? note(notices.join(' ')) : ok('The database answers, and the key opens it.')
}

function listenersOf(config: Config): readonly (readonly [setting: string, at: ListenAddress])[] {
  return [
    ['SVC_LISTEN_ADDR', config.listen],
    ['SVC_METRICS_ADDR', config.metricsListen],
    ['SVC_PGWIRE_ADDR', config.pgwireListen],
    ['SVC_XMLA_ADDR', config.xmlaListen],
  ]
}

function tryAddress(at: ListenAddress): Found {
  const shown = addressText(at)
  switch (addressUse(at)) {
    case 'free':
      return ok(`${shown} is free.`)
    case 'in-use':
      return note(`${shown} is in use. If that is not this service, choose another address.`)
    case 'unusable':
      return failed(`Nothing can listen at ${shown}. Choose a free address of this host.`)
  }
}
