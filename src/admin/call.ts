/** Runs one call of `covenant admin`: takes its arguments, gives its output and exit status. */

import { parseConfig } from '../config.ts'
import { helpText, prepareCall, runPrepared } from './command.ts'
import { commands } from './commands.ts'
import { exitStatus, reportFailure, UsageError } from './exit-status.ts'
import { nearServiceUrl } from './near-service.ts'
import { type ServiceAddress, serviceAddress } from './service-address.ts'
import { hintAtService, type OpenStore } from './store-in-use.ts'
import type { Terminal } from './terminal.ts'

/**
 * Runs one call. It never throws.
 * @returns the exit status
 */
export async function runCall(
  words: readonly string[],
  terminal: Terminal,
  openStore: OpenStore,
): Promise<number> {
  try {
    await run(words, terminal, openStore)
    return exitStatus.done
  } catch (error) {
    return reportFailure(hintAtService(error), 'covenant admin', terminal)
  }
}

const isRemote = (env: Terminal['env']) => Boolean(env.COVENANT_URL || env.COVENANT_PROFILE)

/** The service that has the embedded store open, with the session given or that of its profile. */
async function addressOfNear(
  url: string,
  call: { readonly sessionFile: string | undefined },
  env: Terminal['env'],
): Promise<ServiceAddress | undefined> {
  try {
    return await serviceAddress({ url, sessionFile: call.sessionFile }, env)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(
      `The service at ${url} has the embedded store open, so the command goes to it. ${error.message}`,
    )
  }
}

async function run(
  words: readonly string[],
  { env, stdin, print, complain }: Terminal,
  openStore: OpenStore,
): Promise<void> {
  if (words.length === 0 || words.includes('--help') || words[0] === 'help') {
    print(helpText(words[0] === 'help' ? words.slice(1) : words, commands))
    return
  }
  const isNamed = isRemote(env) || words.some((word) => /^--url(=|$)/.test(word))
  const near = isNamed ? undefined : await nearServiceUrl(env)
  const call = await prepareCall(words, commands, stdin, near !== undefined || isRemote(env))
  const service =
    near === undefined ? await serviceAddress(call, env, true) : await addressOfNear(near, call, env)
  // Where a service is named, the store's settings are not even read. Modules are loaded where they are used, because
  // a call should take less than half a second.
  const client =
    service === undefined
      ? await (await import('./store-client.ts')).openStoreClient(parseConfig(env), openStore)
      : (await import('./http-client.ts')).openHttpClient(service)
  try {
    await runPrepared(call, client, { print, complain })
  } finally {
    await client.close()
  }
}
