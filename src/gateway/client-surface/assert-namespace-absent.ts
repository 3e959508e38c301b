/**
 * Whether a namespace is there already, asked before its creation is judged: `CREATE NAMESPACE IF NOT EXISTS` is what
 * engines send before every job, and what changes nothing needs no policy's consent. Nothing is forwarded then, so
 * that a namespace dropped in between is not created past the policies.
 */

import { Fault } from '../../base/fault.ts'
import type { SurfaceRequest } from './surface-request.ts'

/**
 * @param namespace its levels, validated
 * @throws Fault `conflict` where the upstream has the namespace; what the upstream throws save `not_found`
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
