/**
 * Refuses to create a namespace that exists, before its creation is judged. Engines send `CREATE NAMESPACE IF NOT
 * EXISTS` before every job, and a request that changes nothing needs no verdict. Nothing is forwarded then, so a
 * namespace that is dropped meanwhile is not created without a verdict.
 */

import { Fault } from '../../base/fault.ts'
import type { SurfaceRequest } from './surface-request.ts'

/**
 * @param namespace its validated levels
 * @throws Fault `conflict` if the upstream has the namespace; what the upstream throws, except `not_found`
 */
export async function assertNamespaceAbsent(
  { upstream, request }: SurfaceRequest,
  namespace: readonly string[],
): Promise<void> {
  const subject = `namespace ${namespace.join('.')}`
  try {
    const { body } = await upstream.catalog.forward({
      method: 'GET',
      path: ['namespaces', namespace],
      mutates: false,
      subject,
      signal: request.signal,
    })
    if (!(body instanceof Uint8Array)) await body.cancel()
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'not_found') return
    throw thrown
  }
  throw new Fault('conflict', `Namespace already exists: ${namespace.join('.')}`, {
    type: 'AlreadyExistsException',
  })
}
