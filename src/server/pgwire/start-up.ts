/** Handles the first packets of a connection: encryption, cancel, protocol version, the client's parameters. */

import { writeNegotiateProtocolVersion } from '../../wire/postgres/backend-messages.ts'
import { ProtocolViolation } from '../../wire/postgres/byte-reader.ts'
import { protocolMinorMax } from '../../wire/postgres/protocol.ts'
import { readOptions, readStartupPacket, type StartupPacket } from '../../wire/postgres/startup-packet.ts'
import type { Client } from './client.ts'
import { WireError } from './wire-error.ts'

export interface StartUp {
  readonly user: string
  readonly database: string
  /** Protocol 3.2 and later allows longer keys than 4 bytes. */
  readonly cancelKeyBytes: number
  /** Id of the service session whose verifier SCRAM checks; undefined: the client sends its secret. */
  readonly scramSession: string | undefined
  /** Run-time parameters, in the client's order. */
  readonly settings: readonly (readonly [name: string, value: string])[]
}

/** Names the service session in `options`, for SCRAM: `-c svc.session=<id>`. */
const sessionOption = 'svc.session'

type CancelPacket = Extract<StartupPacket, { kind: 'cancel' }>

/**
 * Negotiates encryption and protocol version with the client.
 * @param deadlineMs on performance.now()'s clock
 * @returns the cancel packet of a client that only cancels; undefined where the client left or the time ran out
 * @throws ProtocolViolation; WireError FATAL; ConnectionClosed
 */
export async function negotiate(
  client: Client,
  deadlineMs: number,
): Promise<StartUp | CancelPacket | undefined> {
  let askedForTls = false
  let askedForGss = false
  for (;;) {
    const frame = await client.inbox.receive(Math.max(deadlineMs - performance.now(), 1))
    if (frame === undefined || frame === 'late') return undefined
    const packet = readStartupPacket(frame.body)
    switch (packet.kind) {
      case 'ssl':
        if (askedForTls || client.isEncrypted) throw new ProtocolViolation('TLS is asked for twice')
        askedForTls = true
        await answerTls(client)
        break
      case 'gss_encryption':
        if (askedForGss || client.isEncrypted) throw new ProtocolViolation('GSSAPI encryption comes too late')
        askedForGss = true
        await answerByte(client, 'N')
        break
      case 'cancel':
        return packet
      case 'unsupported':
        throw new WireError(
          '0A000',
          `unsupported frontend protocol ${packet.major}.${packet.minor}: server supports 3.0 to 3.${protocolMinorMax}`,
          'FATAL',
        )
      case 'startup':
        return readStartUp(client, packet)
    }
  }
}

async function answerTls(client: Client): Promise<void> {
  if (!client.offersTls) return await answerByte(client, 'N')
  // Plain text behind the request would be read as if it had arrived through TLS.
  if (client.inbox.pendingBytes > 0) throw new ProtocolViolation('data behind the request for TLS')
  await answerByte(client, 'S')
  client.startTls()
}

async function answerByte(client: Client, letter: string): Promise<void> {
  client.outbox.writer.ascii(letter)
  await client.outbox.flush()
}

function readStartUp(
  { outbox }: Client,
  { minor, protocolOptions, parameters }: Extract<StartupPacket, { kind: 'startup' }>,
): StartUp {
  if (minor > protocolMinorMax || protocolOptions.length > 0)
    writeNegotiateProtocolVersion(outbox.writer, Math.min(minor, protocolMinorMax), protocolOptions)
  const { user = '', database = user, options = '', replication, ...rest } = Object.fromEntries(parameters)
  if (user === '')
    throw new WireError('28000', 'no PostgreSQL user name specified in startup packet', 'FATAL')
  if (replication !== undefined && !/^(false|off|no|0)$/i.test(replication))
    throw new WireError('0A000', 'replication is not supported', 'FATAL')
  const settings = [...Object.entries(rest), ...readOptions(options)]
  return {
    user,
    database,
    cancelKeyBytes: minor >= 2 ? 32 : 4,
    scramSession: settings.findLast(([name]) => name === sessionOption)?.[1],
    settings: settings.filter(([name]) => name !== sessionOption),
  }
}
