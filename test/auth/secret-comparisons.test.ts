/** In the source, secrets, signatures and digests are compared in constant time and in one place. */

import { describe, expect, test } from 'bun:test'
import { readProject } from '../tidy/source-files.ts'

const source = readProject(new URL('../..', import.meta.url).pathname).filter(
  ({ path }) => path.startsWith('src/') && path.endsWith('.ts'),
)

const secretName = String.raw`[\w.?!()]*(?:secret|signature|hmac|digest|password|passphrase|apiKey|csrf|nonce|verifier|cookie)\w*(?:\(\)|\.reveal\(\))?`
/** Asking whether there is one, or how long it is, compares nothing secret. */
const harmless = `(?:undefined|null|''|true|false|[0-9]+|'(?:string|number|object|SHA-?256)')`
const operator = String.raw`\s*(?:===|!==|==|!=)\s*`

/** Comparisons of something that is named like a secret with anything but a harmless constant. */
function insecureComparisons(text: string): string[] {
  const found = [
    ...text.matchAll(new RegExp(`\\b(${secretName})${operator}(?!${harmless})[\\w'"(]`, 'gi')),
    ...text.matchAll(
      new RegExp(
        `(?<!typeof )(?<![\\w'.])(?!${harmless})[\\w.]+${operator}(${secretName})\\b(?!\\.length)`,
        'gi',
      ),
    ),
    ...text.matchAll(
      new RegExp(`\\b${secretName}\\.(?:equals|compare|localeCompare|startsWith|endsWith|includes)\\(`, 'gi'),
    ),
    ...text.matchAll(new RegExp(`\\bBuffer\\.compare\\([^)]*${secretName}`, 'gi')),
  ]
  return found
    .map(([match]) => match)
    .filter((match) => !/^typeof |\.length\b|\.size\b|Sha256Hex/i.test(match))
}

describe('comparisons', () => {
  test('of secrets are none of the language’s own', () => {
    const found = source.flatMap(({ path, text }) =>
      insecureComparisons(text).map((one) => `${path}: ${one}`),
    )
    expect(found).toEqual([])
  })

  test('in constant time are over digests of equal length, in base/same-secret.ts', () => {
    const users = source.filter(({ text }) => /\btimingSafeEqual\b/.test(text)).map(({ path }) => path)
    expect(users).toEqual(['src/base/same-secret.ts'])
    const own = source.find(({ path }) => path === 'src/base/same-secret.ts')?.text ?? ''
    expect(own).toContain('timingSafeEqual(digestOf(one), digestOf(other))')
    expect(own).toMatch(/createHash\('sha256'\)\.update\(secret\)\.digest\(\)/)
  })

  test('are made wherever a secret or signature is checked', () => {
    for (const path of [
      'src/detection/alpha-webhook.ts',
      'src/auth/login/login-state.ts',
      'src/auth/oauth-token.ts',
      'src/store/session/session-secret.ts',
    ])
      expect(source.find((file) => file.path === path)?.text).toContain('sameSecret(')
  })
})

test('webhook signatures are compared by sameSecret or by the library of Standard Webhooks alone', () => {
  const own = source.filter(({ path }) => path.startsWith('src/auth/webhooks/'))
  expect(own.length).toBeGreaterThan(2)
  expect(own.filter(({ text }) => /createHash|subtle|timingSafeEqual/.test(text))).toEqual([])
  const makers = own.filter(({ text }) => /createHmac/.test(text))
  expect(makers.map(({ path }) => path)).toEqual(['src/auth/webhooks/schemes.ts'])
  expect(makers[0]?.text).toContain('sameSecret(signature, expected)')
})

describe('the rule', () => {
  test.each([
    'if (secret === given) return',
    'return given === row.secret',
    'given !== expectedSignature',
    'hmac.digest() == other',
    'a === b.reveal() || signature !== x',
    'digest.equals(other)',
    'Buffer.compare(a, givenDigest)',
    'state.nonce === claims.nonce',
    'clientSecret === options.password',
  ])('finds %p', (text) => {
    expect(insecureComparisons(text)).not.toEqual([])
  })

  test.each([
    'secret === undefined',
    "secret !== ''",
    "typeof secret === 'string'",
    'digest === undefined',
    'signature.length !== 64',
    'sameSecret(secret, given)',
  ])('lets %p be', (text) => {
    expect(insecureComparisons(text)).toEqual([])
  })
})
