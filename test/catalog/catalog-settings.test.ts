/** The declaration of config_json is what the service reads, what help and documentation list, and what is sealed. */

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { catalogCommands } from '../../src/admin/catalog-commands.ts'
import { parseRestCatalogConfig } from '../../src/catalog/config.ts'
import { catalogOf } from '../../src/core/catalog.ts'
import { catalogKindDescriptors, liveCatalogKinds } from '../../src/core/catalog-kinds.ts'
import { type CatalogSettings, settingNamed } from '../../src/core/catalog-settings.ts'
import { readEngineOf } from '../../src/core/read-engine.ts'
import { parseTrinoSettings } from '../../src/engine/trino/settings.ts'
import { s3Access } from '../../src/storage/access.ts'
import { storageRoots } from '../../src/storage/roots.ts'
import { vendingSettings } from '../../src/vending/settings.ts'

const settingsOf = (kind: (typeof liveCatalogKinds)[number]): CatalogSettings =>
  catalogKindDescriptors[kind].settings

/** Members that no parser of the whole configuration reads, with the file that reads each. */
const readElsewhere: Readonly<Record<string, string>> = {
  webhook_secret: 'src/store/catalog-credential/catalog-credentials.ts',
  namespaces: 'src/detection/poll-snapshots.ts',
  's3.path-style-access': 'src/storage/access.ts',
}

/** The names that the service asks a configuration for. */
function namesRead(kind: (typeof liveCatalogKinds)[number]): ReadonlySet<string> {
  const read = new Set<string>()
  const values: Record<string, unknown> = {
    'header.X-A': 'b',
    'trino.uri': 'https://trino.example',
    'trino.catalog': 'c',
    's3.access-key-id': 'a',
    's3.secret-access-key': 'b',
    's3.endpoint': 'https://s3.example',
    'rest.sigv4-enabled': true,
    'rest.signing-region': 'r',
    'rest.access-key-id': 'a',
    ...(catalogKindDescriptors[kind].capabilities.credentialVending && {
      'vending.mode': 'vend',
      'vending.role-arn': 'arn:aws:iam::123456789012:role/r',
    }),
    'rest.secret-access-key': 'b',
  }
  const config = new Proxy(values, {
    get(target, name) {
      read.add(String(name))
      return target[String(name)]
    },
    ownKeys: (target) => {
      read.add('header.*')
      return Reflect.ownKeys(target)
    },
  })
  parseRestCatalogConfig(
    { id: 'c1', version: 1, kind, nickname: 'n', endpoint: 'https://c.example', config },
    undefined,
  )
  vendingSettings({ kind, config })
  parseTrinoSettings({ config })
  readEngineOf(config)
  storageRoots(config)
  s3Access(config)
  return new Set([...read].filter((name) => !name.startsWith('header.X')))
}

describe.each(liveCatalogKinds)('the settings of %s', (kind) => {
  test('are those that the service reads, and no others', () => {
    for (const [name, file] of Object.entries(readElsewhere))
      expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`config(?:\\.${name}|\\['${name}'\\])`))
    const { capabilities } = catalogKindDescriptors[kind]
    const read = [...namesRead(kind), ...Object.keys(readElsewhere)].filter(
      (name) =>
        (capabilities.branches || name !== 'branch') && (capabilities.webhooks || name !== 'webhook_secret'),
    )
    expect(Object.keys(settingsOf(kind)).toSorted()).toEqual([...new Set(read)].toSorted())
  })

  test('are listed by the help of the command that takes them', () => {
    const details = catalogCommands.find(({ words }) => words === 'catalog put')?.details ?? ''
    for (const [name, { about }] of Object.entries(settingsOf(kind)))
      expect(details).toContain(`  ${name.padEnd(24)}${about}`)
  })
})

test('a name is declared as it is written, or by its beginning', () => {
  const settings = settingsOf('alpha')
  expect(settingNamed(settings, 'header.Polaris-Realm')).toBeDefined()
  for (const name of ['header.', 'headerX', 'Warehouse', 'toString'])
    expect(settingNamed(settings, name)).toBeUndefined()
})

test('docs/catalogs.md lists the settings as they are declared', () => {
  const page = readFileSync('docs/catalogs.md', 'utf8')
  const rows = [...page.matchAll(/^\| `([^`]+)` \| ([^|]*) \| ([^|]*) \| (.*) \|$/gm)].map(
    ([, name, kinds, shown, about]) => ({ name, kinds, shown, about }),
  )
  const names = [...new Set(liveCatalogKinds.flatMap((kind) => Object.keys(settingsOf(kind))))]
  const declared = names.map((name) => {
    const kinds = liveCatalogKinds.filter((kind) => name in settingsOf(kind))
    const [kind = 'alpha'] = kinds
    const { about, shown } = settingsOf(kind)[name] ?? { about: '' }
    const of = kinds.length === liveCatalogKinds.length ? '' : kinds.map((one) => `\`${one}\``).join(', ')
    return { name, kinds: of, shown: shown ? 'yes' : '', about }
  })
  expect(rows).toEqual(declared as never)
})

test('a header makes another catalog of the same address, and its value is not in what names it', () => {
  const of = (config: Record<string, unknown>) =>
    catalogOf({ id: 'c', version: 1, kind: 'alpha', nickname: 'n', endpoint: 'https://c.example', config })
  expect(of({})).toBe('["alpha","https://c.example",null,null]')
  const one = of({ 'header.Polaris-Realm': 'hunter2' })
  expect(one).not.toBe(of({ 'header.Polaris-Realm': 'other' }))
  expect(one).toBe(of({ 'header.Polaris-Realm': 'hunter2', credential: 'a:b' }))
  expect(one).not.toContain('hunter2')
})
