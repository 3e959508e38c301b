/**
 * Refuses to drop a view or namespace that is not there, before its drop is judged. So a refusal of a drop that was
 * forwarded can be told from the refusal of its repeat.
 */

import { upstreamPath } from './client-path.ts'
import { type SurfaceRequest, subjectOf } from './surface-request.ts'

/** @throws what the upstream throws for a load of it: `not_found` where it is not there */
export async function assertPresent(surface: SurfaceRequest): Promise<void> {
  const { body } = await surface.upstream.catalog.forward({
    method: 'GET',
    path: upstreamPath(surface.path),
    mutates: false,
    subject: subjectOf(surface),
    signal: surface.request.signal,
  })
  if (!(body instanceof Uint8Array)) await body.cancel()
}
