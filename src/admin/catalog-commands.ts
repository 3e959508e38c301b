/**
 * Commands for catalog credentials: put, list, remove. Secrets come from a file or standard input, never from an
 * argument.
 */

import { Fault } from '../base/fault.ts'
import { liveCatalogKinds } from '../core/catalog-kinds.ts'
import { checkCatalogSettings } from '../engine/check-credential.ts'
import {
  listCatalogCredentials,
  type NewCatalogCredential,
  putCatalogCredential,
  removeCatalogCredential,
} from '../store/catalog-credential/catalog-credentials.ts'
import { assertFound, type Command, everyPage, onTenant } from './command.ts'
import { UsageError } from './exit-status.ts'
import type { Flags } from './flags.ts'
import { catalogView } from './views.ts'

export const catalogCommands: readonly Command[] = [
  {
    words: 'catalog put',
    usage: `--tenant ID --nickname N --kind ${liveCatalogKinds.join('|')} --endpoint URL --config FILE`,
    summary: 'Adds a catalog under a {prefix}, or replaces it. FILE is config_json; - is standard input.',
    fields: ['id', 'version'],
    async prepare(flags) {
      const credential = await credentialOf(flags)
      return onTenant(flags, (store, tenant) => putCatalogCredential(store, tenant, credential))
    },
  },
  {
    words: 'catalog list',
    usage: '--tenant ID',
    summary: 'Lists a tenant’s catalog credentials, without secrets.',
    prepare: (flags) =>
      onTenant(flags, async (store, tenant) => {
        const listed = await everyPage((page) => listCatalogCredentials(store, tenant, page))
        return listed.map(catalogView)
      }),
  },
  {
    words: 'catalog remove',
    usage: '--tenant ID --nickname N',
    summary: 'Removes a catalog credential. Commits with an unknown outcome can then no longer be resolved.',
    prepare(flags) {
      const nickname = flags.required('nickname')
      return onTenant(flags, async (store, tenant) =>
        assertFound(
          await removeCatalogCredential(store, tenant, nickname),
          'The tenant has no catalog of this nickname.',
        ),
      )
    },
  },
]

/**
 * Reads a credential and checks it for adapter and read engine, because an invalid one would fail every commit or
 * query.
 */
async function credentialOf(flags: Flags): Promise<NewCatalogCredential> {
  const credential = {
    nickname: flags.required('nickname'),
    // A stored stub kind would prevent the next start.
    kind: flags.requiredChoice('kind', liveCatalogKinds),
    endpoint: flags.required('endpoint'),
    config: jsonObject(await flags.file('config')),
  }
  try {
    checkCatalogSettings(credential)
  } catch (error) {
    throw error instanceof Fault ? new UsageError(error.publicMessage) : error
  }
  return credential
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
