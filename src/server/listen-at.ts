/** Starts a listener at the address of a setting, and names the setting where that address cannot be used. */

import { Fault } from '../base/fault.ts'

/**
 * Starts a listener at the address of a setting.
 * @param variable the environment variable that holds it
 * @throws Fault `misconfigured`, which names the variable, where the address cannot be used. A Fault that `listen`
 *   throws passes through.
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
    throw new Fault(
      'misconfigured',
      `${variable}: cannot listen at ${address}. Choose a free address of this host.`,
      { cause },
    )
  }
}
