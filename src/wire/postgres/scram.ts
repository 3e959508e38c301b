/**
 * Implements the server's side of SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding. Does not apply
 * SASLprep, because the secrets are ASCII, which it leaves unchanged.
 */

import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import { sameSecret } from '../../base/same-secret.ts'

export const scramMechanism = 'SCRAM-SHA-256'
/** PostgreSQL's default. More would not protect better, because the secrets are random. */
const iterationsDefault = 4096
const keyBytes = 32

export interface ScramVerifier {
  readonly iterations: number
  readonly salt: Uint8Array
  readonly storedKey: Uint8Array
  readonly serverKey: Uint8Array
}

/** Derives what a server stores of a password: enough to check it, not enough to log in with. */
export function makeScramVerifier(secret: string, salt: Uint8Array): ScramVerifier {
  const salted = pbkdf2Sync(secret, salt, iterationsDefault, keyBytes, 'sha256')
  return {
    iterations: iterationsDefault,
    salt,
    storedKey: sha256(hmac(salted, 'Client Key')),
    serverKey: hmac(salted, 'Server Key'),
  }
}

/** The text form in which PostgreSQL stores verifiers in pg_authid. */
export function formatScramVerifier({ iterations, salt, storedKey, serverKey }: ScramVerifier): string {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
  return `${scramMechanism}$${iterations}:${text(salt)}$${text(storedKey)}:${text(serverKey)}`
}

/** @returns undefined for a text that is not a verifier */
export function parseScramVerifier(text: string): ScramVerifier | undefined {
  const match = /^SCRAM-SHA-256\$(\d{1,9}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)$/.exec(text)
  if (match === null) return undefined
  const [salt, storedKey, serverKey] = match.slice(2).map((part) => Buffer.from(part, 'base64'))
  if (salt === undefined || storedKey?.length !== keyBytes || serverKey?.length !== keyBytes) return undefined
  return { iterations: Number(match[1]), salt, storedKey, serverKey }
}

/** A started exchange: `message` is the server's first message, and `finish` takes the client's final one. */
interface ScramExchange {
  readonly message: string
  /** @returns the server's final message; undefined where the client did not prove the password */
  finish(clientFinal: string): string | undefined
}

/**
 * Starts an exchange with the client's first message.
 * @param nonce the server's part, printable ASCII without a comma
 * @returns undefined for a message that is malformed or requires an unsupported extension
 */
export function beginScram(
  clientFirst: string,
  verifier: ScramVerifier,
  nonce: string,
): ScramExchange | undefined {
  // The user name in the message is ignored, as in PostgreSQL, because the start-up packet names the user.
  const match = /^([ny],(?:a=[^,]*)?,)((?:n=[^,]*),r=([\x21-\x2b\x2d-\x7e]+)(?:,.*)?)$/.exec(clientFirst)
  if (match === null) return undefined
  const [, header = '', bare = '', clientNonce = ''] = match
  const fullNonce = clientNonce + nonce
  const salt = Buffer.from(verifier.salt).toString('base64')
  const message = `r=${fullNonce},s=${salt},i=${verifier.iterations}`
  return {
    message,
    finish(clientFinal) {
      const final = /^(c=([^,]+),r=([^,]+)(?:,.*)?),p=([A-Za-z0-9+/]+=*)$/.exec(clientFinal)
      if (final === null) return undefined
      const [, withoutProof = '', binding = '', finalNonce = '', proofText = ''] = final
      const proof = Buffer.from(proofText, 'base64')
      const isBound = Buffer.from(binding, 'base64').toString('latin1') === header
      if (!isBound || !sameSecret(finalNonce, fullNonce) || proof.length !== keyBytes) return undefined
      const authMessage = `${bare},${message},${withoutProof}`
      const signature = hmac(verifier.storedKey, authMessage)
      const clientKey = proof.map((byte, index) => byte ^ (signature[index] ?? 0))
      if (!sameSecret(sha256(clientKey), verifier.storedKey)) return undefined
      return `v=${hmac(verifier.serverKey, authMessage).toString('base64')}`
    },
  }
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
