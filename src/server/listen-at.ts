/** Where a listener goes that a setting names, and what is said of one that finds no place there. */

import { Fault } from '../base/fault.ts'

/**
 * Starts a listener at the address of a setting.
 * @param variable the environment variable that holds it
 * @throws Fault `misconfigured`, which names the variable, where nothing can listen there; a Fault of `listen` as it is
 */
export async function listenAt<T>(
  variable: string,
  { host, port }: { readonly host: string | undefined; readonly port: number },
  listen: (address: { readonly hostname: string | undefined; readonly port: number }) => T | Promise<T>,
): Promise<T> {
  try {
    return await listen({ hostname: host, port })
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    const address = `${host?.includes(':') ? `[${host}]` : (host ?? '')}:${port}`
    throw new Fault('misconfigured', `${variable}: nothing can listen at ${address}.`, { cause })
  }
}
