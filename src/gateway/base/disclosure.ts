/**
 * Strips the configuration from an upstream's reply; no other file reads or passes it on. The upstream's addresses,
 * tokens, signers and refresh endpoints never pass. Storage settings pass if nothing is masked, storage credentials
 * only if the client asked for them and they may be vended. Table metadata passes byte for byte; a masked table's loses
 * its row counts. A table that the upstream itself restricts is treated as masked.
 */

import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from '../../base/json.ts'
import { joinMembers, topLevelMembers } from '../../wire/iceberg/members.ts'
import { isRestricted } from '../../wire/iceberg/read-restrictions.ts'
import { withoutCounts } from '../../wire/iceberg/without-counts.ts'

export interface Disclosure {
  /** Whether the client asked for credentials and the catalog vends them. */
  readonly vended: boolean
  /** Whether a row filter or column mask applies. Then nothing passes that leads to files or counts rows. */
  readonly masked: boolean
  /** Whether metadata passes unchanged even if masked: for views, and for commits (docs/reference/gateway.md 2.1). */
  readonly whole?: boolean
  /** Whether the table has no active contract, and the tenant's setting keeps such tables from the caller. */
  readonly denied?: boolean
  /** Whether the client may commit: then it needs the next row id. */
  readonly commits?: boolean
}

export interface Disclosed {
  readonly body: Uint8Array<ArrayBuffer>
  /** Whether the disclosure is masked, or the upstream restricts reading. */
  readonly masked: boolean
}

/** Settings of storage clients that hold no secret. */
const settings = [
  'client.region',
  's3.region',
  's3.endpoint',
  's3.path-style-access',
  's3.cross-region-access-enabled',
  's3.sse.type',
  'gcs.project-id',
  'gcs.service.host',
]
const credentials = [
  's3.access-key-id',
  's3.secret-access-key',
  's3.session-token',
  's3.session-token-expires-at-ms',
  's3.sse.key',
  'gcs.oauth2.token',
  'gcs.oauth2.token-expires-at',
  'expiration-time',
]
/** Prefixes of keys that end in the name of a storage account. */
const credentialPrefixes = ['adls.sas-token.', 'adls.sas-token-expires-at-ms.']

function mayPass(key: string, { vended }: Disclosure): boolean {
  if (settings.includes(key)) return true
  return vended && (credentials.includes(key) || credentialPrefixes.some((prefix) => key.startsWith(prefix)))
}

export const tableMembers = ['metadata-location', 'metadata'] as const
export const planMembers = [
  'status',
  'plan-id',
  'error',
  'plan-tasks',
  'file-scan-tasks',
  'delete-files',
] as const

/**
 * Strips the configuration from a LoadTableResult, LoadViewResult, LoadCredentialsResponse or scan plan.
 * @param kept the members that pass unchanged; all others but `config` and `storage-credentials` are dropped
 * @returns the same bytes if there was nothing to strip
 * @throws Fault `upstream_failed` if the reply cannot be read
 */
export async function discloseReply(
  body: Uint8Array,
  kept: readonly string[],
  disclosure: Disclosure,
): Promise<Disclosed> {
  const members = topLevelMembers(body)
  const masked = disclosure.masked || isRestricted(members)
  const allowed = { ...disclosure, masked, vended: disclosure.vended && !masked }
  const shown = new Map<string, Uint8Array>()
  for (const [key, raw] of members) {
    const value = kept.includes(key)
      ? await keptMember(key, raw, allowed)
      : disclosedMember(key, raw, allowed)
    if (value !== undefined) shown.set(key, value)
  }
  const isSame = shown.size === members.size && [...members].every(([key, raw]) => shown.get(key) === raw)
  return { body: isSame ? (body as Uint8Array<ArrayBuffer>) : joinMembers(shown), masked }
}

async function keptMember(key: string, raw: Uint8Array, disclosure: Disclosure): Promise<Uint8Array> {
  const { masked, whole = false, commits = false } = disclosure
  return key === 'metadata' && masked && !whole ? await withoutCounts(raw, commits) : raw
}

function disclosedMember(key: string, raw: Uint8Array, disclosure: Disclosure): Uint8Array | undefined {
  if (key !== 'config' && key !== 'storage-credentials') return undefined
  if (raw.length === 2) return raw
  const value = parseJson(raw)
  if (key === 'config') return Buffer.from(stringifyJson(disclosedConfig(value, disclosure)))
  if (!disclosure.vended || disclosure.masked || !Array.isArray(value)) return undefined
  return Buffer.from(
    stringifyJson(
      (value as readonly JsonValue[]).filter(isJsonObject).map(
        (credential): JsonObject =>
          new Map<string, JsonValue>([
            ['prefix', credential.get('prefix') ?? ''],
            ['config', disclosedConfig(credential.get('config'), disclosure)],
          ]),
      ),
    ),
  )
}

function disclosedConfig(config: JsonValue | undefined, disclosure: Disclosure): JsonObject {
  if (disclosure.masked || !isJsonObject(config)) return new Map()
  return new Map([...config].filter(([key]) => mayPass(key, disclosure)))
}
