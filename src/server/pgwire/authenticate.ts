/**
 * Authenticates a client by its secret, or by SCRAM for a service session that it names. Every refusal has the
 * same text, so a client cannot learn which part was wrong. One that has proved who it is learns that its tenant is
 * suspended.
 */

import { createHmac, randomBytes } from 'node:crypto'
import type { CredentialReader, ReadCredential, SuspendedCredential } from '../../auth/read-credential.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import type { OnRefused } from '../../core/credential-kind.ts'
import { serviceSubject } from '../../core/principal.ts'
import { writeAuthentication } from '../../wire/postgres/backend-messages.ts'
import { ByteReader, ProtocolViolation } from '../../wire/postgres/byte-reader.ts'
import { beginScram, type ScramVerifier, scramMechanism } from '../../wire/postgres/scram.ts'
import type { Client } from './client.ts'
import type { LoginThrottle } from './login-throttle.ts'
import type { StartUp } from './start-up.ts'
import { ConnectionClosed, WireError } from './wire-error.ts'

export interface AuthenticationParts {
  readonly credentials: CredentialReader
  readonly throttle: LoginThrottle
  /** Told of a SCRAM proof that does not hold; `credentials` tells of secrets. */
  readonly onRefused?: OnRefused
  /** Whether clients on other machines may send secrets without TLS. */
  readonly allowPlaintext: boolean
  /** Derives mock verifiers for sessions that do not exist: random bytes, fixed while the process runs. */
  readonly mockKey: Uint8Array
}

/**
 * Authenticates the client.
 * @param deadlineMs on performance.now()'s clock
 * @throws WireError FATAL 28P01 where authentication fails, 57P03 where only the suspension of the tenant forbids it
 * @throws WireError FATAL 28000 where the client would have to send its secret in plain text
 */
export async function authenticate(
  parts: AuthenticationParts,
  client: Client,
  startUp: StartUp,
  deadlineMs: number,
): Promise<ReadCredential> {
  const waitMs = parts.throttle.turn(client.address, deadlineMs - performance.now())
  if (waitMs === undefined) throw refusal(startUp)
  // A client that leaves while it waits frees its slot at once.
  if (waitMs > 0) await unlessAborted(Bun.sleep(waitMs), client.gone)
  if (client.gone.aborted) throw new ConnectionClosed()
  client.inbox.phase = 'authentication'
  const exchange = { ...parts, client, startUp, deadlineMs }
  const credential =
    startUp.scramSession === undefined
      ? await byPassword(exchange)
      : await byScram(exchange, startUp.scramSession)
  if (credential === 'suspended') {
    // Nothing was guessed, so it does not count as a failure: the client is let in as soon as the tenant is back.
    client.outbox.writer.clear()
    const text = `the organization of user "${startUp.user}" is suspended`
    throw new WireError('57P03', text, 'FATAL', 'Ask its administrator.')
  }
  if (credential === undefined || !isUser(credential.principal.sub, startUp.user)) {
    parts.throttle.failed(client.address)
    // The final SCRAM message would reveal that the secret was right and only the name was wrong.
    client.outbox.writer.clear()
    throw refusal(startUp)
  }
  client.inbox.phase = 'session'
  return credential
}

/** A client names its subject. A service may leave `service:` out, which some clients' user names cannot hold. */
function isUser(sub: string, user: string): boolean {
  return sub === user || sub === serviceSubject(user)
}

interface Exchange extends AuthenticationParts {
  readonly client: Client
  readonly startUp: StartUp
  readonly deadlineMs: number
}

/** What a credential counts for whose tenant is suspended. It is told to the user whose it is alone. */
function ofSuspended(found: SuspendedCredential | undefined, { user }: StartUp): 'suspended' | undefined {
  return found !== undefined && isUser(found.sub, user) ? 'suspended' : undefined
}

function refusal({ user }: StartUp): WireError {
  return new WireError('28P01', `password authentication failed for user "${user}"`, 'FATAL')
}

async function byPassword(exchange: Exchange): Promise<ReadCredential | 'suspended' | undefined> {
  const { client, allowPlaintext, credentials, startUp } = exchange
  if (!client.isEncrypted && !client.isLoopback && !allowPlaintext)
    throw new WireError(
      '28000',
      'the connection is not encrypted: connect with sslmode=require',
      'FATAL',
      'Or name a service session for SCRAM: options=-csvc.session=<id>.',
    )
  writeAuthentication(client.outbox.writer, { kind: 'cleartext_password' })
  const reader = await answerOf(exchange)
  const secret = reader.cstring()
  reader.end()
  const credential = await credentials.bySecret(secret)
  return credential ?? ofSuspended(await credentials.suspended({ secret }), startUp)
}

async function byScram(
  exchange: Exchange,
  sessionId: string,
): Promise<ReadCredential | 'suspended' | undefined> {
  const { client, credentials, mockKey, onRefused, startUp } = exchange
  const { writer } = client.outbox
  const found = await credentials.byVerifier(sessionId)
  const suspended = found === undefined ? await credentials.suspended({ sessionId }) : undefined
  const verifier = found?.verifier ?? suspended?.verifier
  writeAuthentication(writer, { kind: 'sasl', mechanisms: [scramMechanism] })
  const first = await answerOf(exchange)
  const mechanism = first.cstring()
  if (mechanism !== scramMechanism) throw new ProtocolViolation('client selected an invalid SASL mechanism')
  const firstMessage = Buffer.from(first.bytes(first.int32())).toString('latin1')
  first.end()
  const nonce = randomBytes(18).toString('base64')
  // An unknown session goes through the same exchange with a stable salt, so it looks like an existing one.
  const scram = beginScram(firstMessage, verifier ?? mockVerifier(mockKey, sessionId), nonce)
  if (scram === undefined) throw new ProtocolViolation('malformed SCRAM message')
  writeAuthentication(writer, { kind: 'sasl_continue', data: scram.message })
  const last = await answerOf(exchange)
  const proof = scram.finish(Buffer.from(last.rest()).toString('latin1'))
  if (proof === undefined || verifier === undefined) {
    onRefused?.('scram')
    return undefined
  }
  if (found === undefined) return ofSuspended(suspended, startUp)
  writeAuthentication(writer, { kind: 'sasl_final', data: proof })
  return found.credential
}

function mockVerifier(mockKey: Uint8Array, sessionId: string): ScramVerifier {
  const bytes = (label: string) => createHmac('sha256', mockKey).update(`${label} ${sessionId}`).digest()
  return {
    iterations: 4096,
    salt: bytes('salt').subarray(0, 16),
    storedKey: bytes('stored'),
    serverKey: bytes('server'),
  }
}

async function answerOf({ client, deadlineMs }: Exchange): Promise<ByteReader> {
  await client.outbox.flush()
  const frame = await client.inbox.receive(Math.max(deadlineMs - performance.now(), 1))
  if (frame === undefined) throw new ConnectionClosed()
  if (frame === 'late') throw new WireError('57014', 'canceling authentication due to timeout', 'FATAL')
  return new ByteReader(frame.body)
}
