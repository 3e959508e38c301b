/** SCRAM-SHA-256 against RFC 7677's own example, and the messages that a server must refuse. */

import { describe, expect, test } from 'bun:test'
import {
  beginScram,
  formatScramVerifier,
  makeScramVerifier,
  parseScramVerifier,
} from '../../../src/wire/postgres/scram.ts'

const verifier = makeScramVerifier('pencil', Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64'))
const clientFirst = 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO'
const serverNonce = '%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0'
const clientFinal = `c=biws,r=rOprNGfwEbeRWgbNEkqO${serverNonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=`

describe('SCRAM-SHA-256', () => {
  test('answers as in RFC 7677', () => {
    const exchange = beginScram(clientFirst, verifier, serverNonce)
    expect(exchange?.message).toBe(`r=rOprNGfwEbeRWgbNEkqO${serverNonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`)
    expect(exchange?.finish(clientFinal)).toBe('v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=')
  })

  test('refuses the proof of another password', () => {
    const other = makeScramVerifier('pencil2', verifier.salt)
    expect(beginScram(clientFirst, other, serverNonce)?.finish(clientFinal)).toBeUndefined()
  })

  test.each([
    ['another nonce', clientFinal.replace('rOprN', 'rOprM')],
    ['another channel binding', clientFinal.replace('biws', 'eSws')],
    ['a proof that is too short', clientFinal.replace(/p=.*/, 'p=AAAA')],
    ['no proof', clientFinal.replace(/,p=.*/, '')],
    ['one changed bit of the proof', clientFinal.replace('p=d', 'p=e')],
  ])('refuses %s', (_, text) => {
    expect(beginScram(clientFirst, verifier, serverNonce)?.finish(text)).toBeUndefined()
  })

  test.each([
    ['channel binding', 'p=tls-server-end-point,,n=user,r=abc'],
    ['an extension that it must understand', 'n,,m=x,n=user,r=abc'],
    ['no nonce', 'n,,n=user,r='],
    ['nothing', ''],
  ])('does not begin with %s', (_, text) => {
    expect(beginScram(text, verifier, serverNonce)).toBeUndefined()
  })

  test('keeps verifiers in the form of pg_authid', () => {
    const text = formatScramVerifier(verifier)
    expect(text).toMatch(/^SCRAM-SHA-256\$4096:W22ZaJ0SNY7soEsUEjb6gQ==\$/)
    expect(parseScramVerifier(text)).toEqual(verifier)
    expect(parseScramVerifier('md5c0ffee')).toBeUndefined()
  })
})
