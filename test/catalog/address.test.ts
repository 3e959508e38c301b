import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/base/fault.ts'
import { isAddressAllowed, PinnedHost, parseEndpoint } from '../../src/catalog/address.ts'
import { limits } from '../../src/limits.ts'
import { allowing } from '../support/address-rules.ts'

const none = allowing()

function faultOf(run: () => unknown): Fault {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown
    throw thrown
  }
  throw new Error('expected a Fault')
}

describe('isAddressAllowed', () => {
  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    'fd00:ec2::254',
    'fc00::1',
    'fe80::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'not-an-address',
    '',
    '8.8.8.8 ',
  ])('refuses %p', (address) => {
    expect(isAddressAllowed(address, 'catalog.example', none)).toBe(false)
  })

  test.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])(
    'admits %p',
    (address) => {
      expect(isAddressAllowed(address, 'catalog.example', none)).toBe(true)
    },
  )

  test('admits what an allow-listed range holds, and nothing beside it', () => {
    const rules = allowing('10.1.0.0/16', 'fd12::/16', '127.0.0.1')
    expect(isAddressAllowed('10.1.255.1', 'h', rules)).toBe(true)
    expect(isAddressAllowed('10.2.0.1', 'h', rules)).toBe(false)
    expect(isAddressAllowed('fd12::9', 'h', rules)).toBe(true)
    expect(isAddressAllowed('127.0.0.1', 'h', rules)).toBe(true)
    expect(isAddressAllowed('127.0.0.2', 'h', rules)).toBe(false)
  })

  test('an allow-listed host name admits its private addresses but no metadata service', () => {
    const rules = allowing('Polaris.internal')
    expect(isAddressAllowed('10.9.9.9', 'polaris.INTERNAL.', rules)).toBe(true)
    expect(isAddressAllowed('10.9.9.9', 'other.internal', rules)).toBe(false)
    for (const address of ['169.254.169.254', '100.100.100.200', '168.63.129.16'])
      for (const form of [address, `::ffff:${address}`, `64:ff9b::${address}`])
        expect(isAddressAllowed(form, 'polaris.internal', rules)).toBe(false)
    for (const address of ['fe80::1', 'fd00:ec2::254'])
      expect(isAddressAllowed(address, 'polaris.internal', rules)).toBe(false)
    expect(isAddressAllowed('64:ff9b::10.9.9.9', 'polaris.internal', rules)).toBe(true)
  })
})

describe('parseEndpoint', () => {
  test.each([
    'ftp://catalog.example',
    'file:///etc/passwd',
    'https://user:hunter2@catalog.example/',
    'https://catalog.example/?token=hunter2',
    'https://catalog.example/#hunter2',
    'https://catalog.example/?',
    'catalog.example',
    'https://',
    '',
  ])('refuses %p without repeating it', (text) => {
    const fault = faultOf(() => parseEndpoint(text, 'endpoint'))
    expect(fault.kind).toBe('misconfigured')
    expect(fault.publicMessage).toStartWith('The endpoint ')
    expect(fault.publicMessage).not.toContain('hunter2')
  })

  test('keeps the path without its trailing slash', () => {
    expect(parseEndpoint('https://catalog.example/api/catalog//', 'endpoint').pathname).toBe('/api/catalog')
  })

  test.each(['http://0x7f.1/', 'http://2130706433/', 'http://017700000001/', 'http://[::ffff:127.0.0.1]/'])(
    'an odd spelling of a private address is seen through: %p',
    async (text) => {
      const host = new PinnedHost(parseEndpoint(text, 'endpoint'), none)
      expect(await rejection(host.addresses())).toMatchObject({ kind: 'upstream_failed' })
    },
  )
})

describe('PinnedHost', () => {
  const url = new URL('https://catalog.example/')

  function lookupOf(...answers: readonly (readonly string[] | Error)[]) {
    let calls = 0
    const lookup = async () => {
      const answer = answers[Math.min(calls++, answers.length - 1)] ?? []
      if (answer instanceof Error) throw answer
      return answer.map((address) => ({ address }))
    }
    return { lookup, calls: () => calls }
  }

  test('resolves once for a while, also under concurrent callers', async () => {
    const { lookup, calls } = lookupOf(['8.8.8.8'], ['8.8.4.4'])
    const host = new PinnedHost(url, none, lookup)
    expect(await Promise.all([host.addresses(), host.addresses()])).toEqual([['8.8.8.8'], ['8.8.8.8']])
    expect(await host.addresses()).toEqual(['8.8.8.8'])
    expect(calls()).toBe(1)
  })

  test('a later answer that is private is refused: DNS rebinding', async () => {
    let nowMs = 0
    const { lookup } = lookupOf(['8.8.8.8'], ['127.0.0.1'])
    const host = new PinnedHost(url, none, lookup, { now: () => nowMs })
    expect(await host.addresses()).toEqual(['8.8.8.8'])
    nowMs += limits.upstreamAddressMs
    const fault = await rejection(host.addresses())
    expect(fault).toMatchObject({ kind: 'upstream_failed' })
    expect((fault as Fault).publicMessage).not.toContain('127.0.0.1')
  })

  test('drops private addresses from a mixed answer', async () => {
    const { lookup } = lookupOf(['127.0.0.1', '8.8.8.8', '169.254.169.254'])
    expect(await new PinnedHost(url, none, lookup).addresses()).toEqual(['8.8.8.8'])
  })

  test('keeps the address in use first when it resolves again', async () => {
    let nowMs = 0
    const { lookup } = lookupOf(['8.8.8.8', '8.8.4.4'], ['1.1.1.1', '8.8.4.4', '8.8.8.8'])
    const host = new PinnedHost(url, none, lookup, { now: () => nowMs })
    await host.addresses()
    nowMs += limits.upstreamAddressMs
    expect(await host.addresses()).toEqual(['8.8.8.8', '8.8.4.4', '1.1.1.1'])
  })

  test('puts an address that took no connection last and resolves again', async () => {
    const { lookup, calls } = lookupOf(['8.8.8.8', '8.8.4.4'])
    const host = new PinnedHost(url, none, lookup)
    await host.addresses()
    host.failed('8.8.8.8')
    expect(await host.addresses()).toEqual(['8.8.4.4', '8.8.8.8'])
    expect(calls()).toBe(2)
  })

  test('a failed resolution is told and not kept', async () => {
    const { lookup } = lookupOf(new Error('SERVFAIL'), ['8.8.8.8'])
    const host = new PinnedHost(url, none, lookup)
    expect(await rejection(host.addresses())).toMatchObject({ kind: 'upstream_failed' })
    expect(await host.addresses()).toEqual(['8.8.8.8'])
  })
})

test('a pinned TLS connection still proves the host name, and is not shared between names', async () => {
  const fixture = (name: string) => `${import.meta.dir}/fixtures/${name}`
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: {
      key: Bun.file(fixture('catalog.test.key.pem')),
      cert: Bun.file(fixture('catalog.test.cert.pem')),
    },
    fetch: (request) => new Response(request.headers.get('host')),
  })
  try {
    const client = Bun.spawn([process.execPath, fixture('tls-client.ts'), String(server.port)], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: fixture('catalog.test.cert.pem') },
    })
    const host = `catalog.test:${server.port}`
    expect(JSON.parse(await client.stdout.text())).toEqual([host, 'sent: false', host])
  } finally {
    await server.stop(true)
  }
})

async function rejection(promise: unknown): Promise<unknown> {
  try {
    await promise
  } catch (thrown) {
    return thrown
  }
  throw new Error('expected a rejection')
}
