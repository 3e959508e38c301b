/**
 * Refuses to drop a view or namespace that is not there, before its drop is judged. So a refusal of a drop that was
 * forwarded can be told from the refusal of its repeat.
 */

import { upstreamPath } from './client-path.ts'
import { type SurfaceRequest, subjectOf } from './surface-request.ts'

/**
 * @returns the upstream's reply to a load of it
 * @throws what the upstream throws for it: `not_found` where it is not there
 */
export async function assertPresent(surface: SurfaceRequest): Promise<Uint8Array> {
  const { body } = await surface.upstream.catalog.forward({
    method: 'GET',
    path: upstreamPath(surface.path),
    mutates: false,
    whole: true,
    subject: subjectOf(surface),
    signal: surface.request.signal,
  })
  return body as Uint8Array
}
