/** The settings of a catalog credential that say how clients reach files. */

import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/base/fault.ts'
import type { CatalogKind } from '../../src/core/catalog-kinds.ts'
import { checkCatalogSettings } from '../../src/engine/check-credential.ts'
import { vendingModeOf, vendingSettings } from '../../src/vending/settings.ts'

const vend = {
  storage_roots: ['s3://lake'],
  'vending.mode': 'vend',
  'vending.role-arn': 'arn:aws:iam::123456789012:role/lake/reader',
  's3.access-key-id': 'AK',
  's3.secret-access-key': 'SK-secret',
}
const credential = (config: Readonly<Record<string, unknown>>, kind: CatalogKind = 'alpha') => ({
  kind,
  nickname: 'lake',
  endpoint: 'https://catalog.example',
  config,
})

function refusal(config: Readonly<Record<string, unknown>>, kind: CatalogKind = 'alpha'): string {
  try {
    checkCatalogSettings(credential(config, kind))
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'bad_request') return thrown.publicMessage
    throw thrown
  }
  return ''
}

describe('the mode', () => {
  test('is pass-through for alpha and none for beta where nothing is set', () => {
    expect(vendingModeOf(credential({}))).toBe('pass-through')
    expect(vendingModeOf(credential({}, 'beta'))).toBe('none')
  })

  test('is none where it is of a later version, and for beta whatever it says', () => {
    expect(vendingModeOf(credential({ 'vending.mode': 'tomorrow' }))).toBe('none')
    expect(vendingModeOf(credential({ 'vending.mode': 'pass-through' }, 'beta'))).toBe('none')
  })

  test('of beta can be none only', () => {
    expect(refusal({ 'vending.mode': 'none' }, 'beta')).toBe('')
    for (const mode of ['vend', 'pass-through'])
      expect(refusal({ 'vending.mode': mode }, 'beta')).toContain('its vending.mode can be none only')
  })
})

test.each(['vend', 'sign'])('%s needs storage roots, each of which bounds something', (mode) => {
  const given = { ...vend, 'vending.mode': mode }
  expect(refusal(given)).toBe('')
  for (const storage_roots of [undefined, []])
    expect(refusal({ ...given, storage_roots })).toContain('The storage_roots are missing')
  for (const root of ['ftp://lake', 's3://lake/../x', 'https://lake.s3.amazonaws.com/x', 's3://Lake_'])
    expect(refusal({ ...given, storage_roots: ['s3://lake', root] })).toContain('A location of storage_roots')
  for (const storage_roots of ['s3://lake', ['s3://lake', 1]])
    expect(refusal({ storage_roots })).toBe('The storage_roots must be a list of locations.')
})

describe('settings that vend', () => {
  test('take role, keys and region, and the addresses of AWS', () => {
    expect(vendingSettings(credential({ ...vend, 's3.region': 'eu-central-1' }))).toEqual({
      mode: 'vend',
      roleArn: vend['vending.role-arn'],
      writerRoleArn: vend['vending.role-arn'],
      externalId: undefined,
      kmsKeyArn: undefined,
      keys: { accessKeyId: 'AK', secretAccessKey: 'SK-secret' },
      region: 'eu-central-1',
      stsEndpoint: new URL('https://sts.eu-central-1.amazonaws.com'),
      iamEndpoint: new URL('https://iam.amazonaws.com'),
      deletes: false,
      storage: { 'client.region': 'eu-central-1', 's3.region': 'eu-central-1' },
    })
  })

  test('are all checked when the credential is stored, and no value is quoted', () => {
    expect(refusal(vend)).toBe('')
    const message = refusal({
      'vending.mode': 'vend',
      'vending.role-arn': 'arn:aws:iam::1:user/secret-user',
      'vending.access-key-id': 'AK',
      'vending.external-id': 'not allowed: secret',
      'vending.deletes': 'perhaps',
    })
    for (const name of ['role-arn', 'external-id', 'deletes', 'secret-access-key'])
      expect(message).toContain(`vending.${name}`)
    expect(message).not.toMatch(/secret-user|not allowed: secret|perhaps/)
  })

  test.each([
    'arn:aws:iam::123456789012:role/a*',
    'arn:aws:iam::123456789012:role/"x',
    'arn:aws:iam::*:role/x',
    'role/x',
  ])('refuse the role %s', (role) => {
    expect(refusal({ ...vend, 'vending.role-arn': role })).toContain(
      'vending.role-arn is not the ARN of a role',
    )
  })

  test.each(['gcs', 'azure'])('refuse %s with a sentence', (storage) => {
    expect(refusal({ ...vend, 'vending.storage': storage })).toContain(
      'credentials for other storage are not issued yet',
    )
  })

  test('keep the catalogs of a process apart unless signatures may be cached', () => {
    const sign = { ...vend, 'vending.mode': 'sign' }
    expect(vendingSettings(credential(sign))).toMatchObject({ cachesSignatures: false })
    const caching = { ...sign, 'vending.cache-signatures': true }
    expect(vendingSettings(credential(caching))).toMatchObject({ cachesSignatures: true })
    expect(refusal({ ...sign, 'vending.cache-signatures': 'yes' })).toContain(
      'vending.cache-signatures must be true or false',
    )
  })

  test('refuse an unknown mode', () => {
    expect(refusal({ 'vending.mode': 'Vend' })).toContain(
      'vending.mode must be one of pass-through, vend, sign, none',
    )
  })
})
