/** Starts a listener at the address of a setting, or tries whether one could, and names the address. */

import { Fault } from '../base/fault.ts'
import { onEveryInterface } from './accepted-sockets.ts'

interface Address {
  /** Undefined: every interface. */
  readonly host: string | undefined
  readonly port: number
}

/**
 * Starts a listener at the address of a setting.
 * @param variable the environment variable that holds it
 * @throws Fault `misconfigured`, which names the variable, where the address cannot be used. A Fault that `listen`
 *   throws passes through.
 */
export async function listenAt<T>(
  variable: string,
  { host, port }: Address,
  listen: (address: { readonly hostname: string | undefined; readonly port: number }) => T | Promise<T>,
): Promise<T> {
  try {
    return await listen({ hostname: host, port })
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    const address = addressText({ host, port })
    throw new Fault(
      'misconfigured',
      `${variable}: cannot listen at ${address}. Choose a free address of this host.`,
      { cause },
    )
  }
}

/** An address as its setting has it. */
export function addressText({ host, port }: Address): string {
  return `${host?.includes(':') ? `[${host}]` : (host ?? '')}:${port}`
}

/** Whether a listener could start at an address now. It listens for an instant. */
export function addressUse({ host, port }: Address): 'free' | 'in-use' | 'unusable' {
  try {
    const listen = (hostname: string) => Bun.listen({ hostname, port, socket: { data() {} } }).stop(true)
    if (host === undefined) onEveryInterface(listen)
    else listen(host)
    return 'free'
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EADDRINUSE' ? 'in-use' : 'unusable'
  }
}
