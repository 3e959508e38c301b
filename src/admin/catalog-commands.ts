/**
 * Commands for catalog credentials: put, try, list, remove. Secrets come from a file or standard input, never from an
 * argument.
 */

import { Fault } from '../base/fault.ts'
import { catalogKindDescriptors, liveCatalogKinds } from '../core/catalog-kinds.ts'
import type { CatalogSettings } from '../core/catalog-settings.ts'
import type { TriedStep } from '../vending/try-catalog.ts'
import type { Command } from './command.ts'
import { UsageError } from './exit-status.ts'

export const catalogCommands: readonly Command[] = [
  {
    words: 'catalog put',
    usage: `--tenant ID --nickname N --kind ${liveCatalogKinds.join('|')} --endpoint URL --config FILE [--no-check]`,
    switches: ['no-check'],
    summary:
      'Tries a catalog, and adds it under a {prefix}, or replaces it. FILE is config_json; - is standard input. --no-check does not try it.',
    details: settingsHelp(),
    fields: ['id', 'version'],
    async prepare(flags) {
      const input = {
        tenant: flags.tenant(),
        nickname: flags.required('nickname'),
        // A stored stub kind would prevent the next start.
        catalog_kind: flags.requiredChoice('kind', liveCatalogKinds),
        endpoint: flags.required('endpoint'),
        config_json: jsonObject(await flags.file('config')),
      }
      const put = { operation: 'put_catalog', input }
      return flags.isSet('no-check') ? put : { ...put, first: { operation: 'try_catalog', input, permit } }
    },
  },
  {
    words: 'catalog try',
    usage: '--tenant ID --nickname N',
    summary:
      'Tries a stored catalog: settings, address, log-in, a list, storage roots, credentials for storage. Fails where it does not work.',
    fields: ['works'],
    prepare: (flags) => ({
      operation: 'try_catalog',
      input: { tenant: flags.tenant(), nickname: flags.required('nickname') },
      problem: (output) =>
        (output as Trial).works ? undefined : new Fault('unprocessable', 'The catalog does not work.'),
    }),
  },
  {
    words: 'catalog list',
    usage: '--tenant ID',
    summary: 'Lists a tenant’s catalog credentials, without secrets.',
    prepare: (flags) => ({
      operation: 'list_catalogs',
      input: { tenant: flags.tenant(), limit: 1000 },
      everyItem: true,
    }),
  },
  {
    words: 'catalog remove',
    usage: '--tenant ID --nickname N',
    summary: 'Removes a catalog credential. Commits with an unknown outcome can then no longer be resolved.',
    prepare: (flags) => ({
      operation: 'remove_catalog',
      input: { tenant: flags.tenant(), nickname: flags.required('nickname') },
    }),
  },
]

/** The members of config_json: those of every kind first, then each kind's own. */
function settingsHelp(): string {
  const kinds = liveCatalogKinds.map((kind) => ({
    kind,
    settings: Object.entries(catalogKindDescriptors[kind].settings as CatalogSettings),
  }))
  const isCommon = (name: string) => kinds.every(({ settings }) => settings.some(([other]) => other === name))
  const lines = (settings: (typeof kinds)[number]['settings']) =>
    settings.map(([name, { about }]) => `  ${name.padEnd(24)}${about}`).join('\n')
  const common = kinds[0]?.settings.filter(([name]) => isCommon(name)) ?? []
  return [
    `Members of config_json, for every kind:\n${lines(common)}`,
    ...kinds.flatMap(({ kind, settings }) => {
      const own = settings.filter(([name]) => !isCommon(name))
      return own.length === 0 ? [] : [`For the kind ${kind} also:\n${lines(own)}`]
    }),
  ].join('\n\n')
}

interface Trial {
  readonly works: boolean
  readonly steps: readonly Pick<TriedStep, 'step' | 'outcome' | 'text'>[]
}

/** What a trial notes of a catalog that works. @throws Fault where it does not, with the steps up to the failed one */
function permit(output: unknown): readonly string[] {
  const { works, steps } = output as Trial
  const lines = steps
    .filter(({ outcome }) => outcome === 'noted' || !works)
    .map(({ step, outcome, text }) => `${step}: ${outcome}. ${text}`)
  if (works) return lines
  throw new Fault(
    'unprocessable',
    [
      'The catalog was not stored, because it does not work. --no-check stores it all the same.',
      ...lines,
    ].join('\n'),
  )
}

function jsonObject(source: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch {
    throw new UsageError('--config: the file is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError('--config: the file must hold a JSON object')
  return value as Record<string, unknown>
}
