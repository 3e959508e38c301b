/** TLS on the wire: on request, from the first byte, and required before a secret is sent. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createConnection } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import pg from 'pg'
import { makeCertificate } from '../../support/certificate.ts'
import { numbers, startWire, testSecret, type WireService } from '../../support/pgwire.ts'
import { frames, reportFields, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)
const certificate = makeCertificate()

let wire: WireService
beforeAll(async () => {
  wire = await startWire({ tls: certificate, queries: { 'select many': numbers(300_000, 5_000) } })
})
afterAll(() => wire[Symbol.asyncDispose]())

/** A client that begins with TLS. */
async function direct(ALPNProtocols: string[] | undefined): Promise<{ socket: TLSSocket; refused: boolean }> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({
    host: '127.0.0.1',
    port: wire.port,
    ca: certificate.cert,
    servername: 'localhost',
    ...(ALPNProtocols && { ALPNProtocols }),
  })
  socket.on('error', () => resolve(true))
  socket.on('close', () => resolve(true))
  socket.on('secureConnect', () => socket.write(frames.startup({ user: 'ada', database: 'main' })))
  socket.once('data', (data: Buffer) => resolve(data[0] !== 'R'.charCodeAt(0)))
  return { socket, refused: await promise }
}

describe('TLS', () => {
  test('is what SHOW ssl says that the server has', async () => {
    const connection = { host: 'localhost', port: wire.port, user: 'ada', password: testSecret }
    const ssl = { ca: certificate.cert }
    const client = new pg.Client({ ...connection, database: 'main', ssl })
    await client.connect()
    expect((await client.query('show ssl')).rows).toEqual([{ ssl: 'on' }])
    await client.end()
  })

  test('is begun by SSLRequest, and carries results of any size', async () => {
    const client = new pg.Client({
      host: 'localhost',
      port: wire.port,
      user: 'ada',
      database: 'main',
      password: testSecret,
      ssl: { ca: certificate.cert },
    })
    await client.connect()
    const { rows } = await client.query('select many')
    expect(rows).toHaveLength(300_000)
    expect(rows.at(-1)).toEqual({ n: 300_000 })
    await client.end()
  })

  test('is begun by SSLRequest with a client that names the protocol, as libpq does', async () => {
    const plain = createConnection({ host: '127.0.0.1', port: wire.port })
    plain.write(frames.packet(80_877_103))
    const answer = await new Promise((resolve) => plain.once('data', (data) => resolve(String(data))))
    expect(answer).toBe('S')
    const socket = connect({
      socket: plain,
      ca: certificate.cert,
      servername: 'localhost',
      ALPNProtocols: ['postgresql'],
    })
    const agreed = await new Promise((resolve) => {
      socket.on('secureConnect', () => resolve(socket.alpnProtocol))
      socket.on('error', (error) => resolve(error.message))
    })
    expect(agreed).toBe('postgresql')
    socket.destroy()
  })

  test('is spoken from the first byte on with a client that names the protocol', async () => {
    const { socket, refused } = await direct(['postgresql'])
    expect(refused).toBe(false)
    const chunks: Buffer[] = []
    const done = new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        if (chunk.toString('latin1').endsWith('Z\0\0\0\x05I') && chunks.length > 5) resolve()
      })
    })
    socket.write(Buffer.concat([frames.password(testSecret)]))
    socket.write(frames.query('select many'))
    await done
    expect(Buffer.concat(chunks).toString('latin1')).toContain('SELECT 300000')
    socket.destroy()
  })

  test('is refused to a client that begins with it and names another protocol, or none', async () => {
    for (const names of [['http/1.1'], undefined]) expect((await direct(names)).refused).toBe(true)
  })

  test('is not begun where anything came behind the request in plain text', async () => {
    const client = await WireClient.connect(wire.options)
    client.send(frames.packet(80_877_103), frames.startup({ user: 'ada' }))
    const [refused] = await client.until('E')
    expect(refused && reportFields(refused)).toMatchObject({ S: 'FATAL', C: '08P01' })
  })
})
