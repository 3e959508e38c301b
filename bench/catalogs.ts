/** Chooses the catalogs of a benchmark: the development one, a real one that it starts, or the user's. */

import { readFile } from 'node:fs/promises'
import { CannotFetch } from '../test/clients/packages.ts'
import { type BenchOption, type BenchRun, BenchUsageError } from './entry.ts'
import { expiresSnapshots } from './expiry.ts'
import {
  type RealCatalogName,
  realCatalogNames,
  realCatalogVersion,
  startRealCatalog,
} from './real-catalogs.ts'
import { type StorageName, storageNames, storageOption } from './storage-times.ts'
import {
  type CatalogProcess,
  connectUpstream,
  type DirectUpstream,
  startCatalogProcess,
  type UpstreamAddress,
} from './upstream.ts'

const development = 'development'

export const catalogOptions: Readonly<Record<string, BenchOption>> = {
  catalog: {
    type: 'string',
    value: 'NAME[,NAME…]',
    about: `${[development, ...realCatalogNames].join(', ')} (development): real ones are fetched and started`,
  },
  storage: storageOption,
  upstream: { type: 'string', value: 'URL', about: 'an Iceberg REST catalog of your own instead' },
  'upstream-kind': { type: 'string', value: 'alpha|beta', about: 'what it speaks like (alpha)' },
  warehouse: { type: 'string', value: 'NAME', about: 'its warehouse' },
  'credential-file': { type: 'string', value: 'FILE', about: 'file with id:secret for it' },
  'oauth2-server-uri': { type: 'string', value: 'URL', about: 'its token endpoint, where it has another' },
}

export interface ChosenCatalog {
  /** The name given to `--catalog`; undefined for the user's own. */
  readonly name: string | undefined
  /** For the case: a name with its version, or the host of the user's catalog. */
  readonly title: string
  readonly isDevelopment: boolean
  /** Object storage whose times its storage takes. */
  readonly storage: StorageName | undefined
  /** Throws BenchUsageError when it cannot be fetched or used. */
  open(run: BenchRun): Promise<OpenCatalog>
}

export interface OpenCatalog extends AsyncDisposable {
  readonly upstream: DirectUpstream
  /** The same catalog if it is the development catalog, whose service times can be set. */
  readonly development: CatalogProcess | undefined
  /** Whether it allows the expiry of snapshots; Nessie does not. */
  readonly expires: boolean
}

/**
 * @param dialect the dialect of the development catalog
 * @throws BenchUsageError
 */
export async function chosenCatalogs(
  run: BenchRun,
  dialect: UpstreamAddress['kind'] = 'alpha',
): Promise<readonly ChosenCatalog[]> {
  const address = await ownAddress(run)
  const [storage] = run.flags.choices('storage', storageNames) ?? []
  if (address !== undefined) {
    if (storage === undefined) return [ownCatalog(address)]
    throw new BenchUsageError('--upstream has storage of its own; not together with --storage.')
  }
  const names = run.flags.choices('catalog', [development, ...realCatalogNames]) ?? [development]
  if (run.smoke && names.some((name) => name !== development))
    throw new BenchUsageError('--smoke runs on the development catalog; not together with --catalog.')
  return names.map((name) =>
    name === development ? developmentCatalog(dialect, storage) : realCatalog(name, storage),
  )
}

/** @param storage object storage whose times its commits and loads take */
export function developmentCatalog(
  dialect: UpstreamAddress['kind'] = 'alpha',
  storage?: StorageName,
): ChosenCatalog {
  return {
    name: development,
    title: development,
    isDevelopment: true,
    storage,
    open: () => openDevelopment(dialect),
  }
}

/** @param storage object storage whose times that of the catalog takes */
export function realCatalog(name: RealCatalogName, storage?: StorageName): ChosenCatalog {
  return {
    name,
    title: `${name} ${realCatalogVersion(name)}`,
    isDevelopment: false,
    storage,
    async open({ note }) {
      const started = await startRealCatalog(name, storage).catch((error: unknown) => {
        if (!(error instanceof CannotFetch)) throw error
        throw new BenchUsageError(`--catalog ${name} cannot be fetched: ${error.message}.`)
      })
      return opened(started.address, started, undefined, (upstream) => asked(upstream, note))
    },
  }
}

/** Starts the development catalog. @param dialect 'beta' knows no conditional load */
export async function openDevelopment(dialect: UpstreamAddress['kind'] = 'alpha'): Promise<OpenCatalog> {
  const started = await startCatalogProcess(dialect)
  return opened(started.address, started, started, async () => true)
}

function ownCatalog(address: UpstreamAddress): ChosenCatalog {
  const nothing = { async [Symbol.asyncDispose]() {} }
  return {
    name: undefined,
    title: new URL(address.endpoint).host,
    isDevelopment: false,
    storage: undefined,
    open: ({ note }) => opened(address, nothing, undefined, (upstream) => asked(upstream, note)),
  }
}

async function asked(upstream: DirectUpstream, note: BenchRun['note']): Promise<boolean> {
  const expires = await expiresSnapshots(upstream)
  if (!expires)
    note(
      '  The catalog refuses to expire snapshots: tables are not brought back to size (see snapshots_end).',
    )
  return expires
}

async function opened(
  address: UpstreamAddress,
  started: AsyncDisposable,
  development: CatalogProcess | undefined,
  asksExpiry: (upstream: DirectUpstream) => Promise<boolean>,
): Promise<OpenCatalog> {
  try {
    const upstream = await connectUpstream(address)
    const expires = await asksExpiry(upstream)
    return { upstream, development, expires, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() }
  } catch (error) {
    await started[Symbol.asyncDispose]()
    throw error
  }
}

const ownOptions = ['upstream-kind', 'warehouse', 'credential-file', 'oauth2-server-uri'] as const

/** @throws BenchUsageError */
async function ownAddress({ flags, smoke }: BenchRun): Promise<UpstreamAddress | undefined> {
  const endpoint = flags.text('upstream')
  if (endpoint === undefined) {
    for (const name of ownOptions)
      if (flags.text(name) !== undefined) throw new BenchUsageError(`--${name} needs --upstream.`)
    return undefined
  }
  if (flags.text('catalog') !== undefined)
    throw new BenchUsageError('--upstream and --catalog exclude each other.')
  if (smoke)
    throw new BenchUsageError('--smoke runs on the development catalog; not together with --upstream.')
  const url = URL.parse(endpoint)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '')
    throw new BenchUsageError('--upstream must be an http or https URL without user and query.')
  const warehouse = flags.text('warehouse')
  if (warehouse === undefined) throw new BenchUsageError('--upstream needs --warehouse.')
  const credentialFile = flags.text('credential-file')
  return {
    kind: flags.choices('upstream-kind', ['alpha', 'beta'])?.[0] ?? 'alpha',
    endpoint: url.href.replace(/\/$/, ''),
    warehouse,
    credential: credentialFile === undefined ? undefined : await readCredential(credentialFile),
    tokenUrl: flags.text('oauth2-server-uri'),
  }
}

/** Throws BenchUsageError when the file does not hold `id:secret`. */
async function readCredential(path: string): Promise<string> {
  let text: string
  try {
    text = (await readFile(path, 'utf8')).trim()
  } catch {
    throw new BenchUsageError(`--credential-file: ${path} cannot be read.`)
  }
  if (!/^[^:\s]+:\S+$/.test(text))
    throw new BenchUsageError('--credential-file: the file must hold id:secret.')
  return text
}
