/**
 * Signs requests of clients to storage (signRequest of the Iceberg REST API). The ticket in the path or header is the
 * credential: its session, whether its person has left, its catalog, filters and masks, the territory, the pin and
 * quarantine are asked for each request.
 */

import { personNow } from '../../auth/people.ts'
import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonValue, parseJson } from '../../base/json.ts'
import { catalogOf } from '../../core/catalog.ts'
import { foldName } from '../../core/name-case.ts'
import type { RawRead } from '../../core/raw-read.ts'
import type { Session } from '../../core/session.ts'
import { parseTenantId } from '../../core/tenant.ts'
import { folderPrefixesOf } from '../../core/territory-owner.ts'
import { readBody } from '../../http/read-body.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { givenOut } from '../../storage/roots.ts'
import { openCredential } from '../../store/catalog-credential/catalog-credentials.ts'
import { sightOfTable } from '../../store/governance/protections.ts'
import { loadWriteGovernance } from '../../store/policy/policies.ts'
import { findServiceSessionById } from '../../store/session/sessions.ts'
import { vendingSettings } from '../../vending/settings.ts'
import type { FileSet } from '../../vending/sign/file-set.ts'
import { judgeRequest, type SignableRequest } from '../../vending/sign/judge-request.ts'
import { signS3 } from '../../vending/sign/sign-s3.ts'
import { snapshotFiles } from '../../vending/sign/snapshot-files.ts'
import { openTicket, type SignTicket } from '../../vending/sign/ticket.ts'
import { fieldReader } from '../../wire/iceberg/fields.ts'
import type { ClientFiles, SignStanding } from '../base/client-files.ts'
import type { GatewayParts } from '../base/parts.ts'
import { icebergRoot } from '../base/path.ts'
import { sightOf } from '../stages/masked.ts'
import { protectionOf } from './note-raw-read.ts'
import { snapshotRefusal, ticketHeader } from './signing.ts'
import { isDenied, jsonResponse, purposeDemanded, withoutContract } from './surface-request.ts'

/** Bytes of a request to sign. */
const signBodyBytesMax = 64 * 1024

const reader = fieldReader((what) => new Fault('bad_request', `Invalid request: ${what}.`))
/** How far the time that a client signs for may be from now. */
const timeOffMsMax = 300_000

/** The answer to a request with a ticket; undefined for every other request. */
export function signRoute(
  parts: GatewayParts,
  request: Request,
  pathname: string,
): Promise<Response> | undefined {
  if (request.method !== 'POST') return undefined
  const matched = /^([^/]+)\/v1\/namespaces\/([^/]+)\/tables\/([^/]+)\/sign(?:\/([A-Za-z0-9_-]+))?$/.exec(
    pathname.slice(icebergRoot.length),
  )
  const [, prefix = '', namespace = '', name = '', inPath] = matched ?? []
  const ticket = inPath ?? request.headers.get(ticketHeader) ?? undefined
  if (matched === null || ticket === undefined) return undefined
  // Names hold nothing that needs an escape, but the separator of a namespace's levels.
  return sign(parts, request, ticket, [prefix, namespace.replaceAll(/%1f/gi, '\u001f'), name])
}

const isSameFolded = (one: string | undefined, other: string | undefined) =>
  one !== undefined && other !== undefined && foldName(one) === foldName(other)

async function sign(
  parts: GatewayParts,
  request: Request,
  text: string,
  [prefix, namespace, name]: readonly string[],
): Promise<Response> {
  const ticket = openTicket(parts.store, text)
  // The ticket names the table. A client of a catalog that folds names may spell it otherwise in the path.
  const isOfPath =
    ticket?.prefix === prefix &&
    isSameFolded(ticket?.namespace.join('\u001f'), namespace) &&
    isSameFolded(ticket?.name, name)
  if (ticket === undefined || !isOfPath || ticket.expiresAtMs <= parts.clock.now())
    throw new Fault('unauthenticated', 'The sign ticket is not valid. Load the table again.')
  const wanted = readWanted((await readBody(request, signBodyBytesMax)).bytes)
  const { settings, scope, read } = await parts.clientFiles.signStandings.ask(text, () =>
    standingOf(parts, ticket),
  )
  const judged = judgeRequest(wanted, settings, scope)
  if (!judged.isAllowed || !isTimely(wanted, parts.clock.now())) {
    parts.metrics.requestsSigned.inc({ outcome: 'refused' })
    const why = judged.isAllowed ? 'is for another time' : judged.refusal
    throw new Fault('policy_denied', `policy denied: the request to storage ${why}`)
  }
  const signed = {
    ...{ method: wanted.method, host: new URL(wanted.uri).host, headers: wanted.headers },
    ...{ canonicalPath: judged.canonicalPath, canonicalQuery: judged.canonicalQuery },
  }
  const { keys, sessionToken, region } = settings
  const headers = signS3({ ...keys, sessionToken, region }, signed, parts.clock.now())
  parts.metrics.requestsSigned.inc({ outcome: 'signed' })
  parts.rawReads.note(read)
  return jsonResponse(200, JSON.stringify({ uri: wanted.uri, headers }), {
    'cache-control': judged.isRepeatable && settings.cachesSignatures ? 'private' : 'no-cache',
  })
}

/**
 * Asks everything on which a signature rests.
 * @throws Fault `unauthenticated` where the session has ended or the person has left, `policy_denied` where its reader
 *   may not have the files
 */
async function standingOf(parts: GatewayParts, ticket: SignTicket): Promise<SignStanding> {
  const { store } = parts
  const table = { namespace: ticket.namespace, name: ticket.name }
  parts.licensed.require('vending')
  const session = await findServiceSessionById(store, ticket.sessionId, ticket.prefix)
  const tenant = parseTenantId(ticket.tenant)
  if (session === undefined || tenant === undefined || session.tenant !== tenant)
    throw new Fault('unauthenticated', 'The session of the sign ticket has ended.')
  const sealed = session.registered?.credential
  const credential = sealed && openCredential(store, tenant, sealed)
  const settings = credential && vendingSettings(credential)
  if (credential?.id !== ticket.credentialId || settings?.mode !== 'sign')
    throw new Fault(
      'policy_denied',
      'policy denied: the catalog does not sign any more. Load the table again',
    )
  const identified = await holderOf(parts, ticket, session)
  const holder = { id: session.sessionId, kind: 'service', sub: session.principal.sub } as const
  const found = await sightOf(parts, tenant, table, { ...identified, session: holder }, ticket.purpose)
  const sight = sightOfTable(found, ticket.tableUuid)
  if (isDenied(sight, session.scopes.includes('commit'))) throw withoutContract(table)
  if (sight.demands !== undefined) throw purposeDemanded(sight.demands)
  if (sight.masked)
    throw new Fault('policy_denied', 'policy denied: row filters or column masks apply, so nothing is signed')
  const governance = await loadWriteGovernance(store, tenant, table)
  const { territory } = governance
  const owner = { catalog: catalogOf(credential), table, tableUuid: ticket.tableUuid }
  const prefixes = givenOut(folderPrefixesOf(territory, owner), credential.config)
  // The principal of a session that is sent alone is the tenant's id.
  const isAlone = ticket.sub === tenant
  const read: RawRead = {
    ...{ tenant, sessionId: session.sessionId, catalog: credential.nickname, table },
    principal: isAlone ? session.principal.sub : ticket.sub,
    principalSource: isAlone ? 'session' : 'ticket',
    given: 'sign',
    protection: protectionOf(sight),
    ...{ contract: sight.contract, snapshotId: ticket.snapshotId, purpose: ticket.purpose },
  }
  // A grant is for reading.
  const isWriter =
    ticket.access === 'write' && session.scopes.includes('commit') && sight.untilMs === undefined
  const scope = { deletes: settings.deletes, prefixes }
  if (isWriter) return { settings, read, scope: { ...scope, access: 'write', mayRead: () => true } }
  const snapshotId = ticket.snapshotId === undefined ? undefined : BigInt(ticket.snapshotId)
  const refusal = snapshotRefusal(governance, owner, snapshotId)
  if (refusal !== undefined)
    throw new Fault(
      'policy_denied',
      `policy denied: the snapshot of the sign ticket ${refusal}. Load the table again`,
    )
  const access = () => parts.tableAccess(tenant, credential, table)
  const key = JSON.stringify([
    tenant,
    credential.id,
    credential.version,
    ticket.manifestList,
    ticket.metadataFile,
    ...prefixes,
  ])
  const files = await filesOf(parts.clientFiles, key, () =>
    snapshotFiles(access, parts.budget, ticket, prefixes),
  )
  return { settings, read, scope: { ...scope, access: 'read', mayRead: (path) => files.has(path) } }
}

/**
 * Whom a ticket is for, with the roles of now. A person may have left since the ticket was given.
 * @throws Fault `unauthenticated` for one who is refused, `unavailable` where that cannot be looked up
 */
async function holderOf({ store }: GatewayParts, ticket: SignTicket, session: Session) {
  const { sub, email, roles, verified } = ticket
  // A ticket of an older version says nothing of its holder: one that is not the session's alone may be a person.
  const source = ticket.source ?? (sub === ticket.tenant ? 'session' : 'auth_header')
  const principal = { sub, roles, ...(email !== undefined && { email }) }
  return await personNow(store, session, { principal, source, verified })
}

/** Reads the files of a snapshot once. What cannot be read is not kept. */
async function filesOf(
  { signedSnapshots: fileSets }: ClientFiles,
  key: string,
  read: () => Promise<FileSet>,
): Promise<FileSet> {
  const known = fileSets.get(key)
  if (known !== undefined) return await known
  const reading = read()
  fileSets.set(key, reading)
  try {
    const files = await reading
    fileSets.set(key, reading, files.bytes + 1)
    return files
  } catch (thrown) {
    fileSets.delete(key)
    if (!(thrown instanceof ReadFailure)) throw thrown
    throw new Fault('unavailable', `The files of the snapshot cannot be listed: ${thrown.reason}.`, {
      cause: thrown,
    })
  }
}

/** Whether a request that names its time names one close to now. */
function isTimely({ headers }: SignableRequest, nowMs: number): boolean {
  const [, given] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-amz-date') ?? []
  if (given === undefined) return true
  const text = (given[0] ?? '').replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  return given.length === 1 && Math.abs(Date.parse(text) - nowMs) <= timeOffMsMax
}

/** @throws Fault `bad_request` */
function readWanted(bytes: Uint8Array): SignableRequest {
  const body = parseJson(bytes)
  if (!isJsonObject(body)) throw new Fault('bad_request', 'The body must be an object.')
  const provider = body.get('provider') ?? 's3'
  if (provider !== 's3') throw new Fault('bad_request', 'Invalid request: only `s3` requests are signed.')
  const headers = body.get('headers') ?? new Map<string, JsonValue>()
  if (!isJsonObject(headers)) throw new Fault('bad_request', 'Invalid request: `headers` is no object.')
  return {
    method: reader.string(body, 'method'),
    uri: reader.string(body, 'uri'),
    headers: Object.fromEntries([...headers].map(([name]) => [name, reader.strings(headers, name)])),
  }
}
