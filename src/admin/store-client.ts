/** Runs operations on the store that the settings name, as the operator, who owns every tenant. */

import { systemClock } from '../base/clock.ts'
import { parseJson } from '../base/json.ts'
import { addressRules } from '../catalog/address.ts'
import { OpenCatalogs } from '../catalog/open-catalog.ts'
import type { Config } from '../config.ts'
import { operator } from '../core/administration.ts'
import type { Caller, OperationContext } from '../core/operation.ts'
import { type ReadableSchema, readValue } from '../http/read-value.ts'
import { readInstalledLicense } from '../license/installed-license.ts'
import { licensedBy } from '../license/licensed.ts'
import { InterchangeCodec } from '../semantics/interchange/codec.ts'
import type { Client } from './client.ts'
import { operationNamed } from './operations.ts'
import type { OpenStore } from './store-in-use.ts'

/**
 * Opens the store.
 * @throws Fault as `openStore`, and `misconfigured` where the license does not hold
 */
export async function openStoreClient(config: Config, openStore: OpenStore): Promise<Client> {
  const licensed = licensedBy(await readInstalledLicense(config.license, config.demo), systemClock)
  const store = await openStore(config)
  const rules = addressRules(config.upstreamAllow)
  const catalogs = new OpenCatalogs({ addressRules: rules })
  const interchange = new InterchangeCodec()
  const parts = { store, clock: systemClock, licensed, addressRules: rules, catalogs, interchange }
  return {
    async run(name, input) {
      const operation = operationNamed(name)
      if (!('run' in operation)) throw new Error(`${name} answers requests only`)
      const { input: schema = { type: 'object', properties: {} } } = operation
      // Read as a request's body is, so that both ways refuse the same.
      const bytes = new TextEncoder().encode(JSON.stringify(input))
      const checked = readValue(schema as ReadableSchema, parseJson(bytes), '')
      // Operations under /admin ask their caller for its actor alone.
      const caller = { actor: async () => operator() } as unknown as Caller
      const context = { parts, caller, signal: new AbortController().signal } as OperationContext<unknown>
      return await operation.run(context, checked as never)
    },
    close: async () => {
      interchange.close()
      await store.close()
    },
  }
}
