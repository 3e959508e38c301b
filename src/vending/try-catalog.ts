/**
 * Tries a catalog credential as a person would who wonders what is wrong with it: its settings, its address, the log-in,
 * a list, its storage roots, and credentials for storage. It changes nothing, names no table, and drops the credentials for
 * storage that it is given.
 */

import type { Clock } from '../base/clock.ts'
import { Fault, toFault } from '../base/fault.ts'
import { isJsonObject, type JsonValue, parseJson } from '../base/json.ts'
import { type AddressRules, PinnedHost } from '../catalog/address.ts'
import { type Catalog, CatalogError, type LoadedTable } from '../catalog/catalog.ts'
import { parseRestCatalogConfig } from '../catalog/config.ts'
import { namespacePage } from '../catalog/list-namespaces.ts'
import { openCatalog } from '../catalog/open-catalog.ts'
import { sendForStatus, UpstreamHttpError } from '../catalog/upstream-http.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import type { TableRef } from '../core/table-ref.ts'
import { limits } from '../limits.ts'
import { rootPrefixes, rootProblem, storageRoots, withinRoots } from '../storage/roots.ts'
import { topLevelMembers } from '../wire/iceberg/members.ts'
import { parseLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import { awsIssuer } from './aws/aws-issuer.ts'
import { vendingSettings } from './settings.ts'

/** The steps, in their order. A step is skipped where an earlier one that it needs failed. */
export const trialSteps = ['settings', 'address', 'log-in', 'list', 'roots', 'vend'] as const

export interface TriedStep {
  readonly step: (typeof trialSteps)[number]
  /** `noted`: the catalog can be used, and somebody should read the text. */
  readonly outcome: 'passed' | 'noted' | 'failed' | 'skipped'
  /** What was found, and what to do where it failed. Holds no secret. */
  readonly text: string
}

interface TrialParts {
  readonly addressRules: AddressRules
  readonly clock: Clock
}

type Found = Omit<TriedStep, 'step'>

/** Namespaces in which a table is looked for. */
const namespacesMax = 10
/** Seconds of the credentials that are tried: the least that AWS issues. */
const lifetimeSeconds = 900

const passed = (text: string): Found => ({ outcome: 'passed', text })
const noted = (text: string): Found => ({ outcome: 'noted', text })
const skipped = (text: string): Found => ({ outcome: 'skipped', text })

/** Tries every step; none throws. @param signal ends it early: the steps that are left are skipped */
export async function tryCatalog(
  parts: TrialParts,
  credential: CatalogCredential,
  signal: AbortSignal,
): Promise<readonly TriedStep[]> {
  const steps: TriedStep[] = []
  /** Runs a step, unless one before it failed or the caller has gone. */
  const run = async (step: TriedStep['step'], work: () => Promise<Found>) => {
    const before = steps.find(({ outcome }) => outcome === 'failed')
    if (before !== undefined || signal.aborted)
      steps.push({ step, ...skipped(before ? `The step ${before.step} failed.` : 'It was interrupted.') })
    else steps.push({ step, ...(await work().catch(failure)) })
  }
  let catalog: Catalog | undefined
  let table: TableRef | undefined
  const opened = (): Catalog => {
    catalog ??= openCatalog(credential, parts)
    return catalog
  }
  try {
    await run('settings', async () => {
      opened()
      vendingSettings(credential)
      return passed('The settings can be read.')
    })
    await run('address', () => tryAddress(credential, parts, signal))
    await run('log-in', async () => {
      await opened().offer({ signal })
      return passed('The catalog takes the credentials and gave its configuration.')
    })
    await run('list', async () => {
      const listed = await firstTable(opened(), signal)
      table = listed.table
      return listed.found
    })
    await run('roots', () => tryRoots(opened(), credential, table, signal))
    await run('vend', () => tryVending(opened(), credential, table, parts, signal))
    return steps
  } finally {
    catalog?.close()
  }
}

/** A failure in words; those of the upstream hold no secret. */
function failure(thrown: unknown): Found {
  if (thrown instanceof CatalogError || thrown instanceof UpstreamHttpError)
    return { outcome: 'failed', text: thrown.publicMessage }
  const { publicMessage, detail } = toFault(thrown)
  const text = publicMessage.includes('address is not allowed')
    ? `${publicMessage} ${detail ?? ''}. Allow it by SVC_UPSTREAM_ALLOW.`
    : publicMessage
  return { outcome: 'failed', text }
}

/**
 * What the upstream says of one namespace or table, without its name: administrators of the service may not learn which
 * ones a tenant has.
 */
function saidOf(thrown: unknown): string {
  const status = thrown instanceof CatalogError ? thrown.upstream?.status : toFault(thrown).refusal?.status
  return status === undefined ? 'It gave no answer that can be read.' : `It answered ${status}.`
}

/** Sends one request without credentials: any answer shows that something listens there. */
async function tryAddress(
  credential: CatalogCredential,
  { addressRules }: TrialParts,
  signal: AbortSignal,
): Promise<Found> {
  const host = new PinnedHost(parseRestCatalogConfig(credential, undefined).endpoint, addressRules)
  try {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(limits.upstreamLoadMs)])
    const request = { method: 'GET', path: '/v1/config', headers: {}, signal: deadline } as const
    await sendForStatus(host, { ...request, responseBytesMax: limits.upstreamErrorBytesMax })
  } catch (thrown) {
    if (!(thrown instanceof UpstreamHttpError)) throw thrown
    const why = thrown.cause instanceof Error ? ` (${errorCode(thrown.cause)})` : ''
    throw new Fault('upstream_failed', `${host.url.host} ${thrown.publicMessage}${why}.`)
  }
  return passed(`${host.url.host} answers.`)
}

const errorCode = (error: Error) => String((error as { code?: unknown }).code ?? error.name)

async function firstTable(
  catalog: Catalog,
  signal: AbortSignal,
): Promise<{ readonly table: TableRef | undefined; readonly found: Found }> {
  const { namespaces } = await namespacePage(catalog, [], { pageSize: namespacesMax, signal })
  if (namespaces.length === 0)
    return { table: undefined, found: noted('The catalog lists no namespaces: it is empty, or hides them.') }
  let refusal: string | undefined
  for (const namespace of namespaces.slice(0, namespacesMax)) {
    try {
      const { identifiers } = await catalog.listTables(namespace, { pageSize: 1, signal })
      const [table] = identifiers
      if (table !== undefined) return { table, found: passed('The catalog lists namespaces and tables.') }
    } catch (thrown) {
      // Of one namespace the catalog may keep its tables to itself.
      refusal = saidOf(thrown)
    }
  }
  const said = refusal === undefined ? '' : ` It does not list the tables of some: ${refusal}`
  return {
    table: undefined,
    found: noted(`The catalog lists namespaces, and no table in the first of them.${said}`),
  }
}

async function tryRoots(
  catalog: Catalog,
  { config }: CatalogCredential,
  table: TableRef | undefined,
  signal: AbortSignal,
): Promise<Found> {
  const roots = storageRoots(config)
  for (const root of roots) {
    const problem = rootProblem(root)
    if (problem !== undefined) throw new Fault('misconfigured', `The root ${root} ${problem}.`)
  }
  if (roots.length === 0)
    return noted('No storage_roots are registered: no files are read, and no credentials are given out.')
  if (table === undefined) return passed('The roots can be read. There is no table to compare them with.')
  let loaded: LoadedTable
  try {
    loaded = await catalog.loadTable(table, { snapshots: 'refs', signal })
  } catch (thrown) {
    return noted(
      `The roots can be read, and a table that the catalog lists cannot be loaded. ${saidOf(thrown)}`,
    )
  }
  if (loaded.status !== 'loaded')
    throw new Fault('upstream_failed', 'The upstream catalog did not send the table.')
  const location = String(parseLoadTableResult(loaded.body).metadata.get('location'))
  if (withinRoots(location, roots)) return passed('A table of the catalog lies below a root.')
  const [storage] = /^[a-z0-9+.-]+:\/\/[^/]*/i.exec(location) ?? ['elsewhere']
  return noted(
    `A table of the catalog lies in ${storage}, below none of the storage_roots: its files are not read.`,
  )
}

async function tryVending(
  catalog: Catalog,
  credential: CatalogCredential,
  table: TableRef | undefined,
  parts: TrialParts,
  signal: AbortSignal,
): Promise<Found> {
  const settings = vendingSettings(credential)
  const [prefix] = rootPrefixes(storageRoots(credential.config))
  switch (settings.mode) {
    case 'none':
      return skipped('vending.mode is none: clients bring their own credentials.')
    case 'sign':
      return skipped('Requests are signed by this service when a client asks; nothing is issued beforehand.')
    case 'vend': {
      if (prefix === undefined) return skipped('There is no storage root to issue credentials for.')
      const request = { prefixes: [prefix], access: 'read', sessionName: 'covenant-trial' } as const
      const issued = await awsIssuer(settings, parts).issue({ ...request, lifetimeSeconds })
      if ('refusal' in issued) throw new Fault('policy_denied', `Credentials of ${prefix} ${issued.refusal}.`)
      return passed(`The cloud issued credentials for ${prefix}; they were dropped.`)
    }
    case 'pass-through': {
      if (table === undefined) return skipped('There is no table to ask credentials for.')
      if (prefix?.startsWith('file:')) return skipped('The storage is a folder, which needs no credentials.')
      const asked = { snapshots: 'refs', accessDelegation: 'vended-credentials', signal } as const
      const loaded = await catalog.loadTable(table, asked).catch((thrown: unknown) => saidOf(thrown))
      if (typeof loaded === 'string') return noted(`A table cannot be loaded with credentials. ${loaded}`)
      return loaded.status === 'loaded' && vendsKeys(loaded.body)
        ? passed('The catalog gives credentials for a table; they were dropped.')
        : noted('The catalog gives no credentials for a table: clients need their own.')
    }
  }
}

/** Settings of Iceberg's clients that hold keys to S3, Google Cloud Storage and Azure. */
const keySettings = /^(?:s3\.access-key-id|gcs\.oauth2\.token|adls\.sas-token\..+)$/

/** Whether a loaded table came with settings of credentials. */
function vendsKeys(body: Uint8Array): boolean {
  const members = topLevelMembers(body)
  const read = (name: string): JsonValue | undefined => {
    const raw = members.get(name)
    return raw === undefined ? undefined : parseJson(raw, { depthMax: limits.jsonDepthMax })
  }
  const [credentials, config] = [read('storage-credentials'), read('config')]
  if (Array.isArray(credentials) && credentials.length > 0) return true
  return isJsonObject(config) && [...config.keys()].some((name) => keySettings.test(name))
}
