/** `covenant license`: shows what a license says, issues development licenses, and makes signing keys. */

import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { parseArgs } from 'node:util'
import { commercialCapabilities } from '../core/capability.ts'
import { licenseType, verifyLicense } from '../license/license.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

const usage = `Usage:
  covenant license inspect [FILE]   what a license says; without FILE, SVC_LICENSE or SVC_LICENSE_FILE
  covenant license issue --licensee NAME [--capabilities a,b] [--tenants N] [--days 30] [--grace-days 14]
      a development license, which the service takes under SVC_DEMO=1 only. With --key FILE and --key-id ID
      it is signed with a private key (JWK) of keygen instead
  covenant license keygen           a new key pair as JSON Web Keys

Capabilities: ${commercialCapabilities.join(', ')}
${exitStatusHelp}`

/** The private half of the development key is public, because a production service refuses what it signs. */
const developmentKey = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: 'T4WmiySWrWx0OKtGYR2T2oYiS28zwF4Z_-qEPcICwPY',
  d: 'OZEaJxAF8Z86_vz2qOs0Uf8lIgSp6GnTU-KUtYj035U',
}

async function inspect(file: string | undefined, { env, print }: Terminal): Promise<void> {
  const { SVC_LICENSE: text, SVC_LICENSE_FILE: named } = env
  const from = file ?? (text ? undefined : named)
  if (from === undefined && !text)
    throw new UsageError(
      'there is no license to inspect: name a file, or set SVC_LICENSE or SVC_LICENSE_FILE',
    )
  const license = verifyLicense(from === undefined ? (text ?? '') : await textOf(from), true)
  const { issuedAtMs, expiresAtMs, graceMs, ...rest } = license
  const until = new Date(expiresAtMs + graceMs)
  const now = Date.now()
  const state = now < expiresAtMs ? 'valid' : now < until.getTime() ? 'grace' : 'expired'
  const times = { issuedAt: new Date(issuedAtMs), expiresAt: new Date(expiresAtMs), runsUntil: until }
  print(JSON.stringify({ ...rest, ...times, state }, undefined, 2))
}

async function issue(args: readonly string[], { print }: Terminal): Promise<void> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      licensee: text,
      capabilities: text,
      tenants: text,
      days: text,
      'grace-days': text,
      key: text,
      'key-id': text,
    },
  })
  if (!values.licensee) throw new UsageError('--licensee is required')
  if ((values.key === undefined) !== (values['key-id'] === undefined))
    throw new UsageError('--key and --key-id must be given together')
  const capabilities = values.capabilities?.split(',') ?? [...commercialCapabilities]
  const unknown = capabilities.find((name) => !commercialCapabilities.some((known) => known === name))
  if (unknown !== undefined) throw new UsageError(`there is no capability \`${unknown}\``)
  const key = await signingKey(values.key)
  const now = Date.now()
  const claims = {
    id: crypto.randomUUID(),
    licensee: values.licensee,
    capabilities,
    ...(values.tenants === undefined ? {} : { tenants_max: count('tenants', values.tenants, 0) }),
    issued_at: new Date(now),
    expires_at: new Date(now + count('days', values.days ?? '30', 1) * 86_400_000),
    grace_days: count('grace-days', values['grace-days'] ?? '14', 0),
  }
  const header = { alg: 'EdDSA', typ: licenseType, kid: values['key-id'] ?? 'development' }
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  print(`${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`)
}

/** Errors name neither the file nor its content, because a user may pass the secret itself by mistake. */
async function textOf(file: string): Promise<string> {
  try {
    return await Bun.file(file).text()
  } catch {
    throw new UsageError('the file does not exist or cannot be read')
  }
}

async function signingKey(file: string | undefined): Promise<KeyObject> {
  if (file === undefined) return createPrivateKey({ key: developmentKey, format: 'jwk' })
  const text = await textOf(file)
  try {
    return createPrivateKey({ key: JSON.parse(text), format: 'jwk' })
  } catch {
    throw new UsageError('--key: the file holds no private JSON Web Key')
  }
}

function count(name: string, value: string, min: number): number {
  const parsed = /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN
  if (!(parsed >= min && parsed <= 100_000))
    throw new UsageError(`--${name} must be a whole number from ${min} to 100000`)
  return parsed
}

function keygen({ print }: Terminal): void {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const jwk = (key: typeof publicKey) => key.export({ format: 'jwk' })
  print(JSON.stringify({ public: jwk(publicKey), private: jwk(privateKey) }, undefined, 2))
}

/** @returns the exit status */
export async function license(words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await run(words, terminal)
    return exitStatus.done
  } catch (error) {
    return reportFailure(
      isParseError(error) ? new UsageError(error.message) : error,
      'covenant license',
      terminal,
    )
  }
}

function isParseError(error: unknown): error is Error {
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS')
}

async function run(words: readonly string[], terminal: Terminal): Promise<void> {
  const [command, ...args] = words
  if (command === undefined || command === 'help' || words.includes('--help')) terminal.print(usage)
  else if (command === 'inspect' && args.length <= 1) await inspect(args[0], terminal)
  else if (command === 'issue') await issue(args, terminal)
  else if (command === 'keygen' && args.length === 0) keygen(terminal)
  else throw new UsageError('The words after `license` are `inspect`, `issue` or `keygen`.')
}
