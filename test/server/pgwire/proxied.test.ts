/** Clients behind a proxy that names them by the PROXY protocol: whose header is believed, and whose slot is taken. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { BlockList, createConnection } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { nextTurn } from '../../../src/base/turn.ts'
import { ConnectionSlots, defaultSlots } from '../../../src/server/pgwire/connection-slots.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { eventually } from '../../support/eventually.ts'
import {
  numbers,
  startWire,
  testSecret,
  type WireService,
  type WireServiceOptions,
} from '../../support/pgwire.ts'
import { binaryHeader, ipv4Header, textHeader } from '../../support/proxy-headers.ts'
import { frames, reportFields, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(60_000)

/** This machine is the proxy. */
const proxies = new BlockList()
proxies.addSubnet('127.0.0.0', 8, 'ipv4')
proxies.addAddress('::1', 'ipv6')

const startProxied = (options: WireServiceOptions = {}) =>
  startWire({ proxies, queries: { 'select 1': numbers(1) }, ...options })

const startup = frames.startup({ user: 'ada', database: 'main' })

async function connect(wire: WireService, ...chunks: readonly Uint8Array[]): Promise<WireClient> {
  const client = await WireClient.connect(wire.options)
  for (const chunk of chunks) {
    client.send(chunk)
    // The next chunk goes in a packet of its own.
    await nextTurn()
  }
  return client
}

/** Logs in in plain text, which the service allows where a terminator says that it may. */
async function logIn(wire: WireService, header: Uint8Array): Promise<WireClient> {
  const client = await connect(wire, header, startup)
  await client.until('R')
  client.send(frames.password(testSecret))
  await client.until('Z')
  return client
}

/** What a client is answered first that sends the proxy's header in plain text and then all else through TLS. */
async function throughTls(port: number, ca: string, header: Uint8Array, direct: boolean): Promise<string> {
  const plain = createConnection({ host: '127.0.0.1', port })
  plain.write(header)
  if (!direct) {
    plain.write(frames.packet(80_877_103))
    await new Promise((resolve) => plain.once('data', resolve))
  }
  const socket = connectTls({ socket: plain, ca, servername: 'localhost', ALPNProtocols: ['postgresql'] })
  socket.on('secureConnect', () => socket.write(startup))
  const [first = 0] = await new Promise<Buffer>((resolve, reject) => {
    socket.once('data', resolve)
    socket.once('error', reject)
  })
  socket.destroy()
  return String.fromCharCode(first)
}

const plaintext = { parts: { allowPlaintext: true } }

describe('a client behind a trusted proxy', () => {
  test.each([
    ['version 1', textHeader('203.0.113.7')],
    ['version 2', ipv4Header('203.0.113.7')],
  ])('has the address that the header of %s names', async (_, header) => {
    await using wire = await startProxied(plaintext)
    const client = await logIn(wire, header)
    expect([...wire.server.clients()].map(({ address }) => address)).toEqual(['203.0.113.7'])
    expect(await client.ask(frames.query('select 1'))).toContain('C SELECT 1')
    client.close()
  })

  test('is served where the header and its first packet arrive as one, or byte by byte', async () => {
    await using wire = await startProxied(plaintext)
    const bytes = Buffer.concat([ipv4Header('203.0.113.7', Buffer.from([4, 0, 2, 1, 2])), startup])
    const whole = await connect(wire, bytes)
    const slow = await connect(wire, ...[...bytes].map((byte) => Uint8Array.of(byte)))
    for (const client of [whole, slow]) {
      expect((await client.until('R')).map(({ type }) => type)).toEqual(['R'])
      client.vanish()
    }
  })

  test('has the address of the proxy where that speaks for itself', async () => {
    await using wire = await startProxied()
    const client = await connect(wire, binaryHeader(0x20, 0x00, new Uint8Array()), startup)
    await client.until('R')
    expect([...wire.server.clients()].map(({ address }) => address)).toEqual(['127.0.0.1'])
    client.vanish()
  })

  test('must use TLS for its secret although the proxy is on this machine', async () => {
    await using wire = await startProxied()
    const client = await connect(wire, textHeader('203.0.113.7'), startup)
    const refused = (await client.until('E')).at(-1)
    expect(refused && reportFields(refused)).toMatchObject({ S: 'FATAL', C: '28000' })
  })

  test.each(['upgraded', 'direct'])('is served through TLS behind the header (%s)', async (kind) => {
    const tls = makeCertificate()
    await using wire = await startProxied({ tls })
    expect(await throughTls(wire.port, tls.cert, textHeader('203.0.113.7'), kind === 'direct')).toBe('R')
  })
})

describe('a connection of a trusted proxy', () => {
  test.each([
    ['without a header', startup],
    ['with a malformed header', Buffer.from('PROXY TCP4 1.2.3.4\r\n')],
    ['with a header of another version', binaryHeader(0x11, 0x11, new Uint8Array(12))],
  ])('%s is closed, counted and logged, and nothing is read from it', async (_, bytes) => {
    await using wire = await startProxied()
    const client = await connect(wire, bytes)
    expect(await client.until('never')).toEqual([])
    expect(wire.server.connections()).toBe(0)
    await eventually(() => wire.log().includes('a connection of a trusted proxy was closed'))
    expect(await wire.metrics.registry.metrics()).toContain('svc_pgwire_refused_total{sqlstate="08P01"} 1')
  })

  test('that sends no header is closed in time', async () => {
    await using wire = await startProxied({ parts: { allowPlaintext: true, authenticationMs: 200 } })
    const silent = await Promise.all(Array.from({ length: 8 }, () => connect(wire)))
    for (const each of silent) expect(await each.until('never')).toEqual([])
    expect(wire.log()).toContain('its PROXY protocol header did not arrive in time')
  })

  test('is closed at shutdown while its header is awaited', async () => {
    const wire = await startProxied()
    const silent = await connect(wire, Buffer.from('PROXY '))
    expect(await wire.server.stop(5_000)).toBe(true)
    expect(await silent.until('never')).toEqual([])
  })
})

test('a header of a peer that is not trusted is refused and not believed', async () => {
  const others = new BlockList()
  others.addAddress('192.0.2.1', 'ipv4')
  for (const header of [textHeader('203.0.113.7'), ipv4Header('203.0.113.7')]) {
    await using wire = await startProxied({ proxies: others })
    const client = await connect(wire, header, startup)
    const refused = (await client.until('E')).at(-1)
    expect(refused && reportFields(refused)).toMatchObject({ S: 'FATAL', C: '08P01' })
  }
})

test('silent clients of one address behind a proxy leave slots to everybody else behind it', async () => {
  const slots = new ConnectionSlots({ ...defaultSlots, strangersMax: 20 })
  await using wire = await startProxied({ parts: { allowPlaintext: true, slots } })
  const hostile = await Promise.all(
    Array.from({ length: 20 }, () => connect(wire, ipv4Header('198.51.100.66'))),
  )
  await eventually(() => wire.server.connections() === 10)
  // The other half of the slots is free for all other addresses.
  const client = await logIn(wire, ipv4Header('203.0.113.7'))
  expect(await client.ask(frames.query('select 1'))).toContain('C SELECT 1')
  const more = await connect(wire, ipv4Header('198.51.100.66'), startup)
  const refused = (await more.until('E')).at(-1)
  expect(refused && reportFields(refused)).toMatchObject({ C: '53300' })
  for (const each of [...hostile, client]) each.vanish()
})
